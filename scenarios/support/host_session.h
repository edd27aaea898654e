// HostSession: a model of a host whose pending calls drive the cleanup, for the length of a scenario.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_HOST_SESSION_H_
#define HOLDFAST_SCENARIOS_SUPPORT_HOST_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "fault/host/host_model.h"
#include "harness/scenario/context.h"
#include "lib/cleanup/deferred_cleanup.h"

namespace holdfast::scenarios {

// One at a time, like the interpreter of a process. The plan's rules for Py_AddPendingCall act on it.
class HostSession {
 public:
  // Starts the cleanup with the host's pending calls as its wakeup. `before_add` runs in each thread that adds a call,
  // when it has passed all checks of its own and before the host is touched. REQUIRES: the calling thread is the host's
  // main thread.
  HostSession(harness::Context& context, int minor_version, std::function<void()> before_add = {},
              const cleanup::CleanupOptions& options = {});

  // In the order that the library asks for: its shutdown first, the host afterwards.
  ~HostSession();
  HostSession(const HostSession&) = delete;
  HostSession& operator=(const HostSession&) = delete;

  fault::HostModel& host() noexcept { return host_; }

  // Finalizes the host at once; what is queued is lost.
  void Finalize();

  // Calls that reached the host when it was finalized. Up to 3.12 each is a crash (fact P3).
  std::uint64_t late_calls() const noexcept { return late_calls_; }

 private:
  // The signature of Py_AddPendingCall.
  static int AddPendingCall(int (*call)(void*), void* argument);

  fault::SiteDecision Decide(const char* site);

  const harness::Context& context_;
  const std::function<void()> before_add_;
  std::atomic<std::uint64_t> late_calls_{0};
  fault::HostModel host_;
};

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_HOST_SESSION_H_
