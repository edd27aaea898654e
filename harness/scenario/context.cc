#include "harness/scenario/context.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "harness/scenario/events.h"

namespace holdfast::harness {
namespace {

using fault::LiveObjects;

std::uint64_t SeedFromEnvironment() {
  const char* seed = std::getenv("HOLDFAST_SEED");
  return seed != nullptr ? std::strtoull(seed, nullptr, 0) : 0;
}

const fault::ModelControl* FindModel(const fault::ShimControl& shim) {
  const auto control = reinterpret_cast<fault::ModelControlFunction>(shim.driver_symbol("holdfast_model_control"));
  return control != nullptr ? control() : nullptr;
}

[[noreturn]] void EndProcess(ExitCode code) {
  WriteEvent("finish");
  std::fflush(nullptr);
  std::_Exit(code);
}

struct NamedCount {
  const char* name;
  std::uint64_t LiveObjects::*member;
  // What a payload may own: alive as long as a user object that a failed release keeps.
  bool is_resource;
};

constexpr NamedCount kKinds[] = {
    {"user objects", &LiveObjects::user_objects, false},
    {"graphs", &LiveObjects::graphs, false},
    {"executables", &LiveObjects::executables, false},
    {"streams", &LiveObjects::streams, false},
    {"events", &LiveObjects::events, true},
    {"allocations", &LiveObjects::allocations, true},
    {"libraries", &LiveObjects::libraries, true},
};

// "2 graphs, 1 events"; empty if nothing is alive that ought not to be.
std::string Describe(const LiveObjects& live) {
  std::string text;
  for (const NamedCount& kind : kKinds) {
    if (live.*kind.member > 0 && !(kind.is_resource && live.kept_user_objects > 0)) {
      text += (text.empty() ? "" : ", ") + std::to_string(live.*kind.member) + " " + kind.name;
    }
  }
  return text;
}

}  // namespace

Context::Context(const Scenario& scenario, std::string variant, const fault::ShimControl& shim)
    : variant_(std::move(variant)),
      shim_(shim),
      model_(FindModel(shim)),
      seed_(SeedFromEnvironment()),
      where_(scenario.where) {}

void Context::Oracle(const std::string& name) { WriteEvent("oracle", {{"name", name}}); }

void Context::Check(bool holds, const std::string& contract, SourcePlace where) {
  if (!holds) {
    Find("contract", contract, where);
  }
}

void Context::Find(const std::string& kind, const std::string& message, SourcePlace where) {
  shim_.note_moment("finding", kind.c_str(), fault::kNotCounted);
  WriteEvent("finding", {{"kind", kind}, {"message", message}, {"place", where.Text()}});
  EndProcess(kExitFinding);
}

void Context::CheckUndisturbed(bool holds, const std::string& expectation, SourcePlace where) {
  if (!holds && IsDisturbed()) {
    WriteEvent("inconclusive", {{"reason", "a fault of the user's came in the way of this: " + expectation}});
    EndProcess(kExitClean);
  }
  Check(holds, expectation, where);
}

bool Context::IsDisturbed() const {
  return std::getenv("HOLDFAST_USER_FAULTS") != nullptr && shim_.faults(nullptr) > 0;
}

void Context::EndByException(const std::exception& error) {
  if (IsDisturbed()) {
    WriteEvent("inconclusive", {{"reason", std::string("a fault of the user's ended the scenario: ") + error.what()}});
    EndProcess(kExitClean);
  }
  Find("contract", std::string("an exception left the scenario: ") + error.what(), where_);
}

void Context::Skip(const std::string& reason) {
  WriteEvent("skip", {{"reason", reason}});
  EndProcess(kExitClean);
}

void Context::Count(const std::string& name, std::uint64_t value) { WriteCounter(name, value); }

bool Context::AwaitFor(std::chrono::milliseconds limit, const std::function<bool()>& condition) const {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return condition();
    }
    std::this_thread::yield();
  }
  return true;
}

void Context::CheckEventually(const std::function<bool()>& condition, const std::string& contract, SourcePlace where) {
  Check(Await(condition), contract + " (waited " + std::to_string(kDeadline.count()) + " s)", where);
}

void Context::RequireFaults(const char* site, std::uint64_t count) {
  const std::uint64_t fired = shim_.faults(site);
  if (fired < count) {
    WriteEvent("inconclusive", {{"reason", std::string(site) + ": " + std::to_string(count) + " faults had to fire, " +
                                               std::to_string(fired) + " did"}});
    EndProcess(kExitClean);
  }
}

std::jthread Context::StartThread(std::uint32_t ordinal, std::function<void()> body) {
  return std::jthread([this, ordinal, body = std::move(body)] {
    shim_.name_thread("subject", ordinal);
    try {
      body();
    } catch (const std::exception& error) {
      EndByException(error);
    }
  });
}

void Context::CheckNothingLeaked() {
  // Destructors of a launch may come after the launch, and the plan may hold them: wait for all.
  Await([this] {
    shim_.release_held();
    settle_();
    return Describe(shim_.live()).empty();
  });
  const std::string left = Describe(shim_.live());
  if (!left.empty()) {
    Find("leak", "still alive at the end of the scenario: " + left, where_);
  }
}

}  // namespace holdfast::harness
