// Executables against the model driver: what making, updating and closing one does to owners, and that a failure
// anywhere leaves everything as it was.
//
// The shim counts user objects: the attachment of each node is one, the list of each executable another.
#include "lib/graph/graph_exec.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "lib/driver/status.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "tests/lib/graph/device_test.h"

namespace holdfast {
namespace {

using driver::DriverError;

void CUDA_CB Nothing(void*) {}

// A host node in flight until it is let go.
class Gate {
 public:
  ~Gate() { Open(); }
  HostCallback Callback(OpaqueHandle owner) { return {&Wait, this, std::move(owner), nullptr}; }
  void AwaitStart() const {
    while (!started_) {
      std::this_thread::yield();
    }
  }
  void Open() { open_ = true; }

 private:
  static void CUDA_CB Wait(void* gate) {
    auto* const self = static_cast<Gate*>(gate);
    self->started_ = true;
    while (!self->open_) {
      std::this_thread::yield();
    }
  }

  std::atomic<bool> started_{false};
  std::atomic<bool> open_{false};
};

using GraphExecTest = DeviceTest;

GraphDefinition OneHostNode(Owner& owner) {
  GraphDefinition definition;
  definition.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
  return definition;
}

// Covers: EX-01, EX-07
TEST_F(GraphExecTest, TheSourceGivesItsTemporaryReferenceUp) {
  const fault::ModelObjects before = Live();
  Owner owner;
  const GraphDefinition definition = OneHostNode(owner);
  std::optional<GraphExec> executable(definition);
  EXPECT_EQ(Live().user_objects, before.user_objects + 2) << "the node's attachment and the executable's list";
  executable.reset();
  Settle();
  EXPECT_EQ(Live().user_objects, before.user_objects + 1) << "the list went although the source lives";
  EXPECT_TRUE(owner.IsHeld());
}

// Covers: EX-01, EX-02
TEST_F(GraphExecTest, AFailureAtAnyStepOfMakingOneLeavesNothing) {
  Owner owner;
  const GraphDefinition definition = OneHostNode(owner);
  const fault::ModelObjects before = Live();
  for (const char* site : {"cuUserObjectCreate", "cuGraphRetainUserObject", "cuGraphInstantiateWithParams"}) {
    const Faults faults{{site}};
    EXPECT_THROW(GraphExec{definition}, DriverError) << site;
    Settle();
    EXPECT_EQ(Live().user_objects, before.user_objects) << site;
    EXPECT_EQ(Live().executables, before.executables) << site;
  }
  EXPECT_TRUE(owner.IsHeld());
  EXPECT_NO_THROW(GraphExec{definition});
}

// Covers: EX-01
TEST_F(GraphExecTest, ARefusedReleaseOfTheTemporaryReferenceIsReported) {
  Owner owner;
  std::optional<GraphDefinition> definition(OneHostNode(owner));
  {
    const Faults faults{{"cuGraphReleaseUserObject"}};
    EXPECT_NO_THROW(GraphExec{*definition});
  }
  ExpectCleanupFailures(1);
  definition.reset();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// Covers: EX-02
TEST_F(GraphExecTest, TheDriversReasonIsInTheMessage) {
  Owner owner;
  const GraphDefinition definition = OneHostNode(owner);
  const Faults faults{{.site = "cuGraphInstantiateWithParams", .result = CUDA_ERROR_NOT_SUPPORTED}};
  EXPECT_EQ(MessageOf<DriverError>([&] { GraphExec{definition}; }),
            "cuGraphInstantiateWithParams: CUDA_ERROR_NOT_SUPPORTED (while instantiating a graph)");
}

// Covers: EX-03, TS-06
TEST_F(GraphExecTest, AGraphThatIsGoneIsRefused) {
  Owner owner;
  GraphDefinition parent;
  GraphNode node = parent.AddChildGraphNode(OneHostNode(owner));
  const GraphDefinition child = node.ChildGraph();
  GraphExec executable(parent);
  node.Destroy();
  EXPECT_THROW(GraphExec{child}, std::logic_error);
  EXPECT_THROW(executable.Update(child), std::logic_error);
}

// Covers: EX-04
TEST_F(GraphExecTest, ClosingTwiceDestroysOnce) {
  Owner owner;
  const GraphDefinition definition = OneHostNode(owner);
  const GraphNode node = definition.Nodes().front();
  GraphExec executable(definition);
  const GraphExec copy = executable;
  executable.Close();
  executable.Close();
  EXPECT_EQ(copy.raw(), nullptr);
  const StreamHandle stream = Stream::Create();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { copy.Launch(stream); }),
            "GraphExec::Launch: the executable has been closed");
  EXPECT_EQ(MessageOf<std::logic_error>([&] { copy.Upload(stream); }),
            "GraphExec::Upload: the executable has been closed");
  EXPECT_EQ(MessageOf<std::logic_error>([&] { executable.Update(definition); }),
            "GraphExec::Update: the executable has been closed");
  EXPECT_EQ(MessageOf<std::logic_error>([&] { executable.Node(node); }),
            "GraphExec::Node: the executable has been closed");
}

TEST_F(GraphExecTest, ARefusedCloseCountsAsClosed) {
  Owner owner;
  GraphExec executable(OneHostNode(owner));
  {
    // The executable is gone, and the error is one of earlier work.
    const Faults faults{{.site = "cuGraphExecDestroy", .after = true}};
    EXPECT_THROW(executable.Close(), DriverError);
  }
  EXPECT_EQ(executable.raw(), nullptr);
  EXPECT_NO_THROW(executable.Close());
}

// Covers: EX-05, EX-06
TEST_F(GraphExecTest, OwnersStayUntilTheLastExecutableAndItsLaunchAreThrough) {
  Owner owner;
  Gate gate;
  std::optional<GraphDefinition> definition(std::in_place);
  definition->AddHostNode(gate.Callback(owner.Take()));
  std::optional<GraphExec> first(*definition), second(*definition);
  definition.reset();
  first.reset();
  Settle();
  EXPECT_TRUE(owner.IsHeld()) << "the second executable";
  const StreamHandle stream = Stream::Create();
  second->Launch(stream);
  gate.AwaitStart();
  second.reset();
  EXPECT_TRUE(owner.IsHeld()) << "the launch";
  gate.Open();
  stream->Synchronize();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// Covers: IH-15
TEST_F(GraphExecTest, ACallbackThatThrowsStopsNothing) {
  GraphDefinition graph;
  std::atomic<int> runs{0};
  const GraphNode throws = graph.AddHostNode(HostCallback::FromFunction([&runs] {
    ++runs;
    throw std::runtime_error("on purpose");
  }));
  graph.AddHostNode(HostCallback::FromFunction([&runs] { ++runs; }), {{throws}});
  GraphExec executable(graph);
  const StreamHandle stream = Stream::Create();
  executable.Launch(stream);
  executable.Launch(stream);
  stream->Synchronize();
  EXPECT_EQ(runs, 4);
}

TEST_F(GraphExecTest, ExecutablesAreComparedByIdentity) {
  Owner owner;
  const GraphDefinition definition = OneHostNode(owner);
  const GraphExec first(definition), second(definition);
  EXPECT_TRUE(first == GraphExec(first));
  EXPECT_FALSE(first == second);
}

// Covers: EA-05
TEST_F(GraphExecTest, AWholeUpdateReplacesOwnersAndTheList) {
  Owner old_owner, added_owner, new_owner;
  const GraphDefinition old_source = OneHostNode(old_owner);
  GraphExec executable(old_source);
  executable.Node(old_source.Nodes().front()).UpdateHost({&Nothing, nullptr, added_owner.Take(), nullptr});
  {
    const GraphDefinition new_source = OneHostNode(new_owner);
    executable.Update(new_source);
  }
  Settle();
  EXPECT_FALSE(added_owner.IsHeld()) << "the list that the update replaced";
  EXPECT_TRUE(old_owner.IsHeld()) << "the old source lives";
  EXPECT_TRUE(new_owner.IsHeld()) << "the executable has what the new source had";
  Owner later_owner;
  executable.Node(old_source.Nodes().front()).UpdateHost({&Nothing, nullptr, later_owner.Take(), nullptr});
  EXPECT_TRUE(later_owner.IsHeld()) << "the new list works";
  executable.Close();
  Settle();
  EXPECT_FALSE(new_owner.IsHeld());
  EXPECT_FALSE(later_owner.IsHeld());
}

// Covers: EA-05
TEST_F(GraphExecTest, AWholeUpdateDuringALaunchKeepsTheOldOwnersUntilItEnds) {
  Owner old_owner, new_owner;
  Gate gate;
  GraphDefinition old_source;
  old_source.AddHostNode(gate.Callback(nullptr));
  GraphExec executable(old_source);
  executable.Node(old_source.Nodes().front()).UpdateHost(gate.Callback(old_owner.Take()));
  const StreamHandle stream = Stream::Create();
  executable.Launch(stream);
  gate.AwaitStart();
  executable.Update(OneHostNode(new_owner));
  EXPECT_TRUE(old_owner.IsHeld());
  gate.Open();
  stream->Synchronize();
  Settle();
  EXPECT_FALSE(old_owner.IsHeld());
  EXPECT_TRUE(new_owner.IsHeld());
}

// Covers: EA-06, EA-07
TEST_F(GraphExecTest, ARejectedWholeUpdateChangesNothing) {
  Owner owner, added_owner, rejected_owner;
  const GraphDefinition source = OneHostNode(owner);
  GraphExec executable(source);
  executable.Node(source.Nodes().front()).UpdateHost({&Nothing, nullptr, added_owner.Take(), nullptr});
  {
    GraphDefinition other = OneHostNode(rejected_owner);
    other.AddEmptyNode();
    const std::string message = MessageOf<DriverError>([&] { executable.Update(other); });
    EXPECT_NE(message.find("CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE (while updating an executable: the driver's update"),
              std::string::npos)
        << message;
  }
  Settle();
  EXPECT_FALSE(rejected_owner.IsHeld()) << "it went with its source";
  EXPECT_TRUE(added_owner.IsHeld());
  executable.Close();
  Settle();
  EXPECT_FALSE(added_owner.IsHeld());
}

// Covers: EA-06
TEST_F(GraphExecTest, AFailureAtAnyStepOfAWholeUpdateChangesNothing) {
  Owner owner, added_owner, new_owner;
  const GraphDefinition source = OneHostNode(owner);
  const GraphDefinition new_source = OneHostNode(new_owner);
  GraphExec executable(source);
  executable.Node(source.Nodes().front()).UpdateHost({&Nothing, nullptr, added_owner.Take(), nullptr});
  const fault::ModelObjects before = Live();
  for (const char* site : {"cuUserObjectCreate", "cuGraphRetainUserObject", "cuGraphExecUpdate"}) {
    const Faults faults{{site}};
    EXPECT_THROW(executable.Update(new_source), DriverError) << site;
    Settle();
    EXPECT_EQ(Live().user_objects, before.user_objects) << site;
    EXPECT_TRUE(added_owner.IsHeld()) << site;
  }
}

TEST_F(GraphExecTest, UploadAndLaunchWantAStream) {
  Owner owner;
  const GraphExec executable(OneHostNode(owner));
  EXPECT_THROW(executable.Launch(nullptr), std::invalid_argument);
  EXPECT_THROW(executable.Upload(nullptr), std::invalid_argument);
  const StreamHandle stream = Stream::Create();
  executable.Upload(stream);
  executable.Launch(stream);
  stream->Synchronize();
}

}  // namespace
}  // namespace holdfast
