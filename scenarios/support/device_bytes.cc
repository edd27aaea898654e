#include "scenarios/support/device_bytes.h"

#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::scenarios {

using driver::Check;
using driver::GetDriver;

void WriteBytes(const DeviceMemoryHandle& memory, const Bytes& bytes) {
  Check("cuMemcpyHtoD", GetDriver().cuMemcpyHtoD(memory->address(), bytes.data(), bytes.size()), "writing memory");
  // The call may return before the last bytes have arrived, and a stream that does not wait for the null stream would
  // overtake them.
  Check("cuStreamSynchronize", GetDriver().cuStreamSynchronize(nullptr), "waiting for what was written");
}

DeviceMemoryHandle AllocateWith(const Bytes& bytes) {
  DeviceMemoryHandle memory = DeviceMemory::Allocate(bytes.size());
  WriteBytes(memory, bytes);
  return memory;
}

DeviceMemoryHandle AllocateZeroed(std::size_t size_bytes) { return AllocateWith(Bytes(size_bytes)); }

}  // namespace holdfast::scenarios
