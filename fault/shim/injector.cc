#include "fault/shim/injector.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "fault/shim/events.h"
#include "fault/shim/timeline.h"

namespace holdfast::fault {

namespace {

// "return CUDA_ERROR_OUT_OF_MEMORY", as the timeline has it.
void NoteFault(SiteId site, const Action& action) {
  if (!TimelineIsOpen()) return;
  std::array<char, 64> text{};
  const std::string_view word = ActionWord(action);
  const std::string_view result =
      action.result ? ResultNameOf(*action.result).value_or("an error") : std::string_view();
  std::snprintf(text.data(), text.size(), "%.*s%s%.*s", static_cast<int>(word.size()), word.data(),
                result.empty() ? "" : " ", static_cast<int>(result.size()), result.data());
  NoteMoment(MomentKind::kFault, SiteName(site), {.result = text.data()});
}

}  // namespace

void Injector::Install(Plan plan) {
  table_ = std::make_unique<const DecisionTable>(std::move(plan));
  announced_ = std::make_unique<std::atomic<bool>[]>(table_->step_count());
  fired_ = std::make_unique<std::atomic<std::uint64_t>[]>(table_->rule_count());
  faults_ = std::make_unique<std::atomic<std::uint64_t>[]>(AllSites().size());
}

int Injector::Visited(Thread& thread, SiteId site, std::string_view call) {
  Visit visit;
  visit.site = site;
  visit.ordinal = CountVisit(thread, site);
  // Acquire: what the announcer did before the step happens before what this visit decides.
  const Announcement announcement = announcement_.load(std::memory_order_acquire);
  visit.step = announcement.step;
  visit.ordinal_in_step = CountVisitInStep(thread, site, announcement.number);
  if (!table_->Concerns(site)) return -1;
  visit.thread = thread.name;
  visit.contexts = thread.contexts();
  const int rule = table_->Decide(visit, thread.memory);
  if (rule < 0) return -1;
  const Action& action = table_->rule(static_cast<std::size_t>(rule)).action;
  NoteFault(site, action);
  WriteFault({SiteName(site), call, visit.ordinal, thread.Text(), rule, &action});
  faults_[site].fetch_add(1, std::memory_order_relaxed);  // a count, no order
  // Release: pairs with HoldIsOver, so that whoever is released sees what this thread did before.
  fired_[rule].fetch_add(1, std::memory_order_release);
  WakeHolds();
  return rule;
}

const Action* Injector::ArmedAt(Thread& thread, SiteId site) {
  const Action* action = thread.armed.Visited(site);
  if (action == nullptr) return nullptr;
  NoteFault(site, *action);
  faults_[site].fetch_add(1, std::memory_order_relaxed);  // a count, no order
  return action;
}

bool Injector::IsOver(const std::optional<Hold>& hold, StepId step) const {
  if (!hold) return true;
  // Memory ordering: acquire, so that whoever is released sees what was done before the release.
  if (hold->rule) return fired_[*hold->rule].load(std::memory_order_acquire) != 0;
  return announced_[step].load(std::memory_order_acquire);
}

bool Injector::HoldIsOver(int rule) const {
  const auto index = static_cast<std::size_t>(rule);
  return IsOver(table_->rule(index).action.hold, table_->HoldStep(index));
}

bool Injector::UntilIsOver(int rule) const {
  const auto index = static_cast<std::size_t>(rule);
  return IsOver(table_->rule(index).action.until, table_->UntilStep(index));
}

void Injector::WakeHolds() {
  {
    // Empty on purpose: a waiter that found its hold not over is past its check only once it waits.
    const std::lock_guard lock(mutex_);
  }
  released_.notify_all();
  if (void (*waker)() = waker_.load(std::memory_order_acquire)) waker();
}

void Injector::Wait(int rule, SiteId site, bool with_delay) {
  const Action& action = table_->rule(static_cast<std::size_t>(rule)).action;
  if (action.delay_ns && with_delay) std::this_thread::sleep_for(std::chrono::nanoseconds(*action.delay_ns));
  if (action.hold) {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] { return HoldIsOver(rule); });
  }
  if (!action.abort) return;
  dprintf(STDERR_FILENO, "holdfast: rule %d of the plan ends the process at %s\n", rule,
          std::string(SiteName(site)).c_str());
  std::abort();
}

void Injector::AnnounceStep(std::string_view name) {
  NoteMoment(MomentKind::kStep, name);
  const StepId step = table_->FindStep(name);
  // Release: pairs with the acquire in Visited. A step that the plan does not name still ends the one before it.
  Announcement before = announcement_.load(std::memory_order_relaxed);  // only to build the next one from
  while (!announcement_.compare_exchange_weak(before, {step, before.number + 1}, std::memory_order_release,
                                              std::memory_order_relaxed)) {
  }
  if (step == kNoStep) return;
  announced_[step].store(true, std::memory_order_release);
  WakeHolds();
}

void Injector::WriteVisits(const Thread& thread, std::string_view step) const {
  const std::uint32_t number = announcement_.load(std::memory_order_acquire).number;
  const std::string name = thread.Text();
  for (std::size_t index = 0; index < AllSites().size(); ++index) {
    const StepCount& count = thread.visits_in_step[index];
    if (count.announcement != number || count.visits == 0) continue;
    fault::WriteVisits({AllSites()[index], count.visits, name, step});
  }
}

std::uint64_t Injector::FaultsAt(SiteId site) const {
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < AllSites().size(); ++index) {
    if (site == kEverySite || site == index) sum += faults_[index].load(std::memory_order_relaxed);
  }
  return sum;
}

Injector& TheInjector() {
  static Injector* injector = new Injector;
  return *injector;
}

}  // namespace holdfast::fault
