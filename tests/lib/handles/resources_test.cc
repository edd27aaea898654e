// Typed handles against the model driver: what is read back as a raw value is found again, and arrays go in their own
// context.
#include "lib/handles/resources.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "fault/model/control.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast {
namespace {

using driver::GetDriver;

constexpr char kImage[] = R"(.version 7.0
.target sm_52
.address_size 64
.visible .entry first() { ret; }
.visible .entry second() { ret; }
)";

void Nothing(void**, const fault::LaunchShape&) {}

const fault::ModelControl& Model() {
  GetDriver();
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* const control = dlsym(library, "holdfast_model_control");
  return *reinterpret_cast<fault::ModelControlFunction>(control)();
}

class ResourcesTest : public testing::Test {
 protected:
  void SetUp() override {
    CUdevice device = 0;
    ASSERT_EQ(GetDriver().cuDeviceGet(&device, 0), CUDA_SUCCESS);
    ASSERT_EQ(GetDriver().cuDevicePrimaryCtxRetain(&context_, device), CUDA_SUCCESS);
    ASSERT_EQ(GetDriver().cuCtxSetCurrent(context_), CUDA_SUCCESS);
    Model().register_kernel("first", &Nothing);
    Model().register_kernel("second", &Nothing);
  }

  CUcontext context_ = nullptr;
};

// Covers: IH-12
TEST_F(ResourcesTest, AKernelIsFoundByItsRawValueWhileAHandleLives) {
  KernelHandle kernel = Kernel::Find(Library::Load(kImage), "first");
  const CUkernel raw = kernel->raw();
  EXPECT_EQ(Kernel::Find(raw), kernel);
  EXPECT_EQ(Kernel::Find(kernel->library(), "first"), kernel);
  EXPECT_NE(Kernel::Find(kernel->library(), "second"), kernel);
  EXPECT_NE(Kernel::Find(Library::Load(kImage), "first"), kernel) << "another library's";
  kernel = nullptr;
  EXPECT_EQ(Kernel::Find(raw), nullptr);
  EXPECT_EQ(Kernel::Find(CUkernel{nullptr}), nullptr);
  EXPECT_THROW(Kernel::Find(LibraryHandle(), "first"), std::invalid_argument);
}

// Covers: IH-12
TEST_F(ResourcesTest, AnEventIsFoundByItsRawValueWhileAHandleLives) {
  EventHandle event = Event::Create();
  const CUevent raw = event->raw();
  EXPECT_EQ(Event::Find(raw), event);
  event = nullptr;
  EXPECT_EQ(Event::Find(raw), nullptr);
  const EventHandle next = Event::Create();
  EXPECT_EQ(Event::Find(next->raw()), next);
  EXPECT_EQ(Event::Find(nullptr), nullptr);
}

TEST_F(ResourcesTest, AnArrayIsDestroyedOnAThreadWithoutAContext) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  descriptor.Width = 16;
  descriptor.Height = 4;
  descriptor.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  descriptor.NumChannels = 1;
  const std::uint64_t failures = driver::CleanupFailureCount();
  ArrayHandle array = Array::Create(descriptor);
  EXPECT_NE(array->raw(), nullptr);
  EXPECT_EQ(array->descriptor().Height, 4u);
  ASSERT_EQ(GetDriver().cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  array = nullptr;
  EXPECT_EQ(driver::CleanupFailureCount(), failures);
  CUcontext current = context_;
  ASSERT_EQ(GetDriver().cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
  ASSERT_EQ(GetDriver().cuCtxSetCurrent(context_), CUDA_SUCCESS);
  descriptor.Width = 0;
  EXPECT_THROW(Array::Create(descriptor), driver::DriverError);
}

}  // namespace
}  // namespace holdfast
