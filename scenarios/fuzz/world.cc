#include "scenarios/fuzz/world.h"

#include <algorithm>

#include "scenarios/support/cleanup_context.h"

namespace holdfast::fuzz {
namespace {

constexpr std::size_t kMemoryBytes = 4096;
constexpr CUresult kBeforeResult = CUDA_ERROR_OUT_OF_MEMORY;
constexpr CUresult kAfterResult = CUDA_ERROR_LAUNCH_FAILED;
constexpr std::string_view kRelease = "cuGraphReleaseUserObject";

// What a refusal of these leaves, nobody could make good: the library does not say which object it was.
bool IsBeyondRepair(std::string_view site) {
  return site == "cuUserObjectRelease" || site == "cuStreamDestroy" || site == "cuEventDestroy";
}

}  // namespace

World::World(const Environment& environment, unsigned thread)
    : environment_(environment),
      thread_(thread),
      stream_(Stream::Create()),
      memory_(DeviceMemory::Allocate(kMemoryBytes)),
      event_(Event::Create()),
      host_memory_(kMemoryBytes) {
  Reset({});
}

World::Handler World::HandlerOf(Opcode opcode) {
  static constexpr Handler kHandlers[] = {
#define HOLDFAST_FUZZ_OPERATION(opcode, name, operands, kind, weight) &World::opcode,
#include "scenarios/fuzz/operations.def"
#undef HOLDFAST_FUZZ_OPERATION
  };
  return kHandlers[static_cast<std::size_t>(opcode)];
}

void World::Reset(const Settings& settings) {
  settings_ = settings;
  if (model_) {
    owner_counts_.Reset(static_cast<std::size_t>(model_->owner_count()));
  }
  model_.emplace();
  builders_.emplace(*model_);
  owner_slots_.fill(kNone);
  owners_.clear();
  was_kept_.clear();
  raw_nodes_.clear();
  raw_graphs_.clear();
  addresses_.clear();
  raw_sources_.clear();
  streams_.clear();
  orphans_.clear();
  owner_states_.clear();
  parameter_ = 0;
}

void World::Execute(const Operation& operation, bool alone) {
  operation_ = &operation;
  alone_ = alone;
  parameter_ = parameter_ % 200 + 1;
  if (alone || InfoOf(operation.opcode).kind != OperationKind::kBuilders) {
    (this->*HandlerOf(operation.opcode))(operation);
  }
  CompareTouched();
  if (settings_.delivery == fault::Delivery::kInline) {
    scenarios::DrainNow();
  }
  CompareOwners(/*late_ones_too=*/false);
  CompareHandles();
  if (environment_.context().shim().findings() > 0) {
    Fail("the shim found fault with a driver call: see its finding");
  }
}

void World::OpenGate() { gate_.Open(); }

void World::DropAll() {
  operation_ = nullptr;
  // Captures of bodies first: those around them end after them.
  for (const bool is_body : {true, false}) {
    for (std::size_t slot = 0; slot < builder_slots_.size(); ++slot) {
      const BuilderId id = builder_slots_[slot].id;
      if (id != kNone && (!is_body || builders_->builder(id).kind == Builder::Kind::kBody)) {
        ClearBuilder(static_cast<int>(slot));
      }
    }
  }
  for (std::size_t slot = 0; slot < executables_.size(); ++slot) {
    ClearExecutable(static_cast<int>(slot));
  }
  for (std::size_t slot = 0; slot < conditions_.size(); ++slot) {
    ClearCondition(static_cast<int>(slot));
  }
  for (std::size_t slot = 0; slot < nodes_.size(); ++slot) {
    ClearNode(static_cast<int>(slot));
  }
  for (std::size_t slot = 0; slot < graphs_.size(); ++slot) {
    ClearGraph(static_cast<int>(slot));
  }
  OpenGate();
  stream_->Synchronize();
  model_->FinishLaunches();
}

void World::Fail(const std::string& what) const {
  std::string where;
  for (const Fault& fault : operation_ != nullptr ? operation_->faults : std::vector<Fault>()) {
    AppendText(fault, &where);
    where += ", ";
  }
  environment_.Fail(what, operation_ != nullptr ? where + TextOf(*operation_) : "the end of the sequence");
}

// ---- faults and answers ----

bool World::HasFaultAt(std::string_view site) const { return armed_ != nullptr && armed_->site == site; }

// The first fault, and one that refuses a release: more could not be told apart afterwards.
void World::ArmFaults() {
  armed_ = nullptr;
  armed_release_ = nullptr;
  fired_ = 0;
  release_was_struck_ = false;
  const auto arm = [this](const Fault& fault) {
    (void)environment_.context().shim().arm(
        {fault.site.c_str(), fault.nth, fault.persistent, fault.after, fault.after ? kAfterResult : kBeforeResult});
  };
  for (const Fault& fault : operation_->faults) {
    if (IsBeyondRepair(fault.site) || (armed_ != nullptr && (fault.site != kRelease || !alone_))) {
      continue;
    }
    if (fault.site == kRelease && armed_release_ == nullptr) {
      armed_release_ = &fault;
      arm(fault);
    } else if (fault.site != kRelease) {
      armed_ = &fault;
      arm(fault);
    }
    if (!alone_) {
      break;
    }
  }
  if (armed_release_ != nullptr) {
    release_faults_before_ = environment_.context().shim().faults(kRelease.data());
  }
}

void World::DisarmFaults() {
  if (operation_->faults.empty()) {
    return;
  }
  fired_ = environment_.context().shim().disarm();
  faults_ += fired_;
  if (armed_release_ != nullptr) {
    // Other threads may have had such faults meanwhile, but then there is no fault here but this one.
    release_was_struck_ =
        alone_ ? environment_.context().shim().faults(kRelease.data()) > release_faults_before_ : fired_ > 0;
  }
}

bool World::WasStruck(std::string_view site, bool after) const {
  return HasFaultAt(site) && armed_->after == after && fired_ > (release_was_struck_ ? 1 : 0);
}

void World::Judge(Expectation expectation, Outcome outcome) {
  const bool may_succeed = expectation == Expectation::kSuccess || expectation == Expectation::kUncertain;
  const bool may_be_misuse = expectation == Expectation::kMisuse || expectation == Expectation::kFailure ||
                             expectation == Expectation::kUncertain;
  const bool may_be_refused = expectation == Expectation::kRefusal || expectation == Expectation::kFailure ||
                              expectation == Expectation::kUncertain;
  switch (outcome) {
    case Outcome::kSuccess:
      if (!may_succeed) {
        Fail(expectation == Expectation::kMisuse ? "a misuse was accepted" : "it succeeded, which it must not");
      }
      return;
    case Outcome::kMisuse:
      if (!may_be_misuse) {
        Fail("it was taken for a misuse: " + error_);
      }
      return;
    case Outcome::kRefusal:
      if (!may_be_refused && fired_ == 0) {
        Fail(expectation == Expectation::kMisuse ? "a misuse reached the driver: " + error_ : "it failed: " + error_);
      }
      return;
    case Outcome::kOutOfMemory:
      if (fired_ == 0) {
        Fail("it failed without a fault: " + error_);
      }
      return;
    default:
      Fail("an exception that is not documented: " + error_);
  }
}

// ---- owners ----

World::Owner World::Take(int slot) {
  if (slot == kAbsent) {
    return {};
  }
  const OwnerId held = owner_slots_[slot];
  if (held != kNone && static_cast<std::size_t>(held) < owner_states_.size() &&
      owner_states_[held] == OwnerState::kHeld) {
    OpaqueHandle handle = owners_[held].lock();
    if (handle == nullptr) {
      Fail("owner " + std::to_string(held) + " in o" + std::to_string(slot) + " is gone, though it is needed");
    }
    return {held, std::move(handle)};
  }
  if (static_cast<std::size_t>(model_->owner_count()) == OwnerCounts::kMost) {
    return {};
  }
  const OwnerId made = model_->NewOwner();
  OpaqueHandle handle = owner_counts_.Make<void>(made, this);
  owner_slots_[slot] = made;
  owners_.emplace_back(handle);
  was_kept_.push_back(false);
  return {made, std::move(handle)};
}

void World::MarkKept(OwnerId owner) {
  if (owner != kNone) {
    was_kept_[owner] = true;
  }
}

BundleId World::MakeBundle(std::initializer_list<OwnerId> owners) {
  for (const OwnerId owner : owners) {
    MarkKept(owner);
  }
  return model_->NewBundle({owners.begin(), owners.size()});
}

// ---- slots ----

void World::DropHandle(GraphId graph) { FinishOrphan(model_->DropHandle(graph)); }

// The library keeps away from a root that CUDA may still be capturing into.
void World::FinishOrphan(GraphId root) {
  if (root != kNone && std::erase(orphans_, root) > 0) {
    environment_.DestroyGraph(raw_graphs_[root]);
  }
}

void World::SetGraph(int slot, GraphDefinition handle, GraphId id) {
  model_->AddHandle(id);
  ClearGraph(slot);
  graphs_[slot] = {std::move(handle), id};
}

void World::SetNode(int slot, GraphNode handle, NodeId id) {
  model_->AddHandle(model_->node(id).graph);
  ClearNode(slot);
  nodes_[slot] = {std::move(handle), id};
}

void World::SetExecutable(int slot, GraphExec handle, ExecutableId id, std::vector<CUgraphNode> sources) {
  raw_sources_.push_back(std::move(sources));
  ClearExecutable(slot);
  executables_[slot] = {std::move(handle), id};
}

void World::SetBuilder(int slot, GraphBuilder handle, BuilderId id) {
  ClearBuilder(slot);
  builder_slots_[slot] = {std::move(handle), id};
}

void World::ClearGraph(int slot) {
  if (const GraphId id = std::exchange(graphs_[slot].id, kNone); id != kNone) {
    graphs_[slot].handle.reset();
    DropHandle(id);
  }
}

void World::ClearNode(int slot) {
  if (const NodeId id = std::exchange(nodes_[slot].id, kNone); id != kNone) {
    nodes_[slot].handle = GraphNode();
    DropHandle(model_->node(id).graph);
  }
}

void World::ClearExecutable(int slot) {
  if (const ExecutableId id = std::exchange(executables_[slot].id, kNone); id != kNone) {
    executables_[slot].handle.reset();
    if (model_->executable(id).open) {
      model_->Close(id);
    }
  }
}

void World::ClearBuilder(int slot) {
  if (const BuilderId id = std::exchange(builder_slots_[slot].id, kNone); id != kNone) {
    builder_slots_[slot].handle.reset();
    if (builders_->DropHolder(id)) {
      LetGoOf(id);
    }
  }
}

void World::ClearCondition(int slot) {
  if (const GraphId graph = std::exchange(conditions_[slot].graph, kNone); graph != kNone) {
    conditions_[slot].handle.reset();
    DropHandle(graph);
  }
}

// ---- what the driver calls them ----

void World::SetRaw(NodeId node, CUgraphNode raw) {
  raw_nodes_.resize(std::max(raw_nodes_.size(), static_cast<std::size_t>(node) + 1));
  addresses_.resize(raw_nodes_.size());
  raw_nodes_[node] = raw;
}

void World::SetRawGraph(GraphId graph, CUgraph raw) {
  raw_graphs_.resize(std::max(raw_graphs_.size(), static_cast<std::size_t>(graph) + 1));
  raw_graphs_[graph] = raw;
}

void World::MapCopy(GraphId source, GraphId copy, CUgraph raw) {
  SetRawGraph(copy, raw);
  const std::vector<NodeId>& originals = model_->graph(source).nodes;
  const std::vector<NodeId>& copies = model_->graph(copy).nodes;
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const CUgraphNode node = environment_.FindInClone(RawOf(originals[i]), raw);
    SetRaw(copies[i], node);
    const std::vector<GraphId>& below = model_->node(originals[i]).graphs;
    if (!below.empty()) {
      MapCopy(below.front(), model_->node(copies[i]).graphs.front(), environment_.ChildGraphOf(node));
    }
  }
}

void World::MapChildCopy(NodeId node, CUgraphNode raw, GraphId source) {
  SetRaw(node, raw);
  MapCopy(source, model_->node(node).graphs.front(), environment_.ChildGraphOf(raw));
}

NodeId World::FindByRaw(GraphId graph, CUgraphNode raw) const {
  for (const NodeId node : model_->graph(graph).nodes) {
    if (RawOf(node) == raw) {
      return node;
    }
  }
  return kNone;
}

}  // namespace holdfast::fuzz
