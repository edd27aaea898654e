#include "tests/benchmark/model_device.h"

#include <memory>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/cleanup/wakeups.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::benchmarks {
namespace {

bool Start() {
  const driver::Driver& driver = driver::GetDriver();
  CUdevice device = 0;
  driver::Check("cuDeviceGet", driver.cuDeviceGet(&device, 0), "starting a benchmark");
  CUcontext context = nullptr;
  driver::Check("cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain(&context, device), "starting a benchmark");
  driver::Check("cuCtxSetCurrent", driver.cuCtxSetCurrent(context), "starting a benchmark");
  cleanup::DeferredCleanup::Process().Start(std::make_unique<cleanup::ManualWakeup>());
  return true;
}

}  // namespace

void StartOnce() { [[maybe_unused]] static const bool started = Start(); }

}  // namespace holdfast::benchmarks
