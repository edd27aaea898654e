// World: one thread's part of a sequence: the library's handles in slots, the reference model beside them, and the
// comparison of the two.
//
// An operation is carried out on the library, with its faults armed for that call and no longer. What it may answer
// follows from the model before; if it succeeded, the model takes the same step. Then the two are compared: who must be
// alive, who must have been released, which handles are valid, what the touched graph holds.
//
// Thread safety: a world belongs to one thread at a time. Its owners may be released on others.
#ifndef HOLDFAST_SCENARIOS_FUZZ_WORLD_H_
#define HOLDFAST_SCENARIOS_FUZZ_WORLD_H_

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/driver/status.h"
#include "lib/graph/condition.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "lib/graph/graph_node.h"
#include "scenarios/fuzz/builder_model.h"
#include "scenarios/fuzz/environment.h"
#include "scenarios/fuzz/gate.h"
#include "scenarios/fuzz/owner_counts.h"
#include "scenarios/fuzz/reference_model.h"
#include "scenarios/fuzz/sequence.h"

namespace holdfast::fuzz {

class World {
 public:
  World(const Environment& environment, unsigned thread);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Carries out one operation and compares. `alone`: no other world runs meanwhile, so that what a drain released can
  // be told, and the operations that are for one thread alone are done; else they do nothing.
  void Execute(const Operation& operation, bool alone);

  // Lets go of everything, in slots and in flight.
  void DropAll();
  void OpenGate();

  // Everything late has arrived and the cleanup has run: compares what that makes exact.
  void AfterSettle();

  // What an operation is about to end: the child graph of a node that it destroys or gives another one. Null if
  // nothing.
  CUgraph GraphThatEnds(const Operation& operation) const;

  // Forgets everything, for the next sequence. REQUIRES: DropAll and AfterSettle.
  void Reset(const Settings& settings);

  const ReferenceModel& model() const { return *model_; }
  const BuilderModel& builders() const { return *builders_; }
  // Library and model disagree.
  [[noreturn]] void Fail(const std::string& what) const;

  // Nothing is late: what nothing but the past holds has been released.
  bool HasReleasedLingering() const;
  // Something is being captured, or was and could not be ended.
  bool HasCaptures() const;

  // The stream waits at a gate.
  bool HasBlockedLaunches() const { return gate_.is_closed(); }

  // Faults that fired so far.
  std::uint64_t faults() const { return faults_; }

  // ---- for drawing: what the slots hold; kNone where nothing ----
  GraphId GraphIn(int slot) const { return graphs_[slot].id; }
  NodeId NodeIn(int slot) const { return nodes_[slot].id; }
  ExecutableId ExecutableIn(int slot) const { return executables_[slot].id; }
  BuilderId BuilderIn(int slot) const { return builder_slots_[slot].id; }
  GraphId ConditionIn(int slot) const { return conditions_[slot].graph; }

 private:
  struct GraphSlot {
    std::optional<GraphDefinition> handle;
    GraphId id = kNone;
  };
  struct NodeSlot {
    GraphNode handle;
    NodeId id = kNone;
  };
  struct ExecutableSlot {
    std::optional<GraphExec> handle;
    ExecutableId id = kNone;
  };
  struct BuilderSlot {
    std::optional<GraphBuilder> handle;
    BuilderId id = kNone;
  };
  struct ConditionSlot {
    std::optional<Condition> handle;
    GraphId graph = kNone;
    bool can_stop = false;  // false at each launch: a loop ends at once
    bool is_used = false;
  };
  // An operand that keeps something: a number of the model and the library's handle, or neither.
  struct Owner {
    OwnerId id = kNone;
    OpaqueHandle handle;
  };

  // What an operation may answer, if no fault comes in its way.
  enum class Expectation : std::uint8_t {
    kSuccess,
    kMisuse,     // std::logic_error, before anything happened
    kRefusal,    // DriverError
    kFailure,    // either
    kUncertain,  // all of these
  };
  enum class Outcome : std::uint8_t { kSuccess, kMisuse, kRefusal, kOutOfMemory, kOther };

  using Handler = void (World::*)(const Operation&);
  static Handler HandlerOf(Opcode opcode);

  // ---- carrying out: world.cc ----
  // Runs `call` with the operation's faults armed, and judges. True: it succeeded.
  template <typename Call>
  bool Do(Expectation expectation, const Call& call);
  void ArmFaults();
  void DisarmFaults();
  void Judge(Expectation expectation, Outcome outcome);
  bool HasFaultAt(std::string_view site) const;
  // A fault at the site struck, before the call took effect or after. REQUIRES: of a site that ArmFaults tells apart.
  bool WasStruck(std::string_view site, bool after) const;
  bool WasReleaseRefused() const { return release_was_struck_ && !armed_release_->after; }
  // What the slot holds if the model says that it is alive; else a new owner, which the slot holds from now on.
  Owner Take(int slot);
  template <typename Resource>
  std::shared_ptr<const Resource> TakeAs(const Owner& owner, const Resource* resource) {
    return std::shared_ptr<const Resource>(owner.handle, resource);
  }
  BundleId MakeBundle(std::initializer_list<OwnerId> owners);
  void MarkKept(OwnerId owner);

  // ---- slots: world.cc ----
  void SetGraph(int slot, GraphDefinition handle, GraphId id);
  void SetNode(int slot, GraphNode handle, NodeId id);
  void SetExecutable(int slot, GraphExec handle, ExecutableId id, std::vector<CUgraphNode> sources);
  void SetBuilder(int slot, GraphBuilder handle, BuilderId id);
  void ClearGraph(int slot);
  void ClearNode(int slot);
  void ClearExecutable(int slot);
  void ClearBuilder(int slot);
  void ClearCondition(int slot);
  void DropHandle(GraphId graph);
  // The same where the drop was under faults.
  void DropHandleUnderFaults(GraphId graph);
  void FinishOrphan(GraphId root);

  // ---- what the driver calls them: world.cc ----
  CUgraphNode RawOf(NodeId node) const { return raw_nodes_[node]; }
  void SetRaw(NodeId node, CUgraphNode raw);
  void SetRawGraph(GraphId graph, CUgraph raw);
  // Of a copy, all the way down.
  void MapCopy(GraphId source, GraphId copy, CUgraph raw);
  void MapChildCopy(NodeId node, CUgraphNode raw, GraphId source);
  NodeId FindByRaw(GraphId graph, CUgraphNode raw) const;

  // ---- comparison: world_compare.cc ----
  // The graph is compared at the end of the operation, and kept until then.
  void Touch(const GraphDefinition& handle, GraphId id);
  void Touch(const NodeSlot& slot);
  void CompareTouched();
  void CompareOwners(bool late_ones_too);
  void CompareHandles() const;
  void CompareGraph(const GraphDefinition& handle, GraphId id) const;
  void CompareNode(const GraphNode& handle, NodeId id) const;
  void CompareOwnersOf(const GraphNode& handle, NodeId id) const;
  void CompareEdges(const GraphDefinition& handle, GraphId id) const;
  void CompareNeighbours(const GraphNode& handle, NodeId id) const;
  void CompareParameters(const GraphNode& handle, NodeId id) const;
  // With everything below.
  void CompareTree(const GraphDefinition& handle, GraphId id) const;
  void CompareBelow(const GraphNode& handle, NodeId id) const;

  // ---- operations on graphs: world_graphs.cc ----
  Expectation IfPlain(GraphId graph, Expectation expectation) const;
  bool IsCopyable(GraphId graph) const;
  // Something below or above captures: nothing else is done to the graph meanwhile.
  bool IsBusy(GraphId graph) const;
  bool IsUsableOperand(const GraphSlot& slot) const { return slot.id != kNone && !IsBusy(slot.id); }
  bool IsUsableNode(const NodeSlot& slot) const;
  // Dependencies among the operands from `first` on: those whose slots hold something.
  struct Dependencies {
    std::vector<GraphNode> handles;
    std::vector<NodeId> ids;
    bool are_usable = true;
  };
  Dependencies TakeDependencies(const Operation& operation, std::size_t first, GraphId graph) const;
  template <typename Add>
  NodeId AddNode(const Operation& operation, NodeKind kind, std::size_t first_dependency, Expectation expectation,
                 std::initializer_list<OwnerId> owners, const Add& add);
  void AddConditional(const Operation& operation, NodeKind kind, unsigned body_count, std::size_t first_dependency);
  template <typename Update>
  void UpdateNode(const Operation& operation, NodeKind kind, std::vector<OwnerId> owners, bool changes_parameter,
                  const Update& update);
  void UpdateNothing(const NodeSlot& slot, NodeKind kind, const std::function<void(GraphNode&)>& update);
  OwnerId PresentOwner(NodeId node, std::size_t place) const;
  Expectation EmbedExpectation(GraphId graph, GraphId source, bool move) const;
  void AdoptStray(GraphId graph, GraphId source, std::span<const NodeId> dependencies);
  void EmbedAs(const Operation& operation, Expectation expectation, bool move);
  Expectation ConditionalExpectation(const ConditionSlot& condition, GraphId graph, unsigned body_count) const;
  void MapBodies(const GraphNode& handle, NodeId id);
  void ChangeEdge(const Operation& operation, bool add);
  MemoryOperand FillTarget(const OpaqueHandle& owner) const;
  MemsetParameters FillPattern() const;
  MemoryOperand CopyDestination(const OpaqueHandle& owner) const;
  MemoryOperand CopySource(const OpaqueHandle& owner);
  CopyParameters MakeCopyOfRows(const OpaqueHandle& destination, const OpaqueHandle& source) const;
  KernelArguments MakeArguments(const OpaqueHandle& owner) const;

  void Create(const Operation& operation);
  void Adopt(const Operation& operation);
  void Clone(const Operation& operation);
  void Find(const Operation& operation);
  void DropGraph(const Operation& operation);
  void DropNode(const Operation& operation);
  void DropCondition(const Operation& operation);
  void AddEmpty(const Operation& operation);
  void AddHost(const Operation& operation);
  void AddMemset(const Operation& operation);
  void AddMemcpy(const Operation& operation);
  void AddCopyOfRows(const Operation& operation);
  void AddKernel(const Operation& operation);
  void AddEventRecord(const Operation& operation);
  void AddEventWait(const Operation& operation);
  void AddAllocation(const Operation& operation);
  void AddFree(const Operation& operation);
  void Embed(const Operation& operation);
  void Move(const Operation& operation);
  void ChildGraph(const Operation& operation);
  void UpdateChild(const Operation& operation);
  void MakeCondition(const Operation& operation);
  void AddIf(const Operation& operation);
  void AddIfElse(const Operation& operation);
  void AddWhile(const Operation& operation);
  void AddSwitch(const Operation& operation);
  void Body(const Operation& operation);
  void GraphOf(const Operation& operation);
  void NodeAt(const Operation& operation);
  void Query(const Operation& operation);
  void AddEdge(const Operation& operation);
  void RemoveEdge(const Operation& operation);
  void Destroy(const Operation& operation);
  void UpdateHost(const Operation& operation);
  void UpdateMemset(const Operation& operation);
  void SetMemset(const Operation& operation);
  void UpdateCopy(const Operation& operation);
  void SetMemcpy(const Operation& operation);
  void SetKernel(const Operation& operation);
  void UpdateEventRecord(const Operation& operation);
  void UpdateEventWait(const Operation& operation);

  // ---- operations on executables: world_executables.cc ----
  Expectation InstantiateExpectation(GraphId graph) const;
  void LetThrough();
  void LetThroughBefore(const Executable& used);
  Expectation UpdateExpectation(ExecutableId executable, GraphId source) const;
  Expectation NodeExpectation(const ExecutableSlot& executable, const NodeSlot& node, bool fits) const;
  void UpdateFrom(const ExecutableSlot& executable, GraphId source, Expectation expectation,
                  const std::function<void()>& update);
  void InstantiateInto(int slot, GraphId source, Expectation expectation, const std::function<GraphExec()>& make);
  void FinishClose(ExecutableId id, CUgraphExec raw);
  bool HasExecutableAndNode(const Operation& operation) const;
  template <typename Update>
  void UpdateExecutableNode(const Operation& operation, bool (*fits)(NodeKind), std::vector<OwnerId> owners,
                            const Update& update);
  void Instantiate(const Operation& operation);
  void UpdateExecutable(const Operation& operation);
  void Close(const Operation& operation);
  void DropExecutable(const Operation& operation);
  void ExecutableHost(const Operation& operation);
  void ExecutableMemset(const Operation& operation);
  void ExecutableMemcpy(const Operation& operation);
  void ExecutableCopy(const Operation& operation);
  void ExecutableKernel(const Operation& operation);
  void ExecutableEventRecord(const Operation& operation);
  void ExecutableEventWait(const Operation& operation);
  void ExecutableChild(const Operation& operation);
  void Enable(const Operation& operation);
  void Upload(const Operation& operation);
  void Launch(const Operation& operation);
  void Finish(const Operation& operation);
  void Drain(const Operation& operation);
  void Settle(const Operation& operation);

  // ---- operations on builders: world_builders.cc ----
  Expectation CaptureExpectation(BuilderId id) const;
  // The builder's capture goes on behind `node`.
  void PlaceBuilt(const BuilderSlot& builder, NodeId node);
  CUgraphNode FindUnplaced(BuilderId id) const;
  void LetGoOf(BuilderId id);
  void CheckState(const BuilderSlot& slot) const;
  bool HasBusyBody(BuilderId id) const;
  void FinishCapture(const BuilderSlot& slot);
  void ReadTail(const BuilderSlot& slot);
  Expectation EndExpectation(BuilderId id) const;
  bool WouldLeaveBadCapture(BuilderId ending) const;
  void FinishLetGo(BuilderId id, BuilderId ending);
  std::optional<StreamHandle> FreeCaptureStream();
  void BuildConditional(const Operation& operation, NodeKind kind, unsigned body_count, std::size_t first_result,
                        const std::function<std::vector<GraphBuilder>(GraphBuilder&, const Condition&)>& build);
  void MakeBuilder(const Operation& operation);
  void Begin(const Operation& operation);
  void Callback(const Operation& operation);
  void Split(const Operation& operation);
  void Join(const Operation& operation);
  void BuildEmbed(const Operation& operation);
  void BuildEmbedBuilder(const Operation& operation);
  void EmbedInBuilder(int builder, GraphId source, Expectation expectation,
                      const std::function<void(GraphBuilder&)>& embed);
  void BuildCondition(const Operation& operation);
  void BuildIf(const Operation& operation);
  void BuildIfElse(const Operation& operation);
  void BuildWhile(const Operation& operation);
  void BuildSwitch(const Operation& operation);
  void End(const Operation& operation);
  void CloseBuilder(const Operation& operation);
  void DropBuilder(const Operation& operation);
  void Complete(const Operation& operation);
  void Definition(const Operation& operation);
  void UpdateFromBuilder(const Operation& operation);
  void IsBuilding(const Operation& operation);
  void Spoil(const Operation& operation);

  const Environment& environment_;
  const unsigned thread_;

  // ---- kept for the length of the process ----
  const StreamHandle stream_;
  const DeviceMemoryHandle memory_;
  const EventHandle event_;
  std::vector<std::uint8_t> host_memory_;
  std::vector<StreamHandle> capture_streams_;
  Gate gate_;
  OwnerCounts owner_counts_;

  // ---- one sequence ----
  Settings settings_;
  std::optional<ReferenceModel> model_;
  std::optional<BuilderModel> builders_;
  std::array<GraphSlot, 8> graphs_;
  std::array<NodeSlot, 16> nodes_;
  std::array<ExecutableSlot, 4> executables_;
  std::array<BuilderSlot, 6> builder_slots_;
  std::array<ConditionSlot, 4> conditions_;
  std::array<OwnerId, 24> owner_slots_;
  std::vector<std::weak_ptr<const void>> owners_;      // by OwnerId
  std::vector<bool> was_kept_;                         // by OwnerId: the model had it in a bundle
  std::vector<CUgraphNode> raw_nodes_;                 // by NodeId
  std::vector<CUgraph> raw_graphs_;                    // by GraphId
  std::vector<CUdeviceptr> addresses_;                 // by NodeId, of memory nodes
  std::vector<std::vector<CUgraphNode>> raw_sources_;  // by ExecutableId
  std::vector<CUstream> streams_;                      // by BuilderId, of those that began a capture
  std::vector<GraphId> orphans_;                       // roots whose capture the library could not end
  std::vector<OwnerState> owner_states_;               // by OwnerId, as of the end of the operation before
  int parameter_ = 0;

  // ---- one operation ----
  const Operation* operation_ = nullptr;
  bool alone_ = true;
  const Fault* armed_ = nullptr;
  const Fault* armed_release_ = nullptr;
  std::uint64_t fired_ = 0;
  std::uint64_t release_faults_before_ = 0;
  bool release_was_struck_ = false;
  std::string error_;
  std::vector<std::pair<GraphDefinition, GraphId>> touched_;
  std::uint64_t faults_ = 0;
};

template <typename Call>
bool World::Do(Expectation expectation, const Call& call) {
  Outcome outcome = Outcome::kSuccess;
  ArmFaults();
  try {
    std::optional<harness::AllocationFaultWindow> window;
    if (HasFaultAt("alloc")) {
      window.emplace(environment_.context());
    }
    call();
  } catch (const driver::DriverError& error) {
    outcome = Outcome::kRefusal;
    error_ = error.what();
  } catch (const std::logic_error& error) {
    outcome = Outcome::kMisuse;
    error_ = error.what();
  } catch (const std::bad_alloc& error) {
    outcome = Outcome::kOutOfMemory;
    error_ = error.what();
  } catch (const std::exception& error) {
    outcome = Outcome::kOther;
    error_ = error.what();
  }
  DisarmFaults();
  Judge(expectation, outcome);
  return outcome == Outcome::kSuccess;
}

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_WORLD_H_
