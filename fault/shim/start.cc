#include "fault/shim/start.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "fault/plan/load.h"
#include "fault/plan/words.h"
#include "fault/shim/books.h"
#include "fault/shim/captures.h"
#include "fault/shim/delivery.h"
#include "fault/shim/driver.h"
#include "fault/shim/events.h"
#include "fault/shim/host.h"
#include "fault/shim/injector.h"
#include "fault/shim/order.h"
#include "fault/shim/pending_calls.h"
#include "fault/shim/python_door.h"
#include "fault/shim/threads.h"
#include "fault/shim/timeline.h"

namespace holdfast::fault {
namespace {

thread_local bool t_starting __attribute__((tls_model("initial-exec"))) = false;

Plan LoadPlanOfEnvironment() {
  Plan plan;
  const char* path = std::getenv("HOLDFAST_PLAN");
  const char* seed = std::getenv("HOLDFAST_SEED");
  try {
    if (path != nullptr && path[0] != '\0') plan = LoadPlanFile(path);
  } catch (const PlanError& error) {
    dprintf(STDERR_FILENO, "holdfast: %s: %s\n", path, error.what());
    _exit(2);
  }
  try {
    if (!plan.seed && seed != nullptr && seed[0] != '\0') plan.seed = ParseSeed(seed, "HOLDFAST_SEED");
  } catch (const PlanError& error) {
    dprintf(STDERR_FILENO, "holdfast: %s\n", error.what());
    _exit(2);
  }
  return plan;
}

// Every lock of ours, in one order, so that none is left locked in the child.
void BeforeFork() {
  LockThreadsForFork();
  TheDelivery().LockForFork();
  ThePendingDelivery().LockForFork();
  TheHostGate().LockForFork();
  LockPendingCallsForFork();
  TheInjector().LockForFork();
  TheCaptures().LockForFork();
  TheLedger().LockForFork();
}

void AfterFork(bool child) {
  if (child) NameProcessInTimeline();
  TheLedger().UnlockAfterFork();
  TheCaptures().UnlockAfterFork();
  TheInjector().UnlockAfterFork();
  UnlockPendingCallsAfterFork(child);
  TheHostGate().UnlockAfterFork();
  ThePendingDelivery().UnlockAfterFork(child);
  TheDelivery().UnlockAfterFork(child);
  UnlockThreadsAfterFork();
}

void Start() {
  t_starting = true;
  FindOrder();
  OpenEvents();
  OpenTimeline();
  TheInjector().Install(LoadPlanOfEnvironment());
  TheLedger();
  TheDelivery();
  ThePendingDelivery();
  TheHostGate();
  TheInjector().SetWaker([] {
    TheDelivery().Wake();
    ThePendingDelivery().Wake();
    WakePendingCalls();
  });
  LoadDriver();
  pthread_atfork(
      &BeforeFork, [] { AfterFork(/*child=*/false); }, [] { AfterFork(/*child=*/true); });
  t_starting = false;
}

__attribute__((constructor)) void StartWithTheLibrary() {
  EnsureStarted();
  GuardPythonDoor();
}

__attribute__((destructor)) void EndWithTheProcess() { WritePendingCallCounters(); }

}  // namespace

bool EnsureStarted() {
  if (t_starting) return false;
  static std::once_flag once;
  std::call_once(once, &Start);
  return true;
}

}  // namespace holdfast::fault
