// What an executable runs: the nodes of a graph and of its child graphs as they were when it was made.
#ifndef HOLDFAST_FAULT_MODEL_PROGRAM_H_
#define HOLDFAST_FAULT_MODEL_PROGRAM_H_

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fault/model/completion.h"
#include "fault/model/graph.h"

namespace holdfast::fault::model {

struct Program;

struct ProgramNode {
  std::uint64_t source = 0;  // serial of the node of the definition
  NodeParameters parameters;
  std::vector<std::uint32_t> dependencies;  // positions in Program::nodes
  bool enabled = true;
  std::shared_ptr<Program> child;  // of a child-graph node
};

// Changed only while nobody runs it; see Executable.
struct Program {
  std::vector<ProgramNode> nodes;    // in the order of the definition
  std::vector<std::uint32_t> order;  // positions in `nodes`, dependencies first
};

// Throws Refusal{CUDA_ERROR_INVALID_VALUE} for a cycle, with one of its nodes in `error_node`, or for a host node in a
// conditional body (fact N8); Unmodelled for other conditional nodes and for memory nodes.
std::shared_ptr<Program> Compile(Graph& graph, CUgraphNode* error_node);

// A copy that shares nothing that can change.
std::shared_ptr<Program> Copy(const Program& program);

// Whether a node of an executable can get these parameters in place of those that it has.
CUgraphExecUpdateResult CompareParameters(const NodeParameters& current, const NodeParameters& next);

// Whether `next`, compiled from `graph`, can take the place of `current`. On failure `info` says where.
bool CanReplace(const Program& current, const Program& next, const Graph& graph, CUgraphExecUpdateResultInfo* info);

// Carries over what a whole update does not touch: sources and enabled states.
void KeepIdentity(const Program& from, Program* to);

// Where a node is: a position in each program from the outermost one inwards.
using ProgramPath = std::vector<std::uint32_t>;

// The paths of all nodes, by the serial of the node that each was made from.
std::unordered_map<std::uint64_t, ProgramPath> PathsBySource(const Program& program);
ProgramNode& NodeAt(Program& program, const ProgramPath& path);

// What a launch binds when it is enqueued: for each event node, in running order, what to wait for or to finish.
struct EventBindings {
  CompletionList completions;
};
EventBindings BindEvents(const Program& program);

// Runs on a stream's worker. Errors go to the context.
void RunProgram(const Program& program, const EventBindings& bindings);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_PROGRAM_H_
