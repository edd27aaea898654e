// GB-19, GB-24: what is closed refuses all use, and lets go of what the user does not hold.
//
// Intent: close builders of each kind and state, forks closed by a join among them, and try every operation on each.
// All are refused with an error that names the operation, and nothing is called on what is gone. What came out of a
// builder before outlives it. Its stream lives on if the user holds it, and is destroyed if nobody does.
//
// Interleaving: one thread.
//
// Expected verdict: passed.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/captured_work.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/live_objects.h"

namespace holdfast::scenarios {
namespace {

void CheckRefusesAll(harness::Context& context, GraphBuilder& builder, const Condition& condition,
                     const std::string& kind) {
  GraphDefinition definition;
  GraphBuilder open(Stream::Create());
  open.Begin();
  GraphExec executable(definition);
  const std::pair<const char*, std::function<void()>> operations[] = {
      {"stream", [&] { (void)builder.stream(); }},
      {"Begin", [&] { builder.Begin(); }},
      {"IsBuilding", [&] { (void)builder.IsBuilding(); }},
      {"End", [&] { builder.End(); }},
      {"Complete", [&] { (void)builder.Complete(); }},
      {"Definition", [&] { (void)builder.Definition(); }},
      {"WriteDot", [&] { builder.WriteDot("unwritten.dot"); }},
      {"Split", [&] { (void)builder.Split(2); }},
      {"Join",
       [&] {
         GraphBuilder::Join(std::vector{open, builder});
       }},
      {"AddCallback", [&] { builder.AddCallback(HostCallback::FromFunction([] {})); }},
      {"Embed", [&] { builder.Embed(definition); }},
      {"Embed", [&] { open.Embed(builder); }},
      {"MakeCondition", [&] { (void)builder.MakeCondition(); }},
      {"If", [&] { (void)builder.If(condition); }},
      {"IfElse", [&] { (void)builder.IfElse(condition); }},
      {"While", [&] { (void)builder.While(condition); }},
      {"Switch", [&] { (void)builder.Switch(condition, 2); }},
      {"Update", [&] { executable.Update(builder); }},
  };
  for (const auto& [name, operation] : operations) {
    CheckMisuse(context, std::string(name) + " with a closed " + kind, name, operation);
  }
  context.Check(open.IsBuilding(), "the builder that met a closed one goes on capturing");
  builder.Close();
  context.Check(builder.state() == GraphBuilder::State::kClosed, "a second close does nothing");
}

void CheckClosedKinds(harness::Context& context) {
  GraphBuilder primary(Stream::Create());
  primary.Begin();
  const Condition condition = primary.MakeCondition(0);
  GraphBuilder body = primary.If(primary.MakeCondition(0));
  std::vector<GraphBuilder> builders = primary.Split(3);
  GraphBuilder closed_fork = builders[1];
  GraphBuilder::Join(std::vector{primary, builders[1]});
  GraphBuilder::Join(std::vector{primary, builders[2]});
  primary.If(condition).Close();
  primary.End();
  const GraphDefinition definition = primary.Definition();
  primary.Close();
  body.Close();
  GraphBuilder unused(Stream::Create());
  unused.Close();

  const Condition other = GraphDefinition().MakeCondition(0);
  CheckRefusesAll(context, primary, other, "primary builder");
  CheckRefusesAll(context, closed_fork, other, "fork");
  CheckRefusesAll(context, body, other, "body builder");
  CheckRefusesAll(context, unused, other, "builder that never began");
  context.Check(definition.IsValid() && definition.Nodes().size() == 2, "the definition outlives its builder");
}

void CheckStreams(harness::Context& context) {
  const StreamHandle held = Stream::Create();
  std::weak_ptr<const Stream> unheld;
  {
    StreamHandle stream = Stream::Create();
    unheld = stream;
    GraphBuilder of_unheld(std::move(stream));
    of_unheld.Begin();
    of_unheld.End();
    GraphBuilder of_held(held);
    of_held.Begin();
    of_held.End();
    of_unheld.Close();
    of_held.Close();
    context.Check(unheld.expired(), "a stream that only a closed builder had is gone");
  }
  held->Synchronize();
  context.Check(!IsCapturing(context, held), "a stream that the user holds goes on after the builder's close");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const fault::LiveObjects before = context.shim().live();
  CheckClosedKinds(context);
  CheckStreams(context);
  CheckSameLive(context, before, "all builders are gone");
  context.Oracle("every operation on closed builders of every kind");
}

const harness::Registration registration({
    .name = "GB.closed-builders-refuse-all",
    .summary = "A closed builder refuses every operation, and lets go of its stream and graph",
    .covers = {"GB-19", "GB-22", "GB-24"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
