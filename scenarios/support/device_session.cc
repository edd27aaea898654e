#include "scenarios/support/device_session.h"

#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "scenarios/support/cleanup_context.h"

namespace holdfast::scenarios {

using driver::Check;
using driver::GetDriver;

DeviceSession::DeviceSession(const harness::Context& context) : scenario_(context) {
  Check("cuDeviceGet", GetDriver().cuDeviceGet(&device_, 0), "finding the first device");
  Check("cuDevicePrimaryCtxRetain", GetDriver().cuDevicePrimaryCtxRetain(&context_, device_), "starting the device");
  MakeCurrent();
  stream_ = Stream::Create();
}

DeviceSession::~DeviceSession() {
  driver::ReportCleanupFailure("cuStreamSynchronize", GetDriver().cuStreamSynchronize(stream_->raw()), stream_->raw());
  SettleAll(scenario_);
  stream_ = nullptr;
  driver::ReportCleanupFailure("cuDevicePrimaryCtxRelease", GetDriver().cuDevicePrimaryCtxRelease(device_), context_);
}

void DeviceSession::MakeCurrent() const {
  Check("cuCtxSetCurrent", GetDriver().cuCtxSetCurrent(context_), "making the context current");
}

std::vector<std::uint8_t> DeviceSession::Read(const DeviceMemoryHandle& memory) {
  std::vector<std::uint8_t> bytes(memory->size_bytes());
  Check("cuMemcpyDtoH", GetDriver().cuMemcpyDtoH(bytes.data(), memory->address(), bytes.size()), "reading memory back");
  return bytes;
}

}  // namespace holdfast::scenarios
