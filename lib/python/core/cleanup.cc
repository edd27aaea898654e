// The deferred cleanup: what a program may say to it, and its counters.
#include <string>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/python/core/bindings.h"
#include "lib/python/core/life.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

using cleanup::DeferredCleanup;

py::dict Counters() {
  const cleanup::CleanupCounters counters = DeferredCleanup::Process().Counters();
  py::dict result;
  result["enqueued"] = counters.enqueued;
  result["released"] = counters.released;
  result["leaked_at_shutdown"] = counters.leaked_at_shutdown;
  result["wakeups_requested"] = counters.wakeups_requested;
  result["wakeups_refused"] = counters.wakeups_refused;
  result["wakeups_run"] = counters.wakeups_run;
  result["drains"] = counters.drains;
  result["queue_length_peak"] = counters.queue_length_peak;
  result["released_directly"] = DeferredCleanup::Process().ReleasedDirectly();
  result["python_owners_leaked"] = Life::Present().owners_leaked();
  result["callbacks_skipped"] = Life::Present().callbacks_skipped();
  return result;
}

}  // namespace

void BindCleanup(py::module_& module) {
  module.def(
      "configure", [](const std::string& wakeup) { Life::Present().ChooseWakeup(wakeup); }, py::arg("wakeup"));
  module.def(
      "drain", [] { DeferredCleanup::Process().Drain(); }, WithoutGil());
  module.def("counters", &Counters);
  module.def("has_work", [] { return DeferredCleanup::Process().HasWork(); });
}

}  // namespace holdfast::python
