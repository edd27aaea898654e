// The reference model by itself. Method: each case builds a few graphs in the model and states who must be alive, which
// is what driver-facts.md and the library's headers say, by the numbers given.

#include "scenarios/fuzz/reference_model.h"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::fuzz {
namespace {

constexpr auto kHeld = OwnerState::kHeld;
constexpr auto kLingering = OwnerState::kLingering;
constexpr auto kFree = OwnerState::kFree;

class ReferenceModelTest : public testing::Test {
 protected:
  // A root that the program has a handle to.
  GraphId Root() {
    const GraphId root = model_.CreateRoot();
    model_.AddHandle(root);
    return root;
  }

  OwnerId Owner() { return model_.NewOwner(); }

  NodeId HostNode(GraphId graph, OwnerId owner) {
    return model_.AddNode(graph, NodeKind::kHost, model_.NewBundle({{owner}}), {});
  }

  OwnerState State(OwnerId owner) const { return model_.OwnerStates()[static_cast<std::size_t>(owner)]; }

  ReferenceModel model_;
};

TEST_F(ReferenceModelTest, AnOwnerThatNobodyTookIsFree) { EXPECT_EQ(State(Owner()), kFree); }

TEST_F(ReferenceModelTest, ANodeWithoutOwnersHasNoBundle) {
  EXPECT_EQ(model_.NewBundle({}), kNone);
  EXPECT_EQ(model_.NewBundle({{kNone, kNone}}), kNone);
  EXPECT_EQ(model_.LiveBundles().most, 0U);
}

TEST_F(ReferenceModelTest, TheLastHandleTakesTheRootWithIt) {
  const GraphId root = Root();
  const OwnerId owner = Owner();
  HostNode(root, owner);
  model_.AddHandle(root);
  EXPECT_EQ(model_.DropHandle(root), kNone);
  EXPECT_EQ(State(owner), kHeld);
  EXPECT_EQ(model_.DropHandle(root), root);
  EXPECT_EQ(State(owner), kFree);
  EXPECT_EQ(model_.LiveRoots(), 0U);
}

TEST_F(ReferenceModelTest, ADestroyedNodeGivesUpItsBundleUnlessThatIsRefused) {
  const GraphId root = Root();
  const OwnerId owners[] = {Owner(), Owner()};
  const NodeId given_up = HostNode(root, owners[0]);
  const NodeId kept = HostNode(root, owners[1]);
  model_.DestroyNode(given_up);
  model_.DestroyNode(kept, /*is_kept=*/true);
  EXPECT_EQ(State(owners[0]), kFree);
  EXPECT_EQ(State(owners[1]), kHeld);
  EXPECT_TRUE(model_.OwnersOf(kept).empty());
  EXPECT_FALSE(model_.node(kept).alive);
  model_.DropHandle(root);
  EXPECT_EQ(State(owners[1]), kFree);
}

TEST_F(ReferenceModelTest, ADestroyedNodeTakesItsEdgesWithIt) {
  const GraphId root = Root();
  const NodeId first = HostNode(root, kNone);
  const NodeId second = model_.AddNode(root, NodeKind::kEmpty, kNone, {{first}});
  EXPECT_TRUE(model_.HasEdge(first, second));
  model_.DestroyNode(first);
  EXPECT_TRUE(model_.graph(root).edges.empty());
}

TEST_F(ReferenceModelTest, ANewBundleReplacesTheOldOneInTheGraphAlone) {
  const GraphId root = Root();
  const OwnerId before = Owner();
  const OwnerId after = Owner();
  const NodeId node = HostNode(root, before);
  const ExecutableId executable = model_.Instantiate(root);
  model_.ReplaceBundle(node, model_.NewBundle({{after}}));
  EXPECT_EQ(State(before), kHeld);  // RP-02
  EXPECT_EQ(State(after), kHeld);
  model_.Close(executable);
  EXPECT_EQ(State(before), kFree);
}

TEST_F(ReferenceModelTest, ACloneHoldsWhatItsSourceHeld) {  // U5
  const GraphId root = Root();
  const OwnerId owner = Owner();
  const NodeId node = HostNode(root, owner);
  const GraphId clone = model_.CloneRoot(root);
  model_.AddHandle(clone);
  model_.DestroyNode(node);
  model_.DropHandle(root);
  EXPECT_EQ(State(owner), kHeld);
  EXPECT_EQ(model_.OwnersOf(model_.graph(clone).nodes.front())[0], owner);
  model_.DropHandle(clone);
  EXPECT_EQ(State(owner), kFree);
}

TEST_F(ReferenceModelTest, ACloneHasTheEdgesAndChildrenOfItsSource) {
  const GraphId inner = Root();
  HostNode(inner, Owner());
  const GraphId root = Root();
  const NodeId child = model_.AddChildByCopy(root, inner, {});
  model_.AddNode(root, NodeKind::kEmpty, kNone, {{child}});
  const GraphId clone = model_.CloneRoot(root);
  EXPECT_TRUE(IsSameTopology(model_.ShapeOf(root), model_.ShapeOf(clone)));
  EXPECT_FALSE(IsSameTopology(model_.ShapeOf(root), model_.ShapeOf(inner)));
}

TEST_F(ReferenceModelTest, AnEmbeddedCopyGoesWithItsNodeOnAllLevels) {  // U10
  const GraphId innermost = Root();
  const OwnerId owner = Owner();
  HostNode(innermost, owner);
  const GraphId inner = Root();
  model_.AddChildByCopy(inner, innermost, {});
  const GraphId root = Root();
  const NodeId child = model_.AddChildByCopy(root, inner, {});
  model_.DropHandle(innermost);
  model_.DropHandle(inner);
  EXPECT_EQ(State(owner), kHeld);
  const GraphId copy = model_.node(child).graphs.front();
  const GraphId deep = model_.node(model_.graph(copy).nodes.front()).graphs.front();
  model_.DestroyNode(child);
  EXPECT_EQ(State(owner), kFree);
  EXPECT_FALSE(model_.graph(copy).alive);
  EXPECT_FALSE(model_.graph(deep).alive);
}

TEST_F(ReferenceModelTest, AMovedGraphIsTheChildAndItsHandlesKeepTheNewHierarchy) {  // U12
  const GraphId source = Root();
  const OwnerId owner = Owner();
  HostNode(source, owner);
  const GraphId root = Root();
  const NodeId child = model_.AddChildByMove(root, source, {});
  EXPECT_EQ(model_.LiveRoots(), 1U);
  EXPECT_EQ(model_.DropHandle(root), kNone);
  EXPECT_TRUE(model_.node(child).alive);
  EXPECT_EQ(model_.DropHandle(source), root);
  EXPECT_EQ(State(owner), kFree);
}

TEST_F(ReferenceModelTest, AReplacedChildTakesItsOwnersAndHandlesWithIt) {  // U11
  const OwnerId before = Owner();
  const OwnerId after = Owner();
  const GraphId first = Root();
  HostNode(first, before);
  const GraphId second = Root();
  HostNode(second, after);
  const GraphId root = Root();
  const NodeId child = model_.AddChildByCopy(root, first, {});
  const GraphId old_copy = model_.node(child).graphs.front();
  model_.DropHandle(first);
  model_.ReplaceChild(child, second);
  model_.DropHandle(second);
  EXPECT_EQ(State(before), kFree);
  EXPECT_EQ(State(after), kHeld);
  EXPECT_FALSE(model_.graph(old_copy).alive);
  EXPECT_TRUE(model_.node(child).alive);
}

TEST_F(ReferenceModelTest, ACopyWhoseOwnersAreUnknownHoldsThemAllTheSame) {
  const OwnerId owner = Owner();
  const GraphId source = Root();
  HostNode(source, owner);
  const GraphId root = Root();
  const NodeId child = model_.AddChildByCopy(root, source, {}, /*owners_are_known=*/false);
  model_.DropHandle(source);
  const NodeId inside = model_.graph(model_.node(child).graphs.front()).nodes.front();
  EXPECT_TRUE(model_.OwnersOf(inside).empty());
  EXPECT_EQ(State(owner), kHeld);
}

TEST_F(ReferenceModelTest, ABodyGoesWithItsNodeAndABodyLostToACaptureStaysWithIt) {
  const GraphId root = Root();
  const OwnerId owner = Owner();
  const NodeId node = model_.AddConditional(root, NodeKind::kIfElse, 2, {});
  ASSERT_EQ(model_.node(node).graphs.size(), 2U);
  const GraphId body = model_.node(node).graphs.back();
  HostNode(body, owner);
  model_.EndBody(body);
  EXPECT_FALSE(model_.graph(body).alive);
  EXPECT_EQ(State(owner), kHeld);
  model_.DestroyNode(node);
  EXPECT_EQ(State(owner), kFree);
}

TEST_F(ReferenceModelTest, AnonymousOwnersGoWithTheGraph) {
  const GraphId root = Root();
  const OwnerId owner = Owner();
  model_.AddAnonymously(root, model_.NewBundle({{owner}}));
  EXPECT_EQ(State(owner), kHeld);
  model_.DropHandle(root);
  EXPECT_EQ(State(owner), kFree);
}

TEST_F(ReferenceModelTest, AnExecutableHoldsTheWholeHierarchyByItself) {
  const OwnerId owner = Owner();
  const GraphId inner = Root();
  HostNode(inner, owner);
  const GraphId root = Root();
  model_.AddChildByCopy(root, inner, {});
  const ExecutableId executable = model_.Instantiate(root);
  model_.DropHandle(inner);
  model_.DropHandle(root);
  EXPECT_EQ(State(owner), kHeld);
  EXPECT_EQ(model_.LiveExecutables(), 1U);
  model_.Close(executable);
  EXPECT_EQ(State(owner), kFree);
  EXPECT_EQ(model_.LiveBundles().most, 0U);
}

TEST_F(ReferenceModelTest, AWholeUpdatePutsTheSourcesReferencesInPlace) {  // U6
  const OwnerId before = Owner();
  const OwnerId added = Owner();
  const OwnerId after = Owner();
  const GraphId root = Root();
  const NodeId node = HostNode(root, before);
  const ExecutableId executable = model_.Instantiate(root);
  model_.AddOwners(executable, {{added}});
  model_.ReplaceBundle(node, model_.NewBundle({{after}}));
  EXPECT_EQ(State(before), kHeld);
  EXPECT_EQ(State(added), kHeld);
  model_.UpdateExecutable(executable, root);
  EXPECT_EQ(State(before), kFree);
  EXPECT_EQ(State(added), kFree);
  model_.DropHandle(root);
  EXPECT_EQ(State(after), kHeld);
}

TEST_F(ReferenceModelTest, AListThatTheSourceKeepsLivesAsLongAsIt) {
  const GraphId root = Root();
  const OwnerId added = Owner();
  const ExecutableId executable = model_.Instantiate(root, /*list_is_kept=*/true);
  model_.AddOwners(executable, {{added}});
  model_.Close(executable);
  EXPECT_EQ(State(added), kHeld);
  model_.DropHandle(root);
  EXPECT_EQ(State(added), kFree);
}

TEST_F(ReferenceModelTest, AnUpdatedChildOfAnExecutableBringsItsOwnersAndTheOldOnesGoSoonerOrLater) {
  const OwnerId before = Owner();
  const OwnerId after = Owner();
  const GraphId first = Root();
  HostNode(first, before);
  const GraphId second = Root();
  HostNode(second, after);
  const GraphId root = Root();
  const NodeId child = model_.AddChildByCopy(root, first, {});
  const ExecutableId executable = model_.Instantiate(root);
  model_.UpdateExecutableChild(executable, child, second);
  for (const GraphId graph : {first, second, root}) {
    model_.DropHandle(graph);
  }
  EXPECT_EQ(State(after), kHeld);
  EXPECT_EQ(State(before), kLingering);
  model_.Close(executable);
  EXPECT_EQ(State(after), kFree);
  EXPECT_EQ(State(before), kFree);
}

TEST_F(ReferenceModelTest, ABlockedLaunchHoldsWhatItsExecutableHeld) {  // U4, U7
  const GraphId root = Root();
  const OwnerId owner = Owner();
  HostNode(root, owner);
  const ExecutableId executable = model_.Instantiate(root);
  model_.Launch(executable, /*is_blocked=*/true);
  model_.Close(executable);
  model_.DropHandle(root);
  EXPECT_EQ(State(owner), kHeld);
  EXPECT_TRUE(model_.HasBlockedLaunches());
  model_.FinishLaunches();
  EXPECT_EQ(State(owner), kLingering);
  EXPECT_EQ(model_.OwnerStates(/*is_settled=*/true)[static_cast<std::size_t>(owner)], kFree);
  EXPECT_EQ(model_.LiveBundles().least, 0U);
  EXPECT_EQ(model_.LiveBundles().most, 2U);  // with the executable's list
  EXPECT_EQ(model_.LiveBundles(/*is_settled=*/true).most, 0U);
  model_.Settle();
  EXPECT_EQ(State(owner), kFree);
}

TEST_F(ReferenceModelTest, AnExecutableThatWasLaunchedLetsGoLate) {
  const GraphId root = Root();
  const OwnerId owner = Owner();
  const NodeId node = HostNode(root, owner);
  const ExecutableId executable = model_.Instantiate(root);
  model_.Launch(executable, /*is_blocked=*/false);
  model_.Settle();
  model_.DestroyNode(node);
  model_.Close(executable);
  EXPECT_EQ(State(owner), kLingering);
  model_.Settle();
  EXPECT_EQ(State(owner), kFree);
}

TEST_F(ReferenceModelTest, ACycleIsFoundOnAllLevels) {
  const GraphId inner = Root();
  const NodeId first = HostNode(inner, kNone);
  const NodeId second = model_.AddNode(inner, NodeKind::kEmpty, kNone, {{first}});
  EXPECT_FALSE(model_.HasCycle(inner));
  model_.AddEdge(second, first);
  EXPECT_TRUE(model_.HasCycle(inner));
  const GraphId root = Root();
  model_.AddChildByCopy(root, inner, {});
  EXPECT_TRUE(model_.HasCycle(root));
  model_.RemoveEdge(second, first);
  EXPECT_FALSE(model_.HasCycle(inner));
}

TEST_F(ReferenceModelTest, AnExecutableKnowsTheNodesThatItWasMadeFromByPlace) {
  const GraphId inner = Root();
  HostNode(inner, kNone);
  const GraphId root = Root();
  const NodeId plain = HostNode(root, kNone);
  const NodeId child = model_.AddChildByCopy(root, inner, {});
  const ExecutableId executable = model_.Instantiate(root);
  const NodeId late = HostNode(root, kNone);
  EXPECT_EQ(model_.Find(executable, plain), Path{0});
  EXPECT_EQ(model_.Find(executable, model_.graph(model_.node(child).graphs.front()).nodes.front()), (Path{1, 0}));
  EXPECT_TRUE(model_.Find(executable, late).empty());
}

TEST_F(ReferenceModelTest, AHierarchyWithConditionsOrMemoryNodesIsNotPlain) {
  const GraphId root = Root();
  EXPECT_TRUE(model_.IsPlain(root));
  model_.AddNode(root, NodeKind::kAllocation, kNone, {});
  EXPECT_FALSE(model_.IsPlain(root));
  const GraphId with_condition = Root();
  model_.AddCondition(with_condition);
  EXPECT_FALSE(model_.IsPlain(with_condition));
}

TEST_F(ReferenceModelTest, ARefusedMemoryNodeCountsInCopiesToo) {
  const GraphId source = Root();
  model_.NoteRefusedMemoryNode(source);
  EXPECT_FALSE(model_.IsPlain(source));
  EXPECT_FALSE(model_.IsPlain(model_.CloneRoot(source)));
  const GraphId root = Root();
  model_.AddChildByCopy(root, source, {});
  EXPECT_FALSE(model_.IsPlain(root));
}

TEST_F(ReferenceModelTest, BodiesBelongToTheGraphAroundThem) {
  const GraphId root = Root();
  const GraphId body = model_.node(model_.AddConditional(root, NodeKind::kIf, 1, {})).graphs.front();
  const GraphId inner = model_.node(model_.AddConditional(body, NodeKind::kIf, 1, {})).graphs.front();
  EXPECT_EQ(model_.OutermostOfBodies(inner), root);
  const GraphId moved = Root();
  model_.AddChildByMove(root, moved, {});
  EXPECT_EQ(model_.OutermostOfBodies(moved), moved);
}

}  // namespace
}  // namespace holdfast::fuzz
