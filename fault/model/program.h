// What an executable runs: the nodes of a graph, of its child graphs and of its conditional bodies as they were when it
// was made, and the references that came with each graph.
#ifndef HOLDFAST_FAULT_MODEL_PROGRAM_H_
#define HOLDFAST_FAULT_MODEL_PROGRAM_H_

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fault/model/completion.h"
#include "fault/model/conditions.h"
#include "fault/model/graph.h"

namespace holdfast::fault::model {

struct Program;

struct ProgramNode {
  std::uint64_t source = 0;  // serial of the node of the definition
  NodeParameters parameters;
  std::vector<std::uint32_t> dependencies;  // positions in Program::nodes, in the order of the definition
  bool enabled = true;
  std::vector<std::shared_ptr<Program>> graphs;  // of a child-graph node or a conditional node
};

// Changed only while nobody runs it; see Executable.
struct Program {
  std::vector<ProgramNode> nodes;                    // in the order of the definition
  std::vector<std::uint32_t> order;                  // positions in `nodes`, dependencies first
  std::shared_ptr<const HeldReferences> references;  // of the graph itself; null if there are none
};

// Why a graph cannot be instantiated.
struct InstantiationError {
  CUgraphNode node = nullptr;
  CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_ERROR;
};

// What a graph is compiled for. An update compares with an executable, and so leaves out what only instantiation
// checks.
enum class CompileFor { kInstantiation, kUpdate };

// Throws Refusal{CUDA_ERROR_INVALID_VALUE} with the reason in `error` for a cycle and, for an instantiation, for what a
// conditional body must not have (fact B8) and for conditional handles that no node uses (fact B1).
std::shared_ptr<Program> Compile(Graph& graph, CompileFor purpose, InstantiationError* error);

// A copy that shares nothing that can change.
std::shared_ptr<Program> Copy(const Program& program);

// The references of a program in the order in which they go: child graphs first, the last one first.
using Holdings = std::vector<std::shared_ptr<const HeldReferences>>;
void CollectHoldings(const Program& program, Holdings* holdings);

// The conditional handles of a program, with their defaults as `graph` has them now.
void CollectConditions(const Program& program, Graph& graph, Conditions* conditions);

// Where a node is: from the outermost program inwards, the position of a node, and which of its graphs comes next.
struct ProgramStep {
  std::uint32_t position;
  std::uint32_t graph;  // 0 in the last step
};
using ProgramPath = std::vector<ProgramStep>;

// The paths of all nodes, by the serial of the node that each was made from.
std::unordered_map<std::uint64_t, ProgramPath> PathsBySource(const Program& program);
ProgramNode& NodeAt(Program& program, const ProgramPath& path);

// What a launch binds when it is enqueued: for each event node, in running order, what to wait for or to finish.
struct EventBindings {
  CompletionList completions;
};
EventBindings BindEvents(const Program& program);

// Runs on a stream's worker. Errors go to the context.
void RunProgram(const Program& program, const EventBindings& bindings, Conditions& conditions);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_PROGRAM_H_
