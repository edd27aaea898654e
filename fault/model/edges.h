// The edges of a graph: each is in two lists, the dependents of the node that it comes from and the dependencies of the
// node that it leads to. An edge leaves both in constant time, whatever the nodes' degrees: the last one takes its
// place, as with the real driver (fact G15).
#ifndef HOLDFAST_FAULT_MODEL_EDGES_H_
#define HOLDFAST_FAULT_MODEL_EDGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::fault::model {

struct Node;

struct Edge {
  Node* from = nullptr;
  Node* to = nullptr;
  std::uint32_t in_dependents = 0;    // position in the list of `from`
  std::uint32_t in_dependencies = 0;  // position in the list of `to`
};

// One of the two lists, read as the nodes at the other ends. It owns nothing.
// Thread safety: none; a graph's user sees to it.
template <std::uint32_t Edge::*kPosition, Node* Edge::*kOtherEnd>
class EdgeList {
 public:
  class Iterator {
   public:
    explicit Iterator(Edge* const* edge) : edge_(edge) {}
    Node* operator*() const { return (*edge_)->*kOtherEnd; }
    Iterator& operator++() {
      ++edge_;
      return *this;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    Edge* const* edge_;
  };

  Iterator begin() const { return Iterator(edges_.data()); }
  Iterator end() const { return Iterator(edges_.data() + edges_.size()); }
  std::size_t size() const { return edges_.size(); }
  bool empty() const { return edges_.empty(); }
  Edge* last() const { return edges_.back(); }
  const std::vector<Edge*>& edges() const { return edges_; }

  // The edge to that node; null if there is none. Linear in the length of the list.
  Edge* Find(const Node* other_end) const {
    for (Edge* edge : edges_) {
      if (edge->*kOtherEnd == other_end) return edge;
    }
    return nullptr;
  }

  void Append(Edge* edge) {
    edges_.push_back(edge);
    edge->*kPosition = static_cast<std::uint32_t>(edges_.size() - 1);
  }

  // REQUIRES: the edge is in this list.
  void Remove(const Edge* edge) {
    Edge* moved = edges_.back();
    edges_[edge->*kPosition] = moved;
    moved->*kPosition = edge->*kPosition;
    edges_.pop_back();
  }

 private:
  std::vector<Edge*> edges_;
};

using Dependents = EdgeList<&Edge::in_dependents, &Edge::to>;
using Dependencies = EdgeList<&Edge::in_dependencies, &Edge::from>;

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_EDGES_H_
