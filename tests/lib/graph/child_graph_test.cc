// Child graphs against the model driver: one box a graph by any route, metadata that comes with a copy, handles that
// end with what they name, and failures at each step around the driver call.
#include <gtest/gtest.h>

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

GraphDefinition OneHostNode(OpaqueHandle owner) {
  GraphDefinition graph;
  graph.AddHostNode({&Nothing, nullptr, std::move(owner), nullptr});
  return graph;
}

class ChildGraphTest : public DeviceTest {
 protected:
  static void Run(const GraphDefinition& graph) {
    const StreamHandle stream = Stream::Create();
    GraphExec(graph).Launch(stream);
    stream->Synchronize();
  }
};

// Covers: EM-01, EM-03, EM-04
TEST_F(ChildGraphTest, ACopyKeepsOwnersThatItsNodesKnow) {
  GraphDefinition graph;
  Owner owner;
  GraphNode node = graph.AddChildGraphNode(OneHostNode(owner.Take()));
  Settle();
  EXPECT_TRUE(owner.IsHeld()) << "the source is gone";
  EXPECT_EQ(node.type(), CU_GRAPH_NODE_TYPE_GRAPH);
  EXPECT_TRUE(node.Owners().empty());
  GraphDefinition child = node.ChildGraph();
  EXPECT_EQ(child.attachment_count(), 1u);
  std::vector<GraphNode> inside = child.Nodes();
  ASSERT_EQ(inside.size(), 1u);
  EXPECT_EQ(inside[0].Owners().size(), 1u);
  inside[0].Destroy();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// Covers: EM-02, EM-07, TS-01
TEST_F(ChildGraphTest, EveryLevelComesAlongAndGoesWithItsNode) {
  Owner owner;
  GraphDefinition graph;
  std::optional<GraphNode> outer;
  {
    GraphDefinition middle;
    middle.AddChildGraphNode(OneHostNode(owner.Take()));
    outer = graph.AddChildGraphNode(middle);
  }
  const GraphDefinition middle = outer->ChildGraph();
  const GraphNode inner = middle.Nodes().front();
  const GraphDefinition innermost = inner.ChildGraph();
  EXPECT_EQ(innermost.attachment_count(), 1u);
  const GraphNode leaf = innermost.Nodes().front();
  EXPECT_EQ(leaf.Owners().size(), 1u);
  const CUgraph raw = innermost.raw();
  outer->Destroy();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
  for (const GraphDefinition& gone : {middle, innermost}) {
    EXPECT_FALSE(gone.IsValid());
    EXPECT_EQ(gone.raw(), nullptr);
  }
  EXPECT_FALSE(inner.IsValid());
  EXPECT_FALSE(leaf.IsValid());
  EXPECT_TRUE(leaf.Owners().empty());
  EXPECT_FALSE(GraphDefinition::Find(raw).has_value());
}

// Covers: IH-02, IH-03
TEST_F(ChildGraphTest, AChildIsTheSameByEveryRoute) {
  GraphDefinition graph;
  GraphNode node = graph.AddChildGraphNode(OneHostNode(nullptr));
  CUgraph raw = nullptr;
  {
    const GraphDefinition child = node.ChildGraph();
    raw = child.raw();
    EXPECT_EQ(child, node.ChildGraph());
    EXPECT_NE(child, graph);
    EXPECT_EQ(child, GraphDefinition::Find(raw));
    EXPECT_EQ(child, graph.Nodes().front().ChildGraph());
  }
  EXPECT_EQ(node.ChildGraph().raw(), raw);
  EXPECT_EQ(node.ChildGraph(), GraphDefinition::Find(raw));
}

// Covers: IH-04, CL-01
TEST_F(ChildGraphTest, AChildThatTheLibraryDidNotMakeIsFoundWithoutOwners) {
  GraphDefinition graph;
  const GraphDefinition source = OneHostNode(nullptr);
  CUgraphNode raw = nullptr;
  ASSERT_EQ(GetDriver().cuGraphAddChildGraphNode(&raw, graph.raw(), nullptr, 0u, source.raw()), CUDA_SUCCESS);
  std::optional<GraphDefinition> child = graph.Nodes().front().ChildGraph();
  EXPECT_EQ(child->attachment_count(), 0u);
  EXPECT_EQ(child->Nodes().size(), 1u);
  const CUgraph root = graph.raw();
  graph = source;
  EXPECT_TRUE(GraphDefinition::Find(root).has_value()) << "the child keeps the whole hierarchy";
  child->AddEmptyNode();
  EXPECT_EQ(child->Nodes().size(), 2u);
}

// Covers: IH-14, TS-06
TEST_F(ChildGraphTest, GraphsThatAreGoneStayDifferentAndSayWhatTheyAre) {
  GraphDefinition graph;
  GraphNode first_node = graph.AddChildGraphNode(OneHostNode(nullptr));
  GraphNode second_node = graph.AddChildGraphNode(OneHostNode(nullptr));
  GraphDefinition first = first_node.ChildGraph();
  const GraphDefinition second = second_node.ChildGraph();
  const GraphDefinition same = first;
  first_node.Destroy();
  second_node.Destroy();
  EXPECT_EQ(first, same);
  EXPECT_NE(first, second);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { first.AddEmptyNode(); }),
            "GraphDefinition::AddEmptyNode: the graph no longer exists: the node that owned it was destroyed or got "
            "another graph; ask the owning node for its present one");
  EXPECT_THROW(first.Nodes(), std::logic_error);
  EXPECT_THROW(first.Clone(), std::logic_error);
  EXPECT_THROW(graph.AddChildGraphNode(first), std::logic_error);
  EXPECT_THROW(first_node.ChildGraph(), std::logic_error);
}

// Covers: EM-05
TEST_F(ChildGraphTest, ACopyThatCannotBeExaminedIsDestroyedAgain) {
  GraphDefinition graph;
  Owner owner;
  std::optional<GraphDefinition> source(OneHostNode(owner.Take()));
  for (const char* site : {"cuGraphAddChildGraphNode", "cuGraphChildGraphNodeGetGraph", "cuGraphNodeFindInClone"}) {
    const Faults faults{{.site = site}};
    EXPECT_THROW(graph.AddChildGraphNode(*source), DriverError) << site;
    EXPECT_TRUE(graph.Nodes().empty()) << site;
  }
  source.reset();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// Covers: EM-05
TEST_F(ChildGraphTest, ACopyThatCanNeitherBeExaminedNorDestroyedStaysAndIsFound) {
  GraphDefinition graph;
  Owner owner;
  std::optional<GraphDefinition> source(OneHostNode(owner.Take()));
  ExpectCleanupFailures(1);
  {
    const Faults faults{{.site = "cuGraphNodeFindInClone"}, {.site = "cuGraphDestroyNode"}};
    EXPECT_THROW(graph.AddChildGraphNode(*source), DriverError);
  }
  source.reset();
  Settle();
  ASSERT_EQ(graph.Nodes().size(), 1u);
  EXPECT_EQ(graph.Nodes()[0].ChildGraph().Nodes().size(), 1u);
  EXPECT_EQ(graph.Nodes()[0].ChildGraph().attachment_count(), 0u);
  EXPECT_TRUE(owner.IsHeld()) << "the node will run its callback";
}

// Covers: EM-08
TEST_F(ChildGraphTest, AGraphIsNotEmbeddedInItsOwnHierarchy) {
  GraphDefinition graph;
  GraphNode node = graph.AddChildGraphNode(OneHostNode(nullptr));
  GraphDefinition child = node.ChildGraph();
  const std::string message = MessageOf<std::invalid_argument>([&] { graph.AddChildGraphNode(graph); });
  EXPECT_NE(message.find("the same hierarchy"), std::string::npos) << message;
  EXPECT_THROW(child.AddChildGraphNode(graph), std::invalid_argument) << "the driver would crash";
  EXPECT_THROW(graph.AddChildGraphNode(child), std::invalid_argument);
  EXPECT_EQ(graph.Nodes().size(), 1u);
  GraphDefinition other;
  EXPECT_THROW(other.AddChildGraphNode(child), DriverError) << "the driver embeds roots alone";
  other.AddChildGraphNode(child.Clone());
  EXPECT_EQ(other.Nodes().size(), 1u);
}

// Covers: CU-04, CU-05, CU-06, TS-02, RP-02
TEST_F(ChildGraphTest, AnUpdateReplacesTheChildWithAllItsHandlesAndOwners) {
  GraphDefinition graph;
  Owner old_owner, new_owner;
  GraphNode sibling = graph.AddChildGraphNode(OneHostNode(nullptr));
  const GraphDefinition sibling_child = sibling.ChildGraph();
  GraphNode node = graph.AddChildGraphNode(OneHostNode(old_owner.Take()));
  const GraphDefinition old_child = node.ChildGraph();
  const GraphNode old_node = old_child.Nodes().front();
  {
    GraphDefinition replacement;
    replacement.AddChildGraphNode(OneHostNode(new_owner.Take()));
    node.UpdateChildGraph(replacement);
  }
  Settle();
  EXPECT_TRUE(node.IsValid());
  EXPECT_FALSE(old_child.IsValid());
  EXPECT_FALSE(old_node.IsValid());
  EXPECT_FALSE(old_owner.IsHeld());
  EXPECT_TRUE(new_owner.IsHeld());
  EXPECT_TRUE(sibling_child.IsValid());
  const GraphDefinition new_child = node.ChildGraph();
  EXPECT_NE(new_child, old_child);
  EXPECT_EQ(new_child.Nodes().front().ChildGraph().Nodes().front().Owners().size(), 1u);
  node.Destroy();
  Settle();
  EXPECT_FALSE(new_owner.IsHeld());
}

// Covers: CU-01, CU-02
TEST_F(ChildGraphTest, AnUpdateFromTheOwnHierarchyIsRefusedBeforeTheDriver) {
  GraphDefinition graph;
  Owner owner;
  GraphNode node = graph.AddChildGraphNode(OneHostNode(owner.Take()));
  GraphNode other = graph.AddChildGraphNode(OneHostNode(nullptr));
  const GraphDefinition child = node.ChildGraph();
  const GraphNode inside = child.Nodes().front();
  const GraphDefinition gone = other.ChildGraph();
  other.Destroy();
  const std::uint64_t calls = CallsOf("cuGraphNodeSetParams");
  EXPECT_THROW(node.UpdateChildGraph(child), std::invalid_argument);
  EXPECT_THROW(node.UpdateChildGraph(graph), std::invalid_argument);
  EXPECT_THROW(node.UpdateChildGraph(gone), std::logic_error);
  EXPECT_EQ(CallsOf("cuGraphNodeSetParams"), calls);
  EXPECT_TRUE(child.IsValid());
  EXPECT_EQ(inside.Owners().size(), 1u);
}

// Covers: CU-03
TEST_F(ChildGraphTest, ARefusedUpdateLeavesTheOldChild) {
  GraphDefinition graph;
  Owner old_owner, new_owner;
  GraphNode node = graph.AddChildGraphNode(OneHostNode(old_owner.Take()));
  const GraphDefinition child = node.ChildGraph();
  {
    const GraphDefinition source = OneHostNode(new_owner.Take());
    const Faults faults{{.site = "cuGraphNodeSetParams"}};
    EXPECT_THROW(node.UpdateChildGraph(source), DriverError);
  }
  Settle();
  EXPECT_EQ(node.ChildGraph(), child);
  EXPECT_EQ(child.Nodes().front().Owners().size(), 1u);
  EXPECT_TRUE(old_owner.IsHeld());
  EXPECT_FALSE(new_owner.IsHeld());
}

// Covers: CU-08, CL-04
TEST_F(ChildGraphTest, AnUpdateWhoseNewChildCannotBeExaminedIsInPlaceWithoutMetadata) {
  for (const char* site : {"cuGraphChildGraphNodeGetGraph", "cuGraphNodeFindInClone"}) {
    GraphDefinition graph;
    Owner old_owner, new_owner;
    GraphNode node = graph.AddChildGraphNode(OneHostNode(old_owner.Take()));
    const GraphDefinition old_child = node.ChildGraph();
    {
      const GraphDefinition source = OneHostNode(new_owner.Take());
      const Faults faults{{.site = site}};
      EXPECT_THROW(node.UpdateChildGraph(source), DriverError) << site;
    }
    Settle();
    EXPECT_FALSE(old_child.IsValid()) << site;
    EXPECT_FALSE(old_owner.IsHeld()) << site;
    EXPECT_TRUE(new_owner.IsHeld()) << site;
    CUgraph raw = nullptr;
    ASSERT_EQ(GetDriver().cuGraphChildGraphNodeGetGraph(node.raw(), &raw), CUDA_SUCCESS);
    const bool was_found = std::string(site) == "cuGraphNodeFindInClone";
    EXPECT_EQ(GraphDefinition::Find(raw).has_value(), was_found) << site;
    const GraphDefinition child = node.ChildGraph();
    EXPECT_EQ(child.raw(), raw) << site;
    EXPECT_EQ(child.Nodes().size(), 1u) << site;
    EXPECT_EQ(child.attachment_count(), 0u) << site;
    node.UpdateChildGraph(OneHostNode(nullptr));
    EXPECT_FALSE(child.IsValid()) << site;
    Settle();
    EXPECT_FALSE(new_owner.IsHeld()) << site;
  }
}

// Covers: CU-07
TEST_F(ChildGraphTest, ExecutablesMadeBeforeAnUpdateRunTheOldChild) {
  int old_count = 0;
  int new_count = 0;
  GraphDefinition graph, old_source, new_source;
  old_source.AddHostNode({&CountUp, &old_count, nullptr, nullptr});
  new_source.AddHostNode({&CountUp, &new_count, nullptr, nullptr});
  GraphNode node = graph.AddChildGraphNode(old_source);
  const GraphExec executable(graph);
  node.UpdateChildGraph(new_source);
  const StreamHandle stream = Stream::Create();
  executable.Launch(stream);
  stream->Synchronize();
  EXPECT_EQ(old_count, 1);
  Run(graph);
  EXPECT_EQ(old_count, 1);
  EXPECT_EQ(new_count, 1);
}

TEST_F(ChildGraphTest, AMovedRootBecomesTheChildWithEverythingThatItWas) {
  int count = 0;
  GraphDefinition graph, source;
  Owner owner, nested_owner;
  GraphNode inside = source.AddHostNode({&CountUp, &count, owner.Take(), nullptr});
  GraphNode nested = source.AddChildGraphNode(OneHostNode(nested_owner.Take()));
  const GraphDefinition nested_child = nested.ChildGraph();
  const CUgraph raw = source.raw();
  GraphNode node = graph.AddChildGraphNodeByMove(source);
  EXPECT_TRUE(source.IsValid());
  EXPECT_EQ(source.raw(), raw);
  EXPECT_EQ(node.ChildGraph(), source);
  EXPECT_EQ(GraphDefinition::Find(raw), source);
  EXPECT_EQ(inside.Graph(), source);
  EXPECT_EQ(inside.Owners().size(), 1u);
  EXPECT_EQ(nested.ChildGraph(), nested_child);
  source.AddEmptyNode({{inside}});
  Run(graph);
  EXPECT_EQ(count, 1);
  EXPECT_THROW(graph.AddChildGraphNodeByMove(source), std::invalid_argument) << "it is no root any more";
  node.Destroy();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
  EXPECT_FALSE(nested_owner.IsHeld());
  EXPECT_FALSE(source.IsValid());
  EXPECT_FALSE(inside.IsValid());
  EXPECT_FALSE(nested_child.IsValid());
}

TEST_F(ChildGraphTest, HandlesOfAMovedRootKeepTheHierarchyThatItJoined) {
  Owner owner;
  std::optional<GraphDefinition> source(OneHostNode(owner.Take()));
  std::optional<GraphNode> inside = source->Nodes().front();
  CUgraph root = nullptr;
  {
    GraphDefinition graph;
    root = graph.raw();
    graph.AddChildGraphNodeByMove(*source);
  }
  source.reset();
  EXPECT_TRUE(GraphDefinition::Find(root).has_value());
  EXPECT_EQ(inside->Owners().size(), 1u);
  EXPECT_EQ(GraphDefinition::Find(root)->Nodes().front().ChildGraph(), inside->Graph());
  inside.reset();
  EXPECT_FALSE(GraphDefinition::Find(root).has_value());
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

TEST_F(ChildGraphTest, AMoveThatIsRefusedLeavesTheSourceARoot) {
  GraphDefinition graph;
  Owner owner;
  std::optional<GraphDefinition> source(OneHostNode(owner.Take()));
  for (const char* site : {"cuDriverGetVersion", "cuGraphAddNode"}) {
    const Faults faults{{.site = site}};
    EXPECT_THROW(graph.AddChildGraphNodeByMove(*source), DriverError) << site;
  }
  EXPECT_THROW(graph.AddChildGraphNodeByMove(graph), std::invalid_argument);
  GraphDefinition other;
  const GraphNode node = other.AddChildGraphNode(*source);
  EXPECT_THROW(graph.AddChildGraphNodeByMove(node.ChildGraph()), std::invalid_argument);
  EXPECT_TRUE(graph.Nodes().empty());
  EXPECT_EQ(source->Clone().Nodes().size(), 1u);
  Run(*source);
}

}  // namespace
}  // namespace holdfast
