#include "fault/shim/subject.h"

#include <atomic>

#include "fault/shim/driver.h"
#include "fault/shim/events.h"

namespace holdfast::fault {
namespace {

// Asks the driver itself, so that no plan can fail it.
template <typename... Arguments>
bool Ask(Entry entry, Arguments... arguments) {
  const auto function = reinterpret_cast<CUresult(CUDAAPI*)(Arguments...)>(DriverFunction(entry));
  return function != nullptr && function(arguments...) == CUDA_SUCCESS;
}

}  // namespace

void AnnounceSubject() {
  static std::atomic<bool> announced{false};
  if (announced.exchange(true, std::memory_order_relaxed)) return;  // the exchange alone decides who writes
  int version = 0;
  CUdevice device = 0;
  char name[128] = "";
  Ask<int*>(Entry::cuDriverGetVersion, &version);
  if (Ask<CUdevice*, int>(Entry::cuDeviceGet, &device, 0)) {
    Ask<char*, int, CUdevice>(Entry::cuDeviceGetName, name, sizeof(name), device);
  }
  WriteSubject(version, DriverIsModel(), name);
}

}  // namespace holdfast::fault
