#include "lib/attachments/metadata_copy.h"

#include <stdexcept>
#include <utility>

#include "lib/attachments/hierarchy.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::attachments {
namespace {

using driver::Check;
using driver::GetDriver;

CUgraphNode FindInClone(CUgraphNode node, CUgraph clone) {
  CUgraphNode found = nullptr;
  Check("cuGraphNodeFindInClone", GetDriver().cuGraphNodeFindInClone(&found, node, clone),
        "finding the nodes of a copied graph");
  return found;
}

}  // namespace

MetadataCopy::MetadataCopy(const GraphBox& source, Hierarchy& target) {
  const AttachmentIndex::Map& entries = source.index().entries();
  entries_.reserve(entries.size());
  rekeyed_.Reserve(entries.size());
  for (const auto& [node, value] : entries) {
    AttachmentIndex::Entry& entry = entries_.emplace_back(rekeyed_.MakeEntry(value));
    entry.key() = node;
  }
  owned_.Reserve(source.owned_graphs().entries().size());
  for (const auto& [node, boxes] : source.owned_graphs().entries()) {
    const GraphBox& owned = *boxes.front();
    if (owned.kind() == GraphBox::Kind::kBody || !owned.IsAlive()) {
      continue;
    }
    Child child{node, nullptr, owned_.MakeEntry({target.PrepareOwned(GraphBox::Kind::kChild)}),
                std::make_unique<MetadataCopy>(owned, target)};
    children_.push_back(std::move(child));
  }
}

void MetadataCopy::Rekey(CUgraph clone) {
  for (AttachmentIndex::Entry& entry : entries_) {
    const CUgraphNode node = FindInClone(entry.key(), clone);
    if (rekeyed_.entries().contains(node)) {
      throw std::logic_error("the driver says that two nodes of a graph have the same copy");
    }
    rekeyed_.Insert(node, std::move(entry));
  }
  for (Child& child : children_) {
    child.owner_node = FindInClone(child.owner_node, clone);
    Check("cuGraphChildGraphNodeGetGraph", GetDriver().cuGraphChildGraphNodeGetGraph(child.owner_node, &child.graph),
          "finding the child graphs of a copied graph");
    child.copy->Rekey(child.graph);
  }
}

void MetadataCopy::Publish(GraphBox& target) noexcept {
  target.index() = std::move(rekeyed_);
  target.owned_graphs() = std::move(owned_);
  for (Child& child : children_) {
    GraphBox& box = *child.entry.mapped().front();
    target.hierarchy().PublishOwned(target, child.owner_node, std::move(child.entry), {&child.graph, 1});
    child.copy->Publish(box);
  }
}

}  // namespace holdfast::attachments
