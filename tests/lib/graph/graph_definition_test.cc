// Definitions and nodes against the model driver: handles are canonical, questions are answered from the driver, and
// misuse is noticed before anything has changed.
#include "lib/graph/graph_definition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/attachments/hierarchy.h"
#include "lib/attachments/use_scope.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "tests/lib/graph/device_test.h"

namespace holdfast {
namespace {

using driver::DriverError;
using driver::GetDriver;

void CUDA_CB Nothing(void*) {}

GraphNode AddHost(GraphDefinition& graph, GraphDefinition::Dependencies dependencies = {}) {
  return graph.AddHostNode({&Nothing, nullptr, nullptr, nullptr}, dependencies);
}

bool Contains(const std::vector<GraphNode>& nodes, const GraphNode& node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

using GraphDefinitionTest = DeviceTest;

// Covers: IH-01
TEST_F(GraphDefinitionTest, AnAdoptedRootIsTheLibrarysAndIsKnownOnce) {
  CUgraph raw = nullptr;
  ASSERT_EQ(GetDriver().cuGraphCreate(&raw, 0u), CUDA_SUCCESS);
  EXPECT_FALSE(GraphDefinition::Find(raw).has_value());
  const GraphDefinition graph = GraphDefinition::Adopt(raw);
  EXPECT_EQ(graph.raw(), raw);
  EXPECT_EQ(GraphDefinition::Find(raw), graph);
  EXPECT_THROW(GraphDefinition::Adopt(raw), std::invalid_argument);
  EXPECT_THROW(GraphDefinition::Adopt(nullptr), std::invalid_argument);
  EXPECT_FALSE(GraphDefinition::Find(nullptr).has_value());
}

// Covers: IH-05
TEST_F(GraphDefinitionTest, TheLastHandleDestroysTheRootAndItIsFoundNoLonger) {
  CUgraph raw = nullptr;
  std::optional<GraphNode> node;
  {
    GraphDefinition graph;
    raw = graph.raw();
    node = AddHost(graph);
  }
  EXPECT_TRUE(GraphDefinition::Find(raw).has_value()) << "the node keeps it";
  const std::uint64_t before = Live().graphs;
  node.reset();
  EXPECT_EQ(Live().graphs, before - 1);
  EXPECT_FALSE(GraphDefinition::Find(raw).has_value());
}

// Covers: IH-09, IH-16
TEST_F(GraphDefinitionTest, EveryRouteToANodeGivesTheSameHandle) {
  GraphDefinition graph;
  const GraphNode first = AddHost(graph);
  const GraphNode second = graph.AddEmptyNode({{first}});
  EXPECT_EQ(graph.Nodes(), (std::vector<GraphNode>{first, second}));
  const std::vector<GraphEdge> edges = graph.Edges();
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].from, first);
  EXPECT_EQ(edges[0].to, second);
  EXPECT_EQ(first.Successors(), std::vector<GraphNode>{second});
  EXPECT_EQ(second.Predecessors(), std::vector<GraphNode>{first});
  EXPECT_TRUE(first.Predecessors().empty());
  EXPECT_EQ(first.Graph(), graph);
  EXPECT_EQ(graph.Nodes()[1].type(), CU_GRAPH_NODE_TYPE_EMPTY);
}

// Covers: IH-08
TEST_F(GraphDefinitionTest, NodesOfTwoGraphsAreDifferentAndKeepOnlyTheirOwn) {
  std::optional<GraphDefinition> first(std::in_place);
  GraphDefinition second;
  const GraphNode node = AddHost(*first);
  EXPECT_NE(node, AddHost(second));
  const CUgraph raw = first->raw();
  first.reset();
  EXPECT_TRUE(GraphDefinition::Find(raw).has_value());
  EXPECT_EQ(node.Graph().raw(), raw);
}

// Covers: IH-10, IH-12
TEST_F(GraphDefinitionTest, NodesWhoseHandlesAreGoneAreFoundAgainWithKindAndParameters) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(64);
  const EventHandle event = Event::Create();
  const KernelHandle kernel = LoadAddOneKernel();
  {
    const GraphNode fill = graph.AddMemsetNode(MemoryOperand::Device(memory, 16),
                                               {.value = 7, .element_size_bytes = 2, .width_elements = 4});
    const GraphNode copy =
        graph.AddMemcpyNode(MemoryOperand::Device(memory), MemoryOperand::Device(memory, 32), 8, {{fill}});
    const GraphNode record = graph.AddEventRecordNode(event, {{copy}});
    const GraphNode wait = graph.AddEventWaitNode(event, {{record}});
    graph.AddKernelNode(kernel, {.grid = {2, 3, 1}, .block = {4, 1, 1}},
                        KernelArguments().Add(memory).Add(std::uint32_t{64}), {{wait}});
  }
  const std::vector<GraphNode> nodes = graph.Nodes();
  ASSERT_EQ(nodes.size(), 5u);
  const FillParameters fill = nodes[0].Fill();
  EXPECT_EQ(fill.destination.address, memory->address() + 16);
  EXPECT_EQ(fill.pattern.value, 7u);
  EXPECT_EQ(fill.pattern.element_size_bytes, 2u);
  EXPECT_EQ(fill.pattern.width_elements, 4u);
  const CopyParameters copy = nodes[1].Copy();
  EXPECT_EQ(copy.destination.memory.address, memory->address());
  EXPECT_EQ(copy.source.memory.address, memory->address() + 32);
  EXPECT_EQ(copy.source.memory.kind, MemoryOperand::Kind::kDevice);
  EXPECT_EQ(copy.width_bytes, 8u);
  EXPECT_EQ(nodes[2].Event(), event);
  EXPECT_EQ(nodes[3].Event(), event);
  EXPECT_EQ(nodes[4].Kernel(), kernel);
  EXPECT_EQ(nodes[4].KernelConfiguration().grid[1], 3u);
  EXPECT_EQ(nodes[4].KernelConfiguration().block[0], 4u);
  EXPECT_EQ(nodes[4].Predecessors(), std::vector<GraphNode>{nodes[3]});
}

// Covers: IH-12, AP-23, AP-24
TEST_F(GraphDefinitionTest, RecoveredKernelsAndEventsAreTheOnesThatTheGraphKept) {
  GraphDefinition graph;
  std::weak_ptr<const Library> library;
  std::weak_ptr<const Event> event;
  {
    const KernelHandle kernel = LoadAddOneKernel();
    const EventHandle made = Event::Create();
    library = kernel->library();
    event = made;
    graph.AddKernelNode(kernel, {}, KernelArguments().Add(CUdeviceptr{0}).Add(std::uint32_t{0}));
    graph.AddEventRecordNode(made);
  }
  std::vector<GraphNode> nodes = graph.Nodes();
  EXPECT_EQ(nodes[0].Kernel()->library(), library.lock());
  EXPECT_EQ(nodes[1].Event(), event.lock());
  EXPECT_EQ(nodes[0].Owners(), std::vector<OpaqueHandle>{nodes[0].Kernel()});
  nodes[0].Destroy();
  nodes[1].Destroy();
  Settle();
  EXPECT_TRUE(library.expired());
  EXPECT_TRUE(event.expired());
}

// Covers: IH-11
TEST_F(GraphDefinitionTest, ADestroyedNodesRecordGoesAndOthersStay) {
  GraphDefinition graph;
  GraphNode doomed = AddHost(graph);
  const GraphNode kept = AddHost(graph);
  const auto record_count = [&graph] { return attachments::Hierarchy::Find(graph.raw())->node_records().size(); };
  EXPECT_EQ(record_count(), 2u);
  doomed.Destroy();
  EXPECT_EQ(record_count(), 1u);
  EXPECT_EQ(graph.Nodes(), std::vector<GraphNode>{kept});
  { const GraphNode dropped = AddHost(graph); }
  EXPECT_EQ(record_count(), 1u);
}

// Covers: IH-13
TEST_F(GraphDefinitionTest, AHandleOfNoNodeIsHarmless) {
  GraphNode none;
  EXPECT_FALSE(none.IsValid());
  EXPECT_EQ(none.raw(), nullptr);
  EXPECT_TRUE(none.Predecessors().empty());
  EXPECT_TRUE(none.Successors().empty());
  EXPECT_TRUE(none.Owners().empty());
  none.Destroy();
  EXPECT_EQ(MessageOf<std::logic_error>([&] {
              none.UpdateHost({&Nothing, nullptr, nullptr, nullptr});
            }),
            "GraphNode::UpdateHost: the handle names no node");
}

// Covers: DL-01, DL-03, NU-2
TEST_F(GraphDefinitionTest, ADestroyedNodeIsGoneForEverybody) {
  GraphDefinition graph;
  const GraphNode first = AddHost(graph);
  GraphNode doomed = graph.AddEmptyNode({{first}});
  const GraphNode same = doomed;
  doomed.Destroy();
  doomed.Destroy();
  EXPECT_FALSE(same.IsValid());
  EXPECT_EQ(same, doomed);
  EXPECT_EQ(same.type(), CU_GRAPH_NODE_TYPE_EMPTY);
  EXPECT_FALSE(Contains(graph.Nodes(), same));
  EXPECT_TRUE(graph.Edges().empty());
  EXPECT_TRUE(same.Predecessors().empty());
  EXPECT_TRUE(first.Successors().empty());
  EXPECT_THROW(graph.AddEdge(first, same), std::logic_error);
  EXPECT_THROW(AddHost(graph, {{same}}), std::logic_error);
  const GraphNode next = AddHost(graph);
  EXPECT_NE(next, same) << "though the driver gives the raw handle out again";
  EXPECT_FALSE(same.IsValid());
}

// Covers: DL-02
TEST_F(GraphDefinitionTest, ARefusedDestroyLeavesNodeEdgesAndOwners) {
  GraphDefinition graph;
  Owner owner;
  GraphNode node = graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
  const GraphNode next = graph.AddEmptyNode({{node}});
  graph.AddMemoryAllocationNode(64);
  EXPECT_THROW(node.Destroy(), DriverError) << "the driver removes nothing from a graph with memory nodes";
  EXPECT_TRUE(node.IsValid());
  EXPECT_EQ(node.Successors(), std::vector<GraphNode>{next});
  Settle();
  EXPECT_TRUE(owner.IsHeld());
  EXPECT_EQ(node.Owners().size(), 1u);
  EXPECT_EQ(graph.attachment_count(), 1u);
}

// Covers: DL-06, DL-07, ER-01
TEST_F(GraphDefinitionTest, EdgesAreAddedRemovedAndRefused) {
  GraphDefinition graph, other;
  const GraphNode first = AddHost(graph);
  GraphNode middle = AddHost(graph, {{first}});
  const GraphNode last = AddHost(graph, {{middle}});
  const GraphNode foreign = AddHost(other);
  EXPECT_THROW(graph.AddEdge(first, first), DriverError);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { graph.AddEdge(first, foreign); }),
            "adding an edge: a node belongs to another graph");
  EXPECT_THROW(graph.AddEdge(first, middle), DriverError) << "there already";
  EXPECT_THROW(graph.RemoveEdge(first, last), DriverError) << "not there";
  graph.AddEdge(first, last);
  EXPECT_EQ(graph.Edges().size(), 3u);
  middle.Destroy();
  EXPECT_EQ(last.Predecessors(), std::vector<GraphNode>{first});
  graph.RemoveEdge(first, last);
  EXPECT_TRUE(graph.Edges().empty());
}

// Covers: ER-02, ER-03
TEST_F(GraphDefinitionTest, MemoryNodesTellTheirAddresses) {
  GraphDefinition graph;
  const GraphNode allocation = graph.AddMemoryAllocationNode(128);
  ASSERT_NE(allocation.AllocatedAddress(), 0u);
  const GraphNode release = graph.AddMemoryFreeNode(allocation.AllocatedAddress(), {{allocation}});
  EXPECT_EQ(release.FreedAddress(), allocation.AllocatedAddress());
  EXPECT_EQ(graph.attachment_count(), 0u);
  graph.AddMemoryAllocationNode(16);
  EXPECT_THROW(graph.AddMemoryAllocationNode(0), DriverError);
  EXPECT_THROW(graph.AddMemoryFreeNode(0), DriverError);
  EXPECT_THROW(allocation.FreedAddress(), std::logic_error);
  EXPECT_EQ(graph.Nodes().size(), 3u);
}

// Covers: ER-05
TEST_F(GraphDefinitionTest, EmptyNodesJoinAnyNumberOfNodes) {
  GraphDefinition graph;
  const GraphNode alone = graph.AddEmptyNode();
  const GraphNode joint = graph.AddEmptyNode({{alone}});
  EXPECT_EQ(joint.Predecessors(), std::vector<GraphNode>{alone});
  EXPECT_EQ(graph.attachment_count(), 0u);
}

// Covers: AP-09
TEST_F(GraphDefinitionTest, ARefusedAdditionLeavesNoNodeNoRecordAndNoOwner) {
  GraphDefinition graph;
  Owner owner;
  EXPECT_THROW(graph.AddHostNode({nullptr, nullptr, owner.Take(), nullptr}), DriverError);
  Settle();
  EXPECT_FALSE(owner.IsHeld());
  EXPECT_TRUE(graph.Nodes().empty());
  EXPECT_EQ(graph.attachment_count(), 0u);
}

// Covers: AP-17, AP-18
TEST_F(GraphDefinitionTest, NodesWithoutOwnersMakeNoUserObject) {
  GraphDefinition graph;
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(64);
  const std::uint64_t before = Live().user_objects;
  graph.AddMemsetNode(MemoryOperand::Device(memory->address(), nullptr), {.width_elements = 4});
  AddHost(graph);
  graph.AddEmptyNode();
  EXPECT_EQ(Live().user_objects, before);
  EXPECT_EQ(graph.attachment_count(), 0u);
}

// Covers: CL-02, CL-03
TEST_F(GraphDefinitionTest, AClonesNodesKnowTheirOwners) {
  Owner owner;
  std::optional<GraphDefinition> source(std::in_place);
  const OpaqueHandle handle = owner.Take();
  source->AddHostNode({&Nothing, nullptr, handle, nullptr});
  const GraphDefinition clone = source->Clone();
  EXPECT_NE(clone, *source);
  source.reset();
  std::vector<GraphNode> nodes = clone.Nodes();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].Owners(), std::vector<OpaqueHandle>{handle});
}

TEST_F(GraphDefinitionTest, ADotFileIsWrittenOrTheFailureTold) {
  GraphDefinition graph;
  AddHost(graph);
  const std::string path = testing::TempDir() + "/graph_definition_test.dot";
  try {
    graph.WriteDot(path);
  } catch (const DriverError& error) {
    ASSERT_EQ(error.result(), CUDA_ERROR_NOT_SUPPORTED);
    GTEST_SKIP() << "the driver writes no dot files";
  }
  std::ifstream file(path);
  EXPECT_NE(std::string(std::istreambuf_iterator<char>(file), {}).find("digraph"), std::string::npos);
  std::remove(path.c_str());
  EXPECT_THROW(graph.WriteDot(testing::TempDir() + "/no such folder/graph.dot"), DriverError);
}

#ifndef NDEBUG
TEST_F(GraphDefinitionTest, ASecondThreadInsideAHierarchyIsNoticed) {
  GraphDefinition graph;
  GraphNode node = AddHost(graph);
  const attachments::UseScope use(attachments::Hierarchy::Find(graph.raw())->hierarchy(), "the first thread");
  std::thread([&] {
    EXPECT_THROW(AddHost(graph), std::logic_error);
    EXPECT_THROW(graph.Nodes(), std::logic_error);
    EXPECT_THROW(node.Destroy(), std::logic_error);
    EXPECT_THROW(node.UpdateHost({&Nothing, nullptr, nullptr, nullptr}), std::logic_error);
    EXPECT_TRUE(node.IsValid());
  }).join();
  EXPECT_EQ(graph.Nodes().size(), 1u);
}
#endif

}  // namespace
}  // namespace holdfast
