// OperationScope: how each public operation on a graph begins.
#ifndef HOLDFAST_LIB_GRAPH_OPERATION_SCOPE_H_
#define HOLDFAST_LIB_GRAPH_OPERATION_SCOPE_H_

#include "lib/attachments/graph_box.h"
#include "lib/attachments/use_scope.h"

namespace holdfast::graph {

// Throws std::logic_error naming `operation` unless the graph exists.
void RequireAlive(const attachments::GraphBox& graph, const char* operation);

// One thread at a time in a hierarchy, for as long as it lives; and the graph must exist.
class OperationScope {
 public:
  // Throws std::logic_error naming `operation`; nothing has been done then.
  OperationScope(attachments::GraphBox& graph, const char* operation) : use_(graph.hierarchy(), operation) {
    RequireAlive(graph, operation);
  }

 private:
  attachments::UseScope use_;
};

}  // namespace holdfast::graph

#endif  // HOLDFAST_LIB_GRAPH_OPERATION_SCOPE_H_
