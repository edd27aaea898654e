// NestedGraphs: a definition with a graph in it, with a graph in that one, so that what must hold at every depth can be
// checked at every depth.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_NESTED_GRAPHS_H_
#define HOLDFAST_SCENARIOS_SUPPORT_NESTED_GRAPHS_H_

#include <cuda.h>

#include <array>
#include <optional>

#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_node.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {

// Each level has one host node, which counts its runs and has an owner of its own; all but the innermost have one
// child-graph node beside it. REQUIRES: lives until no launch needs the counters.
class NestedGraphs {
 public:
  static constexpr int kLevels = 3;

  // Builds from the innermost outwards. What the levels were copied from is gone by then.
  NestedGraphs();

  // Holds the outermost level; the only handle.
  std::optional<GraphDefinition> definition;

  const OwnerProbe& owner(int level) const { return owners_.at(level); }
  int runs(int level) const { return runs_.at(level); }

 private:
  std::array<OwnerProbe, kLevels> owners_;
  std::array<int, kLevels> runs_{};
};

// The first node of that kind. Throws std::runtime_error if the graph has none.
GraphNode NodeOfType(const GraphDefinition& graph, CUgraphNodeType type);

// The graph `depth` levels further in, by the first child-graph node of each level.
GraphDefinition GraphInside(const GraphDefinition& graph, int depth);

// Checks on all three owners.
void CheckAllAlive(harness::Context& context, const NestedGraphs& nested, const std::string& why,
                   harness::SourcePlace where = harness::SourcePlace::Here());
void CheckAllReleasedLate(harness::Context& context, const NestedGraphs& nested, const std::string& why,
                          harness::SourcePlace where = harness::SourcePlace::Here());

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_NESTED_GRAPHS_H_
