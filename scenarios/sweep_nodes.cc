// Sweeps of GraphNode's operations.
//
// Method: see scenarios/support/swept_operation.h. Each operation gets a world that it works on; which of its driver
// calls or allocations fails, and how, is `holdfast sweep`'s choice.
//
// Expected verdict: passed, with and without a fault.
#include "scenarios/support/swept_operation.h"

namespace holdfast::scenarios {
namespace {

const SweptOperation kDestroy{.name = "destroy",
                              .covers = {"DL-01", "A5"},
                              .catches = {"removal-before-the-driver-agreed"},
                              .guarantee = SweptOperation::Guarantee::kStrongOrDone,
                              .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
                              .operate = [](SweepWorld& world) { world.nodes[0].Destroy(); },
                              .is_done =
                                  [](SweepWorld& world) {
                                    return !world.nodes[0].IsValid() && world.graphs[0].Nodes().empty() &&
                                           world.graphs[0].attachment_count() == 0;
                                  }};
const harness::Registration register_destroy = RegisterSwept<kDestroy>();

const SweptOperation kDestroyChildGraphNode{
    .name = "destroy-child-graph-node",
    .covers = {"EM-07"},
    .guarantee = SweptOperation::Guarantee::kStrongOrDone,
    .prepare = [](SweepWorld& world) { world.AddGraphWithChild(); },
    .operate = [](SweepWorld& world) { world.nodes[0].Destroy(); },
    .is_done = [](SweepWorld& world) { return !world.nodes[0].IsValid() && !world.nodes[1].IsValid(); }};
const harness::Registration register_destroy_child_graph_node = RegisterSwept<kDestroyChildGraphNode>();

const SweptOperation kDestroyConditionalNode{
    .name = "destroy-conditional-node",
    .covers = {"CB-03"},
    .guarantee = SweptOperation::Guarantee::kStrongOrDone,
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.nodes[0] = world.graphs[0].AddIfNode(world.graphs[0].MakeCondition(0));
          world.nodes.push_back(world.nodes[0].Bodies()[0].AddEmptyNode());
        },
    .operate = [](SweepWorld& world) { world.nodes[0].Destroy(); },
    .is_done = [](SweepWorld& world) { return !world.nodes[0].IsValid() && !world.nodes[1].IsValid(); }};
const harness::Registration register_destroy_conditional_node = RegisterSwept<kDestroyConditionalNode>();

const SweptOperation kUpdateHost{
    .name = "update-host",
    .covers = {"NU-H"},
    .catches = {"published-before-the-driver-agreed"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddHostNode(world.NewCallback()));
          world.callbacks.push_back(world.NewCallback());
        },
    .operate = [](SweepWorld& world) { world.nodes[0].UpdateHost(world.callbacks[0]); },
    .is_done = [](SweepWorld& world) { return world.nodes[0].Owners()[0] == world.callbacks[0].function_owner; }};
const harness::Registration register_update_host = RegisterSwept<kUpdateHost>();

const SweptOperation kUpdateMemset{
    .name = "update-memset",
    .covers = {"NU-S"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddMemsetNode(world.NewTarget(), {.value = 7, .width_elements = 16}));
          world.targets.push_back(world.NewTarget());
        },
    .operate = [](SweepWorld& world) { world.nodes[0].UpdateMemset({.destination = world.targets[0], .value = 9}); },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes[0].Fill().pattern.value == 9 && world.nodes[0].Owners()[0] == world.targets[0].owner;
        }};
const harness::Registration register_update_memset = RegisterSwept<kUpdateMemset>();

const SweptOperation kUpdateMemsetWhole{
    .name = "update-memset-whole",
    .covers = {"NU-S"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddMemsetNode(world.NewTarget(), {.value = 7, .width_elements = 16}));
          world.targets.push_back(world.NewTarget());
        },
    .operate =
        [](SweepWorld& world) { world.nodes[0].UpdateMemset(world.targets[0], {.value = 9, .width_elements = 8}); },
    .is_done = [](SweepWorld& world) { return world.nodes[0].Fill().pattern.width_elements == 8; }};
const harness::Registration register_update_memset_whole = RegisterSwept<kUpdateMemsetWhole>();

const SweptOperation kUpdateMemcpy{
    .name = "update-memcpy",
    .covers = {"NU-C"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddMemcpyNode(
              world.NewTarget(), MemoryOperand::Device(world.other_memory->address(), world.NewOwner()), 16));
          world.targets.push_back(world.NewTarget());
        },
    .operate = [](SweepWorld& world) { world.nodes[0].UpdateMemcpy(MemcpyUpdate{.destination = world.targets[0]}); },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes[0].Owners().size() == 2 && world.nodes[0].Owners()[0] == world.targets[0].owner;
        }};
const harness::Registration register_update_memcpy = RegisterSwept<kUpdateMemcpy>();

const SweptOperation kUpdateMemcpyWhole{
    .name = "update-memcpy-whole",
    .covers = {"NU-C"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(
              world.graphs[0].AddMemcpyNode(world.NewTarget(), MemoryOperand::Device(world.other_memory), 16));
          world.targets.push_back(world.NewTarget());
        },
    .operate =
        [](SweepWorld& world) {
          world.nodes[0].UpdateMemcpy(
              CopyParameters{.destination = {.memory = world.targets[0], .pitch_bytes = 32},
                             .source = {.memory = MemoryOperand::Device(world.other_memory), .pitch_bytes = 32},
                             .width_bytes = 16,
                             .height = 2});
        },
    .is_done = [](SweepWorld& world) { return world.nodes[0].Copy().height == 2; }};
const harness::Registration register_update_memcpy_whole = RegisterSwept<kUpdateMemcpyWhole>();

const SweptOperation kUpdateKernel{
    .name = "update-kernel",
    .covers = {"NU-K"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddKernelNode(
              world.kernel, {}, KernelArguments().Add(world.memory).Add(1u).AddOwner(world.NewOwner())));
          world.callbacks.push_back(world.NewCallback());
        },
    .operate =
        [](SweepWorld& world) {
          world.nodes[0].UpdateKernel(
              {.configuration = LaunchConfiguration{.grid = {2, 1, 1}},
               .arguments =
                   KernelArguments().Add(world.other_memory).Add(2u).AddOwner(world.callbacks[0].function_owner)});
        },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes[0].KernelConfiguration().grid[0] == 2 &&
                 world.nodes[0].Owners().back() == world.callbacks[0].function_owner;
        }};
const harness::Registration register_update_kernel = RegisterSwept<kUpdateKernel>();

const SweptOperation kUpdateKernelCluster{
    .name = "update-kernel-cluster",
    .covers = {"NU-K"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddKernelNode(world.kernel, {.grid = {2, 1, 1}, .cluster = {2, 1, 1}},
                                                              KernelArguments().Add(world.memory).Add(1u)));
        },
    .operate =
        [](SweepWorld& world) {
          world.nodes[0].UpdateKernel({.configuration = LaunchConfiguration{.grid = {3, 1, 1}}});
        },
    .is_done = [](SweepWorld& world) { return world.nodes[0].KernelConfiguration().grid[0] == 3; }};
const harness::Registration register_update_kernel_cluster = RegisterSwept<kUpdateKernelCluster>();

const SweptOperation kUpdateEventRecord{
    .name = "update-event-record",
    .covers = {"NU-R"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddEventRecordNode(world.event));
        },
    .operate = [](SweepWorld& world) { world.nodes[0].UpdateEventRecord(world.other_event); },
    .is_done = [](SweepWorld& world) { return world.nodes[0].Event() == world.other_event; }};
const harness::Registration register_update_event_record = RegisterSwept<kUpdateEventRecord>();

const SweptOperation kUpdateEventWait{
    .name = "update-event-wait",
    .covers = {"NU-W"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(world.graphs[0].AddEventWaitNode(world.event));
        },
    .operate = [](SweepWorld& world) { world.nodes[0].UpdateEventWait(world.other_event); },
    .is_done = [](SweepWorld& world) { return world.nodes[0].Event() == world.other_event; }};
const harness::Registration register_update_event_wait = RegisterSwept<kUpdateEventWait>();

const SweptOperation kUpdateChildGraph{
    .name = "update-child-graph",
    .covers = {"CU-04", "CU-08", "D-26", "NU-G"},
    .guarantee = SweptOperation::Guarantee::kBasic,
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithChild();
          GraphNode owner = world.nodes[0];
          world.nodes.clear();
          world.nodes.push_back(owner);
          world.AddGraphWithHostNode();
        },
    .operate = [](SweepWorld& world) { world.nodes[0].UpdateChildGraph(world.graphs[1]); },
    .is_done = [](SweepWorld& world) { return world.nodes[0].ChildGraph().attachment_count() == 1; }};
const harness::Registration register_update_child_graph = RegisterSwept<kUpdateChildGraph>();

const SweptOperation kPredecessors{
    .name = "predecessors",
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.nodes.push_back(world.graphs[0].AddEmptyNode({{world.nodes[0]}}));
        },
    .operate = [](SweepWorld& world) { world.nodes.push_back(world.nodes[1].Predecessors().at(0)); },
    .is_done = [](SweepWorld& world) { return world.nodes[2] == world.nodes[0]; }};
const harness::Registration register_predecessors = RegisterSwept<kPredecessors>();

const SweptOperation kSuccessors{
    .name = "successors",
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.nodes.push_back(world.graphs[0].AddEmptyNode({{world.nodes[0]}}));
        },
    .operate = [](SweepWorld& world) { world.nodes.push_back(world.nodes[0].Successors().at(0)); },
    .is_done = [](SweepWorld& world) { return world.nodes[2] == world.nodes[1]; }};
const harness::Registration register_successors = RegisterSwept<kSuccessors>();

const SweptOperation kChildGraph{
    .name = "child-graph",
    .prepare = [](SweepWorld& world) { world.AddGraphWithChild(); },
    .operate = [](SweepWorld& world) { world.graphs.push_back(world.nodes[0].ChildGraph()); },
    .is_done = [](SweepWorld& world) { return world.graphs.size() == 2 && world.graphs[1].IsValid(); }};
const harness::Registration register_child_graph = RegisterSwept<kChildGraph>();

const SweptOperation kBodies{.name = "bodies",
                             .prepare =
                                 [](SweepWorld& world) {
                                   world.AddGraphWithHostNode();
                                   world.nodes.push_back(world.graphs[0].AddIfNode(world.graphs[0].MakeCondition(0)));
                                 },
                             .operate =
                                 [](SweepWorld& world) {
                                   if (world.nodes[1].Bodies().size() == 1) {
                                     world.raw_graph = world.graphs[0].raw();
                                   }
                                 },
                             .is_done = [](SweepWorld& world) { return world.raw_graph != nullptr; }};
const harness::Registration register_bodies = RegisterSwept<kBodies>();

const SweptOperation kReadParameters{
    .name = "read-parameters",
    .covers = {"IH-12"},
    .prepare =
        [](SweepWorld& world) {
          world.graphs.emplace_back();
          world.nodes.push_back(
              world.graphs[0].AddKernelNode(world.kernel, {}, KernelArguments().Add(world.memory).Add(1u)));
          world.nodes.push_back(
              world.graphs[0].AddMemcpyNode(world.NewTarget(), MemoryOperand::Device(world.other_memory), 16));
          world.nodes.push_back(world.graphs[0].AddMemsetNode(world.NewTarget(), {.value = 7, .width_elements = 16}));
          world.nodes.push_back(world.graphs[0].AddEventRecordNode(world.event));
        },
    .operate =
        [](SweepWorld& world) {
          if (world.nodes[0].Kernel() == world.kernel && world.nodes[0].KernelConfiguration().grid[0] == 1 &&
              world.nodes[1].Copy().width_bytes == 16 && world.nodes[2].Fill().pattern.value == 7 &&
              world.nodes[3].Event() == world.event) {
            world.raw_graph = world.graphs[0].raw();
          }
        },
    .is_done = [](SweepWorld& world) { return world.raw_graph != nullptr; }};
const harness::Registration register_read_parameters = RegisterSwept<kReadParameters>();

}  // namespace
}  // namespace holdfast::scenarios
