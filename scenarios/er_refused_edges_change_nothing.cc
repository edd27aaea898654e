// ER-01, AP-22, D-18: additions and edges that cannot be are refused, and the graph is as before.
//
// Intent: edges to oneself, twice, to a node of another graph, of the child graph, to one that is gone or never was;
// removal of an edge that is not there; the same as dependencies of a new node; nodes on memory, kernels and events
// that are null (the nearest that this library has to a closed buffer or event). Each is refused with the documented
// kind of error, nothing has changed, and the owner that came along is released.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <array>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/owner_probe.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

void CUDA_CB Nothing(void*) {}

// A graph with an edge, and nodes that it must not be connected with.
struct Scene {
  Scene() {
    first = graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
    second = graph.AddEmptyNode({{first}});
    third = graph.AddEmptyNode();
    foreign = other.AddEmptyNode();
    GraphDefinition source;
    source.AddEmptyNode();
    inner = graph.AddChildGraphNode(source).ChildGraph().Nodes().front();
    gone = graph.AddEmptyNode();
    gone.Destroy();
  }

  OwnerProbe owner;
  GraphDefinition graph, other;
  GraphNode first, second, third, foreign, inner, gone, never;
};

class Refusals {
 public:
  Refusals(harness::Context& context, const Scene& scene)
      : context_(context), scene_(scene), nodes_{scene.first, scene.second, scene.third} {}

  // The caller's mistake, seen by the library.
  template <typename Error>
  void Expect(const std::string& what, const std::function<void()>& operation) const {
    Check(what, [&] { return Throws<Error>(operation); });
  }

  // What the library leaves to the driver.
  void ExpectOfDriver(const std::string& what, const std::string& call, const std::function<void()>& operation) const {
    Check(what, [&] { return IsRefusedByDriver(call, CUDA_ERROR_INVALID_VALUE, operation); });
  }

 private:
  void Check(const std::string& what, const std::function<bool()>& is_refused) const {
    const OperationState before = OperationState::Of(context_, scene_.graph, nodes_);
    context_.Check(is_refused(), "refused as documented: " + what);
    Settle(context_);
    CheckUnchanged(context_, before, OperationState::Of(context_, scene_.graph, nodes_), what);
  }

  harness::Context& context_;
  const Scene& scene_;
  const std::array<GraphNode, 3> nodes_;
};

void CheckRefusedEdges(const Refusals& refusals, Scene& scene) {
  GraphDefinition& graph = scene.graph;
  refusals.ExpectOfDriver("an edge to oneself", "cuGraphAddDependencies",
                          [&] { graph.AddEdge(scene.first, scene.first); });
  refusals.ExpectOfDriver("an edge that is there", "cuGraphAddDependencies",
                          [&] { graph.AddEdge(scene.first, scene.second); });
  refusals.ExpectOfDriver("removal of an edge that is not there", "cuGraphRemoveDependencies",
                          [&] { graph.RemoveEdge(scene.second, scene.first); });
  for (const GraphNode* wrong : {&scene.foreign, &scene.inner, &scene.gone, &scene.never}) {
    refusals.Expect<std::logic_error>("an edge to no node of this graph", [&] { graph.AddEdge(scene.first, *wrong); });
    refusals.Expect<std::logic_error>("an edge from no node of this graph",
                                      [&] { graph.AddEdge(*wrong, scene.first); });
    refusals.Expect<std::logic_error>("removal of an edge from no node of this graph",
                                      [&] { graph.RemoveEdge(*wrong, scene.first); });
  }
}

void CheckRefusedDependencies(harness::Context& context, const Refusals& refusals, Scene& scene) {
  OwnerProbe owner;
  HostCallback callback{&Nothing, nullptr, owner.Take(), nullptr};
  for (const GraphNode* wrong : {&scene.foreign, &scene.inner, &scene.gone, &scene.never}) {
    refusals.Expect<std::logic_error>("a dependency that is no node of this graph",
                                      [&] { scene.graph.AddHostNode(callback, {{*wrong}}); });
  }
  const std::array<GraphNode, 2> twice = {scene.first, scene.first};
  refusals.ExpectOfDriver("a dependency given twice", "cuGraphAddHostNode",
                          [&] { scene.graph.AddHostNode(callback, twice); });
  CheckAlive(context, owner, "the caller has it still");
  callback.function_owner = nullptr;
  Settle(context);
  context.Check(owner.releases() == 1, "no refused addition keeps the owner");
}

void CheckNullOperands(const Refusals& refusals, Scene& scene) {
  GraphDefinition& graph = scene.graph;
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(16);
  const MemsetParameters pattern{.value = 1, .width_elements = 16};
  refusals.Expect<std::invalid_argument>("a fill of memory that is null", [&] {
    graph.AddMemsetNode(MemoryOperand::Device(DeviceMemoryHandle()), pattern);
  });
  refusals.Expect<std::invalid_argument>("a copy from memory that is null", [&] {
    graph.AddMemcpyNode(MemoryOperand::Device(memory), MemoryOperand::Device(DeviceMemoryHandle()), 16);
  });
  refusals.Expect<std::invalid_argument>("a kernel that is null", [&] { graph.AddKernelNode(nullptr, {}, {}); });
  refusals.Expect<std::invalid_argument>("an event to record that is null", [&] { graph.AddEventRecordNode(nullptr); });
  refusals.Expect<std::invalid_argument>("an event to wait for that is null", [&] { graph.AddEventWaitNode(nullptr); });
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::optional<Scene> scene(std::in_place);
  const Refusals refusals(context, *scene);
  CheckRefusedEdges(refusals, *scene);
  CheckRefusedDependencies(context, refusals, *scene);
  CheckNullOperands(refusals, *scene);
  CheckAlive(context, scene->owner, "its node was not touched");
  context.Oracle("the graph after each refusal");
}

const harness::Registration registration({
    .name = "ER.refused-edges-change-nothing",
    .summary = "Edges, dependencies and operands that cannot be are refused, and the graph is as before",
    .covers = {"ER-01", "AP-22", "AP-09", "D-18"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
