// Boxes and hierarchies: who keeps whom, what becomes a tombstone, what a transaction does to the index.
//
// Method: on the model driver, with raw driver calls where the public API would do more than the room under test.
#include "lib/attachments/hierarchy.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "lib/attachments/executable_owners.h"
#include "lib/attachments/metadata_copy.h"
#include "lib/attachments/transaction.h"
#include "lib/attachments/use_scope.h"
#include "lib/driver/status.h"
#include "tests/lib/attachments/cleanup_fixture.h"

namespace holdfast::attachments {
namespace {

using driver::GetDriver;

// A root with a child-graph node made by raw calls, and the child's box.
struct Family {
  Family() {
    root = Hierarchy::CreateRoot();
    CUgraph source = nullptr;
    EXPECT_EQ(GetDriver().cuGraphCreate(&source, 0), CUDA_SUCCESS);
    node = AddChild(root->graph(), source);
    EXPECT_EQ(GetDriver().cuGraphDestroy(source), CUDA_SUCCESS);
    child = Wrap(*root, node);
  }

  static CUgraphNode AddChild(CUgraph graph, CUgraph source) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
    parameters.graph.graph = source;
    CUgraphNode added = nullptr;
    EXPECT_EQ(GetDriver().cuGraphAddNode(&added, graph, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
    return added;
  }

  static GraphHandle Wrap(GraphBox& parent, CUgraphNode owner) {
    CUgraph raw = nullptr;
    EXPECT_EQ(GetDriver().cuGraphChildGraphNodeGetGraph(owner, &raw), CUDA_SUCCESS);
    return parent.hierarchy().FindOrMakeOwned(parent, owner, GraphBox::Kind::kChild, {&raw, 1}).front()->Handle();
  }

  GraphHandle root;
  CUgraphNode node = nullptr;
  GraphHandle child;
};

CUgraphNode AddEmpty(CUgraph graph) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUgraphNode added = nullptr;
  EXPECT_EQ(GetDriver().cuGraphAddNode(&added, graph, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
  return added;
}

// Gives `node` one owner and returns a way to see it go.
std::weak_ptr<int> Attach(GraphBox& box, CUgraphNode node) {
  auto owner = std::make_shared<int>(0);
  const std::vector<OpaqueHandle> owners = {owner};
  AttachmentTransaction transaction(box, owners);
  transaction.Commit(node);
  return owner;
}

using HierarchyTest = CleanupFixture;

// Covers: IH-01.
TEST_F(HierarchyTest, ARootIsFoundByItsRawHandleUntilItGoes) {
  GraphHandle root = Hierarchy::CreateRoot();
  const CUgraph raw = root->graph();
  EXPECT_EQ(Hierarchy::Find(raw), root);
  EXPECT_EQ(Hierarchy::Find(nullptr), nullptr);
  root = nullptr;
  EXPECT_EQ(Hierarchy::Find(raw), nullptr);
  EXPECT_EQ(GraphRegistry::Process().size(), 0u);
}

// Covers: IH-02, IH-03.
TEST_F(HierarchyTest, AChildKeepsItsBoxAndIndexWhileNobodyHasAHandle) {
  Family family;
  const CUgraphNode inner = AddEmpty(family.child->graph());
  Attach(*family.child, inner);
  const GraphBox* box = family.child.get();
  family.child = nullptr;
  family.child = Family::Wrap(*family.root, family.node);
  EXPECT_EQ(family.child.get(), box);
  EXPECT_EQ(family.child->OwnersOf(inner).size(), 1u);
}

// Covers: IH-04, IH-05.
TEST_F(HierarchyTest, AChildsHandleKeepsTheRootAndTheLastHandleDestroysIt) {
  Family family;
  const CUgraph root = family.root->graph();
  const std::weak_ptr<int> owner = Attach(*family.root, family.node);
  family.root = nullptr;
  EXPECT_NE(Hierarchy::Find(root), nullptr);
  AddEmpty(family.child->graph());
  family.child = nullptr;
  cleanup::DeferredCleanup::Process().Drain();
  EXPECT_TRUE(owner.expired());
  EXPECT_EQ(GraphRegistry::Process().size(), 0u);
}

// Covers: IH-06, TS-01, TS-02, TS-03.
TEST_F(HierarchyTest, WhatANodeOwnedBecomesTombstonesThatStay) {
  Family family;
  CUgraph source = nullptr;
  ASSERT_EQ(GetDriver().cuGraphCreate(&source, 0), CUDA_SUCCESS);
  const CUgraphNode sibling_node = Family::AddChild(family.root->graph(), source);
  const GraphHandle sibling = Family::Wrap(*family.root, sibling_node);
  const CUgraphNode grandchild_node = Family::AddChild(family.child->graph(), source);
  const GraphHandle grandchild = Family::Wrap(*family.child, grandchild_node);
  ASSERT_EQ(GetDriver().cuGraphDestroy(source), CUDA_SUCCESS);
  auto record = std::make_shared<NodeRecord>(grandchild, CU_GRAPH_NODE_TYPE_EMPTY);
  const CUgraphNode inner = AddEmpty(grandchild->graph());
  grandchild->node_records().Add(inner, record, grandchild->node_records().MakeRoom());
  const std::weak_ptr<int> owner = Attach(*grandchild, inner);
  const CUgraph raw = grandchild->graph();

  ASSERT_EQ(GetDriver().cuGraphDestroyNode(family.node), CUDA_SUCCESS);
  family.root->hierarchy().EndOwned(*family.root, family.node);

  EXPECT_EQ(family.child->graph(), nullptr);
  EXPECT_EQ(grandchild->graph(), nullptr);
  EXPECT_EQ(record->raw(), nullptr);
  EXPECT_EQ(grandchild->index().attachment_count(), 0u);
  EXPECT_EQ(Hierarchy::Find(raw), nullptr);
  EXPECT_NE(sibling->graph(), nullptr);
  EXPECT_EQ(Hierarchy::Find(sibling->graph()), sibling);
  cleanup::DeferredCleanup::Process().Drain();
  EXPECT_TRUE(owner.expired());
}

// Covers: TS-04.
TEST_F(HierarchyTest, EndingWhatIsNotKnownDoesNothing) {
  Family family;
  family.root->hierarchy().EndOwned(*family.root, nullptr);
  family.root->hierarchy().EndOwned(*family.root, AddEmpty(family.root->graph()));
  EXPECT_NE(family.child->graph(), nullptr);
}

// Covers: TS-05.
TEST_F(HierarchyTest, ARootThatCudaDestroyedIsNotDestroyedAgain) {
  Family family;
  const CUgraph raw = family.root->graph();
  family.root->hierarchy().EndRoot();
  EXPECT_EQ(family.child->graph(), nullptr);
  EXPECT_EQ(Hierarchy::Find(raw), nullptr);
  family.root = nullptr;
  family.child = nullptr;
  // It is still there, as nobody destroyed it in truth: the hierarchy kept its hands off.
  EXPECT_EQ(GetDriver().cuGraphDestroy(raw), CUDA_SUCCESS);
}

TEST_F(HierarchyTest, AMovedRootTakesItsHandlesAlong) {
  Family family;
  Family moved;
  const CUgraph raw = moved.root->graph();
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = raw;
  parameters.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  OwnedGraphs::Entry entry = Hierarchy::PrepareAbsorb(*family.root, moved.root);
  CUgraphNode node = nullptr;
  ASSERT_EQ(GetDriver().cuGraphAddNode(&node, family.root->graph(), nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
  Hierarchy::Absorb(*family.root, node, moved.root, std::move(entry));

  EXPECT_EQ(moved.root->graph(), raw);
  EXPECT_EQ(moved.root->parent(), family.root.get());
  EXPECT_EQ(&moved.child->hierarchy(), &family.root->hierarchy());
  EXPECT_EQ(Family::Wrap(*family.root, node), moved.root);
  // An old handle alone keeps the new root.
  const CUgraph root = family.root->graph();
  family.root = nullptr;
  family.child = nullptr;
  moved.root = nullptr;
  EXPECT_NE(Hierarchy::Find(root), nullptr);
  moved.child = nullptr;
  EXPECT_EQ(GraphRegistry::Process().size(), 0u);
}

// D-17: the younger registration of a raw handle wins, and the older box takes out no entry but its own.
TEST_F(HierarchyTest, ABoxUnregistersNobodyElse) {
  const GraphHandle older = Hierarchy::CreateRoot();
  const GraphHandle younger = Hierarchy::CreateRoot();
  const CUgraph raw = older->graph();
  GraphRegistry& registry = GraphRegistry::Process();
  registry.Add(raw, younger->weak_from_this(), GraphRegistry::MakeRoom());
  registry.Remove(raw, *older);
  EXPECT_EQ(registry.Find(raw).get(), younger.get());
  registry.Remove(raw, *younger);
  EXPECT_EQ(registry.Find(raw), nullptr);
}

// Covers: IH-11.
TEST_F(HierarchyTest, NodeRecordsLastAsLongAsTheirHandles) {
  const GraphHandle root = Hierarchy::CreateRoot();
  NodeRecords& records = root->node_records();
  const CUgraphNode first = AddEmpty(root->graph());
  const CUgraphNode second = AddEmpty(root->graph());
  auto kept = std::make_shared<NodeRecord>(root, CU_GRAPH_NODE_TYPE_EMPTY);
  auto dropped = std::make_shared<NodeRecord>(root, CU_GRAPH_NODE_TYPE_EMPTY);
  records.Add(first, kept, records.MakeRoom());
  records.Add(second, dropped, records.MakeRoom());
  dropped = nullptr;
  EXPECT_EQ(records.size(), 1u);
  EXPECT_EQ(records.Find(first), kept);
  EXPECT_EQ(records.Find(second), nullptr);
  // CUDA gave the handle out again: the old record is told, and stays another one.
  auto next = std::make_shared<NodeRecord>(root, CU_GRAPH_NODE_TYPE_EMPTY);
  records.Add(first, next, records.MakeRoom());
  EXPECT_EQ(kept->raw(), nullptr);
  EXPECT_EQ(records.Find(first), next);
  kept = nullptr;
  EXPECT_EQ(records.Find(first), next);
}

// Covers: AP-04, AP-10, AP-15, RP-03.
TEST_F(HierarchyTest, ATransactionReplacesAndRemoves) {
  const GraphHandle root = Hierarchy::CreateRoot();
  const CUgraphNode node = AddEmpty(root->graph());
  EXPECT_TRUE(root->OwnersOf(node).empty());
  const std::weak_ptr<int> first = Attach(*root, node);
  EXPECT_EQ(root->OwnersOf(node).front(), first.lock());
  const std::weak_ptr<int> second = Attach(*root, node);
  EXPECT_EQ(root->index().attachment_count(), 1u);
  cleanup::DeferredCleanup::Process().Drain();
  EXPECT_TRUE(first.expired());
  EXPECT_FALSE(second.expired());
  AttachmentTransaction removal(*root, {});
  removal.Commit(node);
  EXPECT_TRUE(root->OwnersOf(node).empty());
  EXPECT_EQ(root->index().attachment_count(), 0u);
}

// Covers: AP-11.
TEST_F(HierarchyTest, AnonymousOwnersGoWithTheGraph) {
  GraphHandle root = Hierarchy::CreateRoot();
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = owner;
  {
    const std::vector<OpaqueHandle> owners = {std::move(owner)};
    AttachmentTransaction transaction(*root, owners);
    transaction.CommitAnonymously();
  }
  cleanup::DeferredCleanup::Process().Drain();
  EXPECT_FALSE(seen.expired());
  EXPECT_EQ(root->index().attachment_count(), 0u);
  root = nullptr;
  cleanup::DeferredCleanup::Process().Drain();
  EXPECT_TRUE(seen.expired());
}

// Covers: AP-08.
TEST_F(HierarchyTest, ADroppedTransactionOfATombstoneCallsNoDriver) {
  Family family;
  auto owner = std::make_shared<int>(0);
  const std::vector<OpaqueHandle> owners = {owner};
  const std::uint64_t failures = driver::CleanupFailureCount();
  {
    const AttachmentTransaction transaction(*family.child, owners);
    ASSERT_EQ(GetDriver().cuGraphDestroyNode(family.node), CUDA_SUCCESS);
    family.root->hierarchy().EndOwned(*family.root, family.node);
  }
  EXPECT_EQ(driver::CleanupFailureCount(), failures);
  cleanup::DeferredCleanup::Process().Drain();
  EXPECT_EQ(owner.use_count(), 2);
}

// Covers: AP-12.
TEST_F(HierarchyTest, ACommitWithNothingToPublishDoesNothing) {
  Family family;
  AttachmentTransaction nothing(*family.root, {});
  nothing.CommitAnonymously();
  EXPECT_EQ(family.root->index().attachment_count(), 0u);
  AttachmentTransaction unknown(*family.root, {});
  unknown.Commit(nullptr);
  EXPECT_TRUE(family.root->index().entries().empty());

  const CUgraphNode inner = AddEmpty(family.child->graph());
  const std::weak_ptr<int> owner = Attach(*family.child, inner);
  AttachmentTransaction late(*family.child, {});
  ASSERT_EQ(GetDriver().cuGraphDestroyNode(family.node), CUDA_SUCCESS);
  family.root->hierarchy().EndOwned(*family.root, family.node);
  const std::uint64_t failures = driver::CleanupFailureCount();
  late.Commit(inner);
  EXPECT_EQ(driver::CleanupFailureCount(), failures);
  EXPECT_TRUE(family.child->index().entries().empty());
  cleanup::DeferredCleanup::Process().Drain();
  EXPECT_TRUE(owner.expired());
}

// Covers: CL-03, CL-07.
TEST_F(HierarchyTest, ACloneGetsTheMetadataOfAllLevels) {
  Family family;
  const CUgraphNode inner = AddEmpty(family.child->graph());
  const std::weak_ptr<int> outer_owner = Attach(*family.root, family.node);
  const std::weak_ptr<int> inner_owner = Attach(*family.child, inner);
  GraphHandle clone = Hierarchy::CloneRoot(*family.root);
  family = Family();
  cleanup::DeferredCleanup::Process().Drain();
  EXPECT_FALSE(outer_owner.expired());
  ASSERT_EQ(clone->owned_graphs().entries().size(), 1u);
  const auto& [owner_node, boxes] = *clone->owned_graphs().entries().begin();
  EXPECT_EQ(clone->OwnersOf(owner_node).front(), outer_owner.lock());
  EXPECT_EQ(boxes.front()->index().attachment_count(), 1u);
  EXPECT_EQ(boxes.front()->parent(), clone.get());
  EXPECT_EQ(Hierarchy::Find(boxes.front()->graph()), boxes.front()->Handle());
  clone = nullptr;
  cleanup::DeferredCleanup::Process().Drain();
  EXPECT_TRUE(outer_owner.expired());
  EXPECT_TRUE(inner_owner.expired());
}

// Covers: CL-04.
TEST_F(HierarchyTest, AFailedRekeyPublishesNothing) {
  Family family;
  Attach(*family.root, family.node);
  const GraphHandle stranger = Hierarchy::CreateRoot();
  MetadataCopy copy(*family.root, stranger->hierarchy());
  EXPECT_THROW(copy.Rekey(stranger->graph()), driver::DriverError);
  EXPECT_EQ(stranger->index().attachment_count(), 0u);
  EXPECT_TRUE(stranger->owned_graphs().entries().empty());
}

// The driver has no look-up for the bodies of a clone, and no driver so far clones what has some (D-25).
// Covers: CL-07.
TEST_F(HierarchyTest, BodiesAreLeftOutOfACopy) {
  const GraphHandle root = Hierarchy::CreateRoot();
  const CUgraphNode conditional = AddEmpty(root->graph());
  CUgraph body = nullptr;
  ASSERT_EQ(GetDriver().cuGraphCreate(&body, 0), CUDA_SUCCESS);
  root->hierarchy().FindOrMakeOwned(*root, conditional, GraphBox::Kind::kBody, {&body, 1});
  Attach(*root, AddEmpty(root->graph()));

  const GraphHandle clone = Hierarchy::CloneRoot(*root);

  EXPECT_EQ(clone->index().attachment_count(), 1u);
  EXPECT_TRUE(clone->owned_graphs().entries().empty());
  root->hierarchy().EndOwned(*root, conditional);
  EXPECT_EQ(GetDriver().cuGraphDestroy(body), CUDA_SUCCESS);
}

// Covers: EA-03, EA-04.
TEST_F(HierarchyTest, OwnersOfAnExecutableGrowAndAreTakenBack) {
  const GraphHandle root = Hierarchy::CreateRoot();
  const StagedExecutableOwners staged(*root);
  auto owner = std::make_shared<int>(0);
  const std::vector<OpaqueHandle> owners = {owner};
  {
    const ExecutableOwners::Addition refused(*staged.owners(), owners);
    EXPECT_EQ(staged.owners()->size(), 1u);
  }
  EXPECT_EQ(staged.owners()->size(), 0u);
  {
    ExecutableOwners::Addition accepted(*staged.owners(), owners);
    accepted.Keep();
  }
  EXPECT_EQ(staged.owners()->size(), 1u);
}

#ifndef NDEBUG
TEST_F(HierarchyTest, ASecondThreadInsideIsToldSo) {
  const GraphHandle root = Hierarchy::CreateRoot();
  const UseScope outer(root->hierarchy(), "outer");
  EXPECT_NO_THROW(UseScope(root->hierarchy(), "the same thread"));
  bool refused = false;
  std::thread([&] {
    try {
      const UseScope second(root->hierarchy(), "AddHostNode");
    } catch (const std::logic_error& error) {
      refused = std::string(error.what()).starts_with("AddHostNode: another thread");
    }
  }).join();
  EXPECT_TRUE(refused);
}
#endif

}  // namespace
}  // namespace holdfast::attachments
