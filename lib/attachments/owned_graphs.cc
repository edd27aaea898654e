#include "lib/attachments/owned_graphs.h"

#include "lib/attachments/graph_box.h"

namespace holdfast::attachments {

OwnedGraphs::Entry OwnedGraphs::MakeEntry(Boxes boxes) {
  // Made in the map itself, so that the map has grown by then if it has to.
  return entries_.extract(entries_.emplace(nullptr, std::move(boxes)).first);
}

void OwnedGraphs::Insert(CUgraphNode node, Entry entry) noexcept {
  const auto existing = entries_.find(node);
  if (existing != entries_.end()) {
    existing->second.swap(entry.mapped());
    return;
  }
  entry.key() = node;
  entries_.insert(std::move(entry));
}

OwnedGraphs::Entry OwnedGraphs::Take(CUgraphNode node) noexcept {
  const auto found = entries_.find(node);
  return found != entries_.end() ? entries_.extract(found) : Entry{};
}

const OwnedGraphs::Boxes& OwnedGraphs::Of(CUgraphNode node) const noexcept {
  static const Boxes none;
  const auto found = entries_.find(node);
  return found != entries_.end() ? found->second : none;
}

}  // namespace holdfast::attachments
