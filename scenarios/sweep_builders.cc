// Sweeps of GraphBuilder's operations.
//
// Method: see scenarios/support/swept_operation.h. Each operation gets a world that it works on; which of its driver
// calls or allocations fails, and how, is `holdfast sweep`'s choice.
//
// Expected verdict: passed, with and without a fault.
#include "scenarios/support/swept_operation.h"

namespace holdfast::scenarios {
namespace {

void PrepareCondition(SweepWorld& world) {
  world.AddCapturingBuilder();
  world.conditions.push_back(world.builders[0].MakeCondition(0));
}

bool HasEmptyBodies(SweepWorld& world) { return !world.forks.empty() && world.forks[0].Definition().Nodes().empty(); }

const SweptOperation kBegin{.name = "builder-begin",
                            .covers = {"GB-06", "D-21"},
                            .catches = {"begin-leaves-the-stream-capturing"},
                            .undo_site = "cuStreamEndCapture",
                            .prepare = [](SweepWorld& world) { world.builders.emplace_back(world.session.stream()); },
                            .operate = [](SweepWorld& world) { world.builders[0].Begin(); },
                            .is_done = [](SweepWorld& world) { return world.builders[0].IsBuilding(); }};
const harness::Registration register_begin = RegisterSwept<kBegin>();

const SweptOperation kBeginBody{.name = "builder-begin-body",
                                .covers = {"GB-07"},
                                .guarantee = SweptOperation::Guarantee::kBasic,
                                .prepare =
                                    [](SweepWorld& world) {
                                      world.AddCapturingBuilder();
                                      world.forks.push_back(world.builders[0].If(world.builders[0].MakeCondition(0)));
                                    },
                                .operate = [](SweepWorld& world) { world.forks[0].Begin(); },
                                .is_done =
                                    [](SweepWorld& world) {
                                      const bool building = world.forks[0].IsBuilding();
                                      world.forks[0].End();
                                      return building;
                                    }};
const harness::Registration register_begin_body = RegisterSwept<kBeginBody>();

const SweptOperation kIsBuilding{.name = "builder-is-building",
                                 .prepare = [](SweepWorld& world) { world.AddCapturingBuilder(); },
                                 .operate =
                                     [](SweepWorld& world) {
                                       if (world.builders[0].IsBuilding()) {
                                         world.raw_graph = reinterpret_cast<CUgraph>(1);
                                       }
                                     },
                                 .is_done = [](SweepWorld& world) { return world.raw_graph != nullptr; }};
const harness::Registration register_is_building = RegisterSwept<kIsBuilding>();

const SweptOperation kEnd{
    .name = "builder-end",
    .covers = {"GB-10", "GB-11"},
    .guarantee = SweptOperation::Guarantee::kBasic,
    .prepare =
        [](SweepWorld& world) {
          world.AddCapturingBuilder();
          world.builders[0].AddCallback(world.NewCallback());
        },
    .operate = [](SweepWorld& world) { world.builders[0].End(); },
    .is_done = [](SweepWorld& world) { return world.builders[0].Definition().Nodes().size() == 1; }};
const harness::Registration register_end = RegisterSwept<kEnd>();

const SweptOperation kComplete{
    .name = "builder-complete",
    .prepare =
        [](SweepWorld& world) {
          world.AddCapturingBuilder();
          world.builders[0].AddCallback(world.NewCallback());
          world.builders[0].End();
        },
    .operate = [](SweepWorld& world) { world.executables.push_back(world.builders[0].Complete()); },
    .is_done = [](SweepWorld& world) { return world.executables.size() == 1; }};
const harness::Registration register_complete = RegisterSwept<kComplete>();

const SweptOperation kSplit{.name = "builder-split",
                            .covers = {"GB-15"},
                            .prepare = [](SweepWorld& world) { world.AddCapturingBuilder(); },
                            .operate = [](SweepWorld& world) { world.forks = world.builders[0].Split(3); },
                            .is_done =
                                [](SweepWorld& world) {
                                  GraphBuilder::Join(world.forks);
                                  world.builders[0].End();
                                  return world.forks.size() == 3;
                                }};
const harness::Registration register_split = RegisterSwept<kSplit>();

const SweptOperation kJoin{.name = "builder-join",
                           .covers = {"GB-17", "GB-18"},
                           .guarantee = SweptOperation::Guarantee::kBasic,
                           .prepare =
                               [](SweepWorld& world) {
                                 world.AddCapturingBuilder();
                                 world.forks = world.builders[0].Split(3);
                                 world.forks[1].AddCallback(world.NewCallback());
                               },
                           .operate = [](SweepWorld& world) { GraphBuilder::Join(world.forks); },
                           .is_done =
                               [](SweepWorld& world) {
                                 world.builders[0].End();
                                 return true;
                               }};
const harness::Registration register_join = RegisterSwept<kJoin>();

const SweptOperation kAddCallback{
    .name = "builder-add-callback",
    .covers = {"AC-01", "AC-02", "AC-03"},
    .guarantee = SweptOperation::Guarantee::kBasic,
    .prepare =
        [](SweepWorld& world) {
          world.AddCapturingBuilder();
          world.callbacks.push_back(world.NewCallback());
        },
    .operate = [](SweepWorld& world) { world.builders[0].AddCallback(world.callbacks[0]); },
    .is_done =
        [](SweepWorld& world) {
          world.builders[0].End();
          return world.builders[0].Definition().Nodes().size() == 1;
        }};
const harness::Registration register_add_callback = RegisterSwept<kAddCallback>();

const SweptOperation kEmbed{.name = "builder-embed",
                            .covers = {"EM-06"},
                            .guarantee = SweptOperation::Guarantee::kBasic,
                            .prepare =
                                [](SweepWorld& world) {
                                  world.AddGraphWithHostNode();
                                  world.AddCapturingBuilder();
                                },
                            .operate = [](SweepWorld& world) { world.builders[0].Embed(world.graphs[0]); },
                            .is_done =
                                [](SweepWorld& world) {
                                  world.builders[0].End();
                                  return world.builders[0].Definition().Nodes()[0].ChildGraph().attachment_count() == 1;
                                }};
const harness::Registration register_embed = RegisterSwept<kEmbed>();

const SweptOperation kBuilderMakeCondition{
    .name = "builder-make-condition",
    .prepare = [](SweepWorld& world) { world.AddCapturingBuilder(); },
    .operate = [](SweepWorld& world) { world.conditions.push_back(world.builders[0].MakeCondition(0)); },
    .is_done = [](SweepWorld& world) { return world.conditions.size() == 1; }};
const harness::Registration register_builder_make_condition = RegisterSwept<kBuilderMakeCondition>();

const SweptOperation kBuilderIf{
    .name = "builder-if",
    .covers = {"CB-01"},
    .guarantee = SweptOperation::Guarantee::kBasic,
    .prepare = &PrepareCondition,
    .operate = [](SweepWorld& world) { world.forks.push_back(world.builders[0].If(world.conditions[0])); },
    .is_done = &HasEmptyBodies};
const harness::Registration register_builder_if = RegisterSwept<kBuilderIf>();

const SweptOperation kBuilderIfElse{.name = "builder-if-else",
                                    .covers = {"CB-01"},
                                    .guarantee = SweptOperation::Guarantee::kBasic,
                                    .prepare = &PrepareCondition,
                                    .operate =
                                        [](SweepWorld& world) {
                                          const auto bodies = world.builders[0].IfElse(world.conditions[0]);
                                          world.forks = {bodies.first, bodies.second};
                                        },
                                    .is_done = &HasEmptyBodies};
const harness::Registration register_builder_if_else = RegisterSwept<kBuilderIfElse>();

const SweptOperation kBuilderWhile{
    .name = "builder-while",
    .covers = {"CB-01"},
    .guarantee = SweptOperation::Guarantee::kBasic,
    .prepare = &PrepareCondition,
    .operate = [](SweepWorld& world) { world.forks.push_back(world.builders[0].While(world.conditions[0])); },
    .is_done = &HasEmptyBodies};
const harness::Registration register_builder_while = RegisterSwept<kBuilderWhile>();

const SweptOperation kBuilderSwitch{
    .name = "builder-switch",
    .covers = {"CB-01"},
    .guarantee = SweptOperation::Guarantee::kBasic,
    .prepare = &PrepareCondition,
    .operate = [](SweepWorld& world) { world.forks = world.builders[0].Switch(world.conditions[0], 3); },
    .is_done = &HasEmptyBodies};
const harness::Registration register_builder_switch = RegisterSwept<kBuilderSwitch>();

const SweptOperation kCloseBuilder{
    .name = "builder-close",
    .covers = {"GB-20"},
    .guarantee = SweptOperation::Guarantee::kBasic,
    .prepare =
        [](SweepWorld& world) {
          world.AddCapturingBuilder();
          world.builders[0].AddCallback(world.NewCallback());
        },
    .operate = [](SweepWorld& world) { world.builders[0].Close(); },
    .is_done = [](SweepWorld& world) { return world.builders[0].state() == GraphBuilder::State::kClosed; }};
const harness::Registration register_close_builder = RegisterSwept<kCloseBuilder>();

const SweptOperation kDropBuilder{.name = "builder-drop",
                                  .covers = {"GB-21"},
                                  .guarantee = SweptOperation::Guarantee::kBasic,
                                  .prepare =
                                      [](SweepWorld& world) {
                                        world.AddCapturingBuilder();
                                        world.builders[0].AddCallback(world.NewCallback());
                                      },
                                  .operate = [](SweepWorld& world) { world.builders.clear(); },
                                  .is_done = [](SweepWorld&) { return true; }};
const harness::Registration register_drop_builder = RegisterSwept<kDropBuilder>();

const SweptOperation kUpdateFromBuilder{
    .name = "update-from-builder",
    .covers = {"EA-07"},
    .prepare =
        [](SweepWorld& world) {
          world.AddCapturingBuilder();
          world.builders[0].AddCallback(world.NewCallback());
          world.builders[0].End();
          world.executables.push_back(world.builders[0].Complete());
        },
    .operate = [](SweepWorld& world) { world.executables[0].Update(world.builders[0]); },
    .is_done = [](SweepWorld& world) { return world.executables[0].raw() != nullptr; }};
const harness::Registration register_update_from_builder = RegisterSwept<kUpdateFromBuilder>();

}  // namespace
}  // namespace holdfast::scenarios
