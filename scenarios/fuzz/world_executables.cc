// World: operations on executables, and launches.
#include <algorithm>

#include "scenarios/fuzz/world.h"
#include "scenarios/support/cleanup_context.h"

namespace holdfast::fuzz {
namespace {

bool IsHost(NodeKind kind) { return kind == NodeKind::kHost; }
bool IsMemset(NodeKind kind) { return kind == NodeKind::kMemset; }
bool IsMemcpy(NodeKind kind) { return kind == NodeKind::kMemcpy; }
bool IsCopyOfRows(NodeKind kind) { return kind == NodeKind::kCopyOfRows; }
bool IsKernel(NodeKind kind) { return kind == NodeKind::kKernel; }
bool IsEventRecord(NodeKind kind) { return kind == NodeKind::kEventRecord; }
bool IsEventWait(NodeKind kind) { return kind == NodeKind::kEventWait; }
bool CanBeDisabled(NodeKind kind) { return IsMemset(kind) || IsMemcpy(kind) || IsCopyOfRows(kind) || IsKernel(kind); }

bool Has(const Shape& shape, bool (*is_kind)(NodeKind)) {
  return std::any_of(shape.parts.begin(), shape.parts.end(), [&](const Shape::Part& part) {
    return is_kind(part.kind) ||
           std::any_of(part.graphs.begin(), part.graphs.end(), [&](const Shape& below) { return Has(below, is_kind); });
  });
}

// Whether a launch certainly runs such a node: it is in no body.
bool Runs(const Shape& shape, bool (*is_kind)(NodeKind)) {
  return std::any_of(shape.parts.begin(), shape.parts.end(), [&](const Shape::Part& part) {
    return is_kind(part.kind) || (part.kind == NodeKind::kChild && Runs(part.graphs.front(), is_kind));
  });
}

// Whether a body has such a node.
bool HasInBody(const Shape& shape, bool (*is_kind)(NodeKind)) {
  return std::any_of(shape.parts.begin(), shape.parts.end(), [&](const Shape::Part& part) {
    const bool is_body = IsConditional(part.kind);
    return std::any_of(part.graphs.begin(), part.graphs.end(),
                       [&](const Shape& below) { return is_body ? Has(below, is_kind) : HasInBody(below, is_kind); });
  });
}

// What the child-graph node at the place owns; null if there is a conditional node on the way.
const Shape* ChildAt(const Shape& shape, const Path& path) {
  const Shape* found = &shape;
  for (const int position : path) {
    const Shape::Part& part = found->parts[static_cast<std::size_t>(position)];
    if (part.kind != NodeKind::kChild) {
      return nullptr;
    }
    found = &part.graphs.front();
  }
  return found;
}

}  // namespace

// ---- making and updating the whole ----

World::Expectation World::InstantiateExpectation(GraphId id) const {
  const Graph& graph = model_->graph(id);
  if (!graph.alive) {
    return Expectation::kMisuse;
  }
  if (graph.parent != kNone) {
    return environment_.is_model() ? Expectation::kRefusal : Expectation::kUncertain;
  }
  const Shape shape = model_->ShapeOf(id);
  if (model_->HasCycle(id) || HasInBody(shape, &IsHost)) {
    return Expectation::kRefusal;
  }
  return IfPlain(id, Expectation::kSuccess);
}

void World::InstantiateInto(int slot, GraphId source, Expectation expectation, const std::function<GraphExec()>& make) {
  std::optional<GraphExec> made;
  const bool succeeded = Do(expectation, [&] { made.emplace(make()); });
  if (!succeeded) {
    if (WasReleaseRefused()) {
      model_->KeepEmptyList(source);
    }
    return;
  }
  const ExecutableId id = model_->Instantiate(source, WasReleaseRefused());
  std::vector<CUgraphNode> sources;
  for (const NodeId node : model_->graph(source).nodes) {
    sources.push_back(RawOf(node));
  }
  SetExecutable(slot, *std::move(made), id, std::move(sources));
}

void World::Instantiate(const Operation& operation) {
  const GraphSlot& source = graphs_[operation.operands[0]];
  if (IsUsableOperand(source)) {
    Touch(*source.handle, source.id);
    InstantiateInto(operation.operands[1], source.id, InstantiateExpectation(source.id),
                    [&] { return GraphExec(*source.handle); });
  }
}

World::Expectation World::UpdateExpectation(ExecutableId id, GraphId source) const {
  const Executable& executable = model_->executable(id);
  if (!executable.open || !model_->graph(source).alive) {
    return Expectation::kMisuse;
  }
  const Expectation alone = InstantiateExpectation(source);
  if (alone != Expectation::kSuccess) {
    return alone;
  }
  const Shape shape = model_->ShapeOf(source);
  if (IsSameTopology(executable.shape, shape)) {
    return Expectation::kSuccess;
  }
  // Drivers accept some changes of edges.
  return executable.shape.parts.size() != shape.parts.size() ? Expectation::kRefusal : Expectation::kUncertain;
}

void World::UpdateFrom(const ExecutableSlot& slot, GraphId source, Expectation expectation,
                       const std::function<void()>& update) {
  if (Do(expectation, update)) {
    model_->UpdateExecutable(slot.id, source, WasReleaseRefused());
  } else if (WasReleaseRefused()) {
    model_->KeepEmptyList(source);
  }
}

void World::UpdateExecutable(const Operation& operation) {
  const ExecutableSlot& slot = executables_[operation.operands[0]];
  const GraphSlot& source = graphs_[operation.operands[1]];
  if (slot.id != kNone && IsUsableOperand(source)) {
    Touch(*source.handle, source.id);
    GraphExec executable = *slot.handle;
    UpdateFrom(slot, source.id, UpdateExpectation(slot.id, source.id), [&] { executable.Update(*source.handle); });
  }
}

void World::Close(const Operation& operation) {
  ExecutableSlot& slot = executables_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const CUgraphExec raw = slot.handle->raw();
  Do(Expectation::kSuccess, [&] { slot.handle->Close(); });
  FinishClose(slot.id, raw);
}

void World::DropExecutable(const Operation& operation) {
  ExecutableSlot& slot = executables_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const CUgraphExec raw = slot.handle->raw();
  Do(Expectation::kSuccess, [&] { slot.handle.reset(); });
  FinishClose(std::exchange(slot.id, kNone), raw);
}

// The executable counts as closed, whatever the driver said.
void World::FinishClose(ExecutableId id, CUgraphExec raw) {
  if (WasStruck("cuGraphExecDestroy", /*after=*/false)) {
    environment_.DestroyExecutable(raw);
  }
  if (model_->executable(id).open) {
    model_->Close(id);
  }
}

// ---- nodes of executables ----

World::Expectation World::NodeExpectation(const ExecutableSlot& executable, const NodeSlot& node, bool fits) const {
  if (!model_->executable(executable.id).open || !model_->node(node.id).alive || !fits) {
    return Expectation::kMisuse;
  }
  const Path path = model_->Find(executable.id, node.id);
  if (path.empty()) {
    // A real driver knows nodes by their raw handles, which it gives out again.
    const std::vector<CUgraphNode>& sources = raw_sources_[executable.id];
    const bool may_be_taken_for_another =
        !environment_.is_model() && std::find(sources.begin(), sources.end(), RawOf(node.id)) != sources.end();
    return may_be_taken_for_another ? Expectation::kUncertain : Expectation::kRefusal;
  }
  const bool is_simple = path.size() == 1 || environment_.is_model();
  return is_simple && !Has(model_->executable(executable.id).shape, &IsConditional) ? Expectation::kSuccess
                                                                                    : Expectation::kUncertain;
}

template <typename Update>
void World::UpdateExecutableNode(const Operation& operation, bool (*fits)(NodeKind), std::vector<OwnerId> owners,
                                 const Update& update) {
  const ExecutableSlot& executable = executables_[operation.operands[0]];
  const NodeSlot& node = nodes_[operation.operands[1]];
  Touch(node);
  const Expectation expectation = NodeExpectation(executable, node, fits(model_->node(node.id).kind));
  if (Do(expectation, [&] {
        ExecNode handle = executable.handle->Node(node.handle);
        update(handle);
      })) {
    std::erase(owners, kNone);
    std::for_each(owners.begin(), owners.end(), [this](OwnerId owner) { MarkKept(owner); });
    model_->AddOwners(executable.id, owners);
  }
}

bool World::HasExecutableAndNode(const Operation& operation) const {
  return executables_[operation.operands[0]].id != kNone && IsUsableNode(nodes_[operation.operands[1]]);
}

void World::ExecutableHost(const Operation& operation) {
  if (!HasExecutableAndNode(operation)) {
    return;
  }
  const Owner function = Take(operation.operands[2]);
  const Owner data = Take(operation.operands[3]);
  const HostCallback callback{&Gate::Pass, &gate_, function.handle, data.handle};
  UpdateExecutableNode(operation, &IsHost, {function.id, data.id}, [&](ExecNode& node) { node.UpdateHost(callback); });
}

void World::ExecutableMemset(const Operation& operation) {
  if (!HasExecutableAndNode(operation)) {
    return;
  }
  const Owner owner = Take(operation.operands[2]);
  const MemoryOperand target = FillTarget(owner.handle);
  const MemsetParameters pattern = FillPattern();
  UpdateExecutableNode(operation, &IsMemset, {owner.id}, [&](ExecNode& node) { node.UpdateMemset(target, pattern); });
}

void World::ExecutableMemcpy(const Operation& operation) {
  if (!HasExecutableAndNode(operation) || IsCopyOfRows(model_->node(nodes_[operation.operands[1]].id).kind)) {
    return;
  }
  const Owner to = Take(operation.operands[2]);
  const Owner from = Take(operation.operands[3]);
  const MemoryOperand destination = CopyDestination(to.handle);
  const MemoryOperand source = CopySource(from.handle);
  const auto size_bytes = static_cast<std::size_t>(parameter_);
  UpdateExecutableNode(operation, &IsMemcpy, {to.id, from.id},
                       [&](ExecNode& node) { node.UpdateMemcpy(destination, source, size_bytes); });
}

void World::ExecutableCopy(const Operation& operation) {
  if (!HasExecutableAndNode(operation) || IsMemcpy(model_->node(nodes_[operation.operands[1]].id).kind)) {
    return;
  }
  const Owner to = Take(operation.operands[2]);
  const Owner from = Take(operation.operands[3]);
  const CopyParameters copy = MakeCopyOfRows(to.handle, from.handle);
  UpdateExecutableNode(operation, &IsCopyOfRows, {to.id, from.id}, [&](ExecNode& node) { node.UpdateMemcpy(copy); });
}

void World::ExecutableKernel(const Operation& operation) {
  if (!HasExecutableAndNode(operation)) {
    return;
  }
  const Owner owner = Take(operation.operands[2]);
  const Owner argument = Take(operation.operands[3]);
  const KernelHandle kernel = TakeAs(owner, environment_.kernel().get());
  const KernelArguments arguments = MakeArguments(argument.handle);
  UpdateExecutableNode(operation, &IsKernel, {owner.id, argument.id},
                       [&](ExecNode& node) { node.UpdateKernel(kernel, LaunchConfiguration{}, arguments); });
}

void World::ExecutableEventRecord(const Operation& operation) {
  if (!HasExecutableAndNode(operation)) {
    return;
  }
  const Owner owner = Take(operation.operands[2]);
  const EventHandle event = TakeAs(owner, event_.get());
  UpdateExecutableNode(operation, &IsEventRecord, {owner.id}, [&](ExecNode& node) { node.UpdateEventRecord(event); });
}

void World::ExecutableEventWait(const Operation& operation) {
  if (!HasExecutableAndNode(operation)) {
    return;
  }
  const Owner owner = Take(operation.operands[2]);
  const EventHandle event = TakeAs(owner, event_.get());
  UpdateExecutableNode(operation, &IsEventWait, {owner.id}, [&](ExecNode& node) { node.UpdateEventWait(event); });
}

void World::ExecutableChild(const Operation& operation) {
  const GraphSlot& source = graphs_[operation.operands[2]];
  if (!HasExecutableAndNode(operation) || !IsUsableOperand(source)) {
    return;
  }
  const ExecutableSlot& slot = executables_[operation.operands[0]];
  const NodeSlot& node = nodes_[operation.operands[1]];
  const bool is_child = model_->node(node.id).kind == NodeKind::kChild;
  Expectation expectation = NodeExpectation(slot, node, is_child);
  if (!model_->graph(source.id).alive) {
    expectation = Expectation::kMisuse;
  } else if (expectation == Expectation::kSuccess) {
    const Shape* child = ChildAt(model_->executable(slot.id).shape, model_->Find(slot.id, node.id));
    const bool is_same = child != nullptr && IsSameTopology(*child, model_->ShapeOf(source.id));
    expectation = is_same ? InstantiateExpectation(source.id) : Expectation::kUncertain;
  }
  Touch(*source.handle, source.id);
  if (Do(expectation, [&] { slot.handle->Node(node.handle).UpdateChildGraph(*source.handle); })) {
    model_->UpdateExecutableChild(slot.id, node.id, source.id);
  }
}

void World::Enable(const Operation& operation) {
  if (!HasExecutableAndNode(operation)) {
    return;
  }
  const ExecutableSlot& slot = executables_[operation.operands[0]];
  const NodeSlot& node = nodes_[operation.operands[1]];
  const bool enabled = operation.operands[2] % 2 == 1;
  const Expectation expectation = NodeExpectation(slot, node, CanBeDisabled(model_->node(node.id).kind));
  bool answer = enabled;
  if (Do(expectation, [&] { slot.handle->Node(node.handle).SetEnabled(enabled); }) &&
      Do(Expectation::kSuccess, [&] { answer = slot.handle->Node(node.handle).IsEnabled(); }) && answer != enabled) {
    Fail("the node of the executable is not " + std::string(enabled ? "enabled" : "disabled"));
  }
}

// ---- launches ----

void World::Upload(const Operation& operation) {
  const ExecutableSlot& slot = executables_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const Executable& executable = model_->executable(slot.id);
  LetThroughBefore(executable);
  const Expectation expectation = !executable.open                       ? Expectation::kMisuse
                                  : Has(executable.shape, &IsMemoryNode) ? Expectation::kUncertain
                                                                         : Expectation::kSuccess;
  if (Do(expectation, [&] { slot.handle->Upload(stream_); }) || WasStruck("cuGraphUpload", /*after=*/true)) {
    model_->Upload(slot.id);
  }
}

// The number: 0 a launch that ends by itself, 1 one behind a gate, 2 one whose host nodes wait at a gate.
//
// On a real driver none waits. It runs the host functions of all streams one after the other, loads code late and
// destroys some executables late: many a call waits for all that runs, and what runs would wait for a later operation.
void World::Launch(const Operation& operation) {
  const ExecutableSlot& slot = executables_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const Executable& executable = model_->executable(slot.id);
  LetThroughBefore(executable);
  const bool has_conditional = Has(executable.shape, &IsConditional);
  const bool may_wait = executable.open && environment_.is_model() && !has_conditional && !HasBlockedLaunches();
  const int mode = may_wait ? operation.operands[1] % 3 : 0;
  const bool blocks_inside = mode == 2 && Runs(executable.shape, &IsHost);
  if (mode == 1 || blocks_inside) {
    gate_.Close();
  }
  if (mode == 1) {
    environment_.EnqueueHostFunction(stream_->raw(), &Gate::Pass, &gate_);
  }
  const bool may_fail = Has(executable.shape, &IsMemoryNode) || has_conditional;
  const bool succeeded = Do(!executable.open ? Expectation::kMisuse
                            : may_fail       ? Expectation::kUncertain
                                             : Expectation::kSuccess,
                            [&] { slot.handle->Launch(stream_); });
  if (succeeded || WasStruck("cuGraphLaunch", /*after=*/true)) {
    model_->Launch(slot.id, HasBlockedLaunches());
  } else if (blocks_inside) {
    gate_.Open();
  }
}

void World::Finish(const Operation&) { LetThrough(); }

void World::LetThrough() {
  gate_.Open();
  stream_->Synchronize();
  model_->FinishLaunches();
}

// Its destruction waits for what it has on the stream (fact B18), so that must not wait for a later operation.
void World::LetThroughBefore(const Executable& used) {
  if (HasBlockedLaunches() && Has(used.shape, &IsConditional)) {
    LetThrough();
  }
}

// ---- the cleanup ----

void World::Drain(const Operation&) { scenarios::DrainNow(); }

// The runner settles, since it takes all worlds.
void World::Settle(const Operation&) {}

}  // namespace holdfast::fuzz
