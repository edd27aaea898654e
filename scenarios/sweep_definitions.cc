// Sweeps of GraphDefinition's operations.
//
// Method: see scenarios/support/swept_operation.h. Each operation gets a world that it works on; which of its driver
// calls or allocations fails, and how, is `holdfast sweep`'s choice.
//
// Expected verdict: passed, with and without a fault.
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "scenarios/support/swept_operation.h"

namespace holdfast::scenarios {
namespace {

void PrepareCondition(SweepWorld& world) {
  world.AddGraphWithHostNode();
  world.conditions.push_back(world.graphs[0].MakeCondition(0));
}

template <std::size_t kCount>
bool HasBodies(SweepWorld& world) {
  return world.nodes.size() == 2 && world.nodes[1].Bodies().size() == kCount;
}

const SweptOperation kCreateGraph{
    .name = "create-graph",
    .covers = {"D-19"},
    .prepare = [](SweepWorld& world) { (void)world; },
    .operate = [](SweepWorld& world) { world.graphs.emplace_back(); },
    .is_done = [](SweepWorld& world) { return world.graphs.size() == 1 && world.graphs[0].IsValid(); }};
const harness::Registration register_create_graph = RegisterSwept<kCreateGraph>();

const SweptOperation kAdopt{
    .name = "adopt",
    .covers = {"IH-01"},
    .prepare =
        [](SweepWorld& world) {
          GraphDefinition unused;
          driver::Check("cuGraphCreate", driver::GetDriver().cuGraphCreate(&world.raw_graph, 0u), "creating a graph");
        },
    .operate = [](SweepWorld& world) { world.graphs.push_back(GraphDefinition::Adopt(world.raw_graph)); },
    .is_done = [](SweepWorld& world) { return world.graphs.size() == 1 && world.graphs[0].raw() == world.raw_graph; }};
const harness::Registration register_adopt = RegisterSwept<kAdopt>();

const SweptOperation kFind{.name = "find",
                           .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
                           .operate =
                               [](SweepWorld& world) {
                                 if (GraphDefinition::Find(world.graphs[0].raw()) == world.graphs[0]) {
                                   world.raw_graph = world.graphs[0].raw();
                                 }
                               },
                           .is_done = [](SweepWorld& world) { return world.raw_graph == world.graphs[0].raw(); }};
const harness::Registration register_find = RegisterSwept<kFind>();

const SweptOperation kClone{.name = "clone",
                            .covers = {"CL-03", "CL-04"},
                            .prepare = [](SweepWorld& world) { world.AddGraphWithChild(); },
                            .operate = [](SweepWorld& world) { world.graphs.push_back(world.graphs[0].Clone()); },
                            .is_done =
                                [](SweepWorld& world) {
                                  return world.graphs.size() == 2 &&
                                         world.graphs[1].Nodes()[0].ChildGraph().attachment_count() == 1;
                                }};
const harness::Registration register_clone = RegisterSwept<kClone>();

const SweptOperation kNodes{.name = "nodes",
                            .prepare =
                                [](SweepWorld& world) {
                                  world.AddGraphWithHostNode();
                                  world.nodes.clear();
                                },
                            .operate = [](SweepWorld& world) { world.nodes = world.graphs[0].Nodes(); },
                            .is_done = [](SweepWorld& world) { return world.nodes.size() == 1; }};
const harness::Registration register_nodes = RegisterSwept<kNodes>();

const SweptOperation kEdges{.name = "edges",
                            .prepare =
                                [](SweepWorld& world) {
                                  world.AddGraphWithHostNode();
                                  world.nodes.push_back(world.graphs[0].AddEmptyNode({{world.nodes[0]}}));
                                },
                            .operate =
                                [](SweepWorld& world) {
                                  const std::vector<GraphEdge> edges = world.graphs[0].Edges();
                                  world.nodes.push_back(edges.at(0).to);
                                },
                            .is_done = [](SweepWorld& world) { return world.nodes.back() == world.nodes[1]; }};
const harness::Registration register_edges = RegisterSwept<kEdges>();

const SweptOperation kAddEdge{
    .name = "add-edge",
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.nodes.push_back(world.graphs[0].AddEmptyNode());
        },
    .operate = [](SweepWorld& world) { world.graphs[0].AddEdge(world.nodes[0], world.nodes[1]); },
    .is_done = [](SweepWorld& world) { return world.graphs[0].Edges().size() == 1; }};
const harness::Registration register_add_edge = RegisterSwept<kAddEdge>();

const SweptOperation kRemoveEdge{
    .name = "remove-edge",
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.nodes.push_back(world.graphs[0].AddEmptyNode({{world.nodes[0]}}));
        },
    .operate = [](SweepWorld& world) { world.graphs[0].RemoveEdge(world.nodes[0], world.nodes[1]); },
    .is_done = [](SweepWorld& world) { return world.graphs[0].Edges().empty(); }};
const harness::Registration register_remove_edge = RegisterSwept<kRemoveEdge>();

const SweptOperation kAddEmptyNode{
    .name = "add-empty-node",
    .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
    .operate = [](SweepWorld& world) { world.nodes.push_back(world.graphs[0].AddEmptyNode({{world.nodes[0]}})); },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.size() == 2 && world.nodes[1].IsValid() && world.graphs[0].Nodes().size() == 2;
        }};
const harness::Registration register_add_empty_node = RegisterSwept<kAddEmptyNode>();

const SweptOperation kAddKernelNode{
    .name = "add-kernel-node",
    .covers = {"AP-23"},
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.callbacks.push_back(world.NewCallback());
        },
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddKernelNode(
              world.kernel, {}, KernelArguments().Add(world.memory).Add(1u).AddOwner(world.callbacks[0].function_owner),
              {{world.nodes[0]}}));
        },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.size() == 2 && world.nodes[1].IsValid() && world.graphs[0].Nodes().size() == 2;
        }};
const harness::Registration register_add_kernel_node = RegisterSwept<kAddKernelNode>();

const SweptOperation kAddClusteredKernelNode{
    .name = "add-clustered-kernel-node",
    .undo_site = "cuGraphDestroyNode",
    .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddKernelNode(world.kernel, {.grid = {2, 1, 1}, .cluster = {2, 1, 1}},
                                                              KernelArguments().Add(world.memory).Add(1u),
                                                              {{world.nodes[0]}}));
        },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.size() == 2 && world.nodes[1].IsValid() && world.graphs[0].Nodes().size() == 2;
        }};
const harness::Registration register_add_clustered_kernel_node = RegisterSwept<kAddClusteredKernelNode>();

const SweptOperation kAddMemcpyNode{
    .name = "add-memcpy-node",
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.targets.push_back(world.NewTarget());
        },
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddMemcpyNode(
              world.targets[0], MemoryOperand::Device(world.other_memory), 16, {{world.nodes[0]}}));
        },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.size() == 2 && world.nodes[1].IsValid() && world.graphs[0].Nodes().size() == 2;
        }};
const harness::Registration register_add_memcpy_node = RegisterSwept<kAddMemcpyNode>();

const SweptOperation kAddManyRowMemcpyNode{
    .name = "add-many-row-memcpy-node",
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.targets.push_back(world.NewTarget());
        },
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddMemcpyNode(
              CopyParameters{.destination = {.memory = world.targets[0], .pitch_bytes = 32},
                             .source = {.memory = MemoryOperand::Device(world.other_memory), .pitch_bytes = 64},
                             .width_bytes = 16,
                             .height = 4},
              {{world.nodes[0]}}));
        },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.size() == 2 && world.nodes[1].IsValid() && world.graphs[0].Nodes().size() == 2;
        }};
const harness::Registration register_add_many_row_memcpy_node = RegisterSwept<kAddManyRowMemcpyNode>();

const SweptOperation kAddMemsetNode{
    .name = "add-memset-node",
    .catches = {"creation-failure-leaks-the-owners"},
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.targets.push_back(world.NewTarget());
        },
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(
              world.graphs[0].AddMemsetNode(world.targets[0], {.value = 7, .width_elements = 16}, {{world.nodes[0]}}));
        },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.size() == 2 && world.nodes[1].IsValid() && world.graphs[0].Nodes().size() == 2;
        }};
const harness::Registration register_add_memset_node = RegisterSwept<kAddMemsetNode>();

const SweptOperation kAddEventRecordNode{
    .name = "add-event-record-node",
    .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddEventRecordNode(world.event, {{world.nodes[0]}}));
        },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.size() == 2 && world.nodes[1].IsValid() && world.graphs[0].Nodes().size() == 2;
        }};
const harness::Registration register_add_event_record_node = RegisterSwept<kAddEventRecordNode>();

const SweptOperation kAddEventWaitNode{
    .name = "add-event-wait-node",
    .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddEventWaitNode(world.event, {{world.nodes[0]}}));
        },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.size() == 2 && world.nodes[1].IsValid() && world.graphs[0].Nodes().size() == 2;
        }};
const harness::Registration register_add_event_wait_node = RegisterSwept<kAddEventWaitNode>();

const SweptOperation kAddMemoryAllocationNode{
    .name = "add-memory-allocation-node",
    .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddMemoryAllocationNode(256, {{world.nodes[0]}}));
        },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.size() == 2 && world.nodes[1].IsValid() && world.graphs[0].Nodes().size() == 2;
        }};
const harness::Registration register_add_memory_allocation_node = RegisterSwept<kAddMemoryAllocationNode>();

const SweptOperation kAddMemoryFreeNode{
    .name = "add-memory-free-node",
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.nodes.push_back(world.graphs[0].AddMemoryAllocationNode(256));
        },
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(
              world.graphs[0].AddMemoryFreeNode(world.nodes[1].AllocatedAddress(), {{world.nodes[1]}}));
        },
    .is_done = [](SweepWorld& world) { return world.nodes.size() == 3 && world.graphs[0].Nodes().size() == 3; }};
const harness::Registration register_add_memory_free_node = RegisterSwept<kAddMemoryFreeNode>();

const SweptOperation kAddChildGraphNode{
    .name = "add-child-graph-node",
    .covers = {"EM-01", "EM-02", "EM-05"},
    .undo_site = "cuGraphDestroyNode",
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithChild();
          world.AddGraphWithHostNode();
        },
    .operate = [](SweepWorld& world) { world.nodes.push_back(world.graphs[1].AddChildGraphNode(world.graphs[0])); },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.back().ChildGraph().Nodes()[0].ChildGraph().attachment_count() == 1;
        }};
const harness::Registration register_add_child_graph_node = RegisterSwept<kAddChildGraphNode>();

const SweptOperation kAddChildGraphNodeByMove{
    .name = "add-child-graph-node-by-move",
    .prepare =
        [](SweepWorld& world) {
          world.AddGraphWithHostNode();
          world.AddGraphWithHostNode();
        },
    .operate =
        [](SweepWorld& world) { world.nodes.push_back(world.graphs[1].AddChildGraphNodeByMove(world.graphs[0])); },
    .is_done =
        [](SweepWorld& world) {
          return world.nodes.back().ChildGraph() == world.graphs[0] && world.nodes[0].IsValid();
        }};
const harness::Registration register_add_child_graph_node_by_move = RegisterSwept<kAddChildGraphNodeByMove>();

const SweptOperation kMakeCondition{
    .name = "make-condition",
    .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
    .operate = [](SweepWorld& world) { world.conditions.push_back(world.graphs[0].MakeCondition(1)); },
    .is_done = [](SweepWorld& world) { return world.conditions.size() == 1; }};
const harness::Registration register_make_condition = RegisterSwept<kMakeCondition>();

const SweptOperation kAddIfNode{
    .name = "add-if-node",
    .covers = {"CB-01"},
    .prepare = &PrepareCondition,
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddIfNode(world.conditions[0], {{world.nodes[0]}}));
        },
    .is_done = &HasBodies<1>};
const harness::Registration register_add_if_node = RegisterSwept<kAddIfNode>();

const SweptOperation kAddIfElseNode{
    .name = "add-if-else-node",
    .covers = {"CB-01"},
    .prepare = &PrepareCondition,
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddIfElseNode(world.conditions[0], {{world.nodes[0]}}));
        },
    .is_done = &HasBodies<2>};
const harness::Registration register_add_if_else_node = RegisterSwept<kAddIfElseNode>();

const SweptOperation kAddWhileNode{
    .name = "add-while-node",
    .covers = {"CB-01"},
    .prepare = &PrepareCondition,
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddWhileNode(world.conditions[0], {{world.nodes[0]}}));
        },
    .is_done = &HasBodies<1>};
const harness::Registration register_add_while_node = RegisterSwept<kAddWhileNode>();

const SweptOperation kAddSwitchNode{
    .name = "add-switch-node",
    .covers = {"CB-01"},
    .prepare = &PrepareCondition,
    .operate =
        [](SweepWorld& world) {
          world.nodes.push_back(world.graphs[0].AddSwitchNode(world.conditions[0], 3, {{world.nodes[0]}}));
        },
    .is_done = &HasBodies<3>};
const harness::Registration register_add_switch_node = RegisterSwept<kAddSwitchNode>();

const SweptOperation kWriteDot{.name = "write-dot",
                               .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
                               .operate = [](SweepWorld& world) { world.graphs[0].WriteDot("/dev/null"); },
                               .is_done = [](SweepWorld& world) { return world.graphs[0].IsValid(); }};
const harness::Registration register_write_dot = RegisterSwept<kWriteDot>();

}  // namespace
}  // namespace holdfast::scenarios
