// The table of entry points, against the model driver and against libraries that are no driver.
#include "lib/driver/driver.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "lib/driver/status.h"

namespace holdfast::driver {
namespace {

TEST(DriverTest, ModelDriverHasEveryEntryPoint) { EXPECT_TRUE(GetDriver().Missing().empty()); }

TEST(DriverTest, CallsTheVersionThatTheHeaderDeclares) {
  int version = 0;
  EXPECT_EQ(GetDriver().cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_GE(version, 12000);
  EXPECT_STREQ(GetDriver().cuMemAlloc.name(), "cuMemAlloc");
}

TEST(DriverTest, MissingLibraryIsNamed) {
  try {
    Resolver resolver("libno-such-driver.so.1");
    FAIL() << "a library that does not exist was opened";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("libno-such-driver.so.1"), std::string::npos) << error.what();
  }
}

TEST(DriverTest, LibraryThatIsNoDriverIsRefused) { EXPECT_THROW(Resolver("libc.so.6"), std::runtime_error); }

TEST(EntryPointTest, AbsentOneAnswersNotSupported) {
  const EntryPoint<CUresult (*)(int*)> absent("cuNoSuchThing", nullptr, CUDA_ERROR_NOT_SUPPORTED);
  int value = 7;
  EXPECT_FALSE(absent.available());
  EXPECT_EQ(absent(&value), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(value, 7);
}

TEST(StatusTest, ErrorNamesCallResultAndPurpose) {
  const DriverError error("cuGraphAddHostNode", CUDA_ERROR_OUT_OF_MEMORY, "adding a host node");
  EXPECT_STREQ(error.what(), "cuGraphAddHostNode: CUDA_ERROR_OUT_OF_MEMORY (while adding a host node)");
  EXPECT_EQ(error.result(), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(error.call(), "cuGraphAddHostNode");
}

TEST(StatusTest, UnknownResultIsShownAsNumber) {
  EXPECT_EQ(ResultName(static_cast<CUresult>(12345)), "CUresult 12345");
}

TEST(StatusTest, CleanupFailuresAreCountedExceptAtDriverShutdown) {
  const std::uint64_t before = CleanupFailureCount();
  ReportCleanupFailure("cuMemFree", CUDA_SUCCESS, nullptr);
  ReportCleanupFailure("cuMemFree", CUDA_ERROR_DEINITIALIZED, nullptr);
  EXPECT_EQ(CleanupFailureCount(), before);
  ReportCleanupFailure("cuMemFree", CUDA_ERROR_NOT_PERMITTED, nullptr);
  EXPECT_EQ(CleanupFailureCount(), before + 1);
}

}  // namespace
}  // namespace holdfast::driver
