#include "fault/model/program.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

[[noreturn]] void RefuseInstantiation(CUgraphNode node, CUgraphInstantiateResult result, InstantiationError* error) {
  *error = InstantiationError{node, result};
  throw Refusal{CUDA_ERROR_INVALID_VALUE};
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

void RequireLiveArrays(const NodeParameters& parameters) {
  const auto* node = std::get_if<MemcpyNode>(&parameters);
  if (node == nullptr) return;
  const BoxCopy& copy = node->description->copy;
  const bool is_dead = (copy.source.array != nullptr && copy.source.array->destroyed()) ||
                       (copy.destination.array != nullptr && copy.destination.array->destroyed());
  if (is_dead) Misuse("the graph has a node whose array is destroyed (the real driver crashes)");
}

// Whether a device can run the node by itself, without the host, as conditional bodies want it.
bool IsKindForBodies(const NodeParameters& parameters) {
  return std::holds_alternative<EmptyNode>(parameters) || std::holds_alternative<KernelNode>(parameters) ||
         std::holds_alternative<MemsetNode>(parameters) || std::holds_alternative<MemcpyNode>(parameters) ||
         std::holds_alternative<ChildGraphNode>(parameters) || std::holds_alternative<ConditionalNode>(parameters);
}

void RequireForBody(const Node& node, InstantiationError* error) {
  const auto* memcpy = std::get_if<MemcpyNode>(&node.parameters);
  const BoxCopy* copy = memcpy == nullptr ? nullptr : &memcpy->description->copy;
  const bool has_array = copy != nullptr && (copy->source.array != nullptr || copy->destination.array != nullptr);
  if (!IsKindForBodies(node.parameters) || has_array) {
    RefuseInstantiation(node.handle, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, error);
  }
  if (copy != nullptr && !(copy->source.is_device && copy->destination.is_device)) {
    RefuseInstantiation(node.handle, CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, error);
  }
}

std::shared_ptr<const HeldReferences> HoldReferences(const Graph& graph) {
  std::vector<Reference> references;
  graph.references.CopyTo(&references);
  return references.empty() ? nullptr : std::make_shared<const HeldReferences>(std::move(references));
}

std::shared_ptr<Program> CompileNested(Graph& graph, CompileFor purpose, bool in_body, InstantiationError* error) {
  graph.RequireThere();
  auto program = std::make_shared<Program>();
  program->nodes.reserve(graph.nodes.size());
  std::uint32_t position = 0;
  for (const Node& node : graph.nodes) node.mark = position++;
  for (const Node& node : graph.nodes) {
    ProgramNode& made = program->nodes.emplace_back();
    RequireLiveParts(node.parameters);
    RequireLiveArrays(node.parameters);
    if (in_body && purpose == CompileFor::kInstantiation) RequireForBody(node, error);
    made.source = node.serial;
    made.parameters = node.parameters;
    made.dependencies.reserve(node.dependencies.size());
    for (const Node* dependency : node.dependencies) made.dependencies.push_back(dependency->mark);
    const bool has_bodies = std::holds_alternative<ConditionalNode>(node.parameters);
    for (const std::unique_ptr<Graph>& owned : node.graphs) {
      made.graphs.push_back(CompileNested(*owned, purpose, in_body || has_bodies, error));
    }
  }
  program->order = TopologicalOrder(program->nodes);
  if (program->order.size() < program->nodes.size()) {
    const std::uint32_t missing = FirstMissing(program->order, program->nodes.size());
    const CUgraphNode node = in_body ? nullptr : std::next(graph.nodes.begin(), missing)->handle;
    RefuseInstantiation(node, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, error);
  }
  program->references = HoldReferences(graph);
  return program;
}

void CollectPaths(const Program& program, ProgramPath* path, std::unordered_map<std::uint64_t, ProgramPath>* paths) {
  for (std::uint32_t position = 0; position < program.nodes.size(); ++position) {
    const ProgramNode& node = program.nodes[position];
    path->push_back(ProgramStep{position, 0});
    paths->emplace(node.source, *path);
    for (std::uint32_t graph = 0; graph < node.graphs.size(); ++graph) {
      path->back().graph = graph;
      CollectPaths(*node.graphs[graph], path, paths);
    }
    path->pop_back();
  }
}

// One launch of a program, on the calling worker thread.
class ProgramRun {
 public:
  ProgramRun(const EventBindings& bindings, Conditions& conditions) : bindings_(bindings), conditions_(conditions) {}

  void All(const Program& program) {
    for (const std::uint32_t position : program.order) {
      const ProgramNode& node = program.nodes[position];
      if (!node.enabled) continue;
      if (const auto* conditional = std::get_if<ConditionalNode>(&node.parameters)) {
        Choose(*conditional, node.graphs);
      } else if (!node.graphs.empty()) {
        All(*node.graphs.front());
      } else {
        std::visit(*this, node.parameters);
      }
    }
  }

  void operator()(const EmptyNode&) const {}
  void operator()(const ChildGraphNode&) const {}
  void operator()(const ConditionalNode&) const {}

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
    if (!Run(node.description->copy)) {
      FailContext(CUDA_ERROR_LAUNCH_FAILED, "a memcpy node uses memory that is not allocated any more");
    }
  }

  void operator()(const EventRecordNode&) { bindings_.completions[next_binding_++]->Finish(); }

  void operator()(const EventWaitNode&) {
    const CompletionPointer& completion = bindings_.completions[next_binding_++];
    if (completion != nullptr) completion->Wait();
  }

  void operator()(const MemAllocNode& node) const { MakeUsable(node.memory->allocation(), true); }
  void operator()(const MemFreeNode& node) const { MakeUsable(*node.memory, false); }

 private:
  // Bodies have no event nodes, so that running one again or not at all leaves the bindings in step. A lost context
  // ends a loop whose kernel can no longer end it.
  void Choose(const ConditionalNode& node, const std::vector<std::shared_ptr<Program>>& bodies) {
    unsigned int value = conditions_.Get(node.handle);
    switch (node.type) {
      case CU_GRAPH_COND_TYPE_IF:
        if (value != 0) {
          All(*bodies[0]);
        } else if (bodies.size() > 1) {
          All(*bodies[1]);
        }
        return;
      case CU_GRAPH_COND_TYPE_WHILE:
        for (; value != 0 && ContextIsHealthy(); value = conditions_.Get(node.handle)) All(*bodies[0]);
        return;
      case CU_GRAPH_COND_TYPE_SWITCH:
        if (value < bodies.size()) All(*bodies[value]);
        return;
    }
  }

  const EventBindings& bindings_;
  Conditions& conditions_;
  std::size_t next_binding_ = 0;
};

void BindNested(const Program& program, EventBindings* bindings) {
  for (const std::uint32_t position : program.order) {
    const ProgramNode& node = program.nodes[position];
    RequireLiveArrays(node.parameters);
    for (const std::shared_ptr<Program>& graph : node.graphs) BindNested(*graph, bindings);
    if (const auto* record = std::get_if<EventRecordNode>(&node.parameters)) {
      bindings->completions.push_back(std::make_shared<Completion>());
      record->event->SetRecord(bindings->completions.back());
    } else if (const auto* wait = std::get_if<EventWaitNode>(&node.parameters)) {
      bindings->completions.push_back(wait->event->record());
    }
  }
}

}  // namespace

std::shared_ptr<Program> Compile(Graph& graph, CompileFor purpose, InstantiationError* error) {
  if (purpose == CompileFor::kInstantiation && graph.HasUnusedConditionalHandles()) {
    RefuseInstantiation(nullptr, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, error);
  }
  return CompileNested(graph, purpose, false, error);
}

std::shared_ptr<Program> Copy(const Program& program) {
  auto copy = std::make_shared<Program>(program);
  for (ProgramNode& node : copy->nodes) {
    for (std::shared_ptr<Program>& graph : node.graphs) graph = Copy(*graph);
  }
  return copy;
}

void CollectHoldings(const Program& program, Holdings* holdings) {
  for (auto node = program.nodes.rbegin(); node != program.nodes.rend(); ++node) {
    for (auto graph = node->graphs.rbegin(); graph != node->graphs.rend(); ++graph) CollectHoldings(**graph, holdings);
  }
  if (program.references != nullptr) holdings->push_back(program.references);
}

void CollectConditions(const Program& program, Graph& graph, Conditions* conditions) {
  for (const ProgramNode& node : program.nodes) {
    if (const auto* conditional = std::get_if<ConditionalNode>(&node.parameters)) {
      if (const ConditionalHandle* handle = graph.FindConditionalHandle(conditional->handle)) {
        conditions->Add(conditional->handle, handle->default_value, handle->assigns_default);
      }
    }
    for (const std::shared_ptr<Program>& nested : node.graphs) CollectConditions(*nested, graph, conditions);
  }
}

std::unordered_map<std::uint64_t, ProgramPath> PathsBySource(const Program& program) {
  std::unordered_map<std::uint64_t, ProgramPath> paths;
  ProgramPath path;
  CollectPaths(program, &path, &paths);
  return paths;
}

ProgramNode& NodeAt(Program& program, const ProgramPath& path) {
  Program* inner = &program;
  for (std::size_t depth = 0; depth + 1 < path.size(); ++depth) {
    inner = inner->nodes[path[depth].position].graphs[path[depth].graph].get();
  }
  return inner->nodes[path.back().position];
}

EventBindings BindEvents(const Program& program) {
  EventBindings bindings;
  BindNested(program, &bindings);
  return bindings;
}

void RunProgram(const Program& program, const EventBindings& bindings, Conditions& conditions) {
  const ConditionScope scope(conditions);
  conditions.AssignDefaults();
  ProgramRun(bindings, conditions).All(program);
}

}  // namespace holdfast::fault::model
