#include "tests/lib/graph/device_test.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "fault/shim/control.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/cleanup/wakeups.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast {
namespace {

using cleanup::DeferredCleanup;
using driver::Check;
using driver::GetDriver;

constexpr char kAddOneImage[] = R"(.version 7.0
.target sm_52
.address_size 64

.visible .entry add_one(.param .u64 memory, .param .u32 size_bytes)
{
  ret;
}
)";

void AddOne(void** parameters, const fault::LaunchShape&) {
  auto* memory = *static_cast<std::uint8_t**>(parameters[0]);
  const std::uint32_t size_bytes = *static_cast<std::uint32_t*>(parameters[1]);
  for (std::uint32_t i = 0; i < size_bytes; ++i) {
    ++memory[i];
  }
}

// The shim, loaded with the model driver below it. Whoever asks for libcuda.so.1 later gets the same.
const fault::ShimControl* LoadShim() {
  char* model = realpath("fault/model/libcuda.so.1", nullptr);
  if (model == nullptr) {
    throw std::runtime_error("run the test where fault/model/libcuda.so.1 is");
  }
  setenv("HOLDFAST_DRIVER", model, 1);
  std::free(model);
  void* shim = dlopen("./fault/shim/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* control = shim == nullptr ? nullptr : dlsym(shim, "holdfast_shim_control");
  if (control == nullptr) {
    throw std::runtime_error("run the test where fault/shim/libcuda.so.1 is: " + std::string(dlerror()));
  }
  return reinterpret_cast<fault::ShimControlFunction>(control)();
}

const fault::ShimControl& Shim() {
  static const fault::ShimControl* const shim = LoadShim();
  return *shim;
}

const fault::ModelControl& Model() {
  static void* const control = Shim().driver_symbol("holdfast_model_control");
  return *reinterpret_cast<fault::ModelControlFunction>(control)();
}

}  // namespace

Faults::Faults(std::initializer_list<Fault> faults) : count_(faults.size()) {
  for (const Fault& fault : faults) {
    if (!Shim().arm({fault.site, fault.nth, fault.persistent, fault.after, fault.result})) {
      throw std::invalid_argument(std::string(fault.site) + " cannot fail that way");
    }
  }
}

Faults::~Faults() { EXPECT_GE(Shim().disarm(), count_) << "not every fault fired"; }

void DeviceTest::SetUpTestSuite() {
  Shim();
  DeferredCleanup::Process().Start(std::make_unique<cleanup::ManualWakeup>());
}

void DeviceTest::SetUp() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  Check("cuDeviceGet", GetDriver().cuDeviceGet(&device, 0), "finding the device");
  Check("cuDevicePrimaryCtxRetain", GetDriver().cuDevicePrimaryCtxRetain(&context, device), "starting the device");
  Check("cuCtxSetCurrent", GetDriver().cuCtxSetCurrent(context), "making the context current");
  before_ = Live();
  findings_before_ = Shim().findings();
  cleanup_failures_before_ = driver::CleanupFailureCount();
}

void DeviceTest::TearDown() {
  Settle();
  const fault::ModelObjects after = Live();
  EXPECT_EQ(after.user_objects, before_.user_objects);
  EXPECT_EQ(after.graphs, before_.graphs);
  EXPECT_EQ(after.executables, before_.executables);
  EXPECT_EQ(after.streams, before_.streams);
  EXPECT_EQ(after.events, before_.events);
  EXPECT_EQ(after.allocations, before_.allocations);
  EXPECT_EQ(Shim().findings(), findings_before_);
  EXPECT_EQ(driver::CleanupFailureCount() - cleanup_failures_before_, expected_cleanup_failures_);
  EXPECT_FALSE(DeferredCleanup::Process().HasWork());
}

void DeviceTest::Settle() {
  Model().quiesce();
  while (DeferredCleanup::Process().HasWork()) {
    DeferredCleanup::Process().Drain();
  }
}

fault::ModelObjects DeviceTest::Live() { return Model().live(); }

std::uint64_t DeviceTest::CallsOf(const char* site) { return Shim().calls(site); }

KernelHandle DeviceTest::LoadAddOneKernel() {
  Model().register_kernel("add_one", &AddOne);
  return Kernel::Find(Library::Load(kAddOneImage), "add_one");
}

std::vector<std::uint8_t> DeviceTest::Read(const DeviceMemoryHandle& memory) {
  std::vector<std::uint8_t> bytes(memory->size_bytes());
  Check("cuMemcpyDtoH", GetDriver().cuMemcpyDtoH(bytes.data(), memory->address(), bytes.size()), "reading back");
  return bytes;
}

}  // namespace holdfast
