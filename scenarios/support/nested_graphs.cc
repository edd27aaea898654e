#include "scenarios/support/nested_graphs.h"

#include <stdexcept>

namespace holdfast::scenarios {
namespace {

void CUDA_CB Increment(void* count) { ++*static_cast<int*>(count); }

}  // namespace

NestedGraphs::NestedGraphs() {
  for (int level = kLevels - 1; level >= 0; --level) {
    GraphDefinition graph;
    graph.AddHostNode({&Increment, &runs_.at(level), owners_.at(level).Take(), nullptr});
    if (definition) {
      graph.AddChildGraphNode(*definition);
    }
    definition = graph;
  }
}

GraphNode NodeOfType(const GraphDefinition& graph, CUgraphNodeType type) {
  for (const GraphNode& node : graph.Nodes()) {
    if (node.type() == type) {
      return node;
    }
  }
  throw std::runtime_error("the graph has no node of type " + std::to_string(static_cast<int>(type)));
}

GraphDefinition GraphInside(const GraphDefinition& graph, int depth) {
  return depth == 0 ? graph : GraphInside(NodeOfType(graph, CU_GRAPH_NODE_TYPE_GRAPH).ChildGraph(), depth - 1);
}

void CheckAllAlive(harness::Context& context, const NestedGraphs& nested, const std::string& why,
                   harness::SourcePlace where) {
  for (int level = 0; level < NestedGraphs::kLevels; ++level) {
    CheckAlive(context, nested.owner(level), why + ", level " + std::to_string(level), where);
  }
}

void CheckAllReleasedLate(harness::Context& context, const NestedGraphs& nested, const std::string& why,
                          harness::SourcePlace where) {
  for (int level = 0; level < NestedGraphs::kLevels; ++level) {
    CheckReleasedLate(context, nested.owner(level), why + ", level " + std::to_string(level), where);
  }
}

}  // namespace holdfast::scenarios
