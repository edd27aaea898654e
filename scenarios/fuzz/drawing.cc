#include "scenarios/fuzz/drawing.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace holdfast::fuzz {
namespace {

constexpr unsigned kOutOf = 64;

// Sites at which an operation of the kind can fail.
struct Sites {
  OperationKind kind;
  std::vector<std::string_view> sites;
};

const std::vector<std::string_view>& SitesOf(OperationKind kind) {
  static const auto* const table = new std::vector<Sites>{
      {OperationKind::kRoots, {"cuGraphCreate", "alloc"}},
      {OperationKind::kClones, {"cuGraphClone", "cuGraphNodeFindInClone", "cuGraphChildGraphNodeGetGraph", "alloc"}},
      {OperationKind::kDrops, {"cuGraphDestroy", "cuGraphExecDestroy", "cuStreamEndCapture"}},
      {OperationKind::kNodes,
       {"cuGraphAddEmptyNode", "cuGraphAddHostNode", "cuGraphAddMemsetNode", "cuGraphAddMemcpyNode",
        "cuGraphAddKernelNode", "cuUserObjectCreate", "cuGraphRetainUserObject", "cuCtxGetCurrent",
        "cuKernelGetParamInfo", "alloc"}},
      {OperationKind::kEvents,
       {"cuGraphAddEventRecordNode", "cuGraphAddEventWaitNode", "cuUserObjectCreate", "cuGraphRetainUserObject",
        "alloc"}},
      {OperationKind::kMemoryNodes, {"cuGraphAddMemAllocNode", "cuGraphAddMemFreeNode", "cuCtxGetDevice", "alloc"}},
      {OperationKind::kChildren,
       {"cuGraphAddChildGraphNode", "cuGraphAddNode", "cuGraphChildGraphNodeGetGraph", "cuGraphNodeFindInClone",
        "cuGraphNodeSetParams", "cuDriverGetVersion", "alloc"}},
      {OperationKind::kBodies, {"cuGraphConditionalHandleCreate", "cuGraphAddNode", "cuCtxGetCurrent", "alloc"}},
      {OperationKind::kLookups,
       {"cuGraphGetNodes", "cuGraphGetEdges", "cuGraphNodeGetType", "cuGraphNodeGetDependencies",
        "cuGraphNodeGetDependentNodes", "alloc"}},
      {OperationKind::kEdges, {"cuGraphAddDependencies", "cuGraphRemoveDependencies", "alloc"}},
      {OperationKind::kDestroys, {"cuGraphDestroyNode", "cuGraphReleaseUserObject", "alloc"}},
      {OperationKind::kUpdates,
       {"cuGraphNodeSetParams", "cuUserObjectCreate", "cuGraphRetainUserObject", "cuGraphReleaseUserObject",
        "cuGraphMemsetNodeGetParams", "cuGraphMemcpyNodeGetParams", "cuGraphKernelNodeGetParams", "alloc"}},
      {OperationKind::kExecutables,
       {"cuGraphInstantiateWithParams", "cuGraphExecUpdate", "cuUserObjectCreate", "cuGraphRetainUserObject",
        "cuGraphReleaseUserObject", "cuGraphExecDestroy", "alloc"}},
      {OperationKind::kExecutableUpdates,
       {"cuGraphExecNodeSetParams", "cuGraphNodeSetEnabled", "cuGraphNodeGetEnabled", "alloc"}},
      {OperationKind::kLaunches, {"cuGraphLaunch", "cuGraphUpload"}},
      {OperationKind::kBuilders,
       {"cuStreamBeginCapture", "cuStreamBeginCaptureToGraph", "cuStreamGetCaptureInfo", "cuStreamIsCapturing",
        "cuStreamEndCapture", "cuLaunchHostFunc", "cuStreamUpdateCaptureDependencies", "cuEventCreate", "cuEventRecord",
        "cuStreamWaitEvent", "cuStreamCreateWithPriority", "cuUserObjectCreate", "cuGraphRetainUserObject",
        "cuGraphAddChildGraphNode", "cuGraphNodeFindInClone", "alloc"}},
      {OperationKind::kDrains, {}},
  };
  return std::find_if(table->begin(), table->end(), [kind](const Sites& sites) { return sites.kind == kind; })->sites;
}

bool CanFailAfter(std::string_view site) {
  return site == "cuGraphLaunch" || site == "cuGraphDestroy" || site == "cuGraphExecDestroy" ||
         site == "cuGraphReleaseUserObject" || site == "cuLaunchHostFunc";
}

// The kind of node that the operation is for; nothing if it is for many.
std::optional<NodeKind> KindFor(Opcode opcode) {
  switch (opcode) {
    case Opcode::kUpdateHost:
    case Opcode::kExecutableHost:
      return NodeKind::kHost;
    case Opcode::kUpdateMemset:
    case Opcode::kSetMemset:
    case Opcode::kExecutableMemset:
      return NodeKind::kMemset;
    case Opcode::kSetMemcpy:
    case Opcode::kExecutableMemcpy:
      return NodeKind::kMemcpy;
    case Opcode::kUpdateCopy:
    case Opcode::kExecutableCopy:
      return NodeKind::kCopyOfRows;
    case Opcode::kSetKernel:
    case Opcode::kExecutableKernel:
      return NodeKind::kKernel;
    case Opcode::kUpdateEventRecord:
    case Opcode::kExecutableEventRecord:
      return NodeKind::kEventRecord;
    case Opcode::kUpdateEventWait:
    case Opcode::kExecutableEventWait:
      return NodeKind::kEventWait;
    case Opcode::kChildGraph:
    case Opcode::kUpdateChild:
    case Opcode::kExecutableChild:
      return NodeKind::kChild;
    case Opcode::kAddFree:
      return NodeKind::kAllocation;
    default:
      return std::nullopt;
  }
}

}  // namespace

Drawing::Drawing(std::uint64_t seed, bool is_model) : random_(seed) {
  settings_.seed = seed;
  settings_.settle = 1U + random_.Below(24);
  if (is_model) {
    constexpr fault::Delivery kDeliveries[] = {fault::Delivery::kInline, fault::Delivery::kInline,
                                               fault::Delivery::kInline, fault::Delivery::kThread,
                                               fault::Delivery::kHeld,   fault::Delivery::kMixed};
    settings_.delivery = kDeliveries[random_.Below(std::size(kDeliveries))];
    settings_.reuse = random_.Chance(1, 4) ? fault::HandleReuse::kNever : fault::HandleReuse::kAtOnce;
  }
  threads_ = random_.Chance(1, 6) ? 2 + random_.Below(2) : 1;
  parallel_ = threads_ > 1 && random_.Chance(2, 3);
  length_ = 10U + random_.Below(random_.Chance(1, 4) ? 190 : 60);
  misuse_ = random_.Chance(1, 2) ? random_.Below(16) : 0;
  faults_ = random_.Chance(1, 2) ? random_.Below(24) : 0;
  std::array<bool, kOperationKinds> is_on;
  for (std::size_t kind = 0; kind < kOperationKinds; ++kind) {
    const bool is_slow = static_cast<OperationKind>(kind) == OperationKind::kLaunches ||
                         static_cast<OperationKind>(kind) == OperationKind::kBuilders;
    is_on[kind] = is_slow ? random_.Chance(1, 5) : random_.Chance(1, 2);
  }
  is_on[static_cast<std::size_t>(OperationKind::kRoots)] = true;
  is_on[static_cast<std::size_t>(OperationKind::kNodes)] = true;
  unsigned sum = 0;
  for (std::size_t i = 0; i < kOpcodes; ++i) {
    const unsigned factor = random_.Below(4);
    sum += is_on[static_cast<std::size_t>(kOperations[i].kind)] ? kOperations[i].weight * factor : 0;
    if (static_cast<Opcode>(i) == Opcode::kCreate) {
      sum += kOperations[i].weight;
    }
    cumulative_weights_[i] = sum;
  }
}

Opcode Drawing::DrawOpcode() {
  const unsigned drawn = random_.Below(cumulative_weights_.back());
  const auto place = std::upper_bound(cumulative_weights_.begin(), cumulative_weights_.end(), drawn);
  return static_cast<Opcode>(place - cumulative_weights_.begin());
}

Drawing::Block Drawing::DrawBlock(const std::vector<World*>& worlds) {
  if (parallel_ && random_.Chance(1, 24)) {
    return {DrawParallel(worlds), false};
  }
  if (threads_ > 1 && random_.Chance(1, 8)) {
    if (std::vector<Operation> block = DrawInside(worlds); !block.empty()) {
      return {std::move(block), true};
    }
  }
  return {{Draw(worlds)}, false};
}

Operation Drawing::Draw(const std::vector<World*>& worlds) {
  const unsigned thread = threads_ == 1 ? 0 : random_.Below(threads_);
  return DrawFor(*worlds[thread], thread);
}

Operation Drawing::DrawFor(const World& world, unsigned thread) {
  for (unsigned attempts = 0; attempts < 8; ++attempts) {
    if (std::optional<Operation> operation = TryDraw(world, thread, DrawOpcode())) {
      DrawFaults(&*operation);
      return *std::move(operation);
    }
  }
  return *TryDraw(world, thread, Opcode::kCreate);
}

std::optional<Operation> Drawing::TryDraw(const World& world, unsigned thread, Opcode opcode) {
  Operation operation;
  operation.thread = thread;
  operation.opcode = opcode;
  const std::string_view operands = InfoOf(opcode).operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::optional<int> operand = DrawOperand(world, operation, i);
    if (!operand) {
      return std::nullopt;
    }
    operation.operands[i] = *operand;
  }
  return operation;
}

std::optional<int> Drawing::DrawOperand(const World& world, const Operation& operation, std::size_t position) {
  const char letter = InfoOf(operation.opcode).operands[position];
  if (IsResult(letter)) {
    return DrawResult(world, letter);
  }
  if (letter == '#') {
    return DrawNumber(operation.opcode);
  }
  if (letter == 'd') {
    return DrawDependency(world, operation);
  }
  if (letter == 'o' || letter == 'w') {
    const bool is_absent = letter == 'o' && random_.Chance(1, 3);
    return is_absent ? kAbsent : static_cast<int>(random_.Below(static_cast<unsigned>(SlotsOf(letter))));
  }
  if (letter == 'r' && random_.Chance(2, 3)) {
    return kAbsent;
  }
  if (random_.Chance(misuse_, kOutOf)) {
    return static_cast<int>(random_.Below(static_cast<unsigned>(SlotsOf(letter))));
  }
  switch (letter) {
    case 'g':
      return DrawGraph(world, operation, position);
    case 'n':
      return DrawNode(world, operation, position);
    case 'b':
    case 'r':
      return DrawBuilder(world, operation, position);
    case 'c':
      return DrawSlot(letter, [&](int slot) { return world.ConditionIn(slot) != kNone; });
    default:
      return DrawSlot(letter, [&](int slot) {
        const ExecutableId id = world.ExecutableIn(slot);
        return id != kNone && world.model().executable(id).open;
      });
  }
}

// One of the slots that fit, or nothing.
template <typename IsFit>
std::optional<int> Drawing::DrawSlot(char letter, const IsFit& is_fit) {
  std::array<int, 16> fit;
  unsigned count = 0;
  for (int slot = 0; slot < SlotsOf(letter); ++slot) {
    if (is_fit(slot)) {
      fit[count++] = slot;
    }
  }
  return count == 0 ? std::optional<int>() : fit[random_.Below(count)];
}

std::optional<int> Drawing::DrawGraph(const World& world, const Operation& operation, std::size_t position) {
  const ReferenceModel& model = world.model();
  const auto is_alive = [&](int slot) {
    return world.GraphIn(slot) != kNone && model.graph(world.GraphIn(slot)).alive;
  };
  const auto is_root = [&](int slot) { return is_alive(slot) && model.graph(world.GraphIn(slot)).parent == kNone; };
  switch (operation.opcode) {
    case Opcode::kUpdateExecutable: {
      if (world.ExecutableIn(operation.operands[0]) == kNone) {
        return DrawSlot('g', is_root);
      }
      const Shape& shape = model.executable(world.ExecutableIn(operation.operands[0])).shape;
      const auto is_same = [&](int slot) {
        return is_root(slot) && IsSameTopology(shape, model.ShapeOf(world.GraphIn(slot)));
      };
      const std::optional<int> slot = DrawSlot('g', is_same);
      return slot && random_.Chance(7, 8) ? slot : DrawSlot('g', is_root);
    }
    case Opcode::kEmbed:
    case Opcode::kMove:
    case Opcode::kUpdateChild: {
      if (position == 0) {
        return DrawSlot('g', is_alive);
      }
      const bool is_update = operation.opcode == Opcode::kUpdateChild;
      const NodeId node = is_update ? world.NodeIn(operation.operands[0]) : kNone;
      const GraphId into = node != kNone ? model.node(node).graph
                           : is_update   ? kNone
                                         : world.GraphIn(operation.operands[0]);
      return DrawSlot('g', [&](int slot) {
        return is_root(slot) && into != kNone &&
               model.graph(world.GraphIn(slot)).hierarchy != model.graph(into).hierarchy;
      });
    }
    case Opcode::kClone:
    case Opcode::kInstantiate:
    case Opcode::kExecutableChild:
    case Opcode::kBuildEmbed:
      return random_.Chance(15, 16) ? DrawSlot('g', is_root) : DrawSlot('g', is_alive);
    case Opcode::kDropGraph:
      return DrawSlot('g', [&](int slot) { return world.GraphIn(slot) != kNone; });
    default:
      return DrawSlot('g', is_alive);
  }
}

std::optional<int> Drawing::DrawNode(const World& world, const Operation& operation, std::size_t position) {
  const ReferenceModel& model = world.model();
  const std::optional<NodeKind> kind = KindFor(operation.opcode);
  const std::string_view operands = InfoOf(operation.opcode).operands;
  const bool is_for_executable = operands.front() == 'e';
  const bool is_edge = operation.opcode == Opcode::kAddEdge || operation.opcode == Opcode::kRemoveEdge;
  const auto fits = [&](int slot) {
    const NodeId id = world.NodeIn(slot);
    if (id == kNone || operation.opcode == Opcode::kDropNode) {
      return id != kNone;
    }
    const Node& node = model.node(id);
    if (!node.alive || (kind && node.kind != *kind) ||
        (operation.opcode == Opcode::kBody && !IsConditional(node.kind))) {
      return false;
    }
    if (is_edge) {
      return node.graph == world.GraphIn(operation.operands[0]) &&
             (position == 1 || world.NodeIn(operation.operands[1]) < id);
    }
    return !is_for_executable || random_.Chance(1, 16) ||
           !model.Find(world.ExecutableIn(operation.operands[0]), id).empty();
  };
  if (is_for_executable && world.ExecutableIn(operation.operands[0]) == kNone) {
    return std::nullopt;
  }
  return DrawSlot('n', fits);
}

std::optional<int> Drawing::DrawBuilder(const World& world, const Operation& operation, std::size_t position) {
  const BuilderModel& builders = world.builders();
  const auto fits = [&](int slot) {
    const BuilderId id = world.BuilderIn(slot);
    if (id == kNone) {
      return false;
    }
    const Builder& builder = builders.builder(id);
    switch (operation.opcode) {
      case Opcode::kDropBuilder:
      case Opcode::kCloseBuilder:
      case Opcode::kIsBuilding:
        return true;
      case Opcode::kBegin:
        return builder.kind != Builder::Kind::kForked && builders.StateOf(id) == Builder::State::kNotStarted;
      case Opcode::kEnd:
        return builder.kind != Builder::Kind::kForked && builders.IsCapturing(id);
      case Opcode::kComplete:
      case Opcode::kUpdateFromBuilder:
        return builders.HasFinishedGraph(id);
      case Opcode::kDefinition:
        return builders.HasDefinition(id);
      case Opcode::kBuildEmbedBuilder:
        return position == 0 ? builders.IsCapturing(id) : builders.HasFinishedGraph(id);
      case Opcode::kJoin:
        return builders.IsCapturing(id) &&
               (position == 0 || (slot != operation.operands[0] && world.BuilderIn(operation.operands[0]) != kNone &&
                                  builders.OwnerOf(id) == builders.OwnerOf(world.BuilderIn(operation.operands[0]))));
      default:
        return builders.IsCapturing(id);
    }
  };
  const std::optional<int> slot = DrawSlot('b', fits);
  return !slot && position == 2 ? kAbsent : slot;
}

// Mostly an empty slot, so that what there is stays for a while.
int Drawing::DrawResult(const World& world, char letter) {
  const auto is_empty = [&](int slot) {
    switch (letter) {
      case 'G':
        return world.GraphIn(slot) == kNone;
      case 'N':
        return world.NodeIn(slot) == kNone || !world.model().node(world.NodeIn(slot)).alive;
      case 'E':
        return world.ExecutableIn(slot) == kNone;
      case 'B':
        return world.BuilderIn(slot) == kNone;
      default:
        return world.ConditionIn(slot) == kNone;
    }
  };
  if (random_.Chance(3, 4)) {
    if (const std::optional<int> slot = DrawSlot(letter, is_empty)) {
      return *slot;
    }
  }
  return static_cast<int>(random_.Below(static_cast<unsigned>(SlotsOf(letter))));
}

int Drawing::DrawDependency(const World& world, const Operation& operation) {
  if (random_.Chance(1, 2)) {
    return kAbsent;
  }
  if (random_.Chance(misuse_, kOutOf)) {
    return static_cast<int>(random_.Below(static_cast<unsigned>(SlotsOf('n'))));
  }
  const GraphId graph = world.GraphIn(operation.operands[0]);
  const std::optional<int> slot = DrawSlot('n', [&](int candidate) {
    const NodeId id = world.NodeIn(candidate);
    return id != kNone && world.model().node(id).alive && world.model().node(id).graph == graph;
  });
  return slot.value_or(kAbsent);
}

int Drawing::DrawNumber(Opcode opcode) {
  switch (opcode) {
    case Opcode::kMakeCondition:
    case Opcode::kBuildCondition:
      return random_.Chance(3, 4) ? 0 : static_cast<int>(random_.Below(4));
    case Opcode::kBegin:
      return random_.Chance(misuse_, kOutOf) ? 7 : 2;
    case Opcode::kSplit:
      return random_.Chance(misuse_, kOutOf) ? 1 : static_cast<int>(2 + random_.Below(2));
    default:
      return static_cast<int>(random_.Below(static_cast<unsigned>(SlotsOf('#'))));
  }
}

// ---- faults ----

void Drawing::DrawFaults(Operation* operation) {
  const OperationInfo& info = InfoOf(operation->opcode);
  const std::vector<std::string_view>& sites = SitesOf(info.kind);
  if (sites.empty() || !random_.Chance(faults_, kOutOf)) {
    return;
  }
  Fault fault;
  fault.site = sites[random_.Below(static_cast<unsigned>(sites.size()))];
  const unsigned farthest = fault.site == "alloc" ? 16 : 3;
  fault.nth = random_.Chance(1, 2) ? 1 : 1 + random_.Below(farthest);
  fault.persistent = random_.Chance(1, 4);
  fault.after = CanFailAfter(fault.site) && random_.Chance(1, 2);
  operation->faults.push_back(std::move(fault));
  if (info.kind == OperationKind::kUpdates && random_.Chance(1, 4)) {
    operation->faults.push_back({"cuGraphReleaseUserObject", 1, random_.Chance(1, 2), random_.Chance(1, 2)});
  }
}

// ---- parallel blocks ----

std::vector<Operation> Drawing::DrawParallel(const std::vector<World*>& worlds) {
  std::vector<std::vector<Operation>> parts(threads_);
  for (unsigned thread = 0; thread < threads_; ++thread) {
    for (unsigned turn = 0; turn < 4; ++turn) {
      if (random_.Chance(1, 2)) {
        AppendBurst(thread, &parts[thread]);
      } else {
        parts[thread].push_back(DrawFor(*worlds[thread], thread));
      }
    }
  }
  std::vector<Operation> operations;
  for (std::size_t i = 0; operations.empty() || i < 64; ++i) {
    for (std::vector<Operation>& part : parts) {
      if (i < part.size()) {
        operations.push_back(std::move(part[i]));
      }
    }
  }
  return operations;
}

std::vector<Operation> Drawing::DrawInside(const std::vector<World*>& worlds) {
  const unsigned thread = random_.Below(threads_);
  const Opcode opcode = random_.Chance(1, 2) ? Opcode::kDestroy : Opcode::kUpdateChild;
  std::optional<Operation> first = TryDraw(*worlds[thread], thread, opcode);
  if (!first || worlds[thread]->GraphThatEnds(*first) == nullptr) {
    return {};
  }
  std::vector<Operation> operations{*std::move(first)};
  for (unsigned turn = 0; turn < 3; ++turn) {
    const unsigned other = (thread + 1 + random_.Below(threads_ - 1)) % threads_;
    std::optional<Operation> maker = TryDraw(*worlds[other], other, Opcode::kCreate);
    operations.push_back(turn == 0 && random_.Chance(1, 2) ? *std::move(maker) : DrawFor(*worlds[other], other));
  }
  return operations;
}

void Drawing::AppendBurst(unsigned thread, std::vector<Operation>* operations) {
  const int outer = static_cast<int>(random_.Below(4));
  const int source = outer + 4;
  const int child = (outer + 1) % 4;
  const int node = static_cast<int>(random_.Below(8));
  const int inner = node + 8;
  const int owner = static_cast<int>(random_.Below(24));
  const Operation burst[] = {
      {thread, Opcode::kCreate, {source}, {}},
      {thread, Opcode::kAddHost, {source, inner, owner, kAbsent, kAbsent, kAbsent}, {}},
      {thread, Opcode::kCreate, {outer}, {}},
      {thread, Opcode::kEmbed, {outer, node, source, kAbsent, kAbsent}, {}},
      {thread, Opcode::kChildGraph, {node, child}, {}},
      {thread, Opcode::kAddHost, {child, inner, (owner + 1) % 24, kAbsent, kAbsent, kAbsent}, {}},
      {thread, Opcode::kUpdateChild, {node, source}, {}},
      {thread, Opcode::kChildGraph, {node, child}, {}},
      {thread, Opcode::kDestroy, {node}, {}},
      {thread, Opcode::kEmbed, {outer, node, source, kAbsent, kAbsent}, {}},
  };
  for (const Operation& operation : burst) {
    if (random_.Chance(7, 8)) {
      operations->push_back(operation);
    }
  }
}

}  // namespace holdfast::fuzz
