#include "fault/shim/injector.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "fault/shim/events.h"

namespace holdfast::fault {

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
  if (!table_->Concerns(site)) return -1;
  visit.thread = thread.name;
  visit.contexts = thread.contexts();
  // Acquire: what the announcer did before the step happens before what this visit decides.
  visit.step = step_.load(std::memory_order_acquire);
  const int rule = table_->Decide(visit, thread.memory);
  if (rule < 0) return -1;
  const Action& action = table_->rule(static_cast<std::size_t>(rule)).action;
  WriteFault({SiteName(site), call, visit.ordinal, thread.Text(), rule, &action});
  faults_[site].fetch_add(1, std::memory_order_relaxed);  // a count, no order
  // Release: pairs with HoldIsOver, so that whoever is released sees what this thread did before.
  fired_[rule].fetch_add(1, std::memory_order_release);
  WakeHolds();
  return rule;
}

bool Injector::HoldIsOver(int rule) const {
  const std::optional<Hold>& hold = table_->rule(static_cast<std::size_t>(rule)).action.hold;
  if (!hold) return true;
  if (hold->rule) return fired_[*hold->rule].load(std::memory_order_acquire) != 0;
  return announced_[table_->HoldStep(static_cast<std::size_t>(rule))].load(std::memory_order_acquire);
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
  const StepId step = table_->FindStep(name);
  // Release: pairs with the acquire in Visited. A step that the plan does not name still ends the one before it.
  step_.store(step, std::memory_order_release);
  if (step == kNoStep) return;
  announced_[step].store(true, std::memory_order_release);
  WakeHolds();
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
