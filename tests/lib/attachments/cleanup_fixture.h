// The process's cleanup with explicit drains, and the first device's context, for tests on the model driver.
#ifndef HOLDFAST_TESTS_LIB_ATTACHMENTS_CLEANUP_FIXTURE_H_
#define HOLDFAST_TESTS_LIB_ATTACHMENTS_CLEANUP_FIXTURE_H_

#include <cuda.h>
#include <gtest/gtest.h>

#include <memory>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/cleanup/wakeups.h"
#include "lib/driver/driver.h"

namespace holdfast::attachments {

class CleanupFixture : public testing::Test {
 protected:
  static void SetUpTestSuite() { cleanup::DeferredCleanup::Process().Start(std::make_unique<cleanup::ManualWakeup>()); }

  void SetUp() override {
    CUdevice device = 0;
    ASSERT_EQ(driver::GetDriver().cuDeviceGet(&device, 0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(driver::GetDriver().cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    ASSERT_EQ(driver::GetDriver().cuCtxSetCurrent(context), CUDA_SUCCESS);
  }

  void TearDown() override {
    cleanup::DeferredCleanup::Process().Drain();
    EXPECT_FALSE(cleanup::DeferredCleanup::Process().HasWork());
  }
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_TESTS_LIB_ATTACHMENTS_CLEANUP_FIXTURE_H_
