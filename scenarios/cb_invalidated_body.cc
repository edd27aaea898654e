// D-27: a body capture that ends in error frees the body, while its conditional node goes on naming it.
//
// Intent: that is a bug of the driver, measured: destroying the conditional node or the root, or instantiating the
// root, crashes from then on. So nothing may be called on the body, and the root has to be left alone for good. End the
// capture of a body in error, in both ways; the body's owners are released (the driver dropped them), its handles say
// that it is gone, what would touch it is refused, and all handles can go without a crash. The root's owners stay: a
// leak that only the driver can mend.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one root for each way kept by the driver's bug.
#include <functional>
#include <optional>
#include <string>
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
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

struct Failure {
  const char* name;
  CUresult result;
  std::function<void(GraphBuilder&)> spoil;
};

void CheckBodyIsGone(harness::Context& context, GraphBuilder& body, GraphDefinition& definition) {
  context.Check(body.state() == GraphBuilder::State::kInvalidated, "the body's builder is invalidated");
  context.Check(!definition.IsValid(), "the body's handle from before says that it is gone");
  CheckMisuse(context, "the definition of a body that is gone", "Definition", [&] { (void)body.Definition(); });
  CheckMisuse(context, "capturing into it again", "Begin", [&] { body.Begin(); });
  CheckMisuse(context, "adding to it", "GraphDefinition", [&] { definition.AddEmptyNode(); });
}

void CheckRootIsLeftAlone(harness::Context& context, const GraphBuilder& primary) {
  CheckThrows<std::logic_error>(context, "instantiating a root with a body that is gone",
                                [&] { (void)primary.Complete(); });
  for (GraphNode& node : primary.Definition().Nodes()) {
    if (node.type() == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      CheckThrows<std::logic_error>(context, "destroying a node whose body is gone", [&] { node.Destroy(); });
    }
  }
}

void CheckFailure(harness::Context& context, const Failure& failure) {
  OwnerProbe root_owner, body_owner;
  int runs = 0;
  std::optional<GraphBuilder> primary(Stream::Create());
  primary->Begin();
  primary->AddCallback(CountingCallback(runs, root_owner.Take()));
  std::optional<GraphBuilder> body(primary->If(primary->MakeCondition(1)));
  primary->End();
  std::optional<GraphDefinition> definition(body->Definition());

  body->Begin();
  body->AddCallback(CountingCallback(runs, body_owner.Take()));
  failure.spoil(*body);
  const CUresult result = CheckRefused(context, failure.name, [&] { body->End(); });
  context.Check(result == failure.result, std::string(failure.name) + ": the driver's answer is passed on");
  CheckBodyIsGone(context, *body, *definition);
  Settle(context);
  CheckReleasedOnce(context, body_owner, "the driver dropped the body's references");
  CheckRootIsLeftAlone(context, *primary);

  body.reset();
  definition.reset();
  primary.reset();
  Settle(context);
  context.Check(root_owner.IsAlive(), "a root that cannot be destroyed keeps its owners");
  context.Check(context.shim().findings() == 0, "nothing was called on the body that is gone");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::vector<GraphBuilder> forks;
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(1);
  const Failure failures[] = {
      {"ending the capture of a body that was invalidated", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
       [](GraphBuilder& body) { InvalidateCapture(body.stream()); }},
      {"ending the capture of a body with an unjoined fork", CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
       [&](GraphBuilder& body) {
         forks = body.Split(2);
         EnqueueFill(forks[1].stream(), memory, 1, 1);
       }},
  };
  for (const Failure& failure : failures) {
    CheckFailure(context, failure);
    forks.clear();
  }
  context.Oracle("body, root and their owners after a body capture ended in error");
}

const harness::Registration registration({
    .name = "CB.invalidated-body-is-left-alone",
    .summary = "After a body capture ended in error nothing is called on the body or on what still names it",
    .covers = {"D-27", "GB-11"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
