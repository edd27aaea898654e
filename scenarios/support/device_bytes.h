// Bytes in device memory, put there so that work on every stream finds them.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_DEVICE_BYTES_H_
#define HOLDFAST_SCENARIOS_SUPPORT_DEVICE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/handles/resources.h"

namespace holdfast::scenarios {

using Bytes = std::vector<std::uint8_t>;

// REQUIRES: as many bytes as the memory has, or fewer.
void WriteBytes(const DeviceMemoryHandle& memory, const Bytes& bytes);

DeviceMemoryHandle AllocateWith(const Bytes& bytes);
DeviceMemoryHandle AllocateZeroed(std::size_t size_bytes);

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_DEVICE_BYTES_H_
