// The model of builders by itself: transitions, what a capture that ends leaves, who keeps a builder's record.

#include "scenarios/fuzz/builder_model.h"

#include <gtest/gtest.h>

namespace holdfast::fuzz {
namespace {

using State = Builder::State;

class BuilderModelTest : public testing::Test {
 protected:
  BuilderId Begun() {
    const BuilderId id = builders_.MakePrimary();
    builders_.Begin(id);
    return id;
  }

  // A callback that `builder` captures, with an owner.
  NodeId Capture(BuilderId builder, OwnerId owner) {
    const NodeId node = graphs_.AddNode(builders_.CaptureGraph(builder), NodeKind::kHost, graphs_.NewBundle({{owner}}),
                                        builders_.builder(builder).tail);
    builders_.Place(builder, node);
    return node;
  }

  ReferenceModel graphs_;
  BuilderModel builders_{graphs_};
};

TEST_F(BuilderModelTest, APrimaryHasAGraphOnceItHasEnded) {
  const BuilderId id = builders_.MakePrimary();
  EXPECT_EQ(builders_.StateOf(id), State::kNotStarted);
  EXPECT_FALSE(builders_.HasDefinition(id));
  builders_.Begin(id);
  EXPECT_TRUE(builders_.IsCapturing(id));
  EXPECT_TRUE(graphs_.graph(builders_.CaptureGraph(id)).capturing);
  EXPECT_EQ(builders_.End(id, /*with_graph=*/true), kNone);
  EXPECT_TRUE(builders_.HasFinishedGraph(id));
  EXPECT_TRUE(builders_.HasDefinition(id));
  EXPECT_EQ(graphs_.LiveRoots(), 1U);
}

TEST_F(BuilderModelTest, ACaptureThatEndsInErrorLeavesNothing) {
  const BuilderId id = Begun();
  const OwnerId owner = graphs_.NewOwner();
  Capture(id, owner);
  builders_.End(id, /*with_graph=*/false);
  EXPECT_EQ(builders_.StateOf(id), State::kInvalidated);
  EXPECT_EQ(graphs_.OwnerStates()[0], OwnerState::kFree);
  EXPECT_EQ(graphs_.LiveRoots(), 0U);
}

TEST_F(BuilderModelTest, WorkOfAForkHasToComeBack) {
  const BuilderId id = Begun();
  const BuilderId fork = builders_.MakeFork(id);
  EXPECT_TRUE(builders_.CanEndWell(id));  // no work yet
  const NodeId node = Capture(fork, graphs_.NewOwner());
  EXPECT_FALSE(builders_.CanEndWell(id));
  builders_.Join(id, {{fork}});
  EXPECT_TRUE(builders_.CanEndWell(id));
  EXPECT_EQ(builders_.builder(id).tail, std::vector<NodeId>{node});
  EXPECT_EQ(builders_.StateOf(fork), State::kClosed);
}

TEST_F(BuilderModelTest, AJoinWaitsForAll) {
  const BuilderId id = Begun();
  const BuilderId fork = builders_.MakeFork(id);
  const NodeId own = Capture(id, kNone);
  const NodeId forked = Capture(fork, kNone);
  builders_.Join(id, {{fork}});
  EXPECT_EQ(builders_.builder(id).tail, (std::vector<NodeId>{own, forked}));
}

TEST_F(BuilderModelTest, ASpoiledCaptureCannotEndWell) {
  const BuilderId id = Begun();
  builders_.builder(id).is_spoiled = true;
  EXPECT_FALSE(builders_.CanEndWell(id));
  EXPECT_FALSE(builders_.IsSound(id));
}

TEST_F(BuilderModelTest, AForkKeepsTheCaptureThatItIsPartOf) {
  const BuilderId id = Begun();
  const BuilderId fork = builders_.MakeFork(id);
  EXPECT_FALSE(builders_.DropHolder(id));
  EXPECT_TRUE(builders_.IsCapturing(fork));
  EXPECT_EQ(builders_.EndsWith(fork), id);
  EXPECT_TRUE(builders_.DropHolder(fork));
  const GraphId root = builders_.CaptureGraph(id);
  EXPECT_EQ(builders_.LetGo(fork, /*capture_ends_with_graph=*/true), root);
  EXPECT_EQ(builders_.StateOf(id), State::kClosed);
  EXPECT_EQ(graphs_.LiveRoots(), 0U);
}

TEST_F(BuilderModelTest, AForkOfAClosedCaptureIsInvalid) {
  const BuilderId id = Begun();
  const BuilderId fork = builders_.MakeFork(id);
  builders_.LetGo(id, /*capture_ends_with_graph=*/true);
  EXPECT_EQ(builders_.StateOf(fork), State::kInvalidated);
}

TEST_F(BuilderModelTest, NodesThatWereNotPlacedGoAtTheEnd) {
  const BuilderId id = Begun();
  const NodeId stray = graphs_.AddNode(builders_.CaptureGraph(id), NodeKind::kEmpty, kNone, {});
  builders_.builder(id).unplaced.push_back(stray);
  builders_.End(id, /*with_graph=*/true);
  EXPECT_FALSE(graphs_.node(stray).alive);
}

TEST_F(BuilderModelTest, ABodyBuilderIsDefinedBeforeItBeginsAndKeepsTheHierarchy) {
  const GraphId root = graphs_.CreateRoot();
  graphs_.AddHandle(root);
  const NodeId node = graphs_.AddConditional(root, NodeKind::kIf, 1, {});
  const BuilderId body = builders_.MakeBody(graphs_.node(node).graphs.front());
  EXPECT_TRUE(builders_.HasDefinition(body));
  EXPECT_EQ(graphs_.DropHandle(root), kNone);
  builders_.Begin(body);
  EXPECT_FALSE(builders_.HasDefinition(body));
  builders_.End(body, /*with_graph=*/true);
  EXPECT_TRUE(builders_.HasDefinition(body));
  graphs_.DestroyNode(node);
  EXPECT_EQ(builders_.StateOf(body), State::kInvalidated);
  EXPECT_EQ(builders_.LetGo(body, /*capture_ends_with_graph=*/true), root);
}

}  // namespace
}  // namespace holdfast::fuzz
