// The cleanup context as a scenario sees it: wakeups that say when a drain is running, and the one way to let
// everything settle.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_CLEANUP_CONTEXT_H_
#define HOLDFAST_SCENARIOS_SUPPORT_CLEANUP_CONTEXT_H_

#include <memory>

#include "harness/scenario/context.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/cleanup/wakeup.h"

namespace holdfast::scenarios {

// Whether the calling thread is inside a drain: the only place where owners may be released.
bool InsideCleanup() noexcept;

// For the report's timeline: an owner is being released.
void NoteRelease(const char* name) noexcept;

// Starts the process's cleanup with `wakeup`, whose drains InsideCleanup then knows of. What is queued at the end of
// the scenario is drained before anything counts as leaked.
void StartCleanup(harness::Context& context, std::unique_ptr<cleanup::Wakeup> wakeup,
                  const cleanup::CleanupOptions& options = {});

// With drains only where the scenario calls DrainNow: what happens when is then exact.
void StartManualCleanup(harness::Context& context);

// With the worker thread.
void StartWorkerCleanup(harness::Context& context);

void DrainNow() noexcept;

// Shuts the process's cleanup down; its last drains count as cleanup.
bool ShutdownCleanup() noexcept;

// Lets the destructors that the plan holds go, waits for those under way, and drains. What is free must then be
// released. Destructors that the driver delivers at the end of a launch may come later still: see Context::Await.
void Settle(const harness::Context& context) noexcept;

// The same for a time when no launch is in flight, with the destructors that a model driver still has to deliver on its
// own thread. A real driver cannot be asked.
void SettleIdle(const harness::Context& context) noexcept;

// Settles until everything that was enqueued has been released, by whichever thread drains.
void SettleAll(const harness::Context& context);

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_CLEANUP_CONTEXT_H_
