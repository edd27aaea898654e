// Condition: the value that a conditional node decides by, which kernels set.
#ifndef HOLDFAST_LIB_GRAPH_CONDITION_H_
#define HOLDFAST_LIB_GRAPH_CONDITION_H_

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <utility>

#include "lib/attachments/graph_box.h"
#include "lib/attachments/node_record.h"

namespace holdfast {

// Copies name the same condition. It belongs to one graph, which it keeps alive, and serves one conditional node of
// that graph or of a conditional body below it; not one of a child graph, nor of the graph that a child graph is
// embedded in.
class Condition {
 public:
  // What a kernel's argument takes, for cudaGraphSetConditional.
  CUgraphConditionalHandle raw() const noexcept { return raw_; }

  friend bool operator==(const Condition& left, const Condition& right) noexcept {
    return left.raw_ == right.raw_ && left.graph_ == right.graph_;
  }
  // The same for handles that are equal.
  std::size_t Hash() const noexcept {
    return std::hash<const void*>()(graph_.get()) ^ std::hash<CUgraphConditionalHandle>()(raw_);
  }

 private:
  friend class GraphBuilder;
  friend class GraphDefinition;

  Condition(CUgraphConditionalHandle raw, attachments::GraphHandle graph) noexcept
      : raw_(raw), graph_(std::move(graph)) {}

  // The driver goes by a number alone: with a condition of another graph it takes that graph's own one of the number,
  // or loses the context at the launch. CUDA's documentation allows the graph that the condition was made for, and
  // those below it.
  // Throws std::logic_error if the condition's graph is gone, std::invalid_argument if `graph` may not use it.
  void RequireUsableIn(const attachments::GraphBox& graph, const char* operation) const;

  CUgraphConditionalHandle raw_;
  attachments::GraphHandle graph_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_CONDITION_H_
