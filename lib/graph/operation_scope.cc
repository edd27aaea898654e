#include "lib/graph/operation_scope.h"

#include <stdexcept>
#include <string>

namespace holdfast::graph {

void RequireAlive(const attachments::GraphBox& graph, const char* operation) {
  if (!graph.IsAlive()) {
    throw std::logic_error(std::string(operation) +
                           ": the graph no longer exists: the node that owned it was destroyed or got another graph; "
                           "ask the owning node for its present one");
  }
}

}  // namespace holdfast::graph
