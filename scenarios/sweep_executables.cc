// Sweeps of GraphExec's and ExecNode's operations.
//
// Method: see scenarios/support/swept_operation.h. Each operation gets a world that it works on; which of its driver
// calls or allocations fails, and how, is `holdfast sweep`'s choice.
//
// Expected verdict: passed, with and without a fault.
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/swept_operation.h"

namespace holdfast::scenarios {
namespace {

const SweptOperation kInstantiate{
    .name = "instantiate",
    .covers = {"EX-01", "EX-02"},
    .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
    .operate = [](SweepWorld& world) { world.executables.emplace_back(world.graphs[0]); },
    .is_done =
        [](SweepWorld& world) { return world.executables.size() == 1 && world.executables[0].raw() != nullptr; }};
const harness::Registration register_instantiate = RegisterSwept<kInstantiate>();

const SweptOperation kLaunch{.name = "launch",
                             .prepare =
                                 [](SweepWorld& world) {
                                   world.AddGraphWithHostNode();
                                   world.executables.emplace_back(world.graphs[0]);
                                 },
                             .operate = [](SweepWorld& world) { world.executables[0].Launch(world.session.stream()); },
                             .is_done = [](SweepWorld& world) { return world.executables[0].raw() != nullptr; }};
const harness::Registration register_launch = RegisterSwept<kLaunch>();

const SweptOperation kUpload{.name = "upload",
                             .prepare =
                                 [](SweepWorld& world) {
                                   world.AddGraphWithHostNode();
                                   world.executables.emplace_back(world.graphs[0]);
                                 },
                             .operate = [](SweepWorld& world) { world.executables[0].Upload(world.session.stream()); },
                             .is_done = [](SweepWorld& world) { return world.executables[0].raw() != nullptr; }};
const harness::Registration register_upload = RegisterSwept<kUpload>();

const SweptOperation kUpdateExecutable{
    .name = "update-executable",
    .covers = {"EA-05", "EA-06"},
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.executables.emplace_back(world.graphs[0]);
          world.graphs.push_back(world.graphs[0].Clone());
        },
    .operate = [](SweepWorld& world) { world.executables[0].Update(world.graphs[1]); },
    .is_done =
        [](SweepWorld& world) {
          world.executables[0].Launch(world.session.stream());
          return true;
        }};
const harness::Registration register_update_executable = RegisterSwept<kUpdateExecutable>();

const SweptOperation kCloseExecutable{
    .name = "close-executable",
    .covers = {"EX-04"},
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.executables.emplace_back(world.graphs[0]);
        },
    .operate = [](SweepWorld& world) { world.executables[0].Close(); },
    .is_done = [](SweepWorld& world) { return world.executables[0].raw() == nullptr; }};
const harness::Registration register_close_executable = RegisterSwept<kCloseExecutable>();

const SweptOperation kExecUpdateHost{
    .name = "exec-update-host",
    .covers = {"EA-03"},
    .catches = {"accepted-update-drops-its-owners"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddHostNode(world.NewCallback()));
          world.callbacks.push_back(world.NewCallback());
          world.executables.emplace_back(world.graphs[0]);
        },
    .operate = [](SweepWorld& world) { world.executables[0].Node(world.nodes[0]).UpdateHost(world.callbacks[0]); },
    .is_done =
        [](SweepWorld& world) {
          // The last owner that was made is the update's; from here on the executable alone keeps it.
          world.callbacks.clear();
          Settle(world.context);
          return world.owners.back().IsAlive();
        }};
const harness::Registration register_exec_update_host = RegisterSwept<kExecUpdateHost>();

const SweptOperation kExecUpdateKernel{
    .name = "exec-update-kernel",
    .covers = {"EA-03"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(
              world.graphs[0].AddKernelNode(world.kernel, {}, KernelArguments().Add(world.memory).Add(1u)));
          world.executables.emplace_back(world.graphs[0]);
        },
    .operate =
        [](SweepWorld& world) {
          world.executables[0]
              .Node(world.nodes[0])
              .UpdateKernel(world.kernel, {.grid = {2, 1, 1}}, KernelArguments().Add(world.other_memory).Add(2u));
        },
    .is_done = [](SweepWorld& world) { return world.executables[0].raw() != nullptr; }};
const harness::Registration register_exec_update_kernel = RegisterSwept<kExecUpdateKernel>();

const SweptOperation kExecUpdateMemcpy{
    .name = "exec-update-memcpy",
    .covers = {"EA-03"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(
              world.graphs[0].AddMemcpyNode(world.NewTarget(), MemoryOperand::Device(world.other_memory), 16));
          world.targets.push_back(world.NewTarget());
          world.executables.emplace_back(world.graphs[0]);
        },
    .operate =
        [](SweepWorld& world) {
          world.executables[0]
              .Node(world.nodes[0])
              .UpdateMemcpy(world.targets[0], MemoryOperand::Device(world.other_memory), 8);
        },
    .is_done = [](SweepWorld& world) { return world.executables[0].raw() != nullptr; }};
const harness::Registration register_exec_update_memcpy = RegisterSwept<kExecUpdateMemcpy>();

const SweptOperation kExecUpdateMemset{
    .name = "exec-update-memset",
    .covers = {"EA-03"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddMemsetNode(world.NewTarget(), {.value = 7, .width_elements = 16}));
          world.targets.push_back(world.NewTarget());
          world.executables.emplace_back(world.graphs[0]);
        },
    .operate =
        [](SweepWorld& world) {
          world.executables[0].Node(world.nodes[0]).UpdateMemset(world.targets[0], {.value = 9, .width_elements = 8});
        },
    .is_done = [](SweepWorld& world) { return world.executables[0].raw() != nullptr; }};
const harness::Registration register_exec_update_memset = RegisterSwept<kExecUpdateMemset>();

const SweptOperation kExecUpdateEventRecord{
    .name = "exec-update-event-record",
    .covers = {"EA-03"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddEventRecordNode(world.event));
          world.executables.emplace_back(world.graphs[0]);
        },
    .operate =
        [](SweepWorld& world) { world.executables[0].Node(world.nodes[0]).UpdateEventRecord(world.other_event); },
    .is_done = [](SweepWorld& world) { return world.executables[0].raw() != nullptr; }};
const harness::Registration register_exec_update_event_record = RegisterSwept<kExecUpdateEventRecord>();

const SweptOperation kExecUpdateEventWait{
    .name = "exec-update-event-wait",
    .covers = {"EA-03"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddEventWaitNode(world.event));
          world.executables.emplace_back(world.graphs[0]);
        },
    .operate = [](SweepWorld& world) { world.executables[0].Node(world.nodes[0]).UpdateEventWait(world.other_event); },
    .is_done = [](SweepWorld& world) { return world.executables[0].raw() != nullptr; }};
const harness::Registration register_exec_update_event_wait = RegisterSwept<kExecUpdateEventWait>();

const SweptOperation kExecUpdateChildGraph{
    .name = "exec-update-child-graph",
    .covers = {"EA-08"},
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithChild();
          world.executables.emplace_back(world.graphs[0]);
          world.AddGraphWithHostNode();
        },
    .operate = [](SweepWorld& world) { world.executables[0].Node(world.nodes[0]).UpdateChildGraph(world.graphs[1]); },
    .is_done = [](SweepWorld& world) { return world.executables[0].raw() != nullptr; }};
const harness::Registration register_exec_update_child_graph = RegisterSwept<kExecUpdateChildGraph>();

const SweptOperation kSetEnabled{
    .name = "set-enabled",
    .covers = {"EA-09"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddMemsetNode(world.NewTarget(), {.value = 7, .width_elements = 16}));
          world.executables.emplace_back(world.graphs[0]);
        },
    .operate = [](SweepWorld& world) { world.executables[0].Node(world.nodes[0]).SetEnabled(false); },
    .is_done = [](SweepWorld& world) { return !world.executables[0].Node(world.nodes[0]).IsEnabled(); }};
const harness::Registration register_set_enabled = RegisterSwept<kSetEnabled>();

const SweptOperation kIsEnabled{
    .name = "is-enabled",
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddMemsetNode(world.NewTarget(), {.value = 7, .width_elements = 16}));
          world.executables.emplace_back(world.graphs[0]);
        },
    .operate =
        [](SweepWorld& world) {
          if (world.executables[0].Node(world.nodes[0]).IsEnabled()) {
            world.raw_graph = world.graphs[0].raw();
          }
        },
    .is_done = [](SweepWorld& world) { return world.raw_graph != nullptr; }};
const harness::Registration register_is_enabled = RegisterSwept<kIsEnabled>();

}  // namespace
}  // namespace holdfast::scenarios
