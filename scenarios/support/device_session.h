// DeviceSession: the first device with its primary context current and a stream, for the length of a scenario.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_DEVICE_SESSION_H_
#define HOLDFAST_SCENARIOS_SUPPORT_DEVICE_SESSION_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/scenario/context.h"
#include "lib/handles/resources.h"

namespace holdfast::scenarios {

class DeviceSession {
 public:
  explicit DeviceSession(const harness::Context& context);

  // Waits for the stream and settles first: what is in flight, and what the cleanup still has, needs the device.
  ~DeviceSession();
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  const StreamHandle& stream() const noexcept { return stream_; }

  // For threads of the scenario.
  void MakeCurrent() const;

  // Waits for the copy.
  static std::vector<std::uint8_t> Read(const DeviceMemoryHandle& memory);

 private:
  const harness::Context& scenario_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  StreamHandle stream_;
};

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_DEVICE_SESSION_H_
