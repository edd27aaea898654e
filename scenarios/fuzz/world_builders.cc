// World: operations on graph builders.
#include <algorithm>

#include "scenarios/fuzz/world.h"

namespace holdfast::fuzz {
namespace {

constexpr std::size_t kMostCaptureStreams = 4;
constexpr int kUnknownMode = 7;

GraphBuilder::State StateOf(Builder::State state) {
  switch (state) {
    case Builder::State::kNotStarted:
      return GraphBuilder::State::kNotStarted;
    case Builder::State::kCapturing:
      return GraphBuilder::State::kCapturing;
    case Builder::State::kEnded:
      return GraphBuilder::State::kEnded;
    case Builder::State::kInvalidated:
      return GraphBuilder::State::kInvalidated;
    default:
      return GraphBuilder::State::kClosed;
  }
}

}  // namespace

World::Expectation World::CaptureExpectation(BuilderId id) const {
  if (!builders_->IsCapturing(id)) {
    return Expectation::kMisuse;
  }
  return builders_->IsSound(id) ? Expectation::kSuccess : Expectation::kFailure;
}

std::optional<StreamHandle> World::FreeCaptureStream() {
  for (const StreamHandle& stream : capture_streams_) {
    if (environment_.AskCapture(stream->raw()).is_none) {
      return stream;
    }
  }
  if (capture_streams_.size() == kMostCaptureStreams) {
    return std::nullopt;
  }
  capture_streams_.push_back(Stream::Create());
  return capture_streams_.back();
}

void World::CheckState(const BuilderSlot& slot) const {
  if (slot.id != kNone && slot.handle->state() != StateOf(builders_->StateOf(slot.id))) {
    Fail("the builder is in another state");
  }
}

void World::MakeBuilder(const Operation& operation) {
  if (!environment_.has_captures()) {
    return;
  }
  const std::optional<StreamHandle> stream = FreeCaptureStream();
  std::optional<GraphBuilder> made;
  if (stream && Do(Expectation::kSuccess, [&] { made.emplace(*stream); })) {
    SetBuilder(operation.operands[0], *std::move(made), builders_->MakePrimary());
  }
}

// The number: 7 for a mode that does not exist, else the relaxed mode.
void World::Begin(const Operation& operation) {
  BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const Builder& builder = builders_->builder(slot.id);
  const bool is_primary = builder.kind == Builder::Kind::kPrimary;
  const bool is_known_mode = operation.operands[1] != kUnknownMode;
  const auto mode = is_known_mode ? CU_STREAM_CAPTURE_MODE_RELAXED : static_cast<CUstreamCaptureMode>(kUnknownMode);
  const bool can_begin = is_known_mode && builder.kind != Builder::Kind::kForked &&
                         builders_->StateOf(slot.id) == Builder::State::kNotStarted;
  // Another builder may have begun on the stream since, or the body be in use.
  const bool is_free = can_begin && (is_primary ? environment_.AskCapture(slot.handle->stream()->raw()).is_none
                                                : !IsBusy(builder.graph));
  if (can_begin && !is_free) {
    return;
  }
  if (Do(can_begin ? Expectation::kSuccess : Expectation::kMisuse, [&] { slot.handle->Begin(mode); })) {
    builders_->Begin(slot.id);
    streams_.resize(std::max(streams_.size(), static_cast<std::size_t>(slot.id) + 1));
    streams_[slot.id] = slot.handle->stream()->raw();
    if (is_primary) {
      SetRawGraph(builder.graph, environment_.AskCapture(slot.handle->stream()->raw()).graph);
    } else {
      builders_->builder(slot.id).tail = {};
    }
  }
  CheckState(slot);
}

// What the next node depends on, as the driver says.
void World::ReadTail(const BuilderSlot& slot) {
  if (!builders_->IsCapturing(slot.id)) {
    return;
  }
  const Environment::CaptureInfo info = environment_.AskCapture(slot.handle->stream()->raw());
  std::vector<NodeId> tail;
  for (const CUgraphNode raw : info.tail) {
    tail.push_back(FindByRaw(builders_->CaptureGraph(slot.id), raw));
  }
  std::sort(tail.begin(), tail.end());
  if (info.is_active) {
    builders_->builder(slot.id).tail = std::move(tail);
  }
}

void World::PlaceBuilt(const BuilderSlot& slot, NodeId node) {
  builders_->Place(slot.id, node);
  const Environment::CaptureInfo info = environment_.AskCapture(slot.handle->stream()->raw());
  if (!info.is_active || info.tail.size() != 1) {
    Fail("the node that was built is not where the capture goes on");
  }
  SetRaw(node, info.tail.front());
}

// A node that an operation which then failed has added to the captured graph; null if it did not.
CUgraphNode World::FindUnplaced(BuilderId id) const {
  if (fired_ == 0 || !builders_->IsCapturing(id)) {
    return nullptr;
  }
  const GraphId graph = builders_->CaptureGraph(id);
  for (const CUgraphNode raw : environment_.NodesOf(raw_graphs_[graph])) {
    if (FindByRaw(graph, raw) == kNone) {
      return raw;
    }
  }
  return nullptr;
}

void World::Callback(const Operation& operation) {
  BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const Owner function = Take(operation.operands[1]);
  const Owner data = Take(operation.operands[2]);
  const HostCallback callback{&Gate::Pass, &gate_, function.handle, data.handle};
  const Expectation expectation = CaptureExpectation(slot.id);
  const bool is_capturing = builders_->IsCapturing(slot.id);
  const CUstream stream = is_capturing ? slot.handle->stream()->raw() : nullptr;
  const std::vector<CUgraphNode> before =
      is_capturing ? environment_.AskCapture(stream).tail : std::vector<CUgraphNode>();
  const bool succeeded = Do(expectation, [&] { slot.handle->AddCallback(callback); });
  if (!is_capturing) {
    return;
  }
  const GraphId graph = builders_->CaptureGraph(slot.id);
  const std::vector<NodeId> tail = builders_->builder(slot.id).tail;
  // Captured, though the library says that it failed: its node was not found, or it is the error of earlier work.
  const bool was_captured = environment_.AskCapture(stream).tail != before;
  if (succeeded || was_captured) {
    const bool is_known = succeeded || !HasFaultAt("cuStreamGetCaptureInfo");
    const BundleId bundle = MakeBundle({function.id, data.id});
    const NodeId node = model_->AddNode(graph, NodeKind::kHost, is_known ? bundle : kNone, tail);
    if (!is_known) {
      model_->AddAnonymously(graph, bundle);
    }
    PlaceBuilt(slot, node);
  } else if (WasReleaseRefused()) {
    model_->AddAnonymously(graph, MakeBundle({function.id, data.id}));
  }
}

// ---- forks ----

void World::Split(const Operation& operation) {
  BuilderSlot& slot = builder_slots_[operation.operands[0]];
  // What the driver leaves of a body whose capture ends in error is beyond use, so it is not risked.
  if (slot.id == kNone || builders_->builder(builders_->OwnerOf(slot.id)).kind == Builder::Kind::kBody) {
    return;
  }
  const auto count = static_cast<std::size_t>(operation.operands[1] % 4);
  const Expectation expectation = count < 2 ? Expectation::kMisuse : CaptureExpectation(slot.id);
  const BuilderId id = slot.id;
  std::vector<GraphBuilder> made;
  if (Do(expectation, [&] { made = slot.handle->Split(count); })) {
    if (made.size() != count || !(made.front() == *slot.handle)) {
      Fail("a split does not return the builder and its forks");
    }
    for (std::size_t i = 1; i < count; ++i) {
      const BuilderId fork = builders_->MakeFork(id);
      SetBuilder(operation.operands[1 + i], made[i], fork);
    }
  } else if (fired_ > 0) {
    // Forks that were made have been joined again.
    ReadTail(slot);
  }
}

void World::Join(const Operation& operation) {
  std::vector<const BuilderSlot*> slots;
  for (const int operand : {operation.operands[0], operation.operands[1], operation.operands[2]}) {
    if (operand != kAbsent && builder_slots_[operand].id != kNone) {
      slots.push_back(&builder_slots_[operand]);
    }
  }
  if (slots.size() < 2) {
    return;
  }
  std::vector<GraphBuilder> handles;
  std::vector<BuilderId> ids;
  Expectation expectation = Expectation::kSuccess;
  for (const BuilderSlot* slot : slots) {
    if (CaptureExpectation(slot->id) != Expectation::kSuccess && expectation != Expectation::kMisuse) {
      expectation = CaptureExpectation(slot->id);
    }
    const bool is_twice = std::find(ids.begin(), ids.end(), slot->id) != ids.end();
    if (is_twice || builders_->OwnerOf(slot->id) != builders_->OwnerOf(slots.front()->id)) {
      expectation = Expectation::kMisuse;
    }
    handles.push_back(*slot->handle);
    ids.push_back(slot->id);
  }
  const auto is_forked = [this](BuilderId id) { return builders_->builder(id).kind == Builder::Kind::kForked; };
  const auto stays = std::find_if_not(ids.begin(), ids.end(), is_forked);
  const BuilderId root = stays != ids.end() ? *stays : ids.front();
  std::optional<GraphBuilder> joined;
  const bool succeeded = Do(expectation, [&] { joined.emplace(GraphBuilder::Join(handles)); });
  if (succeeded && builders_->builder(root).state != Builder::State::kClosed &&
      joined->kind() == GraphBuilder::Kind::kForked && !is_forked(root)) {
    Fail("a join kept a fork where there was its primary");
  }
  std::erase(ids, root);
  const auto is_closed_now = [&] {
    return std::any_of(slots.begin(), slots.end(),
                       [](const BuilderSlot* slot) { return slot->handle->state() == GraphBuilder::State::kClosed; });
  };
  if (succeeded) {
    builders_->Join(root, ids);
  } else if (expectation != Expectation::kMisuse && is_closed_now()) {
    // It failed midway: those that were to be joined are closed all the same.
    builders_->Join(root, ids);
    ReadTail(**std::find_if(slots.begin(), slots.end(), [root](const BuilderSlot* slot) { return slot->id == root; }));
  }
}

// ---- embedding ----

void World::EmbedInBuilder(int builder, GraphId source, Expectation expectation,
                           const std::function<void(GraphBuilder&)>& embed) {
  BuilderSlot& slot = builder_slots_[builder];
  const bool succeeded = Do(expectation, [&] { embed(*slot.handle); });
  const GraphId graph = builders_->CaptureGraph(slot.id);
  const std::vector<NodeId> tail = builders_->builder(slot.id).tail;
  if (!succeeded) {
    if (const CUgraphNode raw = FindUnplaced(slot.id); raw != nullptr) {
      const NodeId node = model_->AddChildByCopy(graph, source, tail, /*owners_are_known=*/false);
      MapChildCopy(node, raw, source);
      builders_->builder(builders_->OwnerOf(slot.id)).unplaced.push_back(node);
    }
    return;
  }
  const NodeId node = model_->AddChildByCopy(graph, source, tail);
  PlaceBuilt(slot, node);
  MapChildCopy(node, RawOf(node), source);
}

void World::BuildEmbed(const Operation& operation) {
  const BuilderSlot& slot = builder_slots_[operation.operands[0]];
  const GraphSlot& source = graphs_[operation.operands[1]];
  if (slot.id == kNone || source.id == kNone) {
    return;
  }
  Expectation expectation = CaptureExpectation(slot.id);
  if (expectation != Expectation::kMisuse) {
    const Expectation embedding = EmbedExpectation(builders_->CaptureGraph(slot.id), source.id, /*move=*/false);
    if (embedding != Expectation::kMisuse &&
        (IsBusy(source.id) || (embedding != Expectation::kSuccess && !environment_.is_model()))) {
      return;
    }
    expectation = expectation == Expectation::kSuccess || embedding == Expectation::kMisuse ? embedding : expectation;
  }
  EmbedInBuilder(operation.operands[0], source.id, expectation,
                 [&](GraphBuilder& builder) { builder.Embed(*source.handle); });
}

void World::BuildEmbedBuilder(const Operation& operation) {
  const BuilderSlot& slot = builder_slots_[operation.operands[0]];
  const BuilderSlot& source = builder_slots_[operation.operands[1]];
  if (slot.id == kNone || source.id == kNone) {
    return;
  }
  Expectation expectation = CaptureExpectation(slot.id);
  const GraphId graph = builders_->builder(source.id).graph;
  if (!builders_->HasFinishedGraph(source.id)) {
    expectation = Expectation::kMisuse;
  } else if (expectation != Expectation::kMisuse) {
    const Expectation embedding = EmbedExpectation(builders_->CaptureGraph(slot.id), graph, /*move=*/false);
    if (IsBusy(graph) || (embedding != Expectation::kSuccess && !environment_.is_model())) {
      return;
    }
    expectation = expectation == Expectation::kSuccess || embedding == Expectation::kMisuse ? embedding : expectation;
  }
  EmbedInBuilder(operation.operands[0], graph, expectation,
                 [&](GraphBuilder& builder) { builder.Embed(*source.handle); });
}

// ---- conditional nodes ----

void World::BuildCondition(const Operation& operation) {
  const BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const int given = operation.operands[2];
  const std::optional<unsigned> value = given < 3 ? std::optional(static_cast<unsigned>(given)) : std::nullopt;
  const Expectation expectation = CaptureExpectation(slot.id);
  std::optional<Condition> made;
  if (Do(expectation == Expectation::kFailure ? Expectation::kUncertain : expectation,
         [&] { made.emplace(slot.handle->MakeCondition(value)); })) {
    const GraphId graph = builders_->CaptureGraph(slot.id);
    model_->AddCondition(graph);
    model_->AddHandle(graph);
    ClearCondition(operation.operands[1]);
    conditions_[operation.operands[1]] = {std::move(made), graph, value == 0u, false};
  }
}

void World::BuildConditional(const Operation& operation, NodeKind kind, unsigned body_count, std::size_t first_result,
                             const std::function<std::vector<GraphBuilder>(GraphBuilder&, const Condition&)>& build) {
  BuilderSlot& slot = builder_slots_[operation.operands[0]];
  ConditionSlot& condition = conditions_[operation.operands[1]];
  if (slot.id == kNone || condition.graph == kNone || (kind == NodeKind::kWhile && !condition.can_stop)) {
    return;
  }
  Expectation expectation = CaptureExpectation(slot.id);
  if (expectation == Expectation::kSuccess) {
    expectation = ConditionalExpectation(condition, builders_->CaptureGraph(slot.id), body_count);
  }
  std::vector<GraphBuilder> made;
  const bool succeeded = Do(expectation, [&] { made = build(*slot.handle, *condition.handle); });
  condition.is_used = true;
  const GraphId graph = builders_->CaptureGraph(slot.id);
  const std::vector<NodeId> tail = builders_->builder(slot.id).tail;
  if (!succeeded) {
    if (const CUgraphNode raw = FindUnplaced(slot.id); raw != nullptr) {
      const NodeId node = model_->AddConditional(graph, kind, body_count, tail);
      SetRaw(node, raw);
      builders_->builder(builders_->OwnerOf(slot.id)).unplaced.push_back(node);
    }
    return;
  }
  const NodeId node = model_->AddConditional(graph, kind, body_count, tail);
  PlaceBuilt(slot, node);
  const std::vector<GraphId> bodies = model_->node(node).graphs;
  for (std::size_t i = 0; i < made.size(); ++i) {
    SetRawGraph(bodies[i], made[i].Definition().raw());
  }
  // More bodies than result slots: the builders of the others go, their graphs stay.
  for (std::size_t i = 0; i < made.size() && first_result + i < InfoOf(operation.opcode).operands.size(); ++i) {
    SetBuilder(operation.operands[first_result + i], made[i], builders_->MakeBody(bodies[i]));
  }
}

void World::BuildIf(const Operation& operation) {
  BuildConditional(operation, NodeKind::kIf, 1, 2, [](GraphBuilder& builder, const Condition& condition) {
    return std::vector<GraphBuilder>{builder.If(condition)};
  });
}

void World::BuildIfElse(const Operation& operation) {
  BuildConditional(operation, NodeKind::kIfElse, 2, 2, [](GraphBuilder& builder, const Condition& condition) {
    auto [met, unmet] = builder.IfElse(condition);
    return std::vector<GraphBuilder>{std::move(met), std::move(unmet)};
  });
}

void World::BuildWhile(const Operation& operation) {
  BuildConditional(operation, NodeKind::kWhile, 1, 2, [](GraphBuilder& builder, const Condition& condition) {
    return std::vector<GraphBuilder>{builder.While(condition)};
  });
}

void World::BuildSwitch(const Operation& operation) {
  const auto count = static_cast<unsigned>(operation.operands[2] % 4);
  BuildConditional(operation, NodeKind::kSwitch, count, 3, [count](GraphBuilder& builder, const Condition& condition) {
    return builder.Switch(condition, count);
  });
}

// ---- the end ----

bool World::HasBusyBody(BuilderId id) const {
  // A body that captures while the capture around it ends: drivers differ.
  const GraphId graph = builders_->CaptureGraph(id);
  for (GraphId other = 0; graph != kNone && other < model_->graph_count(); ++other) {
    if (other != graph && model_->graph(other).capturing &&
        model_->graph(other).hierarchy == model_->graph(graph).hierarchy) {
      return true;
    }
  }
  return false;
}

void World::FinishCapture(const BuilderSlot& slot) {
  const Builder& builder = builders_->builder(slot.id);
  Touch(slot.handle->Definition(), builder.graph);
}

void World::End(const Operation& operation) {
  BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone || HasBusyBody(slot.id)) {
    return;
  }
  const Builder& builder = builders_->builder(slot.id);
  const bool is_capturing = builders_->IsCapturing(slot.id) && builder.kind != Builder::Kind::kForked;
  const Expectation expectation = !is_capturing ? Expectation::kMisuse : EndExpectation(slot.id);
  const bool succeeded = Do(expectation, [&] { slot.handle->End(); });
  if (succeeded) {
    builders_->End(slot.id, /*with_graph=*/true);
    FinishCapture(slot);
  } else if (is_capturing && !WasStruck("cuStreamEndCapture", /*after=*/false)) {
    FinishOrphan(builders_->End(slot.id, /*with_graph=*/false));
  }
  CheckState(slot);
}

// The record of the builder let go of everything, outside of any fault.
void World::LetGoOf(BuilderId id) { FinishOrphan(builders_->LetGo(id, builders_->CanEndWell(id))); }

World::Expectation World::EndExpectation(BuilderId id) const {
  return builders_->CanEndWell(id) ? Expectation::kSuccess : Expectation::kRefusal;
}

// The runner ends the capture where a fault keeps the library from it, and so must know what comes of it: nothing for
// one that ends in error, with handles to its graph that would not be told.
bool World::WouldLeaveBadCapture(BuilderId ending) const {
  const auto is_about_end = [](const Fault& fault) { return fault.site == "cuStreamEndCapture"; };
  return ending != kNone && !builders_->CanEndWell(ending) &&
         std::any_of(operation_->faults.begin(), operation_->faults.end(), is_about_end);
}

void World::CloseBuilder(const Operation& operation) {
  BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone || HasBusyBody(slot.id)) {
    return;
  }
  const bool ends_capture = builders_->builder(slot.id).state == Builder::State::kCapturing;
  const BuilderId ending = ends_capture ? slot.id : builders_->EndsWith(slot.id);
  if (WouldLeaveBadCapture(ending)) {
    return;
  }
  const Expectation expectation = ends_capture ? EndExpectation(slot.id) : Expectation::kSuccess;
  Do(expectation, [&] { slot.handle->Close(); });
  FinishLetGo(slot.id, ending);
  CheckState(slot);
}

void World::DropBuilder(const Operation& operation) {
  BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone || HasBusyBody(slot.id)) {
    return;
  }
  const BuilderId ending = builders_->EndsWith(slot.id);
  if (WouldLeaveBadCapture(ending)) {
    return;
  }
  Do(Expectation::kSuccess, [&] { slot.handle.reset(); });
  const BuilderId id = std::exchange(slot.id, kNone);
  if (builders_->DropHolder(id)) {
    FinishLetGo(id, ending);
  }
}

// `ending`: whose capture was to end, or kNone.
void World::FinishLetGo(BuilderId id, BuilderId ending) {
  if (ending != kNone && WasStruck("cuStreamEndCapture", /*after=*/false)) {
    // The library is through with it, and the driver is not.
    (void)environment_.EndCapture(streams_[ending]);
    if (builders_->builder(ending).kind == Builder::Kind::kPrimary) {
      orphans_.push_back(builders_->builder(ending).graph);
    }
  }
  const GraphId root = builders_->LetGo(id, builders_->CanEndWell(id));
  if (root != kNone && WasStruck("cuGraphDestroy", /*after=*/false)) {
    environment_.DestroyGraph(raw_graphs_[root]);
  }
  FinishOrphan(root);
}

// ---- what came of it ----

void World::Complete(const Operation& operation) {
  const BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const GraphId graph = builders_->builder(slot.id).graph;
  const bool is_finished = builders_->HasFinishedGraph(slot.id);
  if (!is_finished || !IsBusy(graph)) {
    InstantiateInto(operation.operands[1], graph, is_finished ? InstantiateExpectation(graph) : Expectation::kMisuse,
                    [&] { return slot.handle->Complete(); });
  }
}

void World::Definition(const Operation& operation) {
  const BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  std::optional<GraphDefinition> found;
  if (Do(builders_->HasDefinition(slot.id) ? Expectation::kSuccess : Expectation::kMisuse,
         [&] { found.emplace(slot.handle->Definition()); })) {
    const GraphId graph = builders_->builder(slot.id).graph;
    Touch(*found, graph);
    SetGraph(operation.operands[1], *std::move(found), graph);
  }
}

void World::UpdateFromBuilder(const Operation& operation) {
  const ExecutableSlot& executable = executables_[operation.operands[0]];
  const BuilderSlot& slot = builder_slots_[operation.operands[1]];
  if (executable.id == kNone || slot.id == kNone) {
    return;
  }
  const GraphId graph = builders_->builder(slot.id).graph;
  const bool is_finished = builders_->HasFinishedGraph(slot.id);
  if (is_finished && IsBusy(graph)) {
    return;
  }
  GraphExec handle = *executable.handle;
  UpdateFrom(executable, graph, is_finished ? UpdateExpectation(executable.id, graph) : Expectation::kMisuse,
             [&] { handle.Update(*slot.handle); });
}

void World::IsBuilding(const Operation& operation) {
  const BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone) {
    return;
  }
  const bool is_open = builders_->StateOf(slot.id) != Builder::State::kClosed;
  const bool is_capturing = builders_->IsCapturing(slot.id);
  const Expectation expectation =
      !is_open || (is_capturing && !builders_->IsSound(slot.id)) ? Expectation::kMisuse : Expectation::kSuccess;
  bool answer = is_capturing;
  if (Do(expectation, [&] { answer = slot.handle->IsBuilding(); }) && answer != is_capturing) {
    Fail("the builder does not know whether it is building");
  }
}

// A wait for a stream that captures invalidates the capture (C3).
void World::Spoil(const Operation& operation) {
  const BuilderSlot& slot = builder_slots_[operation.operands[0]];
  if (slot.id == kNone || !builders_->IsCapturing(slot.id)) {
    return;
  }
  Builder& owner = builders_->builder(builders_->OwnerOf(slot.id));
  if (owner.kind == Builder::Kind::kPrimary) {
    environment_.SpoilCapture(slot.handle->stream()->raw());
    owner.is_spoiled = true;
  }
}

}  // namespace holdfast::fuzz
