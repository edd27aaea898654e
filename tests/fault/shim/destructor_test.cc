// Destructors under a plan: where, when and in which order they run, and what they may not do. Each case is a process.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/fault/shim/subject_process.h"

namespace holdfast::fault {
namespace {

// What the destructors of one process did.
struct Journal {
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::thread::id> threads;
};
Journal g_journal;

void Note(void* payload) {
  const std::lock_guard lock(g_journal.mutex);
  g_journal.order.push_back(static_cast<int>(reinterpret_cast<std::intptr_t>(payload)));
  g_journal.threads.push_back(std::this_thread::get_id());
}

std::vector<int> Order() {
  const std::lock_guard lock(g_journal.mutex);
  return g_journal.order;
}

// Creates and releases an object whose destructor notes `number`.
void Retire(LoadedShim& shim, int number) {
  CUuserObject object = nullptr;
  void* payload = reinterpret_cast<void*>(static_cast<std::intptr_t>(number));
  ASSERT_EQ(CALL(shim, cuUserObjectCreate)(&object, payload, &Note, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  ASSERT_EQ(CALL(shim, cuUserObjectRelease)(object, 1), CUDA_SUCCESS);
}

using Numbers = std::vector<int>;

TEST(Destructor, RunsWhereTheDriverCallsIt) {
  RunGoodSubject({}, [](LoadedShim& shim) {
    Retire(shim, 1);
    EXPECT_EQ(Order(), Numbers({1}));
    EXPECT_EQ(g_journal.threads[0], std::this_thread::get_id());
    EXPECT_EQ(shim.control().live().user_objects, 0U);
  });
}

TEST(Destructor, IsNotTakenByADriverThatRefuses) {
  RunGoodSubject({}, [](LoadedShim& shim) {
    CUuserObject object = nullptr;
    EXPECT_EQ(CALL(shim, cuUserObjectCreate)(&object, nullptr, &Note, 0, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(CALL(shim, cuUserObjectCreate)(&object, nullptr, nullptr, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(shim.control().live().user_objects, 0U);
  });
}

TEST(Destructor, RunsOnAThreadOfOurs) {
  const ProcessResult result = RunGoodSubject({"destructor:deliver=thread"}, [](LoadedShim& shim) {
    for (int number = 1; number <= 3; ++number) Retire(shim, number);
    shim.control().quiesce();
    EXPECT_EQ(Order(), Numbers({1, 2, 3}));
    for (const std::thread::id& thread : g_journal.threads) EXPECT_NE(thread, std::this_thread::get_id());
    EXPECT_EQ(shim.control().live().user_objects, 0U);
  });
  EXPECT_EQ(result.Count({R"("site":"destructor")", R"("action":"deliver")", R"("thread":"main")"}), 3);
}

TEST(Destructor, RunsNewestFirst) {
  RunGoodSubject({"destructor:deliver=thread,order=lifo,hold=step:go"}, [](LoadedShim& shim) {
    for (int number = 1; number <= 4; ++number) Retire(shim, number);
    EXPECT_EQ(Order(), Numbers());
    shim.control().announce_step("go");
    shim.control().quiesce();
    EXPECT_EQ(Order(), Numbers({4, 3, 2, 1}));
  });
}

TEST(Destructor, RunsLateOnAThreadOfOurs) {
  RunGoodSubject({"destructor:deliver=thread,delay=30ms"}, [](LoadedShim& shim) {
    const auto start = std::chrono::steady_clock::now();
    Retire(shim, 1);
    shim.control().quiesce();
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
    EXPECT_EQ(Order(), Numbers({1}));
  });
}

TEST(Destructor, IsHeldUntilReleased) {
  RunGoodSubject({"destructor:first=2,deliver=held"}, [](LoadedShim& shim) {
    for (int number = 1; number <= 3; ++number) Retire(shim, number);
    shim.control().quiesce();
    EXPECT_EQ(Order(), Numbers({3}));
    EXPECT_EQ(shim.control().live().user_objects, 2U);
    shim.control().release_held();
    EXPECT_EQ(Order(), Numbers({3, 1, 2}));
    EXPECT_EQ(shim.control().live().user_objects, 0U);
  });
}

TEST(Destructor, IsHeldUntilAStep) {
  RunGoodSubject({"destructor:nth=1,deliver=thread,hold=step:go"}, [](LoadedShim& shim) {
    Retire(shim, 1);
    Retire(shim, 2);
    shim.control().quiesce();
    EXPECT_EQ(Order(), Numbers({2}));
    shim.control().announce_step("go");
    shim.control().quiesce();
    EXPECT_EQ(Order(), Numbers({2, 1}));
  });
}

TEST(Destructor, IsDropped) {
  RunGoodSubject({"destructor:nth=1,drop"}, [](LoadedShim& shim) {
    Retire(shim, 1);
    Retire(shim, 2);
    EXPECT_EQ(Order(), Numbers({2}));
    EXPECT_EQ(shim.control().live().user_objects, 1U);
  });
}

TEST(Destructor, IsLateInline) {
  RunGoodSubject({"destructor:delay=30ms"}, [](LoadedShim& shim) {
    const auto start = std::chrono::steady_clock::now();
    Retire(shim, 1);
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
    EXPECT_EQ(g_journal.threads[0], std::this_thread::get_id());
  });
}

TEST(Destructor, NamesTheThreadItIsFirstSeenOn) {
  const ProcessResult result = RunGoodSubject({"destructor:delay=1us"}, [](LoadedShim& shim) {
    CUuserObject object = nullptr;
    CALL(shim, cuUserObjectCreate)(&object, nullptr, &Note, 1, 1);
    // A thread that comes to the driver behind the shim's back, as the driver's own do.
    const auto release =
        reinterpret_cast<decltype(&cuUserObjectRelease)>(shim.control().driver_symbol("cuUserObjectRelease"));
    std::thread(release, object, 1).join();
    Retire(shim, 2);
  });
  EXPECT_EQ(result.Count({R"("thread":"callback-0")", R"("ordinal":1)"}), 1);
  EXPECT_EQ(result.Count({R"("thread":"main")", R"("ordinal":1)"}), 1);
}

LoadedShim* g_shim = nullptr;

void CallTheDriver(void*) {
  EXPECT_EQ(CALL(*g_shim, cuMemFree_v2)(8), CUDA_SUCCESS);
  EXPECT_EQ(g_shim->control().calls("cuMemFree"), 1U);
  EXPECT_FALSE(g_shim->control().decide("alloc").fires);  // the subject's again, in the middle of a driver call
  EXPECT_TRUE(g_shim->control().decide("alloc").fails);
}

TEST(Destructor, MayNotCallTheDriver) {
  const ProcessResult result = RunGoodSubject({"alloc:nth=2,while=callback,fail"}, [](LoadedShim& shim) {
    g_shim = &shim;
    CUuserObject object = nullptr;
    CALL(shim, cuUserObjectCreate)(&object, nullptr, &CallTheDriver, 1, 1);
    CALL(shim, cuUserObjectRelease)(object, 1);
    EXPECT_EQ(shim.DriverCalls("cuMemFree_v2"), 1);  // forwarded all the same
    CALL(shim, cuMemFree_v2)(8);
  });
  EXPECT_EQ(result.Count({R"("event":"finding")", R"("kind":"driver-call-in-callback")", "cuMemFree_v2", "thread main",
                          "destructor callback"}),
            1);
  EXPECT_EQ(result.Count({R"("event":"finding")"}), 1);
}

TEST(Destructor, MayNotCallTheDriverWhenDeliveredLateEither) {
  const ProcessResult result = RunGoodSubject({"destructor:deliver=thread"}, [](LoadedShim& shim) {
    g_shim = &shim;
    CUuserObject object = nullptr;
    const auto call = [](void*) { CALL(*g_shim, cuMemFree_v2)(8); };
    CALL(shim, cuUserObjectCreate)(&object, nullptr, call, 1, 1);
    CALL(shim, cuUserObjectRelease)(object, 1);
    shim.control().quiesce();
  });
  EXPECT_EQ(result.Count({R"("kind":"driver-call-in-callback")", "thread callback-0"}), 1);
}

TEST(HostFunction, MayNotCallTheDriver) {
  const ProcessResult result = RunGoodSubject({}, [](LoadedShim& shim) {
    g_shim = &shim;
    const auto call = [](void* payload) { CALL(*g_shim, cuMemFree_v2)(reinterpret_cast<CUdeviceptr>(payload)); };
    EXPECT_EQ(CALL(shim, cuLaunchHostFunc)(nullptr, call, reinterpret_cast<void*>(8)), CUDA_SUCCESS);
    EXPECT_EQ(shim.DriverCalls("cuMemFree_v2"), 1);
  });
  EXPECT_EQ(result.Count({R"("kind":"driver-call-in-callback")", "thread callback-0", "inside a host function"}), 1);
}

TEST(Destructor, RunsOnceUnderThreads) {
  RunGoodSubject({"destructor:every=3,deliver=thread,order=lifo", "destructor:every=2,deliver=thread,delay=10us"},
                 [](LoadedShim& shim) {
                   std::vector<std::thread> threads;
                   for (int thread = 0; thread < 4; ++thread) {
                     threads.emplace_back([&shim, thread] {
                       for (int round = 0; round < 200; ++round) Retire(shim, thread * 1000 + round);
                     });
                   }
                   for (std::thread& thread : threads) thread.join();
                   shim.control().quiesce();
                   EXPECT_EQ(Order().size(), 800U);
                   EXPECT_EQ(shim.control().live().user_objects, 0U);
                 });
}

}  // namespace
}  // namespace holdfast::fault
