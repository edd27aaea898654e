// Updates of nodes of a definition against the model driver: what is given is replaced with its owners, what is not is
// kept with its own, and whatever is refused changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/attachments/hierarchy.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "lib/graph/node_updates.h"
#include "tests/lib/graph/device_test.h"

namespace holdfast {
namespace {

using driver::DriverError;
using driver::GetDriver;

constexpr std::size_t kSizeBytes = 64;

void CUDA_CB Nothing(void*) {}
void CUDA_CB CountUp(void* count) { ++*static_cast<int*>(count); }

class NodeUpdateTest : public DeviceTest {
 protected:
  static DeviceMemoryHandle Filled(std::uint8_t value) {
    DeviceMemoryHandle memory = DeviceMemory::Allocate(kSizeBytes);
    const std::vector<std::uint8_t> bytes(kSizeBytes, value);
    EXPECT_EQ(GetDriver().cuMemcpyHtoD(memory->address(), bytes.data(), bytes.size()), CUDA_SUCCESS);
    return memory;
  }

  static void Run(const GraphDefinition& graph) {
    const StreamHandle stream = Stream::Create();
    GraphExec(graph).Launch(stream);
    stream->Synchronize();
  }

  static KernelArguments AddOneTo(const DeviceMemoryHandle& memory) {
    return KernelArguments().Add(memory).Add(static_cast<std::uint32_t>(kSizeBytes));
  }

  // The device memory with an owner that tells whether it is held.
  static MemoryOperand Owned(const DeviceMemoryHandle& memory, Owner& owner) {
    return MemoryOperand::Device(memory->address(), owner.Take());
  }

  static long CountOf(const DeviceMemoryHandle& memory, std::uint8_t value) {
    const std::vector<std::uint8_t> bytes = Read(memory);
    return std::count(bytes.begin(), bytes.end(), value);
  }
};

// Covers: NU-K, RP-01
TEST_F(NodeUpdateTest, AKernelsConfigurationChangesAloneAndItsArgumentsStay) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(1);
  const KernelHandle kernel = LoadAddOneKernel();
  GraphNode node = graph.AddKernelNode(kernel, {.block = {1, 1, 1}}, AddOneTo(memory));
  node.UpdateKernel({.configuration = LaunchConfiguration{.grid = {1, 1, 1}, .block = {8, 1, 1}}});
  EXPECT_EQ(node.KernelConfiguration().block[0], 8u);
  EXPECT_EQ(node.Owners(), (std::vector<OpaqueHandle>{kernel, memory}));
  Run(graph);
  EXPECT_EQ(CountOf(memory, 2), static_cast<long>(kSizeBytes));
}

// Covers: NU-K, RP-01
TEST_F(NodeUpdateTest, AKernelsArgumentsChangeAloneWithTheirOwners) {
  GraphDefinition graph;
  DeviceMemoryHandle first = Filled(1);
  const DeviceMemoryHandle second = Filled(1);
  const std::weak_ptr<const DeviceMemory> first_alive = first;
  const KernelHandle kernel = LoadAddOneKernel();
  GraphNode node = graph.AddKernelNode(kernel, {.block = {4, 1, 1}}, AddOneTo(first));
  first = nullptr;
  node.UpdateKernel({.arguments = AddOneTo(second)});
  Settle();
  EXPECT_TRUE(first_alive.expired());
  EXPECT_EQ(node.Owners(), (std::vector<OpaqueHandle>{kernel, second}));
  EXPECT_EQ(node.KernelConfiguration().block[0], 4u);
  Run(graph);
  EXPECT_EQ(CountOf(second, 2), static_cast<long>(kSizeBytes));
  node.UpdateKernel({.arguments = KernelArguments().Add(second->address()).Add(std::uint32_t{1})});
  EXPECT_EQ(node.Owners(), std::vector<OpaqueHandle>{kernel}) << "arguments without owners leave the kernel's alone";
}

// Covers: NU-K, AP-23
TEST_F(NodeUpdateTest, AKernelIsReplacedWithItsArguments) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(1);
  KernelHandle first = LoadAddOneKernel();
  const KernelHandle second = LoadAddOneKernel();
  const std::weak_ptr<const Library> first_library = first->library();
  GraphNode node = graph.AddKernelNode(first, {}, AddOneTo(memory));
  EXPECT_THROW(node.UpdateKernel({.kernel = second}), std::invalid_argument);
  EXPECT_THROW(node.UpdateKernel({.kernel = KernelHandle(), .arguments = KernelArguments()}), std::invalid_argument);
  EXPECT_EQ(node.Kernel(), first);
  node.UpdateKernel({.kernel = second, .arguments = AddOneTo(memory)});
  EXPECT_EQ(node.Kernel(), second);
  first = nullptr;
  Settle();
  EXPECT_TRUE(first_library.expired());
  Run(graph);
  EXPECT_EQ(CountOf(memory, 2), static_cast<long>(kSizeBytes));
}

// Covers: NU-K
TEST_F(NodeUpdateTest, WrongArgumentsAreNamedAndNothingChanges) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(1);
  const KernelHandle kernel = LoadAddOneKernel();
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] { graph.AddKernelNode(kernel, {}, KernelArguments().Add(memory)); }),
            "the kernel takes 2 arguments, not 1");
  EXPECT_EQ(
      MessageOf<std::invalid_argument>([&] { graph.AddKernelNode(kernel, {}, AddOneTo(memory).Add(std::uint8_t{1})); }),
      "the kernel takes 2 arguments, not 3");
  EXPECT_TRUE(graph.Nodes().empty());
  GraphNode node = graph.AddKernelNode(kernel, {}, AddOneTo(memory));
  EXPECT_EQ(MessageOf<std::invalid_argument>(
                [&] { node.UpdateKernel({.arguments = KernelArguments().Add(memory).Add(std::uint64_t{1})}); }),
            "argument 1 of the kernel has 4 bytes, not 8");
  EXPECT_EQ(node.Owners(), (std::vector<OpaqueHandle>{kernel, memory}));
  Run(graph);
  EXPECT_EQ(CountOf(memory, 2), static_cast<long>(kSizeBytes));
}

// Covers: NU-K
TEST_F(NodeUpdateTest, ClustersAndCooperativeLaunchAreSetReadBackAndChanged) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(1);
  const KernelHandle kernel = LoadAddOneKernel();
  GraphNode node =
      graph.AddKernelNode(kernel, {.grid = {4, 1, 1}, .cluster = {2, 1, 1}, .cooperative = true}, AddOneTo(memory));
  EXPECT_EQ(node.KernelConfiguration().cluster[0], 2u);
  EXPECT_TRUE(node.KernelConfiguration().cooperative);
  // No order of one call each would do: 3 does not divide the old grid, and 2 not the new one.
  node.UpdateKernel({.configuration = LaunchConfiguration{.grid = {3, 1, 1}, .cluster = {3, 1, 1}}});
  EXPECT_EQ(node.KernelConfiguration().grid[0], 3u);
  EXPECT_EQ(node.KernelConfiguration().cluster[0], 3u);
  EXPECT_FALSE(node.KernelConfiguration().cooperative);
  node.UpdateKernel({.configuration = LaunchConfiguration{.grid = {5, 1, 1}}});
  EXPECT_EQ(node.KernelConfiguration().cluster[0], 0u);
  EXPECT_EQ(node.Owners(), (std::vector<OpaqueHandle>{kernel, memory}));
  EXPECT_THROW(node.UpdateKernel({.configuration = LaunchConfiguration{.grid = {5, 1, 1}, .cluster = {2, 1, 1}}}),
               std::invalid_argument);
  EXPECT_THROW(node.UpdateKernel({.configuration = LaunchConfiguration{.cluster = {1, 0, 1}}}), std::invalid_argument);
  EXPECT_EQ(node.KernelConfiguration().grid[0], 5u);
}

// Covers: NU-K, NU-1
TEST_F(NodeUpdateTest, ARefusedChangeOfClustersIsUndoneAtEachStep) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(1);
  const KernelHandle kernel = LoadAddOneKernel();
  GraphNode node =
      graph.AddKernelNode(kernel, {.grid = {4, 1, 1}, .cluster = {2, 1, 1}, .cooperative = true}, AddOneTo(memory));
  const KernelUpdate update{.configuration = LaunchConfiguration{.grid = {3, 1, 1}, .cluster = {3, 1, 1}}};
  const auto refuse = [&](const char* site, std::uint64_t nth) {
    {
      const Faults faults{{.site = site, .nth = nth}};
      EXPECT_THROW(node.UpdateKernel(update), DriverError) << site << " " << nth;
    }
    EXPECT_EQ(node.KernelConfiguration().grid[0], 4u) << site << " " << nth;
    EXPECT_EQ(node.KernelConfiguration().cluster[0], 2u) << site << " " << nth;
    EXPECT_TRUE(node.KernelConfiguration().cooperative) << site << " " << nth;
    EXPECT_EQ(node.Owners(), (std::vector<OpaqueHandle>{kernel, memory}));
  };
  for (std::uint64_t nth = 1; nth <= 3; ++nth) {
    refuse("cuGraphKernelNodeSetAttribute", nth);
  }
  for (std::uint64_t nth = 1; nth <= 2; ++nth) {
    refuse("cuGraphNodeSetParams", nth);
  }
  Run(graph);
  EXPECT_EQ(CountOf(memory, 2), static_cast<long>(kSizeBytes)) << "the arguments are whole";
}

TEST_F(NodeUpdateTest, AKernelNodeWhoseClustersAreRefusedIsDestroyedAgain) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(1);
  const KernelHandle kernel = LoadAddOneKernel();
  const LaunchConfiguration clusters{.grid = {2, 1, 1}, .cluster = {2, 1, 1}};
  {
    const Faults faults{{.site = "cuGraphKernelNodeSetAttribute"}};
    EXPECT_THROW(graph.AddKernelNode(kernel, clusters, AddOneTo(memory)), DriverError);
  }
  EXPECT_TRUE(graph.Nodes().empty());
  EXPECT_EQ(graph.attachment_count(), 0u);
  // If even that is refused the node stays, and keeps what it needs.
  ExpectCleanupFailures(1);
  {
    const Faults faults{{.site = "cuGraphKernelNodeSetAttribute"}, {.site = "cuGraphDestroyNode"}};
    EXPECT_THROW(graph.AddKernelNode(kernel, clusters, AddOneTo(memory)), DriverError);
  }
  ASSERT_EQ(graph.Nodes().size(), 1u);
  EXPECT_EQ(graph.Nodes()[0].Owners(), (std::vector<OpaqueHandle>{kernel, memory}));
}

// Covers: NU-C, AP-16, RP-01
TEST_F(NodeUpdateTest, EachSideOfACopyChangesAlone) {
  GraphDefinition graph;
  const DeviceMemoryHandle target = Filled(1), source = Filled(2);
  Owner target_owner, source_owner, new_target_owner, new_source_owner;
  GraphNode node = graph.AddMemcpyNode(Owned(target, target_owner), Owned(source, source_owner), kSizeBytes);
  std::vector<std::uint8_t> host(kSizeBytes, 3);
  node.UpdateMemcpy(MemcpyUpdate{.source = MemoryOperand::Host(host.data(), new_source_owner.Take())});
  Settle();
  EXPECT_TRUE(target_owner.IsHeld());
  EXPECT_FALSE(source_owner.IsHeld());
  EXPECT_TRUE(new_source_owner.IsHeld());
  Run(graph);
  EXPECT_EQ(CountOf(target, 3), static_cast<long>(kSizeBytes));
  const DeviceMemoryHandle other = Filled(4);
  node.UpdateMemcpy(MemcpyUpdate{.destination = Owned(other, new_target_owner), .size_bytes = 16});
  Settle();
  EXPECT_FALSE(target_owner.IsHeld());
  EXPECT_TRUE(new_source_owner.IsHeld());
  EXPECT_TRUE(new_target_owner.IsHeld());
  Run(graph);
  EXPECT_EQ(CountOf(other, 3), 16);
  const CopyParameters copy = node.Copy();
  EXPECT_EQ(copy.source.memory.kind, MemoryOperand::Kind::kHost);
  EXPECT_EQ(copy.destination.memory.address, other->address());
}

// Covers: NU-C
TEST_F(NodeUpdateTest, ASideWithoutAnOwnerKeepsItsPlace) {
  GraphDefinition graph;
  const DeviceMemoryHandle target = Filled(1), source = Filled(2);
  Owner source_owner, target_owner;
  GraphNode node =
      graph.AddMemcpyNode(MemoryOperand::Device(target->address(), nullptr), Owned(source, source_owner), kSizeBytes);
  EXPECT_EQ(node.Owners().size(), 1u);
  node.UpdateMemcpy(MemcpyUpdate{.destination = Owned(target, target_owner)});
  Settle();
  EXPECT_TRUE(source_owner.IsHeld());
  node.UpdateMemcpy(MemcpyUpdate{.source = MemoryOperand::Device(source->address(), nullptr)});
  Settle();
  EXPECT_FALSE(source_owner.IsHeld());
  EXPECT_TRUE(target_owner.IsHeld());
}

// Covers: NU-C
TEST_F(NodeUpdateTest, ACopyOfManyRowsIsUpdatedWholeOrNotAtAll) {
  GraphDefinition graph;
  const DeviceMemoryHandle target = Filled(1), source = Filled(2);
  CopyParameters copy{.destination = {.memory = MemoryOperand::Device(target), .pitch_bytes = 16},
                      .source = {.memory = MemoryOperand::Device(source), .pitch_bytes = 8},
                      .width_bytes = 4,
                      .height = 4};
  GraphNode node = graph.AddMemcpyNode(copy);
  Run(graph);
  EXPECT_EQ(CountOf(target, 2), 16) << "four rows of four bytes";
  EXPECT_EQ(Read(target)[16], 2);
  EXPECT_EQ(Read(target)[4], 1) << "between the rows";
  EXPECT_THROW(node.UpdateMemcpy(MemcpyUpdate{.size_bytes = 8}), std::invalid_argument);
  EXPECT_EQ(node.Copy().height, 4u);
  EXPECT_EQ(node.Copy().destination.pitch_bytes, 16u);
  EXPECT_EQ(node.Owners(), (std::vector<OpaqueHandle>{target, source}));
  copy.height = 1;
  copy.width_bytes = kSizeBytes;
  node.UpdateMemcpy(copy);
  Run(graph);
  EXPECT_EQ(CountOf(target, 2), static_cast<long>(kSizeBytes));
}

TEST_F(NodeUpdateTest, RowsAndSlicesThatOverlapAreRefusedBeforeTheDriver) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(1);
  CopyParameters copy{.destination = {.memory = MemoryOperand::Device(memory), .x_bytes = 4, .pitch_bytes = 8},
                      .source = {.memory = MemoryOperand::Device(memory, 32)},
                      .width_bytes = 8,
                      .height = 2};
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] { graph.AddMemcpyNode(copy); }),
            "a copy's destination: rows that begin at 4 and are 8 bytes wide need a larger pitch_bytes than 8");
  copy.destination.pitch_bytes = 12;
  copy.depth = 2;
  copy.source.height = 1;
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] { graph.AddMemcpyNode(copy); }),
            "a copy's source: slices that begin at row 0 and have 2 rows need a larger height than 1");
  EXPECT_TRUE(graph.Nodes().empty());
}

TEST_F(NodeUpdateTest, ArraysAreCopiedToAndFromAndKept) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  descriptor.Width = 8;
  descriptor.Height = 4;
  descriptor.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  descriptor.NumChannels = 1;
  ArrayHandle array = Array::Create(descriptor);
  const CUarray raw = array->raw();
  const std::weak_ptr<const Array> alive = array;
  const DeviceMemoryHandle source = Filled(5), target = Filled(0);
  {
    GraphDefinition graph;
    const GraphNode in = graph.AddMemcpyNode({.destination = {.memory = MemoryOperand::Array(array)},
                                              .source = {.memory = MemoryOperand::Device(source)},
                                              .width_bytes = 8,
                                              .height = 4});
    GraphNode out = graph.AddMemcpyNode({.destination = {.memory = MemoryOperand::Device(target)},
                                         .source = {.memory = MemoryOperand::Array(array)},
                                         .width_bytes = 8,
                                         .height = 4},
                                        {{in}});
    array = nullptr;
    EXPECT_FALSE(alive.expired());
    EXPECT_EQ(in.Copy().destination.memory.kind, MemoryOperand::Kind::kArray);
    EXPECT_EQ(in.Copy().destination.memory.address, reinterpret_cast<std::uintptr_t>(raw));
    EXPECT_THROW(out.UpdateMemcpy(MemcpyUpdate{.size_bytes = 4}), std::invalid_argument);
    Run(graph);
    EXPECT_EQ(CountOf(target, 5), 32);
  }
  Settle();
  EXPECT_TRUE(alive.expired());
}

// Covers: NU-S, RP-01
TEST_F(NodeUpdateTest, AFillsValueAndTargetChangeAlone) {
  GraphDefinition graph;
  const DeviceMemoryHandle first = Filled(0), second = Filled(0);
  Owner first_owner, second_owner;
  GraphNode node =
      graph.AddMemsetNode(Owned(first, first_owner), {.value = 1, .element_size_bytes = 1, .width_elements = 16});
  node.UpdateMemset({.value = 2});
  Settle();
  EXPECT_TRUE(first_owner.IsHeld());
  Run(graph);
  EXPECT_EQ(CountOf(first, 2), 16);
  node.UpdateMemset({.destination = Owned(second, second_owner), .width_elements = 8});
  Settle();
  EXPECT_FALSE(first_owner.IsHeld());
  EXPECT_TRUE(second_owner.IsHeld());
  Run(graph);
  EXPECT_EQ(CountOf(second, 2), 8);
  node.UpdateMemset({.element_size_bytes = 4, .width_elements = 2, .height = 2, .pitch_bytes = 16});
  const MemsetParameters pattern = node.Fill().pattern;
  EXPECT_EQ(pattern.value, 2u);
  EXPECT_EQ(pattern.element_size_bytes, 4u);
  EXPECT_EQ(pattern.height, 2u);
  EXPECT_EQ(pattern.pitch_bytes, 16u);
}

// Covers: NU-S
TEST_F(NodeUpdateTest, AFillThatDoesNotFitItsElementsIsRefusedBeforeTheDriver) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(0);
  const auto add = [&](const MemsetParameters& parameters) {
    return MessageOf<std::invalid_argument>([&] { graph.AddMemsetNode(MemoryOperand::Device(memory), parameters); });
  };
  EXPECT_EQ(add({.element_size_bytes = 3, .width_elements = 1}),
            "a memset's element_size_bytes is 3; it must be 1, 2 or 4");
  EXPECT_EQ(add({.value = 256, .width_elements = 1}), "a memset's value 256 does not fit elements of 1 bytes");
  EXPECT_EQ(add({.value = 65536, .element_size_bytes = 2, .width_elements = 1}),
            "a memset's value 65536 does not fit elements of 2 bytes");
  GraphNode node = graph.AddMemsetNode(MemoryOperand::Device(memory),
                                       {.value = 0xffffffffu, .element_size_bytes = 4, .width_elements = 1});
  EXPECT_THROW(node.UpdateMemset({.element_size_bytes = 2}), std::invalid_argument);
  EXPECT_EQ(node.Fill().pattern.element_size_bytes, 4u);
}

// Covers: NU-S, NU-C, NU-K
TEST_F(NodeUpdateTest, AnUpdateThatGivesNothingCallsNothing) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(0);
  GraphNode fill = graph.AddMemsetNode(MemoryOperand::Device(memory), {.width_elements = 4});
  GraphNode copy = graph.AddMemcpyNode(MemoryOperand::Device(memory), MemoryOperand::Device(memory, 32), 8);
  GraphNode kernel = graph.AddKernelNode(LoadAddOneKernel(), {}, AddOneTo(memory));
  const std::uint64_t calls = CallsOf(nullptr);
  fill.UpdateMemset(MemsetUpdate{});
  copy.UpdateMemcpy(MemcpyUpdate{});
  kernel.UpdateKernel({});
  EXPECT_EQ(CallsOf(nullptr), calls);
  EXPECT_THROW(fill.UpdateMemcpy(MemcpyUpdate{}), std::logic_error);
}

// Covers: NU-H, NU-R, NU-W
TEST_F(NodeUpdateTest, HostAndEventNodesAreUpdatedWhole) {
  GraphDefinition graph;
  int first_count = 0;
  int second_count = 0;
  Owner first_owner, second_owner, second_data;
  GraphNode host = graph.AddHostNode({&CountUp, &first_count, first_owner.Take(), nullptr});
  host.UpdateHost({&CountUp, &second_count, second_owner.Take(), second_data.Take()});
  const EventHandle first = Event::Create(), second = Event::Create();
  GraphNode record = graph.AddEventRecordNode(first);
  GraphNode wait = graph.AddEventWaitNode(first, {{record}});
  record.UpdateEventRecord(second);
  wait.UpdateEventWait(second);
  Settle();
  EXPECT_FALSE(first_owner.IsHeld());
  EXPECT_TRUE(second_owner.IsHeld());
  EXPECT_TRUE(second_data.IsHeld());
  EXPECT_EQ(record.Event(), second);
  EXPECT_EQ(wait.Event(), second);
  EXPECT_EQ(record.Owners(), std::vector<OpaqueHandle>{second});
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_THROW(record.UpdateEventRecord(nullptr), std::invalid_argument);
  EXPECT_THROW(record.UpdateEventWait(first), std::logic_error);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { host.UpdateEventWait(first); }),
            "GraphNode::UpdateEventWait: the node is a host node, not an event-wait node");
  Run(graph);
  EXPECT_EQ(first_count, 0);
  EXPECT_EQ(second_count, 1);
}

// Covers: RP-02
TEST_F(NodeUpdateTest, ExecutablesMadeBeforeKeepTheOldParameters) {
  GraphDefinition graph;
  int first_count = 0;
  int second_count = 0;
  Owner first_owner;
  GraphNode node = graph.AddHostNode({&CountUp, &first_count, first_owner.Take(), nullptr});
  std::optional<GraphExec> executable(graph);
  node.UpdateHost({&CountUp, &second_count, nullptr, nullptr});
  const StreamHandle stream = Stream::Create();
  executable->Launch(stream);
  stream->Synchronize();
  Settle();
  EXPECT_EQ(first_count, 1);
  EXPECT_TRUE(first_owner.IsHeld());
  Run(graph);
  EXPECT_EQ(second_count, 1);
  executable.reset();
  Settle();
  EXPECT_FALSE(first_owner.IsHeld());
}

// Covers: RP-03
TEST_F(NodeUpdateTest, ReplacingOwnersByNoneLeavesNoAttachment) {
  GraphDefinition graph;
  Owner owner;
  GraphNode node = graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
  node.UpdateHost({&Nothing, nullptr, nullptr, nullptr});
  Settle();
  EXPECT_FALSE(owner.IsHeld());
  EXPECT_TRUE(node.Owners().empty());
  EXPECT_EQ(graph.attachment_count(), 0u);
}

// Covers: NU-1, AP-08
TEST_F(NodeUpdateTest, ARefusedUpdateLeavesParametersAndOwners) {
  GraphDefinition graph;
  const DeviceMemoryHandle first = Filled(0), second = Filled(0);
  Owner first_owner, second_owner;
  GraphNode node = graph.AddMemsetNode(Owned(first, first_owner), {.value = 1, .width_elements = 16});
  for (const char* site :
       {"cuGraphMemsetNodeGetParams", "cuUserObjectCreate", "cuGraphRetainUserObject", "cuGraphNodeSetParams"}) {
    Owner owner;
    const Faults faults{{.site = site}};
    EXPECT_THROW(node.UpdateMemset({.destination = Owned(second, owner), .value = 2}), DriverError) << site;
    Settle();
    EXPECT_FALSE(owner.IsHeld()) << site;
  }
  EXPECT_EQ(node.Fill().destination.address, first->address());
  EXPECT_EQ(node.Fill().pattern.value, 1u);
  EXPECT_TRUE(first_owner.IsHeld());
  EXPECT_EQ(node.Owners().size(), 1u);
}

// Covers: NU-3
TEST_F(NodeUpdateTest, TheContextThatANodeWasMadeInIsKept) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = Filled(0);
  GraphNode fill = graph.AddMemsetNode(MemoryOperand::Device(memory->address(), nullptr), {.width_elements = 4});
  GraphNode copy = graph.AddMemcpyNode(MemoryOperand::Device(memory->address(), nullptr),
                                       MemoryOperand::Device(memory->address() + 32, nullptr), 8);
  CUcontext context = nullptr;
  ASSERT_EQ(GetDriver().cuCtxGetCurrent(&context), CUDA_SUCCESS);
  ASSERT_EQ(GetDriver().cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  fill.UpdateMemset({.value = 3});
  copy.UpdateMemcpy(MemcpyUpdate{.size_bytes = 4});
  ASSERT_EQ(GetDriver().cuCtxSetCurrent(context), CUDA_SUCCESS);
  const auto& index = attachments::Hierarchy::Find(graph.raw())->index();
  EXPECT_EQ(index.Find(fill.raw()).context, context);
  EXPECT_EQ(index.Find(copy.raw()).context, context);
  EXPECT_EQ(graph.attachment_count(), 0u) << "a context alone is no attachment";
  EXPECT_EQ(fill.Fill().pattern.value, 3u);
}

}  // namespace
}  // namespace holdfast
