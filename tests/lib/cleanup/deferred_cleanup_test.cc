// The cleanup of a process over several hosts: each payload goes to the host under which it was made, or to nobody.
//
// Method: one thread, a wakeup that counts, payloads handed over as a driver callback would.
#include "lib/cleanup/deferred_cleanup.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "lib/cleanup/wakeups.h"

namespace holdfast::cleanup {
namespace {

// Says when it is released.
struct CountedPayload : private Payload {
  explicit CountedPayload(int* releases) noexcept : Payload(&Release), releases_(releases) {}

  void* AsPayload() noexcept { return static_cast<Payload*>(this); }

 private:
  static void Release(Item* item) noexcept {
    auto* const self = static_cast<CountedPayload*>(item);
    ++*self->releases_;
    delete self;
  }

  int* const releases_;
};

DeferredCleanup& Process() { return DeferredCleanup::Process(); }

void* MakePayload(int* releases) { return (new CountedPayload(releases))->AsPayload(); }

class DeferredCleanupTest : public testing::Test {
 protected:
  DeferredCleanupTest() { Process().Start(std::make_unique<ManualWakeup>()); }
  ~DeferredCleanupTest() override { Process().Shutdown(); }

  int releases_ = 0;
};

TEST_F(DeferredCleanupTest, APayloadIsReleasedByADrain) {
  DeferredCleanup::OnUserObjectDestroyed(MakePayload(&releases_));
  EXPECT_EQ(releases_, 0);
  EXPECT_TRUE(Process().HasWork());
  Process().Drain();
  EXPECT_EQ(releases_, 1);
  EXPECT_FALSE(Process().HasWork());
}

TEST_F(DeferredCleanupTest, IsStartedOnceAHost) {
  EXPECT_TRUE(Process().IsRunning());
  EXPECT_THROW(Process().Start(std::make_unique<ManualWakeup>()), std::logic_error);
  EXPECT_THROW(Process().Start(nullptr), std::invalid_argument);
}

// Covers: SH-02
TEST_F(DeferredCleanupTest, APayloadOfAHostThatIsGoneNeverReachesTheNext) {
  void* const old = MakePayload(&releases_);
  ASSERT_TRUE(Process().Shutdown());
  EXPECT_FALSE(Process().IsRunning());
  Process().Start(std::make_unique<ManualWakeup>());
  DeferredCleanup::OnUserObjectDestroyed(old);
  DeferredCleanup::OnUserObjectDestroyed(MakePayload(&releases_));
  Process().Drain();
  EXPECT_EQ(releases_, 1) << "the new host's alone";
  EXPECT_EQ(Process().Counters().enqueued, 1u);
}

TEST_F(DeferredCleanupTest, AForkedChildLeavesWhatItInherited) {
  void* const alive = MakePayload(&releases_);
  DeferredCleanup::OnUserObjectDestroyed(MakePayload(&releases_));
  Process().AbandonInForkedChild();
  Process().Drain();
  DeferredCleanup::OnUserObjectDestroyed(alive);
  EXPECT_EQ(releases_, 0);
  EXPECT_FALSE(Process().Shutdown()) << "there is nothing of its own to shut down";

  Process().Start(std::make_unique<ManualWakeup>());
  DeferredCleanup::OnUserObjectDestroyed(MakePayload(&releases_));
  Process().Drain();
  EXPECT_EQ(releases_, 1);
}

}  // namespace
}  // namespace holdfast::cleanup
