// HC-02, HC-04, HC-05, HC-06: what a host callback is given, and what becomes of an exception.
//
// Intent: a function pointer gets the caller's own pointer, untouched and not owned; a callable that the caller drops
// runs from a captured graph, a definition, a clone and an executable; one that throws is told of on stderr and goes no
// further, and later nodes and launches run. Callbacks of several graphs that run at the same time keep their data
// apart.
//
// Interleaving: the launches of several graphs, on a stream each, overlap on the driver's threads.
//
// Expected verdict: passed.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/captured_output.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void LaunchOnce(const DeviceSession& session, const GraphExec& executable) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

// The pointer that the last callback was given.
std::atomic<void*> given{nullptr};

void CUDA_CB Remember(void* data) { given = data; }

void CheckCallersData(harness::Context& context, const DeviceSession& session) {
  OwnerProbe function_owner;
  void* const data = reinterpret_cast<void*>(std::uintptr_t{0x1234567890});
  const std::uint64_t objects_before = context.shim().live().user_objects;
  std::optional<GraphDefinition> graph(std::in_place);
  graph->AddHostNode({&Remember, data, nullptr, nullptr});
  context.Check(context.shim().live().user_objects == objects_before, "data without an owner is not kept");
  LaunchOnce(session, GraphExec(*graph));
  context.Check(given == data, "the callback is given the caller's own pointer");
  graph->AddHostNode({&Remember, nullptr, function_owner.Take(), nullptr}, graph->Nodes());
  LaunchOnce(session, GraphExec(*graph));
  context.Check(given == nullptr, "and null where there is no data");
  SettleIdle(context);
  CheckAlive(context, function_owner, "what the function needs is kept without data");
  graph.reset();
  CheckReleasedLate(context, function_owner, "nothing needs it any more");
}

// A callable with a state of its own, dropped by the caller at once.
HostCallback Counter(const std::shared_ptr<std::atomic<int>>& runs) {
  return HostCallback::FromFunction([runs] { ++*runs; });
}

void CheckCallables(harness::Context& context, const DeviceSession& session) {
  auto runs = std::make_shared<std::atomic<int>>(0);
  const std::weak_ptr<std::atomic<int>> watched = runs;
  std::optional<GraphDefinition> graph(std::in_place);
  graph->AddHostNode(Counter(runs));
  std::optional<GraphBuilder> builder(Stream::Create());
  builder->Begin();
  builder->AddCallback(Counter(runs));
  builder->End();
  std::optional<GraphDefinition> clone(graph->Clone());
  graph.reset();
  for (const GraphDefinition& each : {*clone, builder->Definition()}) {
    LaunchOnce(session, GraphExec(each));
  }
  context.Check(*runs == 2, "a callable runs from a clone and from a capture");
  runs = nullptr;
  Settle(context);
  context.Check(!watched.expired(), "the graphs keep what the callable refers to");
  clone.reset();
  builder.reset();
  context.CheckEventually(
      [&] {
        Settle(context);
        return watched.expired();
      },
      "the callable goes with the graphs");
}

void CheckExceptions(harness::Context& context, const DeviceSession& session) {
  auto behind = std::make_shared<std::atomic<int>>(0);
  GraphDefinition graph;
  const GraphNode throws =
      graph.AddHostNode(HostCallback::FromFunction([] { throw std::runtime_error("the callback's own words"); }));
  const GraphNode throws_other = graph.AddHostNode(HostCallback::FromFunction([] { throw 7; }), {{throws}});
  graph.AddHostNode(Counter(behind), {{throws_other}});
  const GraphExec executable(graph);
  CapturedOutput output;
  LaunchOnce(session, executable);
  LaunchOnce(session, executable);
  const std::string written = output.Take();
  context.Check(*behind == 2, "nodes behind a callback that throws run, at each launch");
  context.Check(written.find("the callback's own words") != std::string::npos, "the exception is told of on stderr");
}

// As many graphs as streams, each of several callbacks that check whose data they got.
void CheckNoCrossTalk(harness::Context& context) {
  constexpr int kGraphs = 4;
  constexpr int kLaunches = 8;
  struct Data {
    int graph = 0;
    std::atomic<int> runs{0};
    std::atomic<int> wrong{0};
  };
  std::vector<Data> data(kGraphs);
  std::vector<StreamHandle> streams;
  std::vector<GraphExec> executables;
  for (int i = 0; i < kGraphs; ++i) {
    data[i].graph = i;
    GraphDefinition graph;
    for (int node = 0; node < 4; ++node) {
      graph.AddHostNode(HostCallback::FromFunction([mine = &data[i], i] {
        ++mine->runs;
        mine->wrong += mine->graph == i ? 0 : 1;
      }));
    }
    streams.push_back(Stream::Create());
    executables.emplace_back(graph);
  }
  for (int launch = 0; launch < kLaunches; ++launch) {
    for (int i = 0; i < kGraphs; ++i) {
      executables[i].Launch(streams[i]);
    }
  }
  for (int i = 0; i < kGraphs; ++i) {
    streams[i]->Synchronize();
    context.Check(data[i].runs == 4 * kLaunches && data[i].wrong == 0, "each callback runs with its own data");
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckCallersData(context, session);
  CheckCallables(context, session);
  CheckExceptions(context, session);
  CheckNoCrossTalk(context);
  context.Oracle("what host callbacks were given, and what came of their exceptions");
}

const harness::Registration registration({
    .name = "HC.host-callbacks",
    .summary = "Host callbacks get their own data, are kept by all that runs them, and their exceptions go no further",
    .covers = {"HC-02", "HC-04", "HC-05", "HC-06"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
