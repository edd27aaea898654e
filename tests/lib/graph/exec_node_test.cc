// Nodes of executables against the model driver: each kind's update reaches the launch and brings its owners, and
// leaves the definition alone; a refused one leaves the executable alone.
#include "lib/graph/exec_node.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "tests/lib/graph/device_test.h"

namespace holdfast {
namespace {

using driver::DriverError;
using driver::GetDriver;

void CUDA_CB Nothing(void*) {}
void CUDA_CB CountUp(void* count) { ++*static_cast<int*>(count); }

class ExecNodeTest : public DeviceTest {
 protected:
  static void Run(const GraphExec& executable) {
    const StreamHandle stream = Stream::Create();
    executable.Launch(stream);
    stream->Synchronize();
  }

  static DeviceMemoryHandle Zeroes() {
    DeviceMemoryHandle memory = DeviceMemory::Allocate(kSizeBytes);
    const std::vector<std::uint8_t> zeroes(kSizeBytes);
    EXPECT_EQ(GetDriver().cuMemcpyHtoD(memory->address(), zeroes.data(), zeroes.size()), CUDA_SUCCESS);
    return memory;
  }

  static KernelArguments Arguments(const DeviceMemoryHandle& memory) {
    return KernelArguments().Add(memory).Add(static_cast<std::uint32_t>(kSizeBytes));
  }

  static constexpr std::size_t kSizeBytes = 8;
};

// Covers: XU-03, EA-10
TEST_F(ExecNodeTest, KernelUpdateRunsOnTheNewMemoryAndKeepsIt) {
  const KernelHandle kernel = LoadAddOneKernel();
  const DeviceMemoryHandle first = Zeroes();
  GraphDefinition definition;
  const GraphNode node = definition.AddKernelNode(kernel, {}, Arguments(first));
  GraphExec executable(definition);
  DeviceMemoryHandle second = Zeroes();
  executable.Node(node).UpdateKernel(kernel, {}, Arguments(second));
  Run(executable);
  EXPECT_EQ(Read(first)[0], 0);
  EXPECT_EQ(Read(second)[0], 1);
  Run(GraphExec(definition));
  EXPECT_EQ(Read(first)[0], 1) << "the definition has its own parameters";
  const std::weak_ptr<const DeviceMemory> watch = second;
  second = nullptr;
  Settle();
  EXPECT_FALSE(watch.expired());
  executable.Close();
  Settle();
  EXPECT_TRUE(watch.expired());
}

// Covers: XU-03
TEST_F(ExecNodeTest, KernelUpdateWithOtherAttributesOrArgumentsIsRefused) {
  const KernelHandle kernel = LoadAddOneKernel();
  const DeviceMemoryHandle memory = Zeroes();
  GraphDefinition definition;
  const GraphNode node = definition.AddKernelNode(kernel, {}, Arguments(memory));
  GraphExec executable(definition);
  ExecNode view = executable.Node(node);
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] {
              view.UpdateKernel(kernel, {.cluster = {2, 1, 1}}, Arguments(memory));
            }),
            "ExecNode::UpdateKernel: the cluster is not that of the definition's node, and an executable cannot change "
            "it; update the definition's node and then the whole executable");
  EXPECT_EQ(
      MessageOf<std::invalid_argument>([&] { view.UpdateKernel(kernel, {.cooperative = true}, Arguments(memory)); }),
      "ExecNode::UpdateKernel: the definition's node is of the other kind, cooperative or not, and an executable "
      "cannot change that; update the definition's node and then the whole executable");
  EXPECT_THROW(view.UpdateKernel(kernel, {}, KernelArguments().Add(memory)), std::invalid_argument);
  EXPECT_THROW(view.UpdateKernel(nullptr, {}, Arguments(memory)), std::invalid_argument);
}

// Covers: XU-03
TEST_F(ExecNodeTest, MemcpyUpdateTakesDestinationSourceAndSize) {
  const DeviceMemoryHandle source = Zeroes(), first = Zeroes(), second = Zeroes();
  const std::vector<std::uint8_t> sevens(kSizeBytes, 7);
  ASSERT_EQ(GetDriver().cuMemcpyHtoD(source->address(), sevens.data(), sevens.size()), CUDA_SUCCESS);
  GraphDefinition definition;
  const GraphNode node =
      definition.AddMemcpyNode(MemoryOperand::Device(first), MemoryOperand::Device(source), kSizeBytes);
  GraphExec executable(definition);
  executable.Node(node).UpdateMemcpy(MemoryOperand::Device(second), MemoryOperand::Device(source), 2);
  Run(executable);
  EXPECT_EQ(Read(first)[0], 0);
  EXPECT_EQ(Read(second), (std::vector<std::uint8_t>{7, 7, 0, 0, 0, 0, 0, 0}));
}

// Covers: XU-03
TEST_F(ExecNodeTest, MemsetUpdateTakesTargetAndPattern) {
  const DeviceMemoryHandle first = Zeroes(), second = Zeroes();
  GraphDefinition definition;
  const GraphNode node = definition.AddMemsetNode(MemoryOperand::Device(first), {.value = 1, .width_elements = 8});
  GraphExec executable(definition);
  executable.Node(node).UpdateMemset(MemoryOperand::Device(second), {.value = 5, .width_elements = 3});
  Run(executable);
  EXPECT_EQ(Read(first)[0], 0);
  EXPECT_EQ(Read(second), (std::vector<std::uint8_t>{5, 5, 5, 0, 0, 0, 0, 0}));
  EXPECT_THROW(executable.Node(node).UpdateMemset(MemoryOperand::Host(nullptr, nullptr), {.width_elements = 1}),
               std::invalid_argument);
}

// Covers: XU-03
TEST_F(ExecNodeTest, EventUpdatesKeepTheEvent) {
  GraphDefinition definition;
  const EventHandle placeholder = Event::Create();
  const GraphNode record = definition.AddEventRecordNode(placeholder);
  const GraphNode wait = definition.AddEventWaitNode(placeholder, {{record}});
  GraphExec executable(definition);
  EventHandle event = Event::Create();
  const std::weak_ptr<const Event> watch = event;
  executable.Node(record).UpdateEventRecord(event);
  executable.Node(wait).UpdateEventWait(std::exchange(event, nullptr));
  Run(executable);
  EXPECT_FALSE(watch.expired());
  EXPECT_THROW(executable.Node(record).UpdateEventRecord(nullptr), std::invalid_argument);
  EXPECT_THROW(executable.Node(wait).UpdateEventWait(nullptr), std::invalid_argument);
  executable.Close();
  Settle();
  EXPECT_TRUE(watch.expired());
}

// Covers: EA-01, EA-02
TEST_F(ExecNodeTest, SupersededOwnersStayWithTheirExecutable) {
  GraphDefinition definition;
  int runs = 0;
  const GraphNode node = definition.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  GraphExec first(definition), second(definition);
  Owner superseded, latest, other;
  first.Node(node).UpdateHost({&Nothing, nullptr, superseded.Take(), nullptr});
  first.Node(node).UpdateHost({&CountUp, &runs, nullptr, latest.Take()});
  second.Node(node).UpdateHost({&Nothing, nullptr, other.Take(), nullptr});
  Run(first);
  EXPECT_EQ(runs, 1);
  second.Close();
  Settle();
  EXPECT_FALSE(other.IsHeld());
  EXPECT_TRUE(superseded.IsHeld());
  EXPECT_TRUE(latest.IsHeld());
  first.Close();
  Settle();
  EXPECT_FALSE(superseded.IsHeld());
  EXPECT_FALSE(latest.IsHeld());
}

// Covers: EA-03, EA-04
TEST_F(ExecNodeTest, ARefusedUpdateDropsItsOwnersAndChangesNothing) {
  GraphDefinition definition;
  int runs = 0;
  const GraphNode node = definition.AddHostNode({&CountUp, &runs, nullptr, nullptr});
  GraphExec executable(definition);
  Owner kept, refused;
  executable.Node(node).UpdateHost({&CountUp, &runs, kept.Take(), nullptr});
  {
    const Faults faults{{"cuGraphExecNodeSetParams"}};
    EXPECT_EQ(MessageOf<DriverError>([&] {
                executable.Node(node).UpdateHost({&Nothing, nullptr, refused.Take(), nullptr});
              }),
              "cuGraphExecNodeSetParams: CUDA_ERROR_OUT_OF_MEMORY (while updating a host node of an executable)");
  }
  EXPECT_FALSE(refused.IsHeld());
  EXPECT_TRUE(kept.IsHeld());
  Run(executable);
  EXPECT_EQ(runs, 1);
}

// Covers: XU-04, EA-03
TEST_F(ExecNodeTest, ANodeOfAnUnrelatedGraphIsRefusedByTheDriver) {
  GraphDefinition definition, unrelated;
  definition.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  const GraphNode stranger = unrelated.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  GraphExec executable(definition);
  Owner refused;
  EXPECT_THROW(executable.Node(stranger).UpdateHost({&Nothing, nullptr, refused.Take(), nullptr}), DriverError);
  EXPECT_FALSE(refused.IsHeld());
}

// Covers: EA-08
TEST_F(ExecNodeTest, AChildGraphBringsItsOwnersByItself) {
  int runs = 0;
  GraphDefinition first_child;
  first_child.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  GraphDefinition definition;
  const GraphNode node = definition.AddChildGraphNode(first_child);
  GraphExec executable(definition);
  Owner owner;
  {
    GraphDefinition replacement;
    replacement.AddHostNode({&CountUp, &runs, owner.Take(), nullptr});
    executable.Node(node).UpdateChildGraph(replacement);
  }
  Settle();
  EXPECT_TRUE(owner.IsHeld());
  Run(executable);
  EXPECT_EQ(runs, 1);
  executable.Close();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// Covers: EA-08, TS-06
TEST_F(ExecNodeTest, AChildGraphThatIsGoneIsRefused) {
  GraphDefinition child;
  child.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  GraphDefinition definition, other;
  const GraphNode node = definition.AddChildGraphNode(child);
  GraphNode ended = other.AddChildGraphNode(child);
  const GraphDefinition gone = ended.ChildGraph();
  ended.Destroy();
  GraphExec executable(definition);
  EXPECT_EQ(
      MessageOf<std::logic_error>([&] { executable.Node(node).UpdateChildGraph(gone); }),
      "ExecNode::UpdateChildGraph: the graph no longer exists: the node that owned it was destroyed or got another "
      "graph; ask the owning node for its present one");
}

// Covers: EA-09
TEST_F(ExecNodeTest, NodesAreEnabledAndDisabledInTheExecutableAlone) {
  const DeviceMemoryHandle memory = Zeroes();
  GraphDefinition definition;
  const GraphNode node = definition.AddMemsetNode(MemoryOperand::Device(memory), {.value = 1, .width_elements = 8});
  const GraphNode host = definition.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  const fault::ModelObjects before = Live();
  GraphExec executable(definition);
  ExecNode view = executable.Node(node);
  EXPECT_TRUE(view.IsEnabled());
  view.SetEnabled(false);
  view.SetEnabled(false);
  EXPECT_FALSE(view.IsEnabled());
  Run(executable);
  EXPECT_EQ(Read(memory)[0], 0);
  view.SetEnabled(true);
  Run(executable);
  EXPECT_EQ(Read(memory)[0], 1);
  EXPECT_EQ(Live().user_objects, before.user_objects + 1) << "the executable's list alone";
  EXPECT_THROW(executable.Node(host).SetEnabled(false), std::invalid_argument);
  EXPECT_THROW(executable.Node(host).IsEnabled(), std::invalid_argument);
}

// Covers: XU-01
TEST_F(ExecNodeTest, AViewKeepsTheDefinitionOnlyWhileItLives) {
  std::optional<GraphDefinition> definition(std::in_place);
  std::optional<GraphNode> node(definition->AddHostNode({&Nothing, nullptr, nullptr, nullptr}));
  GraphExec executable(*definition);
  const fault::ModelObjects before = Live();
  std::optional<ExecNode> view(executable.Node(*node));
  node.reset();
  definition.reset();
  EXPECT_EQ(Live().graphs, before.graphs);
  EXPECT_NO_THROW(view->UpdateHost({&Nothing, nullptr, nullptr, nullptr}));
  view.reset();
  EXPECT_EQ(Live().graphs, before.graphs - 1);
}

// Covers: XU-02
TEST_F(ExecNodeTest, ViewsOfUnsupportedGoneOrClosedThingsAreRefused) {
  GraphDefinition definition;
  GraphNode node = definition.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  const GraphNode empty = definition.AddEmptyNode();
  GraphExec executable(definition);
  ExecNode view = executable.Node(node);
  EXPECT_THROW(executable.Node(empty), std::invalid_argument);
  EXPECT_THROW(executable.Node(GraphNode()), std::logic_error);
  EXPECT_THROW(view.UpdateEventRecord(Event::Create()), std::logic_error);
  node.Destroy();
  EXPECT_EQ(MessageOf<std::logic_error>([&] {
              view.UpdateHost({&Nothing, nullptr, nullptr, nullptr});
            }),
            "ExecNode::UpdateHost: the definition's node has been destroyed");
  EXPECT_EQ(MessageOf<std::logic_error>([&] { executable.Node(node); }),
            "GraphExec::Node: the node has been destroyed or never was");
  executable.Close();
  EXPECT_EQ(MessageOf<std::logic_error>([&] {
              view.UpdateHost({&Nothing, nullptr, nullptr, nullptr});
            }),
            "ExecNode::UpdateHost: the executable has been closed");
}

}  // namespace
}  // namespace holdfast
