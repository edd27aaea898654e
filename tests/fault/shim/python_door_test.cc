// The door at Py_AddPendingCall: this program plays the interpreter, exporting the symbol from its executable, and a
// library plays the extension module that imports it.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/fault/shim/subject_process.h"

namespace {

using Function = int (*)(void*);

constexpr std::size_t kRoom = 40;

struct PendingCall {
  Function function;
  void* argument;
};

// A ring, so that queueing allocates nothing.
std::mutex g_mutex;
std::array<PendingCall, kRoom> g_queue;  // guarded by g_mutex
std::size_t g_first = 0;                 // guarded by g_mutex
std::size_t g_queued = 0;                // guarded by g_mutex

std::size_t Queued() {
  const std::lock_guard lock(g_mutex);
  return g_queued;
}

// One pass of the main thread over its queue.
void RunQueued() {
  for (std::size_t left = Queued(); left > 0; --left) {
    PendingCall call;
    {
      const std::lock_guard lock(g_mutex);
      call = g_queue[g_first];
      g_first = (g_first + 1) % kRoom;
      --g_queued;
    }
    call.function(call.argument);
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int Py_AddPendingCall(int (*function)(void*), void* argument) {
  const std::lock_guard lock(g_mutex);
  if (g_queued == kRoom) return -1;
  g_queue[(g_first + g_queued++) % kRoom] = {function, argument};
  return 0;
}

namespace holdfast::fault {
namespace {

using AddFunction = int (*)(int (*)(void*), void*);

AddFunction LoadImporter() {
  char path[PATH_MAX];
  if (realpath(std::getenv("HOLDFAST_IMPORTER"), path) == nullptr) return nullptr;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<AddFunction>(dlsym(library, "add_through_import"));
}

int g_ran = 0;

int Add(AddFunction add) {
  return add(
      [](void*) {
        ++g_ran;
        return 0;
      },
      nullptr);
}

// Runs what is queued until the condition holds; false past a deadline that no healthy run reaches.
bool RunUntil(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    RunQueued();
    std::this_thread::yield();
  }
  return true;
}

TEST(PythonDoor, FailsTheCallsOfALoadedModule) {
  const ProcessResult result =
      RunGoodSubject({"Py_AddPendingCall:nth=1,return=-1", "Py_AddPendingCall:nth=2,drop"}, [](LoadedShim& shim) {
        const AddFunction add = LoadImporter();
        ASSERT_NE(add, nullptr);
        EXPECT_EQ(Add(add), -1);
        EXPECT_EQ(Add(add), 0);  // dropped
        EXPECT_EQ(Queued(), 0U);
        EXPECT_EQ(Add(add), 0);
        EXPECT_EQ(Queued(), 1U);
        EXPECT_EQ(shim.control().calls("Py_AddPendingCall"), 3U);
      });
  EXPECT_EQ(result.Count({R"("site":"Py_AddPendingCall")"}), 2);
}

TEST(PythonDoor, IsFoundByName) {
  RunGoodSubject({"Py_AddPendingCall:nth=1,return=-1"}, [](LoadedShim&) {
    const auto add = reinterpret_cast<AddFunction>(dlsym(RTLD_DEFAULT, "Py_AddPendingCall"));
    ASSERT_NE(add, nullptr);
    EXPECT_EQ(Add(add), -1);
    EXPECT_EQ(dlsym(RTLD_DEFAULT, "no_such_function"), nullptr);
    EXPECT_NE(dlerror(), nullptr);
    // The next one behind the caller, which is this program: what it exports itself is not that.
    EXPECT_EQ(dlsym(RTLD_NEXT, "Py_AddPendingCall"), nullptr);
  });
}

TEST(PythonDoor, CountsWithoutARule) {
  const ProcessResult result = RunGoodSubject({}, [](LoadedShim& shim) {
    const AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    for (std::size_t call = 0; call < kRoom; ++call) EXPECT_EQ(Add(add), 0);
    EXPECT_EQ(Add(add), -1);
    EXPECT_EQ(shim.control().calls("Py_AddPendingCall"), kRoom + 1);
    EXPECT_EQ(shim.control().pending_calls().outstanding, kRoom);
    RunQueued();
    EXPECT_EQ(g_ran, static_cast<int>(kRoom));
    const PendingCalls counts = shim.control().pending_calls();
    EXPECT_EQ(counts.accepted, kRoom);
    EXPECT_EQ(counts.refused, 1U);
    EXPECT_EQ(counts.run, kRoom);
    EXPECT_EQ(counts.outstanding, 0U);
    EXPECT_EQ(counts.peak_outstanding, kRoom);
  });
  EXPECT_EQ(result.events.size(), 0U);
}

TEST(PythonDoor, CountsACallThatAsksForTheNext) {
  RunGoodSubject({}, [](LoadedShim& shim) {
    static AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    const auto again = [](void*) { return Add(add); };
    EXPECT_EQ(add(again, nullptr), 0);
    RunQueued();
    EXPECT_EQ(shim.control().pending_calls().outstanding, 1U);
    EXPECT_EQ(shim.control().pending_calls().peak_outstanding, 1U);
  });
}

TEST(PythonDoor, CountsThePeakOfCallsThatRunAtOnce) {
  RunGoodSubject({}, [](LoadedShim& shim) {
    const AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    constexpr int kCalls = 20'000;
    std::thread adder([&] {
      for (int call = 0; call < kCalls; ++call) {
        while (Add(add) != 0) std::this_thread::yield();
        while (shim.control().pending_calls().outstanding != 0) std::this_thread::yield();
      }
    });
    EXPECT_TRUE(RunUntil([&] { return shim.control().pending_calls().run == kCalls; }));
    adder.join();
    EXPECT_EQ(shim.control().pending_calls().peak_outstanding, 1U);  // each waited for the one before
    EXPECT_EQ(shim.control().pending_calls().accepted, static_cast<std::uint64_t>(kCalls));
  });
}

TEST(PythonDoor, FillsTheQueueFirst) {
  RunGoodSubject({"Py_AddPendingCall:nth=1,saturate=1000"}, [](LoadedShim& shim) {
    const AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    EXPECT_EQ(Add(add), -1);
    EXPECT_EQ(Queued(), kRoom);
    EXPECT_EQ(shim.control().pending_calls().no_ops, kRoom);
    RunQueued();
    EXPECT_EQ(Queued(), 0U);
    EXPECT_EQ(Add(add), 0);
  });
}

TEST(PythonDoor, KeepsTheQueueFull) {
  RunGoodSubject({"Py_AddPendingCall:nth=1,saturate=1000,until=step:room"}, [](LoadedShim& shim) {
    const AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    for (int pass = 0; pass < 3; ++pass) {
      EXPECT_EQ(Add(add), -1);
      EXPECT_EQ(Queued(), kRoom);
      RunQueued();
    }
    shim.control().announce_step("another");
    EXPECT_EQ(Add(add), -1);
    shim.control().announce_step("room");
    EXPECT_EQ(Add(add), -1);  // until they have run
    RunQueued();
    EXPECT_EQ(Queued(), 0U);
    EXPECT_EQ(Add(add), 0);
  });
}

TEST(PythonDoor, KeepsTheQueueFullUntilARuleFires) {
  RunGoodSubject({"cuInit:nth=1,delay=1ns", "Py_AddPendingCall:nth=1,saturate=1000,until=rule:0"},
                 [](LoadedShim& shim) {
                   const AddFunction add = LoadImporter();
                   ASSERT_NE(add, nullptr);
                   EXPECT_EQ(Add(add), -1);
                   RunQueued();
                   EXPECT_EQ(Queued(), kRoom);
                   CALL(shim, cuInit)(0);
                   RunQueued();
                   EXPECT_EQ(Queued(), 0U);
                 });
}

TEST(PythonDoor, AcceptsNowAndHandsOverLater) {
  RunGoodSubject({"Py_AddPendingCall:nth=1,hold=step:go", "Py_AddPendingCall:nth=2,deliver=held",
                  "Py_AddPendingCall:nth=3,deliver=thread", "Py_AddPendingCall:nth=4,delay=1ms,deliver=inline"},
                 [](LoadedShim& shim) {
                   const ShimControl& control = shim.control();
                   const AddFunction add = LoadImporter();
                   ASSERT_NE(add, nullptr);
                   for (int call = 0; call < 4; ++call) EXPECT_EQ(Add(add), 0);
                   EXPECT_EQ(control.pending_calls().accepted, 4U);
                   EXPECT_TRUE(RunUntil([] { return g_ran == 2; }));
                   EXPECT_EQ(control.pending_calls().not_handed_over, 2U);
                   control.announce_step("go");
                   EXPECT_TRUE(RunUntil([] { return g_ran == 3; }));
                   control.release_pending_calls();
                   EXPECT_TRUE(RunUntil([] { return g_ran == 4; }));
                   EXPECT_EQ(control.pending_calls().outstanding, 0U);
                 });
}

TEST(PythonDoor, KeepsTryingWhatItAccepted) {
  RunGoodSubject({"Py_AddPendingCall:deliver=held"}, [](LoadedShim& shim) {
    const AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    for (std::size_t call = 0; call < 10 * kRoom; ++call) EXPECT_EQ(Add(add), 0);
    shim.control().release_pending_calls();
    EXPECT_TRUE(RunUntil([] { return g_ran == static_cast<int>(10 * kRoom); }));
    EXPECT_EQ(shim.control().pending_calls().peak_outstanding, 10 * kRoom);
  });
}

TEST(PythonDoor, RecordsACallWithItsAnswer) {
  const ProcessResult result =
      RunGoodSubject({"Py_AddPendingCall:nth=2,return=-1,record", "Py_AddPendingCall:record"}, [](LoadedShim&) {
        const AddFunction add = LoadImporter();
        ASSERT_NE(add, nullptr);
        EXPECT_EQ(Add(add), 0);
        EXPECT_EQ(Add(add), -1);
      });
  EXPECT_EQ(result.Count({R"({"event":"pending-call","ordinal":1,"thread":"main","outcome":"queued","result":0})"}), 1);
  EXPECT_EQ(result.Count({R"({"event":"pending-call","ordinal":2,"thread":"main","outcome":"refused","result":-1})"}),
            1);
  EXPECT_EQ(result.Count({R"("event":"fault")"}), 2);
}

TEST(PythonDoor, AllocatesNothingWithoutARule) {
  RunGoodSubject({}, [](LoadedShim& shim) {
    const AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    std::thread([&] {  // which the shim does not know
      const std::size_t before = mallinfo2().uordblks;
      for (std::size_t call = 0; call < kRoom; ++call) Add(add);
      EXPECT_EQ(mallinfo2().uordblks, before);
    })
        .join();
    EXPECT_EQ(shim.control().calls("Py_AddPendingCall"), kRoom);
  });
}

}  // namespace
}  // namespace holdfast::fault
