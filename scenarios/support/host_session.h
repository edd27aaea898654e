// HostSession: a model of a host whose pending calls drive the cleanup, for the length of a scenario.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_HOST_SESSION_H_
#define HOLDFAST_SCENARIOS_SUPPORT_HOST_SESSION_H_

#include <memory>
#include <utility>

#include "fault/host/host_model.h"
#include "harness/scenario/context.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/cleanup/wakeups.h"
#include "scenarios/support/cleanup_context.h"

namespace holdfast::scenarios {

class HostSession {
 public:
  HostSession(const harness::Context& context, fault::HostVersion version, fault::HostModel::BeforeAdd before_add = {})
      : host_(
            version, [&context] { return context.shim().decide("Py_AddPendingCall"); }, std::move(before_add)) {
    StartCleanup(std::make_unique<cleanup::PendingCallWakeup>(&fault::HostModel::AddPendingCall));
  }

  // In the order that the library asks for: its shutdown first, the host afterwards.
  ~HostSession() { cleanup::DeferredCleanup::Process().Shutdown(); }
  HostSession(const HostSession&) = delete;
  HostSession& operator=(const HostSession&) = delete;

  fault::HostModel& host() noexcept { return host_; }

 private:
  fault::HostModel host_;
};

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_HOST_SESSION_H_
