// Builders against the model driver: the state machine with each transition that it refuses, what happens to graph,
// stream and owners when a step fails midway, forks, bodies, and callbacks.
//
// A test that names a gap covers one of the seven that the review of the reference's builder listed.
#include "lib/graph/graph_builder.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "tests/lib/graph/device_test.h"

namespace holdfast {
namespace {

using driver::DriverError;
using driver::GetDriver;
using Kind = GraphBuilder::Kind;
using State = GraphBuilder::State;

void CUDA_CB Nothing(void*) {}
void CUDA_CB CountUp(void* count) { ++*static_cast<int*>(count); }

// Gap 7 is the compiler's: a builder embeds a definition or a builder, and nothing else.
template <typename Source>
concept CanBeEmbedded = requires(GraphBuilder builder, Source source) {
  builder.Embed(source);
};
static_assert(CanBeEmbedded<GraphDefinition> && CanBeEmbedded<GraphBuilder>);
static_assert(!CanBeEmbedded<int> && !CanBeEmbedded<std::string> && !CanBeEmbedded<GraphNode>);

class GraphBuilderTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    stream_ = Stream::Create();
  }
  void TearDown() override {
    stream_ = nullptr;
    DeviceTest::TearDown();
  }

  GraphBuilder Begun() const {
    GraphBuilder builder(stream_);
    builder.Begin();
    return builder;
  }

  GraphBuilder Ended(const HostCallback& callback = {&Nothing, nullptr, nullptr, nullptr}) const {
    GraphBuilder builder = Begun();
    builder.AddCallback(callback);
    builder.End();
    return builder;
  }

  // What a stream in a capture forbids.
  static void Invalidate(const StreamHandle& stream) { EXPECT_THROW(stream->Synchronize(), DriverError); }

  GraphBuilder Invalidated() const {
    GraphBuilder builder = Begun();
    Invalidate(stream_);
    EXPECT_THROW(builder.End(), DriverError);
    return builder;
  }

  static CUstreamCaptureStatus StatusOf(const StreamHandle& stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    EXPECT_EQ(GetDriver().cuStreamIsCapturing(stream->raw(), &status), CUDA_SUCCESS);
    return status;
  }

  void ExpectStreamUsable() const {
    EXPECT_EQ(StatusOf(stream_), CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT_NO_THROW(stream_->Synchronize());
  }

  void Run(const GraphExec& executable) const {
    executable.Launch(stream_);
    stream_->Synchronize();
  }

  StreamHandle stream_;
};

// ---- The state machine

// Covers: GB-01
TEST_F(GraphBuilderTest, NeedsAStream) {
  static_assert(!std::is_default_constructible_v<GraphBuilder>);
  EXPECT_EQ(MessageOf<std::invalid_argument>([] { GraphBuilder{StreamHandle()}; }), "GraphBuilder: the stream is null");
}

// Covers: GB-02, GB-10
TEST_F(GraphBuilderTest, IsBuildingBetweenBeginAndEnd) {
  GraphBuilder builder(stream_);
  EXPECT_EQ(builder.kind(), Kind::kPrimary);
  EXPECT_EQ(builder.state(), State::kNotStarted);
  EXPECT_FALSE(builder.IsBuilding());
  builder.Begin();
  EXPECT_EQ(builder.state(), State::kCapturing);
  EXPECT_TRUE(builder.IsBuilding());
  builder.End();
  EXPECT_EQ(builder.state(), State::kEnded);
  EXPECT_FALSE(builder.IsBuilding());
  ExpectStreamUsable();
}

// Covers: GB-03. Gap 1.
TEST_F(GraphBuilderTest, BeginWhileCapturingIsRefusedAndTheCaptureGoesOn) {
  GraphBuilder builder = Begun();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Begin(); }),
            "GraphBuilder::Begin: the builder is capturing already; call End first");
  EXPECT_TRUE(builder.IsBuilding());
  builder.AddCallback({&Nothing, nullptr, nullptr, nullptr});
  builder.End();
  EXPECT_EQ(builder.Definition().Nodes().size(), 1u);
}

// Covers: GB-04
TEST_F(GraphBuilderTest, BeginAfterEndIsRefusedAndTheExecutableStillRuns) {
  int runs = 0;
  GraphBuilder builder = Ended({&CountUp, &runs, nullptr, nullptr});
  const GraphExec executable = builder.Complete();
  Run(executable);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Begin(); }),
            "GraphBuilder::Begin: the builder has ended its capture; make a new builder for another one");
  Run(executable);
  EXPECT_EQ(runs, 2);
}

// Covers: GB-05
TEST_F(GraphBuilderTest, UnknownModeIsRefusedBeforeTheDriverIsAsked) {
  GraphBuilder builder(stream_);
  const std::uint64_t calls = CallsOf(nullptr);
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] { builder.Begin(static_cast<CUstreamCaptureMode>(7)); }),
            "GraphBuilder::Begin: 7 is no capture mode; give global, thread local or relaxed");
  EXPECT_EQ(CallsOf(nullptr), calls);
  EXPECT_EQ(builder.state(), State::kNotStarted);
}

TEST_F(GraphBuilderTest, EveryModeCaptures) {
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    GraphBuilder builder(stream_);
    builder.Begin(mode);
    builder.AddCallback({&Nothing, nullptr, nullptr, nullptr});
    builder.End();
    EXPECT_EQ(builder.Definition().Nodes().size(), 1u);
  }
}

// Covers: GB-08
TEST_F(GraphBuilderTest, EndOutsideACaptureIsRefused) {
  GraphBuilder builder(stream_);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.End(); }),
            "GraphBuilder::End: the builder has not started to capture; call Begin first");
  builder.Begin();
  builder.End();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.End(); }),
            "GraphBuilder::End: the builder has ended its capture; make a new builder for another one");
}

// Covers: GB-13
TEST_F(GraphBuilderTest, CompleteAndPrintWantAFinishedGraph) {
  GraphBuilder builder(stream_);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Complete(); }),
            "GraphBuilder::Complete: the builder has not started to capture; call Begin first");
  EXPECT_THROW(builder.WriteDot("unused"), std::logic_error);
  builder.Begin();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Complete(); }),
            "GraphBuilder::Complete: the builder is capturing; call End first");
  EXPECT_THROW(builder.WriteDot("unused"), std::logic_error);
}

// Covers: GB-11, GB-12, GB-14, TS-05
TEST_F(GraphBuilderTest, AnInvalidatedCaptureLeavesNoGraph) {
  Owner owner;
  GraphBuilder builder = Begun();
  builder.AddCallback({&Nothing, nullptr, owner.Take(), nullptr});
  Invalidate(stream_);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.IsBuilding(); }),
            "GraphBuilder::IsBuilding: the capture has been invalidated by what was done meanwhile; call End, and "
            "capture again with a new builder");
  EXPECT_THROW(builder.AddCallback({&Nothing, nullptr, nullptr, nullptr}), std::logic_error);
  EXPECT_EQ(MessageOf<DriverError>([&] { builder.End(); }),
            "cuStreamEndCapture: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (while ending a capture)");
  EXPECT_EQ(builder.state(), State::kInvalidated);
  EXPECT_FALSE(builder.IsBuilding());
  Settle();
  EXPECT_FALSE(owner.IsHeld());
  ExpectStreamUsable();
  const std::string no_graph =
      ": there is no graph: the capture ended in error, or the graph has been destroyed since; make a new builder";
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Complete(); }), "GraphBuilder::Complete" + no_graph);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Definition(); }), "GraphBuilder::Definition" + no_graph);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.WriteDot("unused"); }), "GraphBuilder::WriteDot" + no_graph);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Begin(); }), "GraphBuilder::Begin" + no_graph);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.End(); }), "GraphBuilder::End" + no_graph);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Split(2); }), "GraphBuilder::Split" + no_graph);
  GraphExec executable(GraphDefinition{});
  EXPECT_EQ(MessageOf<std::logic_error>([&] { executable.Update(builder); }), "GraphExec::Update" + no_graph);
  EXPECT_NO_THROW(builder.Close());
}

// Covers: GB-11, TS-05
TEST_F(GraphBuilderTest, AnUnjoinedForkLeavesNoGraph) {
  GraphBuilder builder = Begun();
  std::vector<GraphBuilder> builders = builder.Split(2);
  builders[1].AddCallback({&Nothing, nullptr, nullptr, nullptr});
  EXPECT_EQ(MessageOf<DriverError>([&] { builder.End(); }),
            "cuStreamEndCapture: CUDA_ERROR_STREAM_CAPTURE_UNJOINED (while ending a capture)");
  EXPECT_EQ(builder.state(), State::kInvalidated);
  EXPECT_EQ(builders[1].state(), State::kInvalidated);
  EXPECT_THROW(builders[1].AddCallback({&Nothing, nullptr, nullptr, nullptr}), std::logic_error);
  EXPECT_FALSE(builders[1].IsBuilding());
}

TEST_F(GraphBuilderTest, AnEndThatTheDriverRefusesCanBeTriedAgain) {
  GraphBuilder builder = Begun();
  {
    const Faults faults{{"cuStreamEndCapture"}};
    EXPECT_THROW(builder.End(), DriverError);
  }
  EXPECT_EQ(builder.state(), State::kCapturing);
  EXPECT_TRUE(builder.IsBuilding());
  builder.End();
  EXPECT_EQ(builder.state(), State::kEnded);
}

TEST_F(GraphBuilderTest, AnEndOfWhichNothingIsKnownCountsAsTheEndOfTheGraph) {
  Owner owner;
  GraphBuilder builder = Begun();
  builder.AddCallback({&Nothing, nullptr, owner.Take(), nullptr});
  {
    const Faults faults{{"cuStreamEndCapture"}, {"cuStreamIsCapturing"}};
    EXPECT_THROW(builder.End(), DriverError);
  }
  EXPECT_EQ(builder.state(), State::kInvalidated);
  builder.Close();
  // The driver drops what was captured with the stream.
  stream_ = nullptr;
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// ---- Begin that fails midway (D-21)

// Covers: GB-06
TEST_F(GraphBuilderTest, ABeginThatFailsMidwayLeavesNothingCapturing) {
  const fault::ModelObjects before = Live();
  GraphBuilder builder(stream_);
  for (const char* site : {"cuStreamBeginCapture", "cuStreamGetCaptureInfo"}) {
    const Faults faults{{site}};
    EXPECT_EQ(MessageOf<DriverError>([&] { builder.Begin(); }),
              std::string(site) + ": CUDA_ERROR_OUT_OF_MEMORY (while beginning a capture)");
    EXPECT_EQ(builder.state(), State::kNotStarted) << site;
    EXPECT_EQ(Live().graphs, before.graphs) << site;
    ExpectStreamUsable();
    EXPECT_THROW(builder.Complete(), std::logic_error) << site;
    EXPECT_THROW(builder.Definition(), std::logic_error) << site;
  }
  builder.Begin();
  builder.End();
}

// Covers: GB-06
TEST_F(GraphBuilderTest, ABeginThatCannotBeUndoneIsReportedAndUndoneByClose) {
  const fault::ModelObjects before = Live();
  GraphBuilder builder(stream_);
  {
    const Faults faults{{"cuStreamGetCaptureInfo"}, {"cuStreamEndCapture"}};
    EXPECT_THROW(builder.Begin(), DriverError);
  }
  ExpectCleanupFailures(1);
  EXPECT_EQ(builder.state(), State::kInvalidated);
  EXPECT_EQ(StatusOf(stream_), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_THROW(builder.Begin(), std::logic_error);
  builder.Close();
  EXPECT_EQ(Live().graphs, before.graphs);
  ExpectStreamUsable();
}

// Covers: GB-06, GB-07
TEST_F(GraphBuilderTest, ABodysBeginThatFailsCanBeRepeated) {
  GraphBuilder builder = Begun();
  GraphBuilder body = builder.If(builder.MakeCondition());
  {
    const Faults faults{{"cuStreamBeginCaptureToGraph"}};
    EXPECT_THROW(body.Begin(), DriverError);
  }
  EXPECT_EQ(body.state(), State::kNotStarted);
  body.Begin();
  body.End();
  builder.End();
}

// ---- Split and join

// Covers: GB-15, GB-16, GB-17
TEST_F(GraphBuilderTest, ForksRunAndAreJoined) {
  int runs = 0;
  GraphBuilder builder = Begun();
  builder.AddCallback({&CountUp, &runs, nullptr, nullptr});
  std::vector<GraphBuilder> builders = builder.Split(3);
  ASSERT_EQ(builders.size(), 3u);
  EXPECT_TRUE(builders[0] == builder);
  EXPECT_EQ(builders[1].kind(), Kind::kForked);
  EXPECT_TRUE(builders[2].IsBuilding());
  for (GraphBuilder& each : builders) {
    each.AddCallback({&CountUp, &runs, nullptr, nullptr});
  }
  // The one that is not forked stays, wherever it stands.
  std::swap(builders[0], builders[2]);
  EXPECT_TRUE(GraphBuilder::Join(builders) == builder);
  EXPECT_EQ(builders[0].state(), State::kClosed);
  EXPECT_EQ(builders[1].state(), State::kClosed);
  builder.AddCallback({&CountUp, &runs, nullptr, nullptr});
  builder.End();
  const GraphDefinition definition = builder.Definition();
  EXPECT_EQ(definition.Nodes().size(), 5u);
  EXPECT_EQ(definition.Edges().size(), 6u);
  EXPECT_EQ(definition.attachment_count(), 0u);
  Run(builder.Complete());
  EXPECT_EQ(runs, 5);
}

// Covers: GB-17
TEST_F(GraphBuilderTest, AJoinOfForksAloneStaysForked) {
  GraphBuilder builder = Begun();
  std::vector<GraphBuilder> builders = builder.Split(3);
  const GraphBuilder joined = GraphBuilder::Join(std::span(builders).subspan(1));
  EXPECT_TRUE(joined == builders[1]);
  EXPECT_EQ(joined.kind(), Kind::kForked);
  EXPECT_EQ(joined.state(), State::kCapturing);
  // A fork of a fork belongs to the same capture.
  GraphBuilder fork = joined;
  std::vector<GraphBuilder> more = fork.Split(2);
  GraphBuilder::Join(std::vector<GraphBuilder>{joined, more[1], builder});
  EXPECT_EQ(joined.state(), State::kClosed);
  builder.End();
}

// Covers: GB-15, GB-16
TEST_F(GraphBuilderTest, SplitAndJoinRefuseWhatMakesNoSense) {
  GraphBuilder builder(stream_);
  EXPECT_THROW(builder.Split(1), std::invalid_argument);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Split(2); }),
            "GraphBuilder::Split: the builder has not started to capture; call Begin first");
  builder.Begin();
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] { builder.Split(0); }),
            "GraphBuilder::Split: 0 builders are no split; ask for two or more");
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] {
              GraphBuilder::Join({&builder, 1});
            }),
            "GraphBuilder::Join: 1 builders are nothing to join; give two or more");
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] {
              GraphBuilder::Join(std::vector<GraphBuilder>{builder, builder});
            }),
            "GraphBuilder::Join: a builder is given twice");
  GraphBuilder other(Stream::Create());
  EXPECT_THROW(GraphBuilder::Join(std::vector<GraphBuilder>{builder, other}), std::logic_error);
  other.Begin();
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] {
              GraphBuilder::Join(std::vector<GraphBuilder>{builder, other});
            }),
            "GraphBuilder::Join: the builders belong to different captures");
  EXPECT_TRUE(builder.IsBuilding());
  EXPECT_TRUE(other.IsBuilding());
}

// Covers: GB-09, GB-22
TEST_F(GraphBuilderTest, AForkedBuilderNeitherBeginsNorEndsNorHasAGraph) {
  GraphBuilder builder = Begun();
  GraphBuilder fork = builder.Split(2)[1];
  EXPECT_EQ(MessageOf<std::logic_error>([&] { fork.End(); }),
            "GraphBuilder::End: a forked builder does not end the capture; join it, and end the builder that it was "
            "split from");
  EXPECT_EQ(MessageOf<std::logic_error>([&] { fork.Begin(); }),
            "GraphBuilder::Begin: a forked builder captures from the split on; enqueue on its stream, or join it");
  const std::string no_graph =
      ": a forked builder has no graph of its own; join it, end the builder that it was split from, and use that one";
  EXPECT_EQ(MessageOf<std::logic_error>([&] { fork.Definition(); }), "GraphBuilder::Definition" + no_graph);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { fork.Complete(); }), "GraphBuilder::Complete" + no_graph);
  GraphBuilder::Join(std::vector<GraphBuilder>{builder, fork});
  builder.End();
}

// Covers: GB-15
TEST_F(GraphBuilderTest, ASplitThatFailsMidwayLeavesTheCaptureWhole) {
  for (const Fault& fault : {Fault{"cuStreamGetPriority"}, Fault{"cuStreamCreateWithPriority", 2},
                             Fault{"cuEventCreate"}, Fault{"cuEventRecord"}, Fault{"cuStreamWaitEvent"},
                             Fault{"cuStreamWaitEvent", 2}, Fault{"cuStreamWaitEvent", 2, true}}) {
    const fault::ModelObjects before = Live();
    GraphBuilder builder = Begun();
    {
      const Faults faults{fault};
      EXPECT_THROW(builder.Split(3), DriverError) << fault.site;
    }
    EXPECT_EQ(Live().streams, before.streams) << fault.site;
    EXPECT_EQ(Live().events, before.events) << fault.site;
    EXPECT_TRUE(builder.IsBuilding()) << fault.site;
    builder.AddCallback({&Nothing, nullptr, nullptr, nullptr});
    EXPECT_NO_THROW(builder.End()) << fault.site << " " << fault.nth;
    EXPECT_EQ(builder.Definition().Nodes().size(), 1u) << fault.site;
  }
}

// Covers: GB-18
TEST_F(GraphBuilderTest, AJoinThatFailsMidwayClosesTheOthers) {
  for (const char* site : {"cuEventRecord", "cuStreamWaitEvent"}) {
    GraphBuilder builder = Begun();
    const std::vector<GraphBuilder> builders = builder.Split(4);
    for (GraphBuilder each : builders) {
      each.AddCallback({&Nothing, nullptr, nullptr, nullptr});
    }
    {
      const Faults faults{{site, 2}};
      EXPECT_THROW(GraphBuilder::Join(builders), DriverError) << site;
    }
    for (std::size_t i = 1; i < builders.size(); ++i) {
      EXPECT_EQ(builders[i].state(), State::kClosed) << site;
    }
    EXPECT_EQ(builder.state(), State::kCapturing) << site;
    EXPECT_EQ(MessageOf<DriverError>([&] { builder.End(); }),
              "cuStreamEndCapture: CUDA_ERROR_STREAM_CAPTURE_UNJOINED (while ending a capture)");
  }
}

TEST_F(GraphBuilderTest, AJoinThatCannotBeginClosesNothing) {
  GraphBuilder builder = Begun();
  const std::vector<GraphBuilder> builders = builder.Split(2);
  {
    const Faults faults{{"cuEventCreate"}};
    EXPECT_THROW(GraphBuilder::Join(builders), DriverError);
  }
  EXPECT_EQ(builders[1].state(), State::kCapturing);
  GraphBuilder::Join(builders);
  builder.End();
}

TEST_F(GraphBuilderTest, ForksKeepThePrimaryAndHaveItsPriority) {
  CUstream raw = nullptr;
  ASSERT_EQ(GetDriver().cuStreamCreateWithPriority(&raw, CU_STREAM_NON_BLOCKING, -3), CUDA_SUCCESS);
  std::optional<GraphBuilder> builder(std::make_shared<const Stream>(raw));
  builder->Begin();
  GraphBuilder fork = builder->Split(2)[1];
  int priority = 0;
  ASSERT_EQ(GetDriver().cuStreamGetPriority(fork.stream()->raw(), &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, -3);
  fork.AddCallback({&Nothing, nullptr, nullptr, nullptr});
  builder.reset();
  EXPECT_TRUE(fork.IsBuilding());
  // With the fork goes the primary, which ends its capture: unjoined.
  fork.Close();
  ExpectCleanupFailures(1);
}

// ---- Closing and dropping

// Covers: GB-19, GB-22
TEST_F(GraphBuilderTest, AClosedBuilderRefusesEverything) {
  GraphBuilder builder = Ended();
  const GraphBuilder other = Ended();
  builder.Close();
  EXPECT_EQ(builder.state(), State::kClosed);
  const std::string closed = ": the builder is closed; make a new one";
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Begin(); }), "GraphBuilder::Begin" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.IsBuilding(); }), "GraphBuilder::IsBuilding" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.End(); }), "GraphBuilder::End" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Complete(); }), "GraphBuilder::Complete" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Definition(); }), "GraphBuilder::Definition" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.WriteDot("unused"); }), "GraphBuilder::WriteDot" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Split(2); }), "GraphBuilder::Split" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] {
              GraphBuilder::Join(std::vector<GraphBuilder>{builder, other});
            }),
            "GraphBuilder::Join" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] {
              builder.AddCallback({&Nothing, nullptr, nullptr, nullptr});
            }),
            "GraphBuilder::AddCallback" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Embed(other); }), "GraphBuilder::Embed" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.MakeCondition(); }), "GraphBuilder::MakeCondition" + closed);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { (void)builder.stream(); }), "GraphBuilder::stream" + closed);
  EXPECT_NO_THROW(builder.Close());
}

// Covers: GB-19. Gap 2.
TEST_F(GraphBuilderTest, CompleteOfAForkThatWasClosedOrJoinedIsRefused) {
  GraphBuilder builder = Begun();
  std::vector<GraphBuilder> builders = builder.Split(3);
  builders[2].AddCallback({&Nothing, nullptr, nullptr, nullptr});
  GraphBuilder::Join(std::span(builders).first(2));
  builders[2].Close();
  for (std::size_t i = 1; i < builders.size(); ++i) {
    EXPECT_EQ(MessageOf<std::logic_error>([&] { builders[i].Complete(); }),
              "GraphBuilder::Complete: the builder is closed; make a new one");
    EXPECT_THROW(builders[i].Definition(), std::logic_error);
  }
  EXPECT_THROW(builder.End(), DriverError) << "a closed fork is not a joined one";
}

// Covers: GB-20
TEST_F(GraphBuilderTest, CloseWhileCapturingEndsTheCaptureAndReleasesTheOwners) {
  Owner owner;
  GraphBuilder builder = Begun();
  builder.AddCallback({&Nothing, nullptr, owner.Take(), nullptr});
  builder.Close();
  ExpectStreamUsable();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// Covers: GB-20
TEST_F(GraphBuilderTest, CloseThrowsAfterClosing) {
  GraphBuilder invalidated = Begun();
  Invalidate(stream_);
  EXPECT_EQ(
      MessageOf<DriverError>([&] { invalidated.Close(); }),
      "cuStreamEndCapture: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (while closing a builder whose capture went on)");
  EXPECT_EQ(invalidated.state(), State::kClosed);
  ExpectStreamUsable();
  // Even if the capture goes on: the library does not destroy what the driver captures into.
  Owner owner;
  GraphBuilder refused = Begun();
  refused.AddCallback({&Nothing, nullptr, owner.Take(), nullptr});
  {
    const Faults faults{{"cuStreamEndCapture"}};
    EXPECT_THROW(refused.Close(), DriverError);
  }
  EXPECT_EQ(refused.state(), State::kClosed);
  EXPECT_TRUE(owner.IsHeld());
  stream_ = nullptr;
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// Covers: GB-20
TEST_F(GraphBuilderTest, CloseOfAForkLeavesTheCaptureAlone) {
  GraphBuilder builder = Begun();
  GraphBuilder fork = builder.Split(2)[1];
  fork.AddCallback({&Nothing, nullptr, nullptr, nullptr});
  const std::uint64_t ends = CallsOf("cuStreamEndCapture");
  fork.Close();
  EXPECT_EQ(CallsOf("cuStreamEndCapture"), ends);
  EXPECT_EQ(builder.state(), State::kCapturing);
  EXPECT_THROW(builder.End(), DriverError);
}

// Covers: GB-21. Gap 4.
TEST_F(GraphBuilderTest, ABuilderDroppedInMidCaptureEndsIt) {
  Owner owner;
  {
    GraphBuilder builder = Begun();
    builder.AddCallback({&Nothing, nullptr, owner.Take(), nullptr});
  }
  ExpectStreamUsable();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// Covers: GB-21
TEST_F(GraphBuilderTest, ADroppedBuilderReportsWhatItCannotThrow) {
  {
    const GraphBuilder builder = Begun();
    Invalidate(stream_);
  }
  ExpectCleanupFailures(1);
  ExpectStreamUsable();
}

// Covers: GB-24
TEST_F(GraphBuilderTest, TheStreamOutlivesTheBuilderForWhoHoldsIt) {
  StreamHandle kept;
  std::weak_ptr<const Stream> watch;
  {
    GraphBuilder builder(Stream::Create());
    watch = builder.stream();
    kept = builder.stream();
    builder.Close();
  }
  EXPECT_NO_THROW(kept->Synchronize());
  kept = nullptr;
  EXPECT_TRUE(watch.expired());
}

// ---- The definition, the executable

// Covers: GB-22
TEST_F(GraphBuilderTest, ThereIsNoDefinitionBeforeTheEnd) {
  GraphBuilder builder(stream_);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Definition(); }),
            "GraphBuilder::Definition: the builder has not started to capture; call Begin first");
  builder.Begin();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Definition(); }),
            "GraphBuilder::Definition: the builder is capturing; call End first");
}

// Covers: GB-23
TEST_F(GraphBuilderTest, TheDefinitionIsTheCapturedGraphAndOutlivesTheBuilder) {
  int runs = 0;
  GraphBuilder builder = Ended({&CountUp, &runs, nullptr, nullptr});
  GraphDefinition definition = builder.Definition();
  EXPECT_TRUE(definition == builder.Definition());
  EXPECT_TRUE(GraphDefinition::Find(definition.raw()) == definition);
  definition.AddHostNode({&CountUp, &runs, nullptr, nullptr}, definition.Nodes());
  Run(builder.Complete());
  EXPECT_EQ(runs, 2);
  builder.Close();
  Run(GraphExec(definition));
  EXPECT_EQ(runs, 4);
}

// Covers: EA-07
TEST_F(GraphBuilderTest, AnExecutableIsUpdatedFromAFinishedBuilderAlone) {
  int runs = 0;
  GraphExec executable = Ended().Complete();
  executable.Update(Ended({&CountUp, &runs, nullptr, nullptr}));
  Run(executable);
  EXPECT_EQ(runs, 1);
  const GraphBuilder unfinished = Begun();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { executable.Update(unfinished); }),
            "GraphExec::Update: the builder is capturing; call End first");
}

// Covers: EA-07, GB-19. Gap 5.
TEST_F(GraphBuilderTest, AnUpdateFromAClosedBuilderIsRefused) {
  GraphBuilder source = Ended();
  GraphExec executable = source.Complete();
  source.Close();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { executable.Update(source); }),
            "GraphExec::Update: the builder is closed; make a new one");
  Run(executable);
}

// ---- Callbacks

// Covers: AC-01, AC-02
TEST_F(GraphBuilderTest, ACallbacksOwnersBelongToItsNode) {
  Owner function_owner, data_owner;
  int runs = 0;
  GraphBuilder builder = Begun();
  builder.AddCallback({&CountUp, &runs, function_owner.Take(), nullptr});
  builder.AddCallback({&CountUp, &runs, nullptr, data_owner.Take()});
  builder.End();
  GraphDefinition definition = builder.Definition();
  EXPECT_EQ(definition.attachment_count(), 2u);
  std::vector<GraphNode> nodes = definition.Nodes();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[1].Predecessors().size(), 1u) << "captured one behind the other";
  Run(builder.Complete());
  EXPECT_EQ(runs, 2);
  nodes[0].Destroy();
  Settle();
  EXPECT_FALSE(function_owner.IsHeld());
  EXPECT_TRUE(data_owner.IsHeld());
}

// Covers: AC-01
TEST_F(GraphBuilderTest, ACallbackThatTheDriverRefusesIsRolledBack) {
  GraphBuilder builder = Begun();
  builder.AddCallback({&Nothing, nullptr, nullptr, nullptr});
  for (const char* site :
       {"cuStreamGetCaptureInfo", "cuUserObjectCreate", "cuGraphRetainUserObject", "cuLaunchHostFunc"}) {
    Owner owner;
    const Faults faults{{site}};
    EXPECT_THROW(builder.AddCallback({&Nothing, nullptr, owner.Take(), nullptr}), DriverError) << site;
    Settle();
    EXPECT_FALSE(owner.IsHeld()) << site;
  }
  builder.End();
  EXPECT_EQ(builder.Definition().Nodes().size(), 1u);
  EXPECT_EQ(builder.Definition().attachment_count(), 0u);
}

// Covers: AC-01, AC-02
TEST_F(GraphBuilderTest, ACallbackCapturedWithAnErrorOfEarlierWorkKeepsItsOwners) {
  Owner owner;
  int runs = 0;
  GraphBuilder builder = Begun();
  {
    const Faults faults{{.site = "cuLaunchHostFunc", .after = true}};
    EXPECT_THROW(builder.AddCallback({&CountUp, &runs, owner.Take(), nullptr}), DriverError);
  }
  builder.End();
  Settle();
  EXPECT_TRUE(owner.IsHeld());
  EXPECT_EQ(builder.Definition().attachment_count(), 1u);
  Run(builder.Complete());
  EXPECT_EQ(runs, 1);
}

// Covers: AC-03, AC-06
TEST_F(GraphBuilderTest, ACallbackWhoseNodeIsNotFoundKeepsItsOwnersWithTheGraph) {
  Owner owner;
  int runs = 0;
  std::optional<GraphBuilder> builder(Begun());
  {
    // The first query says where the capture was before the callback.
    const Faults faults{{"cuStreamGetCaptureInfo", 2}};
    EXPECT_EQ(MessageOf<DriverError>([&] {
                builder->AddCallback({&CountUp, &runs, owner.Take(), nullptr});
              }),
              "cuStreamGetCaptureInfo: CUDA_ERROR_OUT_OF_MEMORY (while finding the node of a captured callback)");
  }
  builder->End();
  EXPECT_EQ(builder->Definition().attachment_count(), 0u);
  GraphExec executable = builder->Complete();
  builder.reset();
  Run(executable);
  EXPECT_EQ(runs, 1);
  Settle();
  EXPECT_TRUE(owner.IsHeld()) << "the executable has its own reference";
  executable.Close();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// Covers: AC-04
TEST_F(GraphBuilderTest, ACallbackOutsideACaptureIsRefused) {
  GraphBuilder builder(stream_);
  EXPECT_EQ(MessageOf<std::logic_error>([&] {
              builder.AddCallback({&Nothing, nullptr, nullptr, nullptr});
            }),
            "GraphBuilder::AddCallback: the builder has not started to capture; call Begin first");
  builder.Begin();
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] { builder.AddCallback({}); }),
            "GraphBuilder::AddCallback: the callback has no function");
  EXPECT_TRUE(builder.IsBuilding());
}

// Covers: AC-02
TEST_F(GraphBuilderTest, ACallbackOfAForkBelongsToThePrimarysGraph) {
  Owner owner;
  GraphBuilder builder = Begun();
  std::vector<GraphBuilder> builders = builder.Split(2);
  builders[1].AddCallback({&Nothing, nullptr, owner.Take(), nullptr});
  GraphBuilder::Join(builders);
  builder.End();
  EXPECT_EQ(builder.Definition().attachment_count(), 1u);
  EXPECT_TRUE(owner.IsHeld());
  builder.Close();
  Settle();
  EXPECT_FALSE(owner.IsHeld());
}

// ---- Embedded graphs

// Covers: EM-06, EM-08
TEST_F(GraphBuilderTest, AnEmbeddedGraphBringsItsOwnersAndStandsInTheOrder) {
  Owner owner;
  int runs = 0;
  GraphBuilder builder = Begun();
  builder.AddCallback({&Nothing, nullptr, nullptr, nullptr});
  {
    GraphBuilder source(Stream::Create());
    EXPECT_THROW(builder.Embed(source), std::logic_error);
    source.Begin();
    EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Embed(source); }),
              "GraphBuilder::Embed: the source: the builder is capturing; call End first");
    source.AddCallback({&CountUp, &runs, owner.Take(), nullptr});
    source.End();
    builder.Embed(source);
  }
  builder.AddCallback({&Nothing, nullptr, nullptr, nullptr});
  builder.End();
  std::vector<GraphNode> nodes = builder.Definition().Nodes();
  ASSERT_EQ(nodes.size(), 3u);
  ASSERT_EQ(nodes[1].type(), CU_GRAPH_NODE_TYPE_GRAPH);
  EXPECT_EQ(nodes[1].Predecessors(), std::vector<GraphNode>{nodes[0]});
  EXPECT_EQ(nodes[1].Successors(), std::vector<GraphNode>{nodes[2]});
  GraphDefinition child = nodes[1].ChildGraph();
  EXPECT_EQ(child.attachment_count(), 1u);
  Run(builder.Complete());
  EXPECT_EQ(runs, 1);
  child.Nodes().front().Destroy();
  Settle();
  EXPECT_FALSE(owner.IsHeld()) << "the metadata came with the copy";
}

// Covers: EM-08
TEST_F(GraphBuilderTest, EmbedWantsACapture) {
  GraphBuilder builder(stream_);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Embed(GraphDefinition()); }),
            "GraphBuilder::Embed: the builder has not started to capture; call Begin first");
  builder.Begin();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Embed(builder); }),
            "GraphBuilder::Embed: the source: the builder is capturing; call End first");
  GraphBuilder body = builder.If(builder.MakeCondition());
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] { builder.Embed(body.Definition()); }),
            "GraphBuilder::Embed: the source belongs to the graph that is being captured");
}

TEST_F(GraphBuilderTest, AnEmbeddedGraphThatCannotBePlacedIsTakenOutAgain) {
  GraphDefinition source;
  source.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  GraphBuilder builder = Begun();
  for (const char* site : {"cuStreamGetCaptureInfo", "cuGraphAddChildGraphNode", "cuGraphChildGraphNodeGetGraph",
                           "cuStreamUpdateCaptureDependencies"}) {
    const Faults faults{{site}};
    EXPECT_THROW(builder.Embed(source), DriverError) << site;
  }
  builder.End();
  EXPECT_TRUE(builder.Definition().Nodes().empty());
}

// ---- Conditional nodes

// Covers: GB-07, GB-23, CB-09
TEST_F(GraphBuilderTest, ABodyIsFilledByCaptureByTheExplicitApiOrByBoth) {
  GraphBuilder builder = Begun();
  std::pair<GraphBuilder, GraphBuilder> bodies = builder.IfElse(builder.MakeCondition(1));
  EXPECT_EQ(bodies.first.kind(), Kind::kBody);
  EXPECT_EQ(bodies.first.state(), State::kNotStarted);
  bodies.first.Definition().AddEmptyNode();
  bodies.second.Begin();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { bodies.second.Definition(); }),
            "GraphBuilder::Definition: the builder is capturing; call End first");
  bodies.second.AddCallback({&Nothing, nullptr, nullptr, nullptr});
  bodies.second.End();
  bodies.second.Definition().AddEmptyNode();
  builder.End();
  const GraphNode node = builder.Definition().Nodes().front();
  const std::vector<GraphDefinition> found = node.Bodies();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0] == bodies.first.Definition());
  EXPECT_EQ(found[0].Nodes().size(), 1u);
  EXPECT_TRUE(found[1] == bodies.second.Definition());
  EXPECT_EQ(found[1].Nodes().size(), 2u);
}

// Covers: CB-01
TEST_F(GraphBuilderTest, EachKindOfConditionHasItsBodies) {
  GraphBuilder builder = Begun();
  const GraphBuilder once = builder.If(builder.MakeCondition());
  const GraphBuilder loop = builder.While(builder.MakeCondition(1));
  EXPECT_EQ(builder.Switch(builder.MakeCondition(), 4).size(), 4u);
  builder.End();
  const std::vector<GraphNode> nodes = builder.Definition().Nodes();
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].Bodies(), std::vector<GraphDefinition>{once.Definition()});
  EXPECT_EQ(nodes[1].Bodies(), std::vector<GraphDefinition>{loop.Definition()});
  EXPECT_EQ(nodes[2].Bodies().size(), 4u);
  EXPECT_EQ(nodes[2].Predecessors(), std::vector<GraphNode>{nodes[1]});
}

// Covers: CB-10. Gap 3.
TEST_F(GraphBuilderTest, AConditionOnAForkBelongsToThePrimarysGraph) {
  GraphBuilder builder = Begun();
  std::vector<GraphBuilder> builders = builder.Split(2);
  std::vector<GraphBuilder> bodies;
  bodies.push_back(builders[1].If(builders[1].MakeCondition()));
  bodies.push_back(builders[1].While(builders[1].MakeCondition()));
  bodies.push_back(builders[1].Switch(builders[1].MakeCondition(), 1).front());
  GraphBuilder::Join(builders);
  builder.End();
  EXPECT_EQ(builder.Definition().Nodes().size(), 3u);
  // A body keeps the primary's graph.
  const CUgraph root = builder.Definition().raw();
  builder.Close();
  builders.clear();
  for (GraphBuilder& body : bodies) {
    body.Definition().AddEmptyNode();
    EXPECT_TRUE(GraphDefinition::Find(root).has_value());
  }
  bodies.clear();
  EXPECT_FALSE(GraphDefinition::Find(root).has_value());
}

// Covers: CB-10. Gap 6.
TEST_F(GraphBuilderTest, ConditionsNest) {
  GraphBuilder builder = Begun();
  GraphBuilder outer = builder.If(builder.MakeCondition());
  outer.Begin();
  GraphBuilder inner = outer.While(outer.MakeCondition());
  inner.Begin();
  inner.AddCallback({&Nothing, nullptr, nullptr, nullptr});
  inner.End();
  outer.End();
  builder.End();
  const GraphDefinition body = builder.Definition().Nodes().front().Bodies().front();
  EXPECT_TRUE(body == outer.Definition());
  EXPECT_TRUE(body.Nodes().front().Bodies().front() == inner.Definition());
  // The innermost one keeps the whole chain.
  const CUgraph root = builder.Definition().raw();
  std::optional<GraphDefinition> innermost(inner.Definition());
  for (GraphBuilder* each : {&builder, &outer, &inner}) {
    each->Close();
  }
  EXPECT_EQ(innermost->Nodes().size(), 1u);
  EXPECT_TRUE(GraphDefinition::Find(root).has_value());
}

// Covers: GB-25, CB-06
TEST_F(GraphBuilderTest, ConditionsWantACaptureAndTheirOwnGraph) {
  GraphBuilder builder(stream_);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.MakeCondition(); }),
            "GraphBuilder::MakeCondition: the builder has not started to capture; call Begin first");
  builder.Begin();
  EXPECT_EQ(MessageOf<std::invalid_argument>([&] { builder.If(GraphDefinition().MakeCondition()); }),
            "GraphBuilder::If: the condition belongs to another graph; make one with MakeCondition of this one");
  const Condition condition = builder.MakeCondition();
  builder.End();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.If(condition); }),
            "GraphBuilder::If: the builder has ended its capture; make a new builder for another one");
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Switch(condition, 2); }),
            "GraphBuilder::Switch: the builder has ended its capture; make a new builder for another one");
}

TEST_F(GraphBuilderTest, AConditionThatCannotBePlacedIsTakenOutAgain) {
  const fault::ModelObjects before = Live();
  GraphBuilder builder = Begun();
  const Condition condition = builder.MakeCondition();
  for (const char* site : {"cuStreamCreateWithPriority", "cuStreamGetCaptureInfo", "cuGraphAddNode"}) {
    const Faults faults{{site}};
    EXPECT_THROW(builder.If(condition), DriverError) << site;
    EXPECT_EQ(Live().streams, before.streams) << site;
  }
  {
    const Faults faults{{"cuStreamUpdateCaptureDependencies"}};
    EXPECT_THROW(builder.IfElse(builder.MakeCondition()), DriverError);
  }
  EXPECT_EQ(Live().streams, before.streams);
  builder.End();
  EXPECT_TRUE(builder.Definition().Nodes().empty());
}

// Covers: GB-11
TEST_F(GraphBuilderTest, AnInvalidatedBodyIsGoneAndItsGraphIsLeftAlone) {
  Owner owner;
  GraphBuilder builder = Begun();
  GraphBuilder body = builder.If(builder.MakeCondition());
  const GraphDefinition definition = body.Definition();
  body.Begin();
  body.AddCallback({&Nothing, nullptr, owner.Take(), nullptr});
  Invalidate(body.stream());
  EXPECT_THROW(body.End(), DriverError);
  EXPECT_EQ(body.state(), State::kInvalidated);
  EXPECT_FALSE(definition.IsValid());
  EXPECT_THROW(body.Definition(), std::logic_error);
  Settle();
  EXPECT_FALSE(owner.IsHeld());
  EXPECT_EQ(builder.state(), State::kCapturing);
  builder.End();
  ExpectStreamUsable();
  EXPECT_EQ(MessageOf<std::logic_error>([&] { builder.Complete(); }),
            "GraphExec: the capture of a body in this graph ended in error, and the driver cannot go on with the "
            "graph; make it again");
  ExpectLeftAlone(1, 0);
}

// Covers: GB-11
TEST_F(GraphBuilderTest, ACaptureThatCannotEndWithoutItsLostBodyIsLeftAlone) {
  GraphBuilder builder = Begun();
  GraphBuilder body = builder.If(builder.MakeCondition());
  body.Begin();
  Invalidate(body.stream());
  Invalidate(stream_);
  EXPECT_THROW(body.End(), DriverError);
  const std::uint64_t ends = CallsOf("cuStreamEndCapture");
  EXPECT_THROW(builder.End(), DriverError);
  EXPECT_EQ(builder.state(), State::kInvalidated);
  EXPECT_EQ(CallsOf("cuStreamEndCapture"), ends);
  ExpectLeftAlone(1, 1);
}

// Covers: GB-11
TEST_F(GraphBuilderTest, ALostBodyAndAnUnjoinedForkAreLeftAlone) {
  GraphBuilder builder = Begun();
  GraphBuilder body = builder.If(builder.MakeCondition());
  body.Begin();
  Invalidate(body.stream());
  EXPECT_THROW(body.End(), DriverError);
  std::vector<GraphBuilder> builders = builder.Split(2);
  builders[1].AddCallback({&Nothing, nullptr, nullptr, nullptr});
  EXPECT_THROW(builder.End(), DriverError);
  ExpectLeftAlone(1, 1);
}

// Covers: GB-11
TEST_F(GraphBuilderTest, ABodysCaptureWhoseGraphIsGoneIsLeftAlone) {
  {
    GraphBuilder builder = Begun();
    GraphBuilder body = builder.If(builder.MakeCondition());
    body.Begin();
    Invalidate(stream_);
    EXPECT_THROW(builder.End(), DriverError);
    EXPECT_EQ(MessageOf<std::logic_error>([&] {
                body.AddCallback({&Nothing, nullptr, nullptr, nullptr});
              }),
              "GraphBuilder::AddCallback: the graph that is captured into has been destroyed; call End, and make a new "
              "builder");
    const std::uint64_t ends = CallsOf("cuStreamEndCapture");
    EXPECT_THROW(body.End(), DriverError);
    EXPECT_EQ(CallsOf("cuStreamEndCapture"), ends);
  }
  ExpectLeftAlone(0, 1);
}

// Covers: GB-22, TS-06
TEST_F(GraphBuilderTest, ABodyWhoseNodeIsGoneHasNoGraph) {
  GraphBuilder builder = Begun();
  GraphBuilder body = builder.If(builder.MakeCondition());
  builder.End();
  builder.Definition().Nodes().front().Destroy();
  EXPECT_EQ(body.state(), State::kInvalidated);
  EXPECT_THROW(body.Begin(), std::logic_error);
  EXPECT_THROW(body.Definition(), std::logic_error);
  EXPECT_NO_THROW(body.Close());
}

}  // namespace
}  // namespace holdfast
