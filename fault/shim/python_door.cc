#include "fault/shim/python_door.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>

#include "fault/shim/host.h"
#include "fault/shim/imports.h"
#include "fault/shim/pending_calls.h"

extern "C" {
// dlsym.S.
__attribute__((visibility("hidden"))) void* holdfast_dlsym(void* handle, const char* name);
__attribute__((visibility("hidden"))) void* holdfast_before_dlsym(void* handle, const char* name);
__attribute__((visibility("hidden"))) void* (*holdfast_real_dlsym)(void* handle, const char* name) = nullptr;
}

namespace holdfast::fault {
namespace {

constexpr const char* kAddPendingCall = "Py_AddPendingCall";

// Filled in once, before any import is rewritten.
std::once_flag g_opened;
std::array<Redirection, 2> g_redirections;
std::atomic<void*> g_real{nullptr};

std::atomic<std::uint64_t> g_loads_seen{0};

// Whether this thread is looking for new objects already: what it calls for that may itself look up symbols.
thread_local bool t_looking __attribute__((tls_model("initial-exec"))) = false;

void Open(void* real) {
  OpenPendingCalls(reinterpret_cast<AddPendingCall>(real));
  holdfast_real_dlsym = reinterpret_cast<void* (*)(void*, const char*)>(dlsym(RTLD_DEFAULT, "dlsym"));
  g_redirections = {
      Redirection{kAddPendingCall, real, reinterpret_cast<void*>(&PendingCallArrived)},
      Redirection{"dlsym", reinterpret_cast<void*>(holdfast_real_dlsym), reinterpret_cast<void*>(&holdfast_dlsym)},
  };
  // Memory ordering: release, so that a dlsym that finds this finds the rest.
  g_real.store(real, std::memory_order_release);
}

void LookForNewObjects() {
  const std::uint64_t loads = LoadsSoFar();
  // Memory ordering: relaxed; at worst two threads rewrite the same slots with the same value.
  if (g_loads_seen.load(std::memory_order_relaxed) == loads) return;
  // Takes the lock that a load holds to its end: the loads counted above are complete behind it.
  void* real = HostSymbol(kAddPendingCall);
  if (real == nullptr) return;  // no interpreter yet
  std::call_once(g_opened, [&] { Open(real); });
  RedirectImports(g_redirections, loads);
  g_loads_seen.store(loads, std::memory_order_relaxed);
}

}  // namespace

void GuardPythonDoor() {
  if (t_looking) return;
  t_looking = true;
  LookForNewObjects();
  t_looking = false;
}

}  // namespace holdfast::fault

void* holdfast_before_dlsym(void* handle, const char* name) {
  using namespace holdfast::fault;  // NOLINT(google-build-using-namespace): a C symbol cannot be in the namespace
  if (name == nullptr || t_looking) return nullptr;
  GuardPythonDoor();
  // An interpreter looks this up to import an extension module, with its lock held.
  if (std::string_view(name).starts_with("PyInit_")) TheHostGate().Watch();
  if (handle == RTLD_NEXT || std::strcmp(name, kAddPendingCall) != 0) return nullptr;
  // Memory ordering: acquire, see Open.
  void* real = g_real.load(std::memory_order_acquire);
  return dlsym(handle, name) == real ? reinterpret_cast<void*>(&PendingCallArrived) : nullptr;
}
