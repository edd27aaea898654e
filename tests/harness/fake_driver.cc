// A CUDA driver library with nothing behind it, for tests of how the command looks for a driver. What it does is in
// FAKE_DRIVER: "works" (two devices), "no-device", "refuses" (cuInit fails) or "crashes".
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int kSuccess = 0;
constexpr int kErrorNoDevice = 100;

std::string_view Behaviour() {
  const char* behaviour = std::getenv("FAKE_DRIVER");
  return behaviour != nullptr ? behaviour : "works";
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (Behaviour() == "crashes") {
    std::abort();
  }
  return Behaviour() == "refuses" ? kErrorNoDevice : kSuccess;
}

int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_NO_DEVICE";
  return kSuccess;
}

int cuDriverGetVersion(int* version) {
  *version = 13010;
  return kSuccess;
}

int cuDeviceGetCount(int* count) {
  *count = Behaviour() == "no-device" ? 0 : 2;
  return kSuccess;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}

int cuDeviceGetName(char* name, int size, int device) {
  std::strncpy(name, device == 0 ? "Fake A" : "Fake B", static_cast<std::size_t>(size));
  return kSuccess;
}

}  // extern "C"
