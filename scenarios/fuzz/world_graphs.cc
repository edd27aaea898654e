// World: operations on graphs and their nodes.
#include <algorithm>

#include "scenarios/fuzz/world.h"

namespace holdfast::fuzz {
namespace {

// Where the runner's memory is used for what.
constexpr std::size_t kFillBytes = 64;
constexpr std::size_t kCopyOffset = 1024;
constexpr std::size_t kRowsOffset = 2048;
constexpr unsigned kMostBlockThreads = 64;

bool IsNotCopyable(NodeKind kind) { return IsConditional(kind) || IsMemoryNode(kind); }

int BlockOf(int parameter) { return parameter % static_cast<int>(kMostBlockThreads) + 1; }

}  // namespace

// What is expected of a plain hierarchy; of another one the driver may refuse what it likes.
World::Expectation World::IfPlain(GraphId graph, Expectation expectation) const {
  return expectation == Expectation::kMisuse || model_->IsPlain(graph) ? expectation : Expectation::kUncertain;
}

// A copy of a graph with conditional or memory nodes is refused (N6). A driver that makes one is not followed.
bool World::IsCopyable(GraphId graph) const { return !model_->HasKind(graph, &IsNotCopyable); }

bool World::IsBusy(GraphId id) const {
  const HierarchyId hierarchy = model_->graph(id).hierarchy;
  for (GraphId other = 0; other < model_->graph_count(); ++other) {
    if (model_->graph(other).capturing && model_->graph(other).hierarchy == hierarchy) {
      return true;
    }
  }
  return false;
}

MemoryOperand World::FillTarget(const OpaqueHandle& owner) const {
  return MemoryOperand::Device(memory_->address(), owner);
}

MemsetParameters World::FillPattern() const { return {static_cast<unsigned>(parameter_), 1, kFillBytes, 1, 0}; }

MemoryOperand World::CopyDestination(const OpaqueHandle& owner) const {
  return MemoryOperand::Device(memory_->address() + kCopyOffset, owner);
}

MemoryOperand World::CopySource(const OpaqueHandle& owner) { return MemoryOperand::Host(host_memory_.data(), owner); }

CopyParameters World::MakeCopyOfRows(const OpaqueHandle& destination, const OpaqueHandle& source) const {
  const CUdeviceptr memory = memory_->address();
  CopyParameters copy;
  copy.destination = {MemoryOperand::Device(memory + kRowsOffset, destination), 0, 0, 0, 32, 0};
  copy.source = {MemoryOperand::Device(memory, source), 0, 0, 0, 32, 0};
  copy.width_bytes = 16;
  copy.height = 4;
  return copy;
}

KernelArguments World::MakeArguments(const OpaqueHandle& owner) const {
  KernelArguments arguments;
  arguments.Add(memory_->address()).Add(static_cast<unsigned>(kFillBytes));
  return std::move(arguments.AddOwner(owner));
}

World::Dependencies World::TakeDependencies(const Operation& operation, std::size_t first, GraphId graph) const {
  Dependencies dependencies;
  for (std::size_t i = first; i < first + 2; ++i) {
    const int slot = operation.operands[i];
    if (slot == kAbsent || nodes_[slot].id == kNone) {
      continue;
    }
    const NodeId id = nodes_[slot].id;
    if (std::find(dependencies.ids.begin(), dependencies.ids.end(), id) != dependencies.ids.end()) {
      continue;
    }
    dependencies.handles.push_back(nodes_[slot].handle);
    dependencies.ids.push_back(id);
    dependencies.are_usable &= model_->node(id).alive && model_->node(id).graph == graph;
  }
  return dependencies;
}

// ---- graphs ----

void World::Create(const Operation& operation) {
  std::optional<GraphDefinition> made;
  if (Do(Expectation::kSuccess, [&] { made.emplace(); })) {
    const GraphId id = model_->CreateRoot();
    SetRawGraph(id, made->raw());
    SetGraph(operation.operands[0], *std::move(made), id);
    Touch(*graphs_[operation.operands[0]].handle, id);
  }
}

void World::Adopt(const Operation& operation) {
  const CUgraph raw = environment_.CreateGraph();
  std::optional<GraphDefinition> made;
  // While another thread destroys a graph whose handle this one got, the library may take it for one that it knows.
  if (!Do(alone_ ? Expectation::kSuccess : Expectation::kUncertain,
          [&] { made.emplace(GraphDefinition::Adopt(raw)); })) {
    environment_.DestroyGraph(raw);
    return;
  }
  const GraphId id = model_->CreateRoot();
  SetRawGraph(id, raw);
  SetGraph(operation.operands[0], *std::move(made), id);
  Do(Expectation::kMisuse, [&] { GraphDefinition::Adopt(raw); });
}

void World::Clone(const Operation& operation) {
  const GraphSlot& source = graphs_[operation.operands[0]];
  if (source.id == kNone || IsBusy(source.id)) {
    return;
  }
  const bool is_root = model_->graph(source.id).parent == kNone;
  const Expectation expectation = !model_->graph(source.id).alive ? Expectation::kMisuse
                                  : !IsCopyable(source.id)        ? Expectation::kRefusal
                                  : is_root                       ? IfPlain(source.id, Expectation::kSuccess)
                                                                  : Expectation::kUncertain;
  std::optional<GraphDefinition> made;
  Touch(*source.handle, source.id);
  if (Do(expectation, [&] { made.emplace(source.handle->Clone()); })) {
    const GraphId id = model_->CloneRoot(source.id);
    MapCopy(source.id, id, made->raw());
    CompareTree(*made, id);
    SetGraph(operation.operands[1], *std::move(made), id);
  }
}

void World::Find(const Operation& operation) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  if (slot.id == kNone || !model_->graph(slot.id).alive) {
    return;
  }
  const CUgraph raw = slot.handle->raw();
  std::optional<GraphDefinition> found;
  if (!Do(Expectation::kSuccess, [&] { found = GraphDefinition::Find(raw); })) {
    return;
  }
  if (!found || !(*found == *slot.handle)) {
    Fail("a live graph is not found by its raw handle");
  }
  SetGraph(operation.operands[1], *std::move(found), slot.id);
}

void World::DropGraph(const Operation& operation) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  Do(Expectation::kSuccess, [&] { slot.handle.reset(); });
  DropHandleUnderFaults(std::exchange(slot.id, kNone));
}

void World::DropNode(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  Do(Expectation::kSuccess, [&] { slot.handle = GraphNode(); });
  DropHandleUnderFaults(model_->node(std::exchange(slot.id, kNone)).graph);
}

void World::DropCondition(const Operation& operation) {
  ConditionSlot& slot = conditions_[operation.operands[0]];
  if (slot.graph == kNone) {
    return;
  }
  Do(Expectation::kSuccess, [&] { slot.handle.reset(); });
  DropHandleUnderFaults(std::exchange(slot.graph, kNone));
}

void World::DropHandleUnderFaults(GraphId graph) {
  const GraphId root = model_->DropHandle(graph);
  if (root != kNone && WasStruck("cuGraphDestroy", /*after=*/false)) {
    // What the fault kept from the driver, so that nothing is left at the end.
    environment_.DestroyGraph(raw_graphs_[root]);
  }
  FinishOrphan(root);
}

// ---- nodes ----

template <typename Add>
NodeId World::AddNode(const Operation& operation, NodeKind kind, std::size_t first_dependency, Expectation expectation,
                      std::initializer_list<OwnerId> owners, const Add& add) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  const GraphId graph = slot.id;
  const Dependencies dependencies = TakeDependencies(operation, first_dependency, graph);
  if (!model_->graph(graph).alive || !dependencies.are_usable) {
    expectation = Expectation::kMisuse;
  }
  Touch(*slot.handle, graph);
  GraphNode made;
  if (Do(expectation, [&] { made = add(*slot.handle, GraphDefinition::Dependencies(dependencies.handles)); })) {
    const NodeId id = model_->AddNode(graph, kind, MakeBundle(owners), dependencies.ids, parameter_);
    SetRaw(id, made.raw());
    SetNode(operation.operands[1], std::move(made), id);
    return id;
  }
  if (WasReleaseRefused()) {
    model_->AddAnonymously(graph, MakeBundle(owners));
  }
  return kNone;
}

void World::AddEmpty(const Operation& operation) {
  if (!IsUsableOperand(graphs_[operation.operands[0]])) {
    return;
  }
  AddNode(operation, NodeKind::kEmpty, 2, Expectation::kSuccess, {},
          [](GraphDefinition& graph, auto dependencies) { return graph.AddEmptyNode(dependencies); });
}

void World::AddHost(const Operation& operation) {
  if (!IsUsableOperand(graphs_[operation.operands[0]])) {
    return;
  }
  const Owner function = Take(operation.operands[2]);
  const Owner data = Take(operation.operands[3]);
  const HostCallback callback{&Gate::Pass, &gate_, function.handle, data.handle};
  AddNode(operation, NodeKind::kHost, 4, Expectation::kSuccess, {function.id, data.id},
          [&](GraphDefinition& graph, auto dependencies) { return graph.AddHostNode(callback, dependencies); });
}

void World::AddMemset(const Operation& operation) {
  if (!IsUsableOperand(graphs_[operation.operands[0]])) {
    return;
  }
  const Owner owner = Take(operation.operands[2]);
  const MemoryOperand target = FillTarget(owner.handle);
  const MemsetParameters pattern = FillPattern();
  AddNode(
      operation, NodeKind::kMemset, 3, Expectation::kSuccess, {owner.id},
      [&](GraphDefinition& graph, auto dependencies) { return graph.AddMemsetNode(target, pattern, dependencies); });
}

void World::AddMemcpy(const Operation& operation) {
  if (!IsUsableOperand(graphs_[operation.operands[0]])) {
    return;
  }
  const Owner to = Take(operation.operands[2]);
  const Owner from = Take(operation.operands[3]);
  const MemoryOperand destination = CopyDestination(to.handle);
  const MemoryOperand source = CopySource(from.handle);
  const auto size_bytes = static_cast<std::size_t>(parameter_);
  AddNode(operation, NodeKind::kMemcpy, 4, Expectation::kSuccess, {to.id, from.id},
          [&](GraphDefinition& graph, auto dependencies) {
            return graph.AddMemcpyNode(destination, source, size_bytes, dependencies);
          });
}

void World::AddCopyOfRows(const Operation& operation) {
  if (!IsUsableOperand(graphs_[operation.operands[0]]) || !environment_.has_copies_of_rows()) {
    return;
  }
  const Owner to = Take(operation.operands[2]);
  const Owner from = Take(operation.operands[3]);
  const CopyParameters copy = MakeCopyOfRows(to.handle, from.handle);
  AddNode(operation, NodeKind::kCopyOfRows, 4, Expectation::kSuccess, {to.id, from.id},
          [&](GraphDefinition& graph, auto dependencies) { return graph.AddMemcpyNode(copy, dependencies); });
}

void World::AddKernel(const Operation& operation) {
  if (!IsUsableOperand(graphs_[operation.operands[0]])) {
    return;
  }
  const Owner owner = Take(operation.operands[2]);
  const Owner argument = Take(operation.operands[3]);
  const KernelHandle kernel = TakeAs(owner, environment_.kernel().get());
  const KernelArguments arguments = MakeArguments(argument.handle);
  parameter_ = BlockOf(parameter_);
  LaunchConfiguration configuration;
  configuration.block[0] = static_cast<unsigned>(parameter_);
  AddNode(operation, NodeKind::kKernel, 4, Expectation::kSuccess, {owner.id, argument.id},
          [&](GraphDefinition& graph, auto dependencies) {
            return graph.AddKernelNode(kernel, configuration, arguments, dependencies);
          });
}

void World::AddEventRecord(const Operation& operation) {
  if (!IsUsableOperand(graphs_[operation.operands[0]])) {
    return;
  }
  const Owner owner = Take(operation.operands[2]);
  const EventHandle event = TakeAs(owner, event_.get());
  AddNode(operation, NodeKind::kEventRecord, 3, Expectation::kSuccess, {owner.id},
          [&](GraphDefinition& graph, auto dependencies) { return graph.AddEventRecordNode(event, dependencies); });
}

void World::AddEventWait(const Operation& operation) {
  if (!IsUsableOperand(graphs_[operation.operands[0]])) {
    return;
  }
  const Owner owner = Take(operation.operands[2]);
  const EventHandle event = TakeAs(owner, event_.get());
  AddNode(operation, NodeKind::kEventWait, 3, Expectation::kSuccess, {owner.id},
          [&](GraphDefinition& graph, auto dependencies) { return graph.AddEventWaitNode(event, dependencies); });
}

void World::AddAllocation(const Operation& operation) {
  if (!IsUsableOperand(graphs_[operation.operands[0]])) {
    return;
  }
  // Whether a graph inside a node may allocate is the driver's business.
  const bool is_root = model_->graph(graphs_[operation.operands[0]].id).parent == kNone;
  const NodeId made = AddNode(
      operation, NodeKind::kAllocation, 2, is_root ? Expectation::kSuccess : Expectation::kUncertain, {},
      [](GraphDefinition& graph, auto dependencies) { return graph.AddMemoryAllocationNode(256, dependencies); });
  if (made != kNone) {
    addresses_[made] = nodes_[operation.operands[1]].handle.AllocatedAddress();
  }
}

void World::AddFree(const Operation& operation) {
  const NodeSlot& allocation = nodes_[operation.operands[2]];
  if (!IsUsableOperand(graphs_[operation.operands[0]]) || allocation.id == kNone ||
      model_->node(allocation.id).kind != NodeKind::kAllocation) {
    return;
  }
  // It may be free already, or gone with its graph.
  const CUdeviceptr address = addresses_[allocation.id];
  const NodeId made = AddNode(
      operation, NodeKind::kFree, 3, Expectation::kUncertain, {},
      [address](GraphDefinition& graph, auto dependencies) { return graph.AddMemoryFreeNode(address, dependencies); });
  if (made != kNone) {
    addresses_[made] = address;
  } else {
    model_->NoteRefusedMemoryNode(graphs_[operation.operands[0]].id);
  }
}

// ---- child graphs ----

World::Expectation World::EmbedExpectation(GraphId graph, GraphId source, bool move) const {
  const Graph& from = model_->graph(source);
  if (!from.alive) {
    return Expectation::kMisuse;
  }
  const bool is_same_hierarchy = from.hierarchy == model_->graph(graph).hierarchy;
  if (is_same_hierarchy || (move && from.parent != kNone)) {
    return Expectation::kMisuse;
  }
  if (from.parent != kNone) {
    return Expectation::kUncertain;
  }
  if (!IsCopyable(source) && !move) {
    return Expectation::kRefusal;
  }
  return model_->IsPlain(source) ? IfPlain(graph, Expectation::kSuccess) : Expectation::kUncertain;
}

void World::Embed(const Operation& operation) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  const GraphSlot& source = graphs_[operation.operands[2]];
  if (!IsUsableOperand(slot) || !IsUsableOperand(source) || (!environment_.is_model() && !IsCopyable(source.id))) {
    return;
  }
  EmbedAs(operation, EmbedExpectation(slot.id, source.id, /*move=*/false), /*move=*/false);
}

void World::Move(const Operation& operation) {
  if (IsUsableOperand(graphs_[operation.operands[0]]) && IsUsableOperand(graphs_[operation.operands[2]])) {
    EmbedAs(operation,
            EmbedExpectation(graphs_[operation.operands[0]].id, graphs_[operation.operands[2]].id, /*move=*/true),
            /*move=*/true);
  }
}

void World::EmbedAs(const Operation& operation, Expectation expectation, bool move) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  const GraphSlot& source = graphs_[operation.operands[2]];
  const GraphId graph = slot.id;
  const Dependencies dependencies = TakeDependencies(operation, 3, graph);
  if (!model_->graph(graph).alive || !dependencies.are_usable) {
    expectation = Expectation::kMisuse;
  }
  Touch(*slot.handle, graph);
  GraphNode made;
  const bool succeeded = Do(expectation, [&] {
    made = move ? slot.handle->AddChildGraphNodeByMove(*source.handle, dependencies.handles)
                : slot.handle->AddChildGraphNode(*source.handle, dependencies.handles);
  });
  if (!succeeded) {
    AdoptStray(graph, source.id, dependencies.ids);
    return;
  }
  const NodeId id = move ? model_->AddChildByMove(graph, source.id, dependencies.ids)
                         : model_->AddChildByCopy(graph, source.id, dependencies.ids);
  const CUgraphNode raw = made.raw();
  if (move) {
    SetRaw(id, raw);
  } else {
    MapChildCopy(id, raw, source.id);
  }
  SetNode(operation.operands[1], std::move(made), id);
  CompareBelow(nodes_[operation.operands[1]].handle, id);
}

// A node whose addition failed and could not be undone: it is there, and its graph holds the owners, but the library
// does not know whose they are.
void World::AdoptStray(GraphId graph, GraphId source, std::span<const NodeId> dependencies) {
  if (fired_ == 0 || !model_->graph(graph).alive || model_->IsPlain(graph)) {
    return;
  }
  for (const CUgraphNode raw : environment_.NodesOf(raw_graphs_[graph])) {
    if (FindByRaw(graph, raw) == kNone) {
      const NodeId id = model_->AddChildByCopy(graph, source, dependencies, /*owners_are_known=*/false);
      MapChildCopy(id, raw, source);
    }
  }
}

CUgraph World::GraphThatEnds(const Operation& operation) const {
  if (operation.opcode != Opcode::kDestroy && operation.opcode != Opcode::kUpdateChild) {
    return nullptr;
  }
  const NodeId id = nodes_[operation.operands[0]].id;
  const bool has_child = id != kNone && model_->node(id).alive && model_->node(id).kind == NodeKind::kChild;
  return has_child ? raw_graphs_[model_->node(id).graphs.front()] : nullptr;
}

void World::ChildGraph(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const Node& node = model_->node(slot.id);
  std::optional<GraphDefinition> found;
  const bool has_child = node.alive && node.kind == NodeKind::kChild;
  if (Do(has_child ? Expectation::kSuccess : Expectation::kMisuse, [&] { found.emplace(slot.handle.ChildGraph()); })) {
    const GraphId id = node.graphs.front();
    Touch(*found, id);
    SetGraph(operation.operands[1], *std::move(found), id);
  }
}

void World::UpdateChild(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  const GraphSlot& source = graphs_[operation.operands[1]];
  if (slot.id == kNone || !IsUsableOperand(source) || IsBusy(model_->node(slot.id).graph)) {
    return;
  }
  const Node& node = model_->node(slot.id);
  const bool is_child = node.alive && node.kind == NodeKind::kChild;
  const bool is_same_hierarchy = model_->graph(source.id).hierarchy == model_->graph(node.graph).hierarchy;
  const bool is_root = model_->graph(source.id).parent == kNone;
  if (!environment_.is_model() && !IsCopyable(source.id)) {
    return;
  }
  const Expectation expectation = !is_child || !model_->graph(source.id).alive || is_same_hierarchy
                                      ? Expectation::kMisuse
                                  : !is_root                   ? Expectation::kUncertain
                                  : !IsCopyable(source.id)     ? Expectation::kRefusal
                                  : model_->IsPlain(source.id) ? IfPlain(node.graph, Expectation::kSuccess)
                                                               : Expectation::kUncertain;
  Touch(slot);
  const CUgraph before = is_child ? environment_.ChildGraphOf(RawOf(slot.id)) : nullptr;
  const bool succeeded = Do(expectation, [&] { slot.handle.UpdateChildGraph(*source.handle); });
  // A failure behind the driver's back: the new copy is in place, and its nodes have lost their owners.
  const bool was_replaced = is_child && environment_.ChildGraphOf(RawOf(slot.id)) != before;
  if (!succeeded && !was_replaced) {
    if (is_child) {
      CompareBelow(slot.handle, slot.id);
    }
    return;
  }
  model_->ReplaceChild(slot.id, source.id, /*owners_are_known=*/succeeded);
  MapChildCopy(slot.id, RawOf(slot.id), source.id);
  CompareBelow(slot.handle, slot.id);
}

// ---- conditional nodes ----

void World::MakeCondition(const Operation& operation) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  if (!IsUsableOperand(slot)) {
    return;
  }
  const int given = operation.operands[2];
  const std::optional<unsigned> value = given < 3 ? std::optional(static_cast<unsigned>(given)) : std::nullopt;
  std::optional<Condition> made;
  if (Do(model_->graph(slot.id).alive ? Expectation::kSuccess : Expectation::kMisuse,
         [&] { made.emplace(slot.handle->MakeCondition(value)); })) {
    model_->AddCondition(slot.id);
    model_->AddHandle(slot.id);
    ClearCondition(operation.operands[1]);
    conditions_[operation.operands[1]] = {std::move(made), slot.id, value == 0u, false};
  }
}

World::Expectation World::ConditionalExpectation(const ConditionSlot& condition, GraphId graph,
                                                 unsigned body_count) const {
  const bool is_of_other_graph = model_->OutermostOfBodies(condition.graph) != model_->OutermostOfBodies(graph);
  if (is_of_other_graph || !model_->graph(condition.graph).alive) {
    return Expectation::kMisuse;
  }
  if (body_count == 0) {
    return Expectation::kFailure;
  }
  // Whose it is when its root has been moved into another one, or when it is used below, is the driver's business.
  const bool is_simple = condition.graph == graph && model_->graph(graph).parent == kNone && !condition.is_used;
  return is_simple ? Expectation::kSuccess : Expectation::kUncertain;
}

void World::AddConditional(const Operation& operation, NodeKind kind, unsigned body_count,
                           std::size_t first_dependency) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  ConditionSlot& condition = conditions_[operation.operands[2]];
  // A loop that does not end by itself would never end.
  if (!IsUsableOperand(slot) || condition.graph == kNone || (kind == NodeKind::kWhile && !condition.can_stop)) {
    return;
  }
  const GraphId graph = slot.id;
  const Dependencies dependencies = TakeDependencies(operation, first_dependency, graph);
  const bool is_usable = model_->graph(graph).alive && dependencies.are_usable;
  Touch(*slot.handle, graph);
  GraphNode made;
  const bool succeeded =
      Do(is_usable ? ConditionalExpectation(condition, graph, body_count) : Expectation::kMisuse, [&] {
        switch (kind) {
          case NodeKind::kIf:
            made = slot.handle->AddIfNode(*condition.handle, dependencies.handles);
            break;
          case NodeKind::kIfElse:
            made = slot.handle->AddIfElseNode(*condition.handle, dependencies.handles);
            break;
          case NodeKind::kWhile:
            made = slot.handle->AddWhileNode(*condition.handle, dependencies.handles);
            break;
          default:
            made = slot.handle->AddSwitchNode(*condition.handle, body_count, dependencies.handles);
            break;
        }
      });
  // One that failed may have used it up.
  condition.is_used = true;
  if (!succeeded) {
    return;
  }
  const NodeId id = model_->AddConditional(graph, kind, body_count, dependencies.ids);
  SetRaw(id, made.raw());
  MapBodies(made, id);
  SetNode(operation.operands[1], std::move(made), id);
}

void World::MapBodies(const GraphNode& handle, NodeId id) {
  const std::vector<GraphDefinition> bodies = handle.Bodies();
  const std::vector<GraphId>& expected = model_->node(id).graphs;
  if (bodies.size() != expected.size()) {
    Fail("a conditional node has " + std::to_string(bodies.size()) + " bodies, not " + std::to_string(expected.size()));
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    SetRawGraph(expected[i], bodies[i].raw());
  }
}

void World::AddIf(const Operation& operation) { AddConditional(operation, NodeKind::kIf, 1, 3); }
void World::AddIfElse(const Operation& operation) { AddConditional(operation, NodeKind::kIfElse, 2, 3); }
void World::AddWhile(const Operation& operation) { AddConditional(operation, NodeKind::kWhile, 1, 3); }
void World::AddSwitch(const Operation& operation) {
  AddConditional(operation, NodeKind::kSwitch, static_cast<unsigned>(operation.operands[3] % 4), 4);
}

void World::Body(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const Node& node = model_->node(slot.id);
  const bool has_bodies = node.alive && IsConditional(node.kind);
  std::vector<GraphDefinition> bodies;
  if (!Do(has_bodies ? Expectation::kSuccess : Expectation::kMisuse, [&] { bodies = slot.handle.Bodies(); })) {
    return;
  }
  if (bodies.size() != node.graphs.size()) {
    Fail("a conditional node has " + std::to_string(bodies.size()) + " bodies, not " +
         std::to_string(node.graphs.size()));
  }
  const std::size_t index = static_cast<std::size_t>(operation.operands[1]) % bodies.size();
  Touch(bodies[index], node.graphs[index]);
  SetGraph(operation.operands[2], bodies[index], node.graphs[index]);
}

// ---- looking up ----

void World::GraphOf(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  std::optional<GraphDefinition> found;
  if (Do(Expectation::kSuccess, [&] { found.emplace(slot.handle.Graph()); })) {
    SetGraph(operation.operands[1], *std::move(found), model_->node(slot.id).graph);
  }
}

void World::NodeAt(const Operation& operation) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  if (!IsUsableOperand(slot)) {
    return;
  }
  std::vector<GraphNode> found;
  if (!Do(model_->graph(slot.id).alive ? Expectation::kSuccess : Expectation::kMisuse,
          [&] { found = slot.handle->Nodes(); })) {
    return;
  }
  Touch(*slot.handle, slot.id);
  const std::vector<NodeId>& nodes = model_->graph(slot.id).nodes;
  if (nodes.empty()) {
    return;
  }
  // By the model's order: the driver's is its own.
  const NodeId id = nodes[static_cast<std::size_t>(operation.operands[1]) % nodes.size()];
  const auto place =
      std::find_if(found.begin(), found.end(), [&](const GraphNode& node) { return node.raw() == RawOf(id); });
  if (place == found.end()) {
    Fail("node " + std::to_string(id) + " is not among the nodes of its graph");
  }
  SetNode(operation.operands[2], *place, id);
}

void World::Query(const Operation& operation) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  if (!IsUsableOperand(slot)) {
    return;
  }
  if (!model_->graph(slot.id).alive) {
    Do(Expectation::kMisuse, [&] { slot.handle->Nodes(); });
    Do(Expectation::kMisuse, [&] { slot.handle->Edges(); });
    return;
  }
  std::vector<GraphNode> nodes;
  if (!Do(Expectation::kSuccess, [&] { nodes = slot.handle->Nodes(); })) {
    return;
  }
  Touch(*slot.handle, slot.id);
  for (const GraphNode& node : nodes) {
    const NodeId id = FindByRaw(slot.id, node.raw());
    if (id == kNone) {
      Fail("the graph has a node that it should not have");
    }
    CompareNeighbours(node, id);
    CompareParameters(node, id);
    CompareBelow(node, id);
  }
}

// ---- edges and destruction ----

void World::AddEdge(const Operation& operation) { ChangeEdge(operation, /*add=*/true); }
void World::RemoveEdge(const Operation& operation) { ChangeEdge(operation, /*add=*/false); }

void World::ChangeEdge(const Operation& operation, bool add) {
  GraphSlot& slot = graphs_[operation.operands[0]];
  const NodeSlot& from = nodes_[operation.operands[1]];
  const NodeSlot& to = nodes_[operation.operands[2]];
  if (!IsUsableOperand(slot) || from.id == kNone || to.id == kNone) {
    return;
  }
  const auto is_here = [&](NodeId id) { return model_->node(id).alive && model_->node(id).graph == slot.id; };
  const bool is_usable = model_->graph(slot.id).alive && is_here(from.id) && is_here(to.id);
  const bool is_there = is_usable && model_->HasEdge(from.id, to.id);
  const bool can_change = add ? !is_there && from.id != to.id : is_there;
  Touch(*slot.handle, slot.id);
  const bool succeeded =
      Do(!is_usable    ? Expectation::kMisuse
         : !can_change ? Expectation::kFailure
                       : IfPlain(slot.id, Expectation::kSuccess),
         [&] { add ? slot.handle->AddEdge(from.handle, to.handle) : slot.handle->RemoveEdge(from.handle, to.handle); });
  if (succeeded) {
    add ? model_->AddEdge(from.id, to.id) : model_->RemoveEdge(from.id, to.id);
  }
}

void World::Destroy(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  if (slot.id == kNone || IsBusy(model_->node(slot.id).graph)) {
    return;
  }
  const Node& node = model_->node(slot.id);
  Touch(slot);
  const Expectation expectation = IfPlain(node.graph, Expectation::kSuccess);
  if (Do(expectation, [&] { slot.handle.Destroy(); }) && node.alive) {
    model_->DestroyNode(slot.id, WasReleaseRefused());
  }
}

// ---- new parameters ----

template <typename Update>
void World::UpdateNode(const Operation& operation, NodeKind kind, std::vector<OwnerId> owners, bool changes_parameter,
                       const Update& update) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  const Node& node = model_->node(slot.id);
  const bool fits = node.alive && node.kind == kind;
  Touch(slot);
  if (Do(fits ? Expectation::kSuccess : Expectation::kMisuse, [&] { update(slot.handle); })) {
    std::for_each(owners.begin(), owners.end(), [this](OwnerId owner) { MarkKept(owner); });
    model_->ReplaceBundle(slot.id, model_->NewBundle(owners), WasReleaseRefused());
    if (changes_parameter) {
      model_->SetParameter(slot.id, parameter_);
    }
  } else if (fits && WasReleaseRefused()) {
    std::for_each(owners.begin(), owners.end(), [this](OwnerId owner) { MarkKept(owner); });
    model_->AddAnonymously(node.graph, model_->NewBundle(owners));
  }
  if (fits) {
    CompareParameters(slot.handle, slot.id);
  }
}

bool World::IsUsableNode(const NodeSlot& slot) const {
  return slot.id != kNone && !IsBusy(model_->node(slot.id).graph);
}

OwnerId World::PresentOwner(NodeId node, std::size_t place) const {
  const std::span<const OwnerId> owners = model_->OwnersOf(node);
  return place < owners.size() ? owners[place] : kNone;
}

void World::UpdateHost(const Operation& operation) {
  if (!IsUsableNode(nodes_[operation.operands[0]])) {
    return;
  }
  const Owner function = Take(operation.operands[1]);
  const Owner data = Take(operation.operands[2]);
  const HostCallback callback{&Gate::Pass, &gate_, function.handle, data.handle};
  UpdateNode(operation, NodeKind::kHost, {function.id, data.id}, false,
             [&](GraphNode& node) { node.UpdateHost(callback); });
}

void World::UpdateMemset(const Operation& operation) {
  if (!IsUsableNode(nodes_[operation.operands[0]])) {
    return;
  }
  const Owner owner = Take(operation.operands[1]);
  const MemoryOperand target = FillTarget(owner.handle);
  const MemsetParameters pattern = FillPattern();
  UpdateNode(operation, NodeKind::kMemset, {owner.id}, true,
             [&](GraphNode& node) { node.UpdateMemset(target, pattern); });
}

// Bits of the number: 1 the target, 2 the value, 4 the width.
void World::SetMemset(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  const int given = operation.operands[1] % 8;
  if (!IsUsableNode(slot)) {
    return;
  }
  MemsetUpdate update;
  OwnerId kept = PresentOwner(slot.id, 0);
  if ((given & 1) != 0) {
    const Owner owner = Take(operation.operands[2]);
    update.destination = FillTarget(owner.handle);
    kept = owner.id;
  }
  if ((given & 2) != 0) {
    update.value = static_cast<unsigned>(parameter_);
  }
  if ((given & 4) != 0) {
    update.width_elements = kFillBytes / 2;
  }
  if (given == 0) {
    UpdateNothing(slot, NodeKind::kMemset, [&](GraphNode& node) { node.UpdateMemset(update); });
    return;
  }
  UpdateNode(operation, NodeKind::kMemset, {kept}, (given & 2) != 0,
             [&](GraphNode& node) { node.UpdateMemset(update); });
}

// An update that gives nothing does nothing.
void World::UpdateNothing(const NodeSlot& slot, NodeKind kind, const std::function<void(GraphNode&)>& update) {
  const Node& node = model_->node(slot.id);
  Touch(slot);
  GraphNode handle = slot.handle;
  Do(node.alive && node.kind == kind ? Expectation::kSuccess : Expectation::kMisuse, [&] { update(handle); });
}

void World::UpdateCopy(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  if (!IsUsableNode(slot) || !environment_.has_copies_of_rows() || model_->node(slot.id).kind == NodeKind::kMemcpy) {
    return;
  }
  const Owner to = Take(operation.operands[1]);
  const Owner from = Take(operation.operands[2]);
  const CopyParameters copy = MakeCopyOfRows(to.handle, from.handle);
  UpdateNode(operation, NodeKind::kCopyOfRows, {to.id, from.id}, false,
             [&](GraphNode& node) { node.UpdateMemcpy(copy); });
}

// Bits of the number: 1 the destination, 2 the source, 4 the size.
void World::SetMemcpy(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  const int given = operation.operands[1] % 8;
  if (!IsUsableNode(slot)) {
    return;
  }
  MemcpyUpdate update;
  OwnerId destination = PresentOwner(slot.id, 0);
  OwnerId source = PresentOwner(slot.id, 1);
  if ((given & 1) != 0) {
    const Owner owner = Take(operation.operands[2]);
    update.destination = CopyDestination(owner.handle);
    destination = owner.id;
  }
  if ((given & 2) != 0) {
    const Owner owner = Take(operation.operands[3]);
    update.source = CopySource(owner.handle);
    source = owner.id;
  }
  if ((given & 4) != 0) {
    update.size_bytes = static_cast<std::size_t>(parameter_);
  }
  if (given == 0) {
    if (model_->node(slot.id).kind != NodeKind::kCopyOfRows) {
      UpdateNothing(slot, NodeKind::kMemcpy, [&](GraphNode& node) { node.UpdateMemcpy(update); });
    }
    return;
  }
  UpdateNode(operation, NodeKind::kMemcpy, {destination, source}, (given & 4) != 0,
             [&](GraphNode& node) { node.UpdateMemcpy(update); });
}

// Bits of the number: 1 the configuration, 2 the kernel, which needs arguments, 4 the arguments.
void World::SetKernel(const Operation& operation) {
  NodeSlot& slot = nodes_[operation.operands[0]];
  int given = operation.operands[1] % 8;
  if (!IsUsableNode(slot)) {
    return;
  }
  if ((given & 2) != 0) {
    given |= 4;
  }
  KernelUpdate update;
  OwnerId kernel = PresentOwner(slot.id, 0);
  OwnerId argument = PresentOwner(slot.id, 1);
  if ((given & 1) != 0) {
    parameter_ = BlockOf(parameter_);
    update.configuration.emplace().block[0] = static_cast<unsigned>(parameter_);
  }
  if ((given & 2) != 0) {
    const Owner owner = Take(operation.operands[2]);
    update.kernel = TakeAs(owner, environment_.kernel().get());
    kernel = owner.id;
  }
  if ((given & 4) != 0) {
    const Owner owner = Take(operation.operands[3]);
    update.arguments = MakeArguments(owner.handle);
    argument = owner.id;
  }
  if (given == 0) {
    UpdateNothing(slot, NodeKind::kKernel, [&](GraphNode& node) { node.UpdateKernel(update); });
    return;
  }
  UpdateNode(operation, NodeKind::kKernel, {kernel, argument}, (given & 1) != 0,
             [&](GraphNode& node) { node.UpdateKernel(update); });
}

void World::UpdateEventRecord(const Operation& operation) {
  if (!IsUsableNode(nodes_[operation.operands[0]])) {
    return;
  }
  const Owner owner = Take(operation.operands[1]);
  const EventHandle event = TakeAs(owner, event_.get());
  UpdateNode(operation, NodeKind::kEventRecord, {owner.id}, false,
             [&](GraphNode& node) { node.UpdateEventRecord(event); });
}

void World::UpdateEventWait(const Operation& operation) {
  if (!IsUsableNode(nodes_[operation.operands[0]])) {
    return;
  }
  const Owner owner = Take(operation.operands[1]);
  const EventHandle event = TakeAs(owner, event_.get());
  UpdateNode(operation, NodeKind::kEventWait, {owner.id}, false, [&](GraphNode& node) { node.UpdateEventWait(event); });
}

}  // namespace holdfast::fuzz
