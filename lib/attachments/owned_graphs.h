// OwnedGraphs: the graphs that the nodes of one graph own: the copy inside a child-graph node, the bodies of a
// conditional node.
#ifndef HOLDFAST_LIB_ATTACHMENTS_OWNED_GRAPHS_H_
#define HOLDFAST_LIB_ATTACHMENTS_OWNED_GRAPHS_H_

#include <cuda.h>

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::attachments {

class GraphBox;

// What keeps the boxes of live child and body graphs alive.
class OwnedGraphs {
 public:
  // The boxes of one node, a conditional's in the order of its bodies.
  using Boxes = std::vector<std::shared_ptr<GraphBox>>;
  using Map = std::unordered_map<CUgraphNode, Boxes>;
  // One node's boxes, put in without allocating or failing.
  using Entry = Map::node_type;

  // Throws std::bad_alloc. ENSURES: there is room for the entry.
  Entry MakeEntry(Boxes boxes);
  void Reserve(std::size_t additional) { entries_.reserve(entries_.size() + additional); }

  // Replaces what `node` has. REQUIRES: MakeEntry or Reserve made room.
  void Insert(CUgraphNode node, Entry entry) noexcept;

  // Takes the node's entry out; empty if it owns no known graph.
  Entry Take(CUgraphNode node) noexcept;

  // Empty if the node owns no known graph.
  const Boxes& Of(CUgraphNode node) const noexcept;

  const Map& entries() const noexcept { return entries_; }
  Map TakeAll() noexcept { return std::exchange(entries_, {}); }

 private:
  Map entries_;
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_OWNED_GRAPHS_H_
