#include "scenarios/fuzz/runner.h"

#include <string>
#include <utility>

#include "lib/attachments/graph_registry.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "scenarios/support/cleanup_context.h"

namespace holdfast::fuzz {

Runner::Runner(Environment& environment, Journal& journal)
    : environment_(environment), journal_(journal), interruption_(environment) {
  WorldOf(0);
}

std::uint64_t Runner::faults() const {
  std::uint64_t sum = 0;
  for (const std::unique_ptr<World>& world : worlds_) {
    sum += world->faults();
  }
  return sum;
}

World& Runner::WorldOf(unsigned thread) {
  while (worlds_.size() <= thread) {
    const auto ordinal = static_cast<unsigned>(worlds_.size());
    worlds_.push_back(std::make_unique<World>(environment_, ordinal));
    worlds_.back()->Reset(settings_);
    workers_.push_back(ordinal == 0 ? nullptr : std::make_unique<Worker>(environment_.context(), ordinal, [this] {
      environment_.device().MakeCurrent();
    }));
    live_before_ = environment_.context().shim().live();
  }
  return *worlds_[thread];
}

void Runner::Begin(const Settings& settings) {
  settings_ = settings;
  since_settled_ = 0;
  if (const fault::ModelControl* model = environment_.context().model()) {
    model->set_delivery(settings.delivery);
    model->set_handle_reuse(settings.reuse);
  }
  for (const std::unique_ptr<World>& world : worlds_) {
    world->Reset(settings);
  }
  ++sequences_;
}

void Runner::Replay(const Sequence& sequence) {
  for (const Line& line : sequence.lines) {
    WorldOf(line.operation.thread);
  }
  journal_.Begin(TextOf(sequence));
  Begin(sequence.settings);
  std::vector<Operation> block;
  Line begin;
  for (const Line& line : sequence.lines) {
    if (line.parallel != 0) {
      RunBlock(std::exchange(block, {}), begin.inside);
      begin = line;
    } else if (begin.parallel > 0) {
      block.push_back(line.operation);
      if (--begin.parallel == 0) {
        RunBlock(std::exchange(block, {}), begin.inside);
      }
    } else {
      Run(line.operation);
    }
  }
  RunBlock(block, begin.inside);
  End();
}

void Runner::RunDrawn(std::uint64_t seed) {
  Drawing drawing(seed, environment_.is_model());
  std::vector<World*> worlds;
  for (unsigned thread = 0; thread < drawing.threads(); ++thread) {
    worlds.push_back(&WorldOf(thread));
  }
  for (unsigned thread = 0; thread < drawing.threads(); ++thread) {
    worlds[thread] = worlds_[thread].get();
  }
  // It settles by operations of the sequence: what is left of it settles in the same places still.
  Settings settings = drawing.settings();
  const unsigned settle = std::exchange(settings.settle, kMostSettle);
  journal_.Begin(TextOf(settings));
  Begin(settings);
  std::string text;
  const auto write = [&](const Line& line) {
    text.clear();
    AppendText(line, &text);
    return journal_.Append(text);
  };
  for (unsigned i = 0; i < drawing.length(); ++i) {
    const Drawing::Block block = drawing.DrawBlock(worlds);
    if (block.operations.size() > 1) {
      write({static_cast<unsigned>(block.operations.size()), block.inside, {}});
    }
    for (const Operation& operation : block.operations) {
      write({0, false, operation});
    }
    if (block.operations.size() > 1) {
      RunBlock(block.operations, block.inside);
    } else {
      Run(block.operations.front());
    }
    if (since_settled_ >= settle) {
      const Operation operation{.thread = 0, .opcode = Opcode::kSettle, .operands = {}, .faults = {}};
      write({0, false, operation});
      Run(operation);
    }
  }
  End();
}

void Runner::Run(const Operation& operation) {
  World& world = *worlds_[operation.thread];
  if (operation.thread == 0) {
    world.Execute(operation, /*alone=*/true);
  } else {
    workers_[operation.thread]->Run([&] { world.Execute(operation, /*alone=*/true); });
    workers_[operation.thread]->Wait();
  }
  ++operations_;
  ++since_settled_;
  if (operation.opcode == Opcode::kSettle) {
    Settle();
  } else {
    SettleIfDue();
  }
}

void Runner::RunBlock(const std::vector<Operation>& operations, bool inside) {
  if (operations.empty()) {
    return;
  }
  if (inside) {
    RunInside(operations);
  } else {
    RunParallel(operations);
  }
  operations_ += operations.size();
  Settle();
}

void Runner::RunInside(const std::vector<Operation>& operations) {
  const Operation& first = operations.front();
  World& world = *worlds_[first.thread];
  const auto run_if = [&](bool is_of_first) {
    for (const Operation& operation : operations) {
      if (&operation != &first && (operation.thread == first.thread) == is_of_first) {
        worlds_[operation.thread]->Execute(operation, /*alone=*/false);
      }
    }
  };
  interruption_.Run(
      world.GraphThatEnds(first), [&] { world.Execute(first, /*alone=*/false); }, [&] { run_if(false); });
  run_if(true);
}

void Runner::RunParallel(const std::vector<Operation>& operations) {
  const auto run_part = [&](unsigned thread) {
    for (const Operation& operation : operations) {
      if (operation.thread == thread) {
        worlds_[thread]->Execute(operation, /*alone=*/false);
      }
    }
  };
  for (unsigned thread = 1; thread < worlds_.size(); ++thread) {
    workers_[thread]->Run([&, thread] { run_part(thread); });
  }
  run_part(0);
  for (unsigned thread = 1; thread < worlds_.size(); ++thread) {
    workers_[thread]->Wait();
  }
}

void Runner::SettleIfDue() {
  if (since_settled_ >= settings_.settle) {
    Settle();
  }
}

// Nothing is late any more: what may be released is.
bool Runner::IsQuiet() const {
  environment_.context().shim().release_held();
  environment_.context().shim().quiesce();
  scenarios::DrainNow();
  return !cleanup::DeferredCleanup::Process().HasWork() &&
         std::all_of(worlds_.begin(), worlds_.end(),
                     [](const std::unique_ptr<World>& world) { return world->HasReleasedLingering(); });
}

void Runner::Settle() {
  since_settled_ = 0;
  const bool is_blocked = std::any_of(worlds_.begin(), worlds_.end(),
                                      [](const std::unique_ptr<World>& world) { return world->HasBlockedLaunches(); });
  if (is_blocked) {
    return;
  }
  if (const fault::ModelControl* model = environment_.context().model()) {
    model->quiesce();
    model->release_held();
    model->quiesce();
  }
  if (environment_.is_model()) {
    // Then all has been delivered, and it is for the drains to release it: each takes a bounded number.
    while (!IsQuiet() && cleanup::DeferredCleanup::Process().HasWork()) {
    }
  } else {
    // An object that keeps no owner is late unseen, but for its count.
    (void)environment_.context().Await([this] { return IsQuiet() && DifferenceOfLiveCounts().empty(); });
  }
  for (const std::unique_ptr<World>& world : worlds_) {
    world->AfterSettle();
  }
  const std::string difference = DifferenceOfLiveCounts();
  if (!difference.empty()) {
    worlds_.front()->Fail(difference);
  }
}

std::string Runner::DifferenceOfLiveCounts() const {
  std::uint64_t roots = live_before_.graphs;
  std::uint64_t executables = live_before_.executables;
  LiveRange bundles{live_before_.user_objects + interruption_.live_objects(),
                    live_before_.user_objects + interruption_.live_objects()};
  for (const std::unique_ptr<World>& world : worlds_) {
    if (world->HasCaptures()) {
      return {};
    }
    roots += world->model().LiveRoots();
    executables += world->model().LiveExecutables();
    const LiveRange range = world->model().LiveBundles(/*is_settled=*/true);
    bundles.least += range.least;
    bundles.most += range.most;
  }
  const fault::LiveObjects live = environment_.context().shim().live();
  const auto describe = [](const char* what, std::uint64_t found, std::uint64_t expected) {
    return std::to_string(found) + " " + what + " are alive, not " + std::to_string(expected);
  };
  if (live.graphs != roots) {
    return describe("root graphs", live.graphs, roots);
  }
  if (live.executables != executables) {
    return describe("executables", live.executables, executables);
  }
  const std::uint64_t objects = live.user_objects + live.kept_user_objects;
  if (objects < bundles.least || objects > bundles.most) {
    return describe("user objects", objects, bundles.least);
  }
  return {};
}

// A box that outlives its graph would be found by the next graph of the same raw handle.
void Runner::CompareRegistry() const {
  const std::size_t known = attachments::GraphRegistry::Process().size();
  if (known != 0) {
    worlds_.front()->Fail("the library still knows " + std::to_string(known) + " graphs, and there is none");
  }
}

void Runner::End() {
  for (const std::unique_ptr<World>& world : worlds_) {
    world->OpenGate();
  }
  for (const std::unique_ptr<World>& world : worlds_) {
    world->DropAll();
  }
  Settle();
  CompareRegistry();
}

}  // namespace holdfast::fuzz
