// Conditional nodes against the model driver: their bodies are graphs of the hierarchy from the start, and end with
// their node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/condition.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "tests/lib/graph/device_test.h"

namespace holdfast {
namespace {

using driver::DriverError;
using driver::GetDriver;

void CUDA_CB Nothing(void*) {}

using ConditionalTest = DeviceTest;

// Covers: CB-01, CB-08
TEST_F(ConditionalTest, EachKindHasItsBodies) {
  GraphDefinition graph;
  const auto body_count = [&](GraphNode node) {
    EXPECT_EQ(node.type(), CU_GRAPH_NODE_TYPE_CONDITIONAL);
    for (const GraphDefinition& body : node.Bodies()) {
      EXPECT_TRUE(body.IsValid());
      EXPECT_TRUE(body.Nodes().empty());
      EXPECT_EQ(GraphDefinition::Find(body.raw()), body);
    }
    EXPECT_EQ(node.Bodies(), graph.Nodes().back().Bodies());
    return node.Bodies().size();
  };
  EXPECT_EQ(body_count(graph.AddIfNode(graph.MakeCondition())), 1u);
  EXPECT_EQ(body_count(graph.AddIfElseNode(graph.MakeCondition(1))), 2u);
  EXPECT_EQ(body_count(graph.AddWhileNode(graph.MakeCondition(0))), 1u);
  EXPECT_EQ(body_count(graph.AddSwitchNode(graph.MakeCondition(2), 3)), 3u);
  EXPECT_EQ(graph.attachment_count(), 0u);
}

// Covers: CB-02, IH-04
TEST_F(ConditionalTest, ABodyKeepsItsHierarchyAndIsUsable) {
  CUgraph root = nullptr;
  std::optional<GraphDefinition> body;
  {
    GraphDefinition graph;
    root = graph.raw();
    body = graph.AddIfNode(graph.MakeCondition()).Bodies().front();
  }
  EXPECT_TRUE(GraphDefinition::Find(root).has_value());
  EXPECT_TRUE(body->Nodes().empty());
  body->AddEmptyNode();
  EXPECT_EQ(body->Nodes().size(), 1u);
  body.reset();
  EXPECT_FALSE(GraphDefinition::Find(root).has_value());
}

// Covers: CB-03, TS-01, TS-03
TEST_F(ConditionalTest, TheBodiesEndWithTheirNode) {
  GraphDefinition graph;
  Owner first_owner, second_owner;
  GraphNode node = graph.AddIfElseNode(graph.MakeCondition());
  std::vector<GraphDefinition> bodies = node.Bodies();
  const GraphNode first = bodies[0].AddHostNode({&Nothing, nullptr, first_owner.Take(), nullptr});
  const GraphNode nested = bodies[1].AddWhileNode(bodies[1].MakeCondition());
  GraphDefinition innermost = nested.Bodies().front();
  const GraphNode second = innermost.AddHostNode({&Nothing, nullptr, second_owner.Take(), nullptr});
  node.Destroy();
  Settle();
  EXPECT_FALSE(first_owner.IsHeld());
  EXPECT_FALSE(second_owner.IsHeld());
  for (const GraphDefinition& gone : {bodies[0], bodies[1], innermost}) {
    EXPECT_FALSE(gone.IsValid());
  }
  EXPECT_FALSE(first.IsValid());
  EXPECT_FALSE(second.IsValid());
  EXPECT_THROW(innermost.AddEmptyNode(), std::logic_error);
  EXPECT_THROW(node.Bodies(), std::logic_error);
}

// Covers: CB-04
TEST_F(ConditionalTest, BodiesOfANodeThatWasMadeElsewhereAreNotKnown) {
  GraphDefinition graph;
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = graph.MakeCondition().raw();
  parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
  parameters.conditional.size = 1;
  ASSERT_EQ(GetDriver().cuCtxGetCurrent(&parameters.conditional.ctx), CUDA_SUCCESS);
  CUgraphNode raw = nullptr;
  ASSERT_EQ(GetDriver().cuGraphAddNode(&raw, graph.raw(), nullptr, nullptr, 0u, &parameters), CUDA_SUCCESS);
  EXPECT_TRUE(graph.Nodes().front().Bodies().empty());
}

// Covers: CB-06
TEST_F(ConditionalTest, WrongConditionsAndNoBodiesAreRefused) {
  GraphDefinition graph, other;
  std::optional<GraphDefinition> child(graph.AddIfNode(graph.MakeCondition()).Bodies().front());
  const Condition of_body = child->MakeCondition();
  EXPECT_THROW(graph.AddIfNode(other.MakeCondition()), std::invalid_argument);
  EXPECT_THROW(graph.AddSwitchNode(graph.MakeCondition(), 0), DriverError);
  const Condition used = graph.MakeCondition();
  graph.AddIfNode(used);
  EXPECT_THROW(graph.AddIfNode(used), DriverError) << "a condition serves one node";
  EXPECT_EQ(graph.Nodes().size(), 2u);
  graph.Nodes().front().Destroy();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { graph.AddIfNode(of_body); }),
            "GraphDefinition::AddIfNode: the condition belongs to a graph that no longer exists");
  EXPECT_THROW(child->MakeCondition(), std::logic_error);
}

// Covers: CB-01
TEST_F(ConditionalTest, CopiesOfAMovedGraphAreInTheWayOfInstantiation) {
  GraphDefinition graph, moved, parent_of_a_copy;
  std::optional<GraphDefinition> clone(moved.Clone());
  std::optional<GraphExec> executable(moved);
  GraphNode copy = parent_of_a_copy.AddChildGraphNode(moved);
  graph.AddChildGraphNodeByMove(moved);
  EXPECT_NO_THROW(GraphExec{graph}) << "without a conditional node they are not";
  graph.AddIfNode(graph.MakeCondition());
  const auto refusal = [&] { return MessageOf<DriverError>([&] { GraphExec{graph}; }); };
  EXPECT_THAT(refusal(), testing::HasSubstr("CUDA_ERROR_NOT_SUPPORTED"));
  EXPECT_THAT(refusal(), testing::HasSubstr("moved into it still has clones"));
  clone.reset();
  executable->Close();
  EXPECT_THAT(refusal(), testing::HasSubstr("moved into it still has clones"));
  copy.Destroy();
  EXPECT_NO_THROW(GraphExec{graph});
}

TEST_F(ConditionalTest, TheDriverItselfRefusesWhileThereAreCopiesOfTheWhole) {
  GraphDefinition graph;
  std::optional<GraphDefinition> clone(graph.Clone());
  graph.AddIfNode(graph.MakeCondition());
  EXPECT_THROW(GraphExec{graph}, DriverError);
  clone.reset();
  EXPECT_NO_THROW(GraphExec{graph});
}

TEST_F(ConditionalTest, AConditionKeepsItsGraph) {
  std::optional<Condition> condition;
  CUgraph raw = nullptr;
  {
    GraphDefinition graph;
    raw = graph.raw();
    condition = graph.MakeCondition();
  }
  EXPECT_TRUE(GraphDefinition::Find(raw).has_value());
  condition.reset();
  EXPECT_FALSE(GraphDefinition::Find(raw).has_value());
}

TEST_F(ConditionalTest, ARefusedAdditionLeavesNothing) {
  GraphDefinition graph;
  const Condition condition = graph.MakeCondition();
  {
    const Faults faults{{.site = "cuGraphAddNode"}};
    EXPECT_THROW(graph.AddIfElseNode(condition), DriverError);
  }
  EXPECT_TRUE(graph.Nodes().empty());
  EXPECT_EQ(graph.AddIfElseNode(condition).Bodies().size(), 2u);
}

// Covers: IH-04
TEST_F(ConditionalTest, OtherKindsHaveNeitherBodiesNorChildren) {
  GraphDefinition graph;
  const GraphNode node = graph.AddEmptyNode();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { node.Bodies(); }),
            "GraphNode::Bodies: the node is an empty node, not a conditional node");
  EXPECT_THROW(node.ChildGraph(), std::logic_error);
  EXPECT_THROW(graph.AddIfNode(graph.MakeCondition()).ChildGraph(), std::logic_error);
}

}  // namespace
}  // namespace holdfast
