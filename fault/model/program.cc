#include "fault/model/program.h"

#include <algorithm>
#include <iterator>

#include "fault/model/call.h"
#include "fault/model/context.h"

namespace holdfast::fault::model {
namespace {

// Positions with dependencies first; ties in the order of the definition. Shorter than `nodes` if there is a cycle.
std::vector<std::uint32_t> TopologicalOrder(const std::vector<ProgramNode>& nodes) {
  std::vector<std::vector<std::uint32_t>> dependents(nodes.size());
  std::vector<std::uint32_t> missing(nodes.size());
  std::vector<std::uint32_t> order;
  order.reserve(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    missing[i] = static_cast<std::uint32_t>(nodes[i].dependencies.size());
    for (const std::uint32_t dependency : nodes[i].dependencies) dependents[dependency].push_back(i);
    if (missing[i] == 0) order.push_back(i);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const std::uint32_t dependent : dependents[order[next]]) {
      if (--missing[dependent] == 0) order.push_back(dependent);
    }
  }
  return order;
}

// A node that the order leaves out: of a cycle, or behind one.
std::uint32_t FirstMissing(const std::vector<std::uint32_t>& order, std::size_t count) {
  std::vector<bool> present(count);
  for (const std::uint32_t position : order) present[position] = true;
  return static_cast<std::uint32_t>(std::find(present.begin(), present.end(), false) - present.begin());
}

// The real driver follows the node's pointers to what is gone, and crashes if it is lucky.
void RequireLiveParts(const NodeParameters& parameters) {
  if (const auto* kernel = std::get_if<KernelNode>(&parameters)) {
    if (!kernel->kernel->loaded.load(std::memory_order_relaxed)) {
      Misuse("the graph has a node whose kernel is unloaded (the real driver uses it all the same)");
    }
  }
  const auto* record = std::get_if<EventRecordNode>(&parameters);
  const auto* wait = std::get_if<EventWaitNode>(&parameters);
  if ((record != nullptr && record->event->destroyed()) || (wait != nullptr && wait->event->destroyed())) {
    Misuse("the graph has a node whose event is destroyed (the real driver crashes)");
  }
}

void RefuseUnmodelled(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (std::holds_alternative<ConditionalNode>(node.parameters)) {
      for (const std::unique_ptr<Graph>& body : node.graphs) Require(!body->Has<HostNode>());
      throw Unmodelled{};
    }
  }
  if (graph.HasMemoryNodes()) throw Unmodelled{};
}

CUgraphExecUpdateResult CompareNodes(const ProgramNode& current, const ProgramNode& next) {
  if (current.parameters.index() != next.parameters.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (current.dependencies.size() != next.dependencies.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  if (!std::is_permutation(current.dependencies.begin(), current.dependencies.end(), next.dependencies.begin())) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  return CompareParameters(current.parameters, next.parameters);
}

std::size_t EdgeCount(const Program& program) {
  std::size_t count = 0;
  for (const ProgramNode& node : program.nodes) count += node.dependencies.size();
  return count;
}

void CollectPaths(const Program& program, ProgramPath* path, std::unordered_map<std::uint64_t, ProgramPath>* paths) {
  for (std::uint32_t position = 0; position < program.nodes.size(); ++position) {
    const ProgramNode& node = program.nodes[position];
    path->push_back(position);
    paths->emplace(node.source, *path);
    if (node.child != nullptr) CollectPaths(*node.child, path, paths);
    path->pop_back();
  }
}

// Runs one node on the calling worker thread.
class NodeRunner {
 public:
  NodeRunner(const EventBindings& bindings, std::size_t* next_binding)
      : bindings_(bindings), next_binding_(next_binding) {}

  void operator()(const EmptyNode&) const {}
  void operator()(const ChildGraphNode&) const {}
  void operator()(const ConditionalNode&) const {}
  void operator()(const MemAllocNode&) const {}
  void operator()(const MemFreeNode&) const {}

  void operator()(const HostNode& node) const {
    const CallbackScope scope;
    node.function(node.payload);
  }

  void operator()(const KernelNode& node) const { RunKernel(*node.kernel, node.arguments, node.shape); }

  void operator()(const MemsetNode& node) const {
    if (!Run(node.fill)) {
      FailContext(CUDA_ERROR_LAUNCH_FAILED, "a memset node writes to memory that is not allocated any more");
    }
  }

  void operator()(const MemcpyNode& node) const {
    if (!Run(node.copy)) {
      FailContext(CUDA_ERROR_LAUNCH_FAILED, "a memcpy node uses memory that is not allocated any more");
    }
  }

  void operator()(const EventRecordNode&) const { bindings_.completions[(*next_binding_)++]->Finish(); }

  void operator()(const EventWaitNode&) const {
    const CompletionPointer& completion = bindings_.completions[(*next_binding_)++];
    if (completion != nullptr) completion->Wait();
  }

 private:
  const EventBindings& bindings_;
  std::size_t* const next_binding_;
};

void RunNested(const Program& program, const EventBindings& bindings, std::size_t* next_binding) {
  for (const std::uint32_t position : program.order) {
    const ProgramNode& node = program.nodes[position];
    if (node.child != nullptr) {
      RunNested(*node.child, bindings, next_binding);
    } else if (node.enabled) {
      std::visit(NodeRunner(bindings, next_binding), node.parameters);
    }
  }
}

void BindNested(const Program& program, EventBindings* bindings) {
  for (const std::uint32_t position : program.order) {
    const ProgramNode& node = program.nodes[position];
    if (node.child != nullptr) {
      BindNested(*node.child, bindings);
    } else if (const auto* record = std::get_if<EventRecordNode>(&node.parameters)) {
      bindings->completions.push_back(std::make_shared<Completion>());
      record->event->SetRecord(bindings->completions.back());
    } else if (const auto* wait = std::get_if<EventWaitNode>(&node.parameters)) {
      bindings->completions.push_back(wait->event->record());
    }
  }
}

}  // namespace

std::shared_ptr<Program> Compile(Graph& graph, CUgraphNode* error_node) {
  RefuseUnmodelled(graph);
  auto program = std::make_shared<Program>();
  program->nodes.reserve(graph.nodes.size());
  std::uint32_t position = 0;
  for (Node& node : graph.nodes) node.mark = position++;
  for (const Node& node : graph.nodes) {
    ProgramNode& made = program->nodes.emplace_back();
    RequireLiveParts(node.parameters);
    made.source = node.serial;
    made.parameters = node.parameters;
    made.dependencies.reserve(node.dependencies.size());
    for (const Node* dependency : node.dependencies) made.dependencies.push_back(dependency->mark);
    if (std::holds_alternative<ChildGraphNode>(node.parameters)) {
      made.child = Compile(*node.graphs.front(), error_node);
    }
  }
  program->order = TopologicalOrder(program->nodes);
  if (program->order.size() < program->nodes.size()) {
    *error_node = std::next(graph.nodes.begin(), FirstMissing(program->order, program->nodes.size()))->handle;
    throw Refusal{CUDA_ERROR_INVALID_VALUE};
  }
  return program;
}

std::shared_ptr<Program> Copy(const Program& program) {
  auto copy = std::make_shared<Program>(program);
  for (ProgramNode& node : copy->nodes) {
    if (node.child != nullptr) node.child = Copy(*node.child);
  }
  return copy;
}

CUgraphExecUpdateResult CompareParameters(const NodeParameters& current, const NodeParameters& next) {
  if (current.index() != next.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  bool same = true;
  if (const auto* copy = std::get_if<MemcpyNode>(&current)) {
    const LinearCopy& other = std::get<MemcpyNode>(next).copy;
    same = copy->copy.source_is_device == other.source_is_device &&
           copy->copy.destination_is_device == other.destination_is_device;
  } else if (const auto* fill = std::get_if<MemsetNode>(&current)) {
    same = (fill->fill.height == 1) == (std::get<MemsetNode>(next).fill.height == 1);
  }
  return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

bool CanReplace(const Program& current, const Program& next, const Graph& graph, CUgraphExecUpdateResultInfo* info) {
  if (current.nodes.size() != next.nodes.size() || EdgeCount(current) < EdgeCount(next)) {
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return false;
  }
  auto definition = graph.nodes.begin();
  for (std::size_t i = 0; i < next.nodes.size(); ++i, ++definition) {
    info->result = CompareNodes(current.nodes[i], next.nodes[i]);
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
      info->errorNode = definition->handle;
      return false;
    }
    if (next.nodes[i].child != nullptr &&
        !CanReplace(*current.nodes[i].child, *next.nodes[i].child, *definition->graphs.front(), info)) {
      return false;
    }
  }
  return true;
}

void KeepIdentity(const Program& from, Program* to) {
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    to->nodes[i].source = from.nodes[i].source;
    to->nodes[i].enabled = from.nodes[i].enabled;
    if (from.nodes[i].child != nullptr) KeepIdentity(*from.nodes[i].child, to->nodes[i].child.get());
  }
}

std::unordered_map<std::uint64_t, ProgramPath> PathsBySource(const Program& program) {
  std::unordered_map<std::uint64_t, ProgramPath> paths;
  ProgramPath path;
  CollectPaths(program, &path, &paths);
  return paths;
}

ProgramNode& NodeAt(Program& program, const ProgramPath& path) {
  ProgramNode* node = &program.nodes[path.front()];
  for (std::size_t depth = 1; depth < path.size(); ++depth) node = &node->child->nodes[path[depth]];
  return *node;
}

EventBindings BindEvents(const Program& program) {
  EventBindings bindings;
  BindNested(program, &bindings);
  return bindings;
}

void RunProgram(const Program& program, const EventBindings& bindings) {
  std::size_t next_binding = 0;
  RunNested(program, bindings, &next_binding);
}

}  // namespace holdfast::fault::model
