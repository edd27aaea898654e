#include "lib/graph/owning_nodes.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/attachments/attachment_index.h"
#include "lib/attachments/hierarchy.h"
#include "lib/attachments/metadata_copy.h"
#include "lib/attachments/owned_graphs.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/node_parameters.h"
#include "lib/graph/topology.h"

namespace holdfast::graph {
namespace {

using attachments::GraphBox;
using attachments::GraphHandle;
using attachments::Hierarchy;
using attachments::MetadataCopy;
using attachments::OwnedGraphs;
using driver::Check;
using driver::GetDriver;

// The first driver that moves a child graph; the ones before do not look at what asks for it, and copy.
constexpr int kFirstDriverThatMoves = 12090;

void RequireOtherHierarchy(GraphBox& graph, GraphBox& source, const char* doing) {
  if (&graph.hierarchy() == &source.hierarchy()) {
    throw std::invalid_argument(std::string(doing) +
                                ": the source is the graph itself or in the same hierarchy; give a clone of it");
  }
}

CUgraph FindChild(CUgraphNode node) {
  CUgraph child = nullptr;
  Check("cuGraphChildGraphNodeGetGraph", GetDriver().cuGraphChildGraphNodeGetGraph(node, &child),
        "finding an embedded graph");
  return child;
}

// The box and the metadata of a copy that the driver is about to make, and their publication.
class PreparedChild {
 public:
  PreparedChild(GraphBox& graph, GraphBox& source)
      : graph_(graph),
        box_(graph.hierarchy().PrepareOwned(GraphBox::Kind::kChild)),
        entry_(graph.owned_graphs().MakeEntry({box_})),
        metadata_(source, graph.hierarchy()) {
    box_->set_copy_of(source.CopyToken());
  }

  // Throws DriverError and what MetadataCopy throws; nothing is published then.
  void Find(CUgraphNode node) {
    child_ = FindChild(node);
    metadata_.Rekey(child_);
  }

  // REQUIRES: Find has returned.
  void Publish(CUgraphNode node) noexcept {
    PublishBox(node);
    metadata_.Publish(*box_);
  }

  // What there is after Find has thrown: the box, if the graph was found.
  void PublishWithoutMetadata(CUgraphNode node) noexcept {
    if (child_ != nullptr) {
      PublishBox(node);
    }
  }

 private:
  void PublishBox(CUgraphNode node) noexcept {
    graph_.hierarchy().PublishOwned(graph_, node, std::move(entry_), {&child_, 1});
  }

  GraphBox& graph_;
  std::shared_ptr<GraphBox> box_;
  OwnedGraphs::Entry entry_;
  MetadataCopy metadata_;
  CUgraph child_ = nullptr;
};

}  // namespace

CUgraphNode AddCopiedChild(const GraphHandle& graph, GraphBox& source, std::span<const CUgraphNode> dependencies,
                           std::vector<CUgraphNode>* undo_later) {
  constexpr const char* kDoing = "adding a child-graph node";
  RequireOtherHierarchy(*graph, source, kDoing);
  PreparedChild child(*graph, source);
  CUgraphNode node = nullptr;
  Check("cuGraphAddChildGraphNode",
        GetDriver().cuGraphAddChildGraphNode(&node, graph->graph(), dependencies.data(), dependencies.size(),
                                             source.graph()),
        kDoing);
  try {
    child.Find(node);
  } catch (...) {
    if (undo_later != nullptr) {
      undo_later->push_back(node);
    } else {
      UndoAddition(*graph, node);
    }
    throw;
  }
  child.Publish(node);
  return node;
}

CUgraphNode AddMovedChild(const GraphHandle& graph, const GraphHandle& source,
                          std::span<const CUgraphNode> dependencies) {
  constexpr const char* kDoing = "adding a child-graph node by move";
  RequireOtherHierarchy(*graph, *source, kDoing);
  if (source->kind() != GraphBox::Kind::kRoot) {
    throw std::invalid_argument(std::string(kDoing) + ": the source belongs to a node; only a root can be moved");
  }
  int version = 0;
  Check("cuDriverGetVersion", GetDriver().cuDriverGetVersion(&version), kDoing);
  if (version < kFirstDriverThatMoves) {
    throw driver::DriverError("cuGraphAddNode", CUDA_ERROR_NOT_SUPPORTED, kDoing);
  }
  OwnedGraphs::Entry entry = Hierarchy::PrepareAbsorb(*graph, source);
  CUgraphNodeParams parameters = ChildGraphNodeParameters(source->graph(), CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
  CUgraphNode node = nullptr;
  Check(
      "cuGraphAddNode",
      GetDriver().cuGraphAddNode(&node, graph->graph(), dependencies.data(), nullptr, dependencies.size(), &parameters),
      kDoing);
  Hierarchy::Absorb(*graph, node, source, std::move(entry));
  return node;
}

CUgraphNode AddConditional(const GraphHandle& graph, CUgraphConditionalHandle condition,
                           CUgraphConditionalNodeType type, unsigned body_count,
                           std::span<const CUgraphNode> dependencies) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = condition;
  parameters.conditional.type = type;
  parameters.conditional.size = body_count;
  parameters.conditional.ctx = CurrentContext();
  Hierarchy& hierarchy = graph->hierarchy();
  OwnedGraphs::Boxes boxes;
  boxes.reserve(body_count);
  for (unsigned i = 0; i < body_count; ++i) {
    boxes.push_back(hierarchy.PrepareOwned(GraphBox::Kind::kBody));
  }
  OwnedGraphs::Entry entry = graph->owned_graphs().MakeEntry(std::move(boxes));
  CUgraphNode node = nullptr;
  Check(
      "cuGraphAddNode",
      GetDriver().cuGraphAddNode(&node, graph->graph(), dependencies.data(), nullptr, dependencies.size(), &parameters),
      "adding a conditional node");
  hierarchy.PublishOwned(*graph, node, std::move(entry), {parameters.conditional.phGraph_out, body_count});
  return node;
}

void ReplaceChild(GraphBox& graph, CUgraphNode node, GraphBox& source) {
  constexpr const char* kDoing = "updating a child-graph node";
  RequireOtherHierarchy(graph, source, kDoing);
  PreparedChild child(graph, source);
  CUgraphNodeParams parameters = ChildGraphNodeParameters(source.graph(), CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE);
  Check("cuGraphNodeSetParams", GetDriver().cuGraphNodeSetParams(node, &parameters), kDoing);
  // The driver has destroyed the old copy.
  graph.hierarchy().EndOwned(graph, node);
  try {
    child.Find(node);
  } catch (...) {
    child.PublishWithoutMetadata(node);
    throw;
  }
  child.Publish(node);
}

bool UndoAddition(GraphBox& graph, CUgraphNode node) noexcept {
  const Destruction destruction = DestroyNode(graph.graph(), node);
  driver::ReportCleanupFailure("cuGraphDestroyNode", destruction.result, node);
  if (!destruction.is_gone) {
    return false;
  }
  graph.hierarchy().EndOwned(graph, node);
  if (attachments::Attachment* attachment = graph.index().Take(node).attachment) {
    graph.ReleaseReference(attachment);
  }
  graph.node_records().End(node);
  return true;
}

}  // namespace holdfast::graph
