#include "lib/graph/condition.h"

#include <stdexcept>
#include <string>

namespace holdfast {
namespace {

using attachments::GraphBox;

// The root or child graph whose bodies `graph` is in, or is.
const GraphBox& OutermostOfBodies(const GraphBox& graph) {
  const GraphBox* outermost = &graph;
  while (outermost->kind() == GraphBox::Kind::kBody && outermost->parent() != nullptr) {
    outermost = outermost->parent();
  }
  return *outermost;
}

}  // namespace

void Condition::RequireUsableIn(const GraphBox& graph, const char* operation) const {
  if (!graph_->IsAlive()) {
    throw std::logic_error(std::string(operation) + ": the condition belongs to a graph that no longer exists");
  }
  if (&OutermostOfBodies(*graph_) != &OutermostOfBodies(graph)) {
    throw std::invalid_argument(std::string(operation) +
                                ": the condition belongs to another graph; make one with MakeCondition of this one");
  }
}

}  // namespace holdfast
