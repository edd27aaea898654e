// Where destructors of user objects run, and the driver's internal thread.
//
// Destructors that become due inside a driver call are delivered as the knob says (model/control.h, Delivery). Those
// that become due at the end of a launch are run by the internal thread, after the stream has been reported idle. The
// launch's references themselves go before that: whoever waited for the stream finds them gone, so that what happens
// next on which thread does not depend on timing.
#ifndef HOLDFAST_FAULT_MODEL_DELIVERY_H_
#define HOLDFAST_FAULT_MODEL_DELIVERY_H_

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace holdfast::fault::model {

// A destructor that is due, and its argument.
struct DueDestructor {
  CUhostFn function;
  void* payload;
};

// Runs `due` now, or hands it on, as the knob says.
// REQUIRES: the caller holds no lock of the model; the destructor may be any code.
void Deliver(const DueDestructor& due);

// While one exists, what becomes due on its thread is put into `due` in place of being delivered.
class DueCollector {
 public:
  explicit DueCollector(std::vector<DueDestructor>* due);
  ~DueCollector();
  DueCollector(const DueCollector&) = delete;
  DueCollector& operator=(const DueCollector&) = delete;
};

// Releases what Delivery::kHeld keeps back.
void ReleaseHeld();

// Runs `job` on the internal thread, in order. It may run destructors.
void RunOnInternalThread(std::function<void()> job);

// A launch is in flight from LaunchBegins to LaunchEnds; `last` then runs on the internal thread.
void LaunchBegins();
void LaunchEnds(std::function<void()> last);
std::uint64_t LaunchesInFlight();

// Returns once no launch is in flight and the internal thread has nothing to do. What is held stays held.
void Quiesce();

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_DELIVERY_H_
