#include "scenarios/support/host_session.h"

#include <memory>
#include <utility>

#include "lib/cleanup/wakeups.h"
#include "scenarios/support/cleanup_context.h"

namespace holdfast::scenarios {
namespace {

// Where the plain function finds the host.
std::atomic<HostSession*> current{nullptr};

}  // namespace

HostSession::HostSession(harness::Context& context, int minor_version, std::function<void()> before_add,
                         const cleanup::CleanupOptions& options)
    : context_(context),
      before_add_(std::move(before_add)),
      host_({.minor_version = minor_version, .decide = [this](const char* site) { return Decide(site); }}) {
  current = this;
  StartCleanup(context, std::make_unique<cleanup::PendingCallWakeup>(&AddPendingCall), options);
}

HostSession::~HostSession() {
  ShutdownCleanup();
  current = nullptr;
}

void HostSession::Finalize() {
  host_.BeginFinalization(false);
  host_.FinishFinalization();
}

int HostSession::AddPendingCall(int (*call)(void*), void* argument) {
  HostSession& session = *current.load();
  const int answer = session.host_.AddPendingCall(call, argument);
  if (answer == 0) {
    session.context_.shim().note_moment("pending-call", "Py_AddPendingCall",
                                        static_cast<std::uint32_t>(session.host_.outstanding()));
  }
  return answer;
}

fault::SiteDecision HostSession::Decide(const char* site) {
  if (before_add_) {
    before_add_();
  }
  late_calls_ += host_.phase() == fault::HostPhase::kFinalized ? 1 : 0;
  return context_.shim().decide(site);
}

}  // namespace holdfast::scenarios
