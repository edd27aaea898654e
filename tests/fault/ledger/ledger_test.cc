// The oracle, alone and on one thread: sequences of calls as a driver would answer them, against what the ledger counts
// and what it objects to. A sequence that is correct must leave no finding.

#include "fault/ledger/ledger.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::fault {
namespace {

constexpr Handle kGraph = 0x100, kClone = 0x200, kChild = 0x300, kNode = 0x11, kStream = 0x5;
constexpr Handle kObject = 0x1000, kOther = 0x2000;

class LedgerTest : public ::testing::Test {
 protected:
  // A user object as the driver makes one.
  ObjectId Create(Handle object, std::uint64_t references = 1) {
    const ObjectId id = ledger_.BeginCreateObject();
    ledger_.EndCreateObject(id, true, object, references);
    return id;
  }
  void Retain(Handle graph, Handle object, std::uint64_t count = 1, bool move = false) {
    ledger_.EndGraphRetain(ledger_.BeginGraphRetain(graph, object, count, move), true);
  }
  void ReleaseFromGraph(Handle graph, Handle object, std::uint64_t count = 1, bool done = true) {
    ledger_.EndRelease(ledger_.BeginGraphRelease(graph, object, count), done);
  }
  void Release(Handle object, std::uint64_t count = 1, bool done = true) {
    ledger_.EndRelease(ledger_.BeginReleaseObject(object, count), done);
  }
  void DestroyGraph(Handle graph, bool done = true) {
    ledger_.DestroyAsked(graph, "cuGraphDestroy");
    ledger_.EndDestroyGraph(ledger_.BeginDestroyGraph(graph), done);
  }
  void DestroyNode(Handle node) { ledger_.EndDestroyGraph(ledger_.BeginDestroyNode(node), true); }
  void Die(ObjectId id) {
    ledger_.DriverLetGo(id);
    ledger_.DestructorRan(id);
  }

  std::vector<std::string> TakeKinds() { return std::exchange(kinds_, {}); }
  void ExpectQuiet() { EXPECT_TRUE(kinds_.empty()) << kinds_.front() << ": " << last_message_; }

  std::vector<std::string> kinds_;
  std::string last_message_;
  Ledger ledger_{[this](std::string_view kind, const std::string& message) {
    kinds_.emplace_back(kind);
    last_message_ = message;
  }};
};

using Kinds = std::vector<std::string>;

TEST_F(LedgerTest, CountsAnObjectUntilItsDestructorRan) {
  const ObjectId id = Create(kObject);
  EXPECT_EQ(ledger_.live().user_objects, 1U);
  Release(kObject);
  ledger_.DriverLetGo(id);
  EXPECT_EQ(ledger_.live().user_objects, 1U);  // the shim may hold the destructor back
  ledger_.DestructorRan(id);
  EXPECT_EQ(ledger_.live().user_objects, 0U);
  ExpectQuiet();
}

TEST_F(LedgerTest, SaysHowManyReferencesTheSubjectAndItsGraphsHoldTogether) {
  EXPECT_EQ(ledger_.FindObject(kObject), kNoObject);
  EXPECT_EQ(ledger_.ReferencesOf(kNoObject), std::nullopt);
  const ObjectId id = Create(kObject, 3);
  EXPECT_EQ(ledger_.FindObject(kObject), id);
  EXPECT_EQ(ledger_.ReferencesOf(id), 3U);
  EXPECT_EQ(ledger_.ReferencesOf(id + 1), std::nullopt);
  ledger_.GraphCreated(kGraph);
  ledger_.GraphCreated(kChild);
  Retain(kGraph, kObject, 2, /*move=*/true);
  Retain(kChild, kObject, 5);
  EXPECT_EQ(ledger_.ReferencesOf(id), 8U);
  ledger_.GraphEmbedded(kGraph, kNode, kChild, /*moved=*/false);
  ledger_.ChildSeen(kNode, kClone);
  EXPECT_EQ(ledger_.ReferencesOf(id), 13U);  // the copy's once, though it is found in two ways
  Release(kObject);
  DestroyGraph(kChild);
  DestroyGraph(kGraph);
  EXPECT_EQ(ledger_.ReferencesOf(id), 0U);
  Die(id);
  EXPECT_EQ(ledger_.ReferencesOf(id), 0U);
  EXPECT_EQ(ledger_.FindObject(kObject), kNoObject);
  ExpectQuiet();
}

TEST_F(LedgerTest, CountsNoReferencesWhereThatWouldTakeLong) {
  const ObjectId id = Create(kObject, 1);
  for (Handle graph = 1; graph <= 128; ++graph) ledger_.GraphCreated(graph);
  EXPECT_EQ(ledger_.ReferencesOf(id), 1U);
  ledger_.GraphCreated(129);
  EXPECT_EQ(ledger_.ReferencesOf(id), std::nullopt);
}

TEST_F(LedgerTest, CountsNothingForACreationThatFailed) {
  ledger_.EndCreateObject(ledger_.BeginCreateObject(), false, 0, 0);
  EXPECT_EQ(ledger_.live().user_objects, 0U);
}

TEST_F(LedgerTest, ObjectsToReleasingMoreThanTheSubjectHolds) {
  Create(kObject, 2);
  ledger_.GraphCreated(kGraph);
  Retain(kGraph, kObject, 1, /*move=*/true);  // one reference is left with the subject
  Release(kObject);
  ExpectQuiet();
  Release(kObject);
  EXPECT_EQ(TakeKinds(), Kinds({"over-release"}));
}

TEST_F(LedgerTest, GivesMovedReferencesBackWhenTheRetainFailed) {
  Create(kObject, 1);
  ledger_.GraphCreated(kGraph);
  ledger_.EndGraphRetain(ledger_.BeginGraphRetain(kGraph, kObject, 1, true), false);
  Release(kObject);
  ExpectQuiet();
}

TEST_F(LedgerTest, ObjectsToReleasingWhatTheGraphDoesNotHold) {
  Create(kObject, 5);
  Create(kOther, 1);
  ledger_.GraphCreated(kGraph);
  Retain(kGraph, kObject, 3);
  ReleaseFromGraph(kGraph, kObject, 2);
  ExpectQuiet();
  ReleaseFromGraph(kGraph, kObject, 2);
  EXPECT_EQ(TakeKinds(), Kinds({"over-release"}));
  EXPECT_NE(last_message_.find("which held 1;"), std::string::npos) << last_message_;
  ReleaseFromGraph(kGraph, kOther, 1);
  EXPECT_EQ(TakeKinds(), Kinds({"over-release"}));
}

TEST_F(LedgerTest, AcceptsAnOverReleaseThatTheDriverRefused) {
  Create(kObject, 1);
  ledger_.GraphCreated(kGraph);
  Retain(kGraph, kObject, 1);
  ReleaseFromGraph(kGraph, kObject, 2, /*done=*/false);
  ReleaseFromGraph(kGraph, kObject, 1);
  ExpectQuiet();
}

TEST_F(LedgerTest, GivesACloneTheReferencesOfItsSource) {
  Create(kObject, 1);
  ledger_.GraphCreated(kGraph);
  Retain(kGraph, kObject, 1);
  ledger_.GraphCloned(kClone, kGraph);
  ReleaseFromGraph(kGraph, kObject);
  ReleaseFromGraph(kClone, kObject);
  ExpectQuiet();
  ReleaseFromGraph(kClone, kObject);
  EXPECT_EQ(TakeKinds(), Kinds({"over-release"}));
}

TEST_F(LedgerTest, NeverJudgesAGraphItDidNotSeeBegin) {
  Create(kObject, 1);
  ReleaseFromGraph(kGraph, kObject);  // never heard of
  ledger_.ChildSeen(kNode, kChild);   // a child of a clone, say
  ReleaseFromGraph(kChild, kObject);
  ledger_.GraphCloned(kClone, kChild);
  ReleaseFromGraph(kClone, kObject);
  ReleaseFromGraph(kGraph, 0x9999);  // nor an object made elsewhere
  Release(0x9999);
  ExpectQuiet();
}

TEST_F(LedgerTest, KnowsAChildThatItSawEmbedded) {
  Create(kObject, 1);
  ledger_.GraphCreated(kGraph);
  ledger_.GraphCreated(0x400);
  Retain(0x400, kObject, 1);
  ledger_.GraphEmbedded(kGraph, kNode, 0x400, /*moved=*/false);
  ledger_.ChildSeen(kNode, kChild);
  ReleaseFromGraph(kChild, kObject);
  ExpectQuiet();
  ReleaseFromGraph(kGraph, kObject);  // a child's object through the parent, fact U13
  EXPECT_EQ(TakeKinds(), Kinds({"over-release"}));
  EXPECT_EQ(ledger_.live().graphs, 2U);  // the child is no root
}

TEST_F(LedgerTest, KeepsTheHandleOfAMovedChild) {
  Create(kObject, 1);
  ledger_.GraphCreated(kGraph);
  ledger_.GraphCreated(kChild);
  Retain(kChild, kObject, 1);
  ledger_.GraphEmbedded(kGraph, kNode, kChild, /*moved=*/true);
  EXPECT_EQ(ledger_.live().graphs, 1U);
  ledger_.ChildSeen(kNode, kChild);
  ReleaseFromGraph(kChild, kObject);
  ExpectQuiet();
  DestroyGraph(kGraph);
  ledger_.UseGraph(kChild, "cuGraphGetNodes");
  EXPECT_EQ(TakeKinds(), Kinds({"use-after-destroy"}));
}

TEST_F(LedgerTest, BuriesAChildWithItsNodeAndWhenItIsReplaced) {
  ledger_.GraphCreated(kGraph);
  ledger_.GraphCreated(0x400);
  ledger_.GraphEmbedded(kGraph, kNode, 0x400, false);
  ledger_.ChildSeen(kNode, kChild);
  ledger_.ChildReplaced(kNode, 0x400);
  ledger_.UseGraph(kChild, "cuGraphGetNodes");
  EXPECT_EQ(TakeKinds(), Kinds({"use-after-destroy"}));
  ledger_.ChildSeen(kNode, 0x301);
  DestroyNode(kNode);
  ledger_.UseGraph(0x301, "cuGraphGetNodes");
  EXPECT_EQ(TakeKinds(), Kinds({"use-after-destroy"}));
}

TEST_F(LedgerTest, ForgetsTheNodesOfADestroyedGraph) {
  ledger_.GraphCreated(kGraph);
  ledger_.GraphCreated(0x400);
  ledger_.GraphEmbedded(kGraph, kNode, 0x400, false);
  DestroyGraph(kGraph);
  Create(kObject, 1);
  ledger_.ChildSeen(kNode, kChild);  // the driver reused the node's handle for a graph that was not seen
  ReleaseFromGraph(kChild, kObject);
  ExpectQuiet();
}

TEST_F(LedgerTest, KnowsTheBodiesOfAConditionalNode) {
  Create(kObject, 1);
  ledger_.GraphCreated(kGraph);
  const std::array<Handle, 2> bodies = {0x501, 0x502};
  ledger_.BodiesMade(kGraph, kNode, bodies);
  Retain(0x502, kObject, 1);
  ReleaseFromGraph(0x502, kObject);
  ExpectQuiet();
  DestroyNode(kNode);
  ledger_.UseGraph(0x502, "cuGraphGetNodes");
  EXPECT_EQ(TakeKinds(), Kinds({"use-after-destroy"}));
}

TEST_F(LedgerTest, ReportsTheMisuseOfADeadGraphOnce) {
  ledger_.GraphCreated(kGraph);
  DestroyGraph(kGraph);
  ExpectQuiet();
  DestroyGraph(kGraph, /*done=*/false);
  EXPECT_EQ(TakeKinds(), Kinds({"double-destroy"}));
  ledger_.UseGraph(kGraph, "cuGraphInstantiate");
  ExpectQuiet();
}

TEST_F(LedgerTest, AcceptsAHandleThatWasGivenOutAgain) {
  ledger_.GraphCreated(kGraph);
  DestroyGraph(kGraph);
  ledger_.GraphCreated(kGraph);
  ledger_.UseGraph(kGraph, "cuGraphInstantiate");
  DestroyGraph(kGraph);
  ExpectQuiet();
  EXPECT_EQ(ledger_.live().graphs, 0U);
}

TEST_F(LedgerTest, AcceptsAHandleGivenOutWhileItsDestroyIsUnderWay) {
  ledger_.GraphCreated(kGraph);
  const PendingGraphDestroy pending = ledger_.BeginDestroyGraph(kGraph);
  ledger_.GraphCreated(kGraph);  // by another thread, before the first call is back
  ledger_.EndDestroyGraph(pending, true);
  ledger_.UseGraph(kGraph, "cuGraphInstantiate");
  ExpectQuiet();
  EXPECT_EQ(ledger_.live().graphs, 1U);
}

TEST_F(LedgerTest, KeepsAGraphWhoseDestructionFailed) {
  Create(kObject, 1);
  ledger_.GraphCreated(kGraph);
  Retain(kGraph, kObject, 1);
  DestroyGraph(kGraph, /*done=*/false);
  EXPECT_EQ(ledger_.live().graphs, 1U);
  ReleaseFromGraph(kGraph, kObject, 1);
  DestroyGraph(kGraph);
  ExpectQuiet();
}

TEST_F(LedgerTest, FollowsACaptureFromItsBeginning) {
  Create(kObject, 1);
  ledger_.CaptureBegan(kStream);
  ledger_.CaptureSeen(kStream, kGraph);
  Retain(kGraph, kObject, 1);
  EXPECT_EQ(ledger_.live().graphs, 0U);
  ledger_.CaptureEnded(kStream, kGraph);
  EXPECT_EQ(ledger_.live().graphs, 1U);
  ReleaseFromGraph(kGraph, kObject);
  ExpectQuiet();
  ReleaseFromGraph(kGraph, kObject);
  EXPECT_EQ(TakeKinds(), Kinds({"over-release"}));
}

TEST_F(LedgerTest, FollowsACaptureThatAnotherStreamShowedFirst) {
  Create(kObject, 1);
  ledger_.CaptureBegan(kStream);
  ledger_.CaptureSeen(0x6, kGraph);  // a stream that joined
  Retain(kGraph, kObject, 1);
  ledger_.CaptureSeen(kStream, kGraph);
  ledger_.CaptureEnded(kStream, kGraph);
  ReleaseFromGraph(kGraph, kObject, 1);
  ExpectQuiet();
}

TEST_F(LedgerTest, ObjectsToACaptureEndedIntoNothing) {
  Create(kObject, 1);
  ledger_.CaptureBegan(kStream);
  ledger_.CaptureSeen(kStream, kGraph);
  Retain(kGraph, kObject, 1);
  ledger_.CaptureEnded(kStream, 0);
  EXPECT_EQ(TakeKinds(), Kinds({"leak"}));
  EXPECT_NE(last_message_.find("holds 1 user object"), std::string::npos) << last_message_;
}

TEST_F(LedgerTest, BuriesTheGraphOfALostCapture) {
  ledger_.CaptureBegan(kStream);
  ledger_.CaptureSeen(kStream, kGraph);
  ledger_.CaptureLost(kStream);
  EXPECT_EQ(ledger_.live().graphs, 0U);
  ledger_.UseGraph(kGraph, "cuGraphRetainUserObject");
  EXPECT_EQ(TakeKinds(), Kinds({"use-after-destroy"}));
}

TEST_F(LedgerTest, KeepsTheRootThatALostCaptureWasTo) {
  ledger_.GraphCreated(kGraph);
  ledger_.CaptureToGraphBegan(kStream, kGraph);
  ledger_.CaptureLost(kStream);
  ledger_.UseGraph(kGraph, "cuGraphGetNodes");
  ExpectQuiet();
  EXPECT_EQ(ledger_.live().graphs, 1U);
}

TEST_F(LedgerTest, CountsResourcesOfEachKind) {
  for (const Resource kind :
       {Resource::kExecutable, Resource::kStream, Resource::kEvent, Resource::kAllocation, Resource::kLibrary}) {
    ledger_.Created(kind, 0x7);
    EXPECT_EQ(ledger_.live().resources[static_cast<std::size_t>(kind)], 1U);
    ledger_.EndDestroy(kind, ledger_.BeginDestroy(kind, 0x7), false);
    EXPECT_EQ(ledger_.live().resources[static_cast<std::size_t>(kind)], 1U);
    ledger_.EndDestroy(kind, ledger_.BeginDestroy(kind, 0x7), true);
    EXPECT_EQ(ledger_.live().resources[static_cast<std::size_t>(kind)], 0U);
  }
  ExpectQuiet();
}

TEST_F(LedgerTest, ReportsTheMisuseOfADeadExecutable) {
  ledger_.Created(Resource::kExecutable, 0x7);
  ledger_.EndDestroy(Resource::kExecutable, ledger_.BeginDestroy(Resource::kExecutable, 0x7), true);
  ledger_.UseExecutable(0x7, "cuGraphLaunch");
  EXPECT_EQ(TakeKinds(), Kinds({"use-after-destroy"}));
  ledger_.Created(Resource::kExecutable, 0x7);
  ledger_.EndDestroy(Resource::kExecutable, ledger_.BeginDestroy(Resource::kExecutable, 0x7), true);
  ledger_.DestroyExecutableAsked(0x7, "cuGraphExecDestroy");
  EXPECT_EQ(TakeKinds(), Kinds({"double-destroy"}));
}

TEST_F(LedgerTest, KnowsTheChildrenOfACloneOnceTheirNodeIsFound) {
  Create(kObject, 1);
  ledger_.GraphCreated(kGraph);
  ledger_.GraphCreated(0x400);
  Retain(0x400, kObject, 1);
  ledger_.GraphEmbedded(kGraph, kNode, 0x400, /*moved=*/false);
  ledger_.GraphCloned(kClone, kGraph);
  ledger_.NodeFoundInClone(kClone, kNode, 0x21);
  ledger_.ChildSeen(0x21, 0x301);
  ReleaseFromGraph(0x301, kObject);
  ExpectQuiet();
  ReleaseFromGraph(0x301, kObject);
  EXPECT_EQ(TakeKinds(), Kinds({"over-release"}));
  DestroyGraph(kClone);
  ledger_.UseGraph(0x301, "cuGraphGetNodes");
  EXPECT_EQ(TakeKinds(), Kinds({"use-after-destroy"}));
}

TEST_F(LedgerTest, KnowsTheGrandchildrenOfAnEmbeddedGraph) {
  Create(kObject, 1);
  for (const Handle graph : {kGraph, Handle{0x400}, Handle{0x500}}) ledger_.GraphCreated(graph);
  Retain(0x500, kObject, 1);
  ledger_.GraphEmbedded(0x400, 0x12, 0x500, /*moved=*/false);
  ledger_.GraphEmbedded(kGraph, kNode, 0x400, /*moved=*/false);
  ledger_.ChildSeen(kNode, kChild);
  ledger_.NodeFoundInClone(kChild, 0x12, 0x22);
  ledger_.ChildSeen(0x22, 0x302);
  ReleaseFromGraph(0x302, kObject);
  ExpectQuiet();
  ReleaseFromGraph(0x302, kObject);
  EXPECT_EQ(TakeKinds(), Kinds({"over-release"}));
}

TEST_F(LedgerTest, MakesNoRootOfABodyThatWasCapturedInto) {
  ledger_.GraphCreated(kGraph);
  const std::array<Handle, 1> bodies = {0x501};
  ledger_.BodiesMade(kGraph, kNode, bodies);
  ledger_.CaptureToGraphBegan(kStream, 0x501);
  ledger_.CaptureEnded(kStream, 0x501);
  EXPECT_EQ(ledger_.live().graphs, 1U);
  ledger_.CaptureToGraphBegan(kStream, 0x501);
  ledger_.CaptureEnded(kStream, 0);  // the subject has the graph, told or not
  ExpectQuiet();
  EXPECT_EQ(ledger_.live().graphs, 1U);
}

// ---- what a fault keeps ----

TEST_F(LedgerTest, CountsAnObjectAsKeptWhoseReleaseAFaultFailed) {
  const ObjectId id = Create(kObject, 1);
  ledger_.ObjectReleaseKept(kObject, 1);
  EXPECT_EQ(ledger_.live().user_objects, 0U);
  EXPECT_EQ(ledger_.live().kept_user_objects, 1U);
  Die(id);
  EXPECT_EQ(ledger_.live().kept_user_objects, 0U);
}

TEST_F(LedgerTest, CountsAnObjectAsAliveWhileAnythingElseHoldsIt) {
  Create(kObject, 2);
  ledger_.GraphCreated(kGraph);
  Retain(kGraph, kObject, 1);
  ledger_.ObjectReleaseKept(kObject, 1);
  EXPECT_EQ(ledger_.live().user_objects, 1U) << "the subject has another reference, and so has the graph";
  Release(kObject, 1);
  EXPECT_EQ(ledger_.live().user_objects, 1U) << "the graph has one";
  ReleaseFromGraph(kGraph, kObject);
  EXPECT_EQ(ledger_.live().user_objects, 0U);
  EXPECT_EQ(ledger_.live().kept_user_objects, 1U);
}

TEST_F(LedgerTest, ForgivesOnlyTheObjectWhoseReleaseFailed) {
  Create(kObject, 1);
  Create(kOther, 1);
  ledger_.GraphCreated(kGraph);
  Retain(kGraph, kObject, 1, /*move=*/true);
  Retain(kGraph, kOther, 1, /*move=*/true);
  ledger_.GraphReleaseKept(kGraph, kObject, 1);
  EXPECT_EQ(ledger_.live().user_objects, 1U);
  EXPECT_EQ(ledger_.live().kept_user_objects, 1U);
  ledger_.GraphCloned(kClone, kGraph);
  EXPECT_EQ(ledger_.live().user_objects, 2U) << "the clone's reference is one like any other";
  DestroyGraph(kClone);
  EXPECT_EQ(ledger_.live().user_objects, 1U);
}

TEST_F(LedgerTest, KeepsAGraphWithAllBelowItAndWhatTheyHold) {
  Create(kObject, 1);
  Create(kOther, 1);
  ledger_.GraphCreated(kGraph);
  ledger_.GraphCreated(kChild);
  Retain(kChild, kObject, 1, /*move=*/true);
  Retain(kGraph, kOther, 1, /*move=*/true);
  ledger_.GraphEmbedded(kGraph, kNode, kChild, /*moved=*/true);
  ledger_.GraphDestroyKept(kGraph);
  const LiveCounts counts = ledger_.live();
  EXPECT_EQ(counts.graphs, 0U);
  EXPECT_EQ(counts.user_objects, 0U);
  EXPECT_EQ(counts.kept_user_objects, 2U);
  EXPECT_EQ(counts.kept_others, 1U);
  DestroyGraph(kGraph);
  ExpectQuiet();
  EXPECT_EQ(ledger_.live().kept_others, 0U);
}

TEST_F(LedgerTest, KeepsWhatAnExecutableHeldWhenItWasMadeOrUpdated) {
  constexpr Handle kExecutable = 0x7;
  Create(kObject, 1);
  Create(kOther, 1);
  ledger_.GraphCreated(kGraph);
  Retain(kGraph, kObject, 1, /*move=*/true);
  ledger_.ExecutableMade(kExecutable, kGraph);
  ledger_.GraphCreated(kClone);
  Retain(kClone, kOther, 1, /*move=*/true);
  ledger_.DestroyKept(Resource::kExecutable, kExecutable);
  EXPECT_EQ(ledger_.live().user_objects, 2U) << "the graphs hold them";
  DestroyGraph(kGraph);
  EXPECT_EQ(ledger_.live().kept_user_objects, 1U);
  ledger_.ExecutableUpdated(kExecutable, kClone);
  DestroyGraph(kClone);
  EXPECT_EQ(ledger_.live().user_objects, 1U) << "the update dropped the first, and nothing holds it: it leaked";
  EXPECT_EQ(ledger_.live().kept_user_objects, 1U);
}

TEST_F(LedgerTest, KeepsTheGraphThatAKeptStreamIsCapturing) {
  Create(kObject, 1);
  ledger_.Created(Resource::kStream, kStream);
  ledger_.CaptureBegan(kStream);
  ledger_.CaptureSeen(kStream, kGraph);
  Retain(kGraph, kObject, 1, /*move=*/true);
  ledger_.DestroyKept(Resource::kStream, kStream);
  const LiveCounts counts = ledger_.live();
  EXPECT_EQ(counts.resources[static_cast<std::size_t>(Resource::kStream)], 0U);
  EXPECT_EQ(counts.user_objects, 0U);
  EXPECT_EQ(counts.kept_user_objects, 1U);
}

TEST_F(LedgerTest, CountsAKeptResourceApartUntilItIsDestroyed) {
  ledger_.Created(Resource::kEvent, 0x7);
  ledger_.Created(Resource::kEvent, 0x8);
  ledger_.DestroyKept(Resource::kEvent, 0x7);
  ledger_.DestroyKept(Resource::kEvent, 0x9);  // never seen
  EXPECT_EQ(ledger_.live().resources[static_cast<std::size_t>(Resource::kEvent)], 1U);
  EXPECT_EQ(ledger_.live().kept_others, 1U);
  ledger_.EndDestroy(Resource::kEvent, ledger_.BeginDestroy(Resource::kEvent, 0x7), true);
  EXPECT_EQ(ledger_.live().resources[static_cast<std::size_t>(Resource::kEvent)], 1U);
  EXPECT_EQ(ledger_.live().kept_others, 0U);
}

TEST_F(LedgerTest, TellsAnObjectFromTheNextOneWithItsHandle) {
  ledger_.GraphCreated(kGraph);
  const ObjectId first = Create(kObject, 1);
  Retain(kGraph, kObject, 1);
  Die(first);  // through an over-release elsewhere, say
  Create(kObject, 1);
  ReleaseFromGraph(kGraph, kObject, 1);  // the graph holds the first, not this one
  EXPECT_EQ(TakeKinds(), Kinds({"over-release"}));
}

TEST_F(LedgerTest, StaysRightUnderThreads) {
  std::vector<std::jthread> threads;
  for (Handle base = 1; base <= 4; ++base) {
    threads.emplace_back([this, base] {
      for (Handle round = 0; round < 500; ++round) {
        const Handle object = (base << 32) + (round << 4);
        const ObjectId id = Create(object, 1);
        ledger_.GraphCreated(object + 1);
        Retain(object + 1, object, 1, /*move=*/true);
        DestroyGraph(object + 1);
        Die(id);
      }
    });
  }
  threads.clear();
  ExpectQuiet();
  EXPECT_EQ(ledger_.live().user_objects, 0U);
  EXPECT_EQ(ledger_.live().graphs, 0U);
}

}  // namespace
}  // namespace holdfast::fault
