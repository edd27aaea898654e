// Condition: the value that a conditional node decides by, which kernels set.
#ifndef HOLDFAST_LIB_GRAPH_CONDITION_H_
#define HOLDFAST_LIB_GRAPH_CONDITION_H_

#include <cuda.h>

#include <utility>

#include "lib/attachments/node_record.h"

namespace holdfast {

// Copies name the same condition. It belongs to one graph, which it keeps alive, and serves one conditional node of the
// graph's hierarchy.
class Condition {
 public:
  // What a kernel's argument takes, for cudaGraphSetConditional.
  CUgraphConditionalHandle raw() const noexcept { return raw_; }

 private:
  friend class GraphBuilder;
  friend class GraphDefinition;

  Condition(CUgraphConditionalHandle raw, attachments::GraphHandle graph) noexcept
      : raw_(raw), graph_(std::move(graph)) {}

  CUgraphConditionalHandle raw_;
  attachments::GraphHandle graph_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_CONDITION_H_
