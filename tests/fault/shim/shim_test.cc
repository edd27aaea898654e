// The shim between a subject and a driver: what it forwards, fails, delays and records. Each case is a process.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/fault/shim/subject_process.h"

namespace holdfast::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Waits for a condition that another thread brings about; false past a deadline that no healthy run reaches.
bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(Forwarding, ReachesTheDriver) {
  const ProcessResult result = RunGoodSubject({}, [](LoadedShim& shim) {
    EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
    CUarray array = nullptr;
    EXPECT_EQ(CALL(shim, cuArrayCreate_v2)(&array, nullptr), CUDA_SUCCESS);  // a trampoline
    EXPECT_NE(array, nullptr);
    EXPECT_EQ(shim.DriverCalls("cuInit"), 1);
    EXPECT_EQ(shim.DriverCalls("cuArrayCreate_v2"), 1);
    EXPECT_EQ(shim.control().calls("cuInit"), 1U);
    EXPECT_EQ(shim.control().faults(nullptr), 0U);
  });
  EXPECT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.Count({R"("event":"subject")", R"("driver_version":13000)", R"("driver":"real")",
                          R"("device":"Fake \"device\"")"}),
            1);
}

TEST(Forwarding, AnswersNotFoundForWhatTheDriverLacks) {
  RunGoodSubject({}, [](LoadedShim& shim) {
    EXPECT_EQ(CALL(shim, cuCtxSynchronize)(), CUDA_ERROR_NOT_FOUND);       // a wrapper
    EXPECT_EQ(CALL(shim, cuArrayDestroy)(nullptr), CUDA_ERROR_NOT_FOUND);  // a trampoline
  });
}

TEST(Forwarding, LeavesTheDriversOwnCallsAlone) {
  RunGoodSubject({"cuGraphCreate:nth=2,return=CUDA_ERROR_UNKNOWN"}, [](LoadedShim& shim) {
    CUgraph graph = nullptr, clone = nullptr;
    EXPECT_EQ(CALL(shim, cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(CALL(shim, cuGraphClone)(&clone, graph), CUDA_SUCCESS);  // creates inside, which is not the second call
    EXPECT_EQ(shim.DriverCalls("cuGraphCreate"), 2);
    EXPECT_EQ(shim.control().calls("cuGraphCreate"), 1U);
    EXPECT_EQ(shim.control().live().graphs, 2U);
    EXPECT_EQ(CALL(shim, cuGraphCreate)(&graph, 0), CUDA_ERROR_UNKNOWN);
  });
}

TEST(Faults, FailBeforeTheCall) {
  const ProcessResult result =
      RunGoodSubject({"cuGraphCreate:nth=2,return=CUDA_ERROR_OUT_OF_MEMORY"}, [](LoadedShim& shim) {
        CUgraph graph = nullptr, other = nullptr;
        EXPECT_EQ(CALL(shim, cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
        EXPECT_EQ(CALL(shim, cuGraphCreate)(&other, 0), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(other, nullptr);
        EXPECT_EQ(shim.DriverCalls("cuGraphCreate"), 1);
        EXPECT_EQ(shim.control().live().graphs, 1U);
        EXPECT_EQ(shim.control().faults("cuGraphCreate"), 1U);
      });
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0],
            R"({"event":"fault","site":"cuGraphCreate","call":"cuGraphCreate","ordinal":2,"thread":"main","rule":0,)"
            R"("action":"return","result":"CUDA_ERROR_OUT_OF_MEMORY"})");
}

TEST(Faults, FailAfterTheCall) {
  const ProcessResult result =
      RunGoodSubject({"cuGraphDestroy:nth=1,return=CUDA_ERROR_LAUNCH_FAILED,after"}, [](LoadedShim& shim) {
        CUgraph graph = nullptr;
        EXPECT_EQ(CALL(shim, cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
        EXPECT_EQ(CALL(shim, cuGraphDestroy)(graph), CUDA_ERROR_LAUNCH_FAILED);
        EXPECT_EQ(shim.DriverCalls("cuGraphDestroy"), 1);
        EXPECT_EQ(shim.control().live().graphs, 0U);
      });
  EXPECT_EQ(result.Count({R"("action":"return-after")"}), 1);
}

TEST(Faults, KeepTheBooksRightWhenADestroyNeverHappened) {
  const ProcessResult result =
      RunGoodSubject({"cuGraphDestroy:nth=1,return=CUDA_ERROR_NOT_PERMITTED"}, [](LoadedShim& shim) {
        CUgraph graph = nullptr;
        EXPECT_EQ(CALL(shim, cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
        EXPECT_EQ(CALL(shim, cuGraphDestroy)(graph), CUDA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(shim.control().live().graphs, 0U);  // the fault's doing, and no leak
        EXPECT_EQ(shim.control().live().kept_others, 1U);
        EXPECT_EQ(shim.control().release_faults(), 1U);
        EXPECT_EQ(CALL(shim, cuGraphDestroy)(graph), CUDA_SUCCESS);  // no double destroy
        EXPECT_EQ(shim.control().live().kept_others, 0U);
      });
  EXPECT_EQ(result.Count({R"("event":"finding")"}), 0);
}

TEST(Faults, CountTheCallsOfEachThread) {
  const ProcessResult result = RunGoodSubject({"cuInit:nth=2,return=CUDA_ERROR_NO_DEVICE"}, [](LoadedShim& shim) {
    EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
    std::thread([&] {
      EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
      EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_ERROR_NO_DEVICE);
    }).join();
    std::thread([&] {
      shim.control().name_thread("subject", 7);
      EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
      EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_ERROR_NO_DEVICE);
    }).join();
    EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_ERROR_NO_DEVICE);
    EXPECT_EQ(shim.control().calls("cuInit"), 6U);
    EXPECT_EQ(shim.control().faults(nullptr), 3U);
  });
  for (const char* thread : {"main", "subject-1", "subject-7"}) {
    EXPECT_EQ(result.Count({R"("thread":")" + std::string(thread) + "\"", R"("ordinal":2)"}), 1) << thread;
  }
}

TEST(Faults, CountFromTheStepWhereARuleSaysSo) {
  RunGoodSubject({"cuInit:nth=2,step=operation,count=step,return=CUDA_ERROR_NO_DEVICE"}, [](LoadedShim& shim) {
    EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
    for (int round = 0; round < 2; ++round) {
      shim.control().announce_step("operation");
      EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
      EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_ERROR_NO_DEVICE);
      EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
    }
    shim.control().announce_step("after-operation");
    EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
    EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
  });
}

TEST(Faults, OfReleasesKeepWhatTheyHeld) {
  RunGoodSubject({"cuUserObjectRelease:nth=1,return=CUDA_ERROR_NOT_PERMITTED",
                  "cuUserObjectRelease:nth=2,return=CUDA_ERROR_LAUNCH_FAILED,after",
                  "cuGraphReleaseUserObject:nth=1,return=CUDA_ERROR_NOT_PERMITTED"},
                 [](LoadedShim& shim) {
                   const auto create = [&] {
                     CUuserObject object = nullptr;
                     CALL(shim, cuUserObjectCreate)
                     (
                         &object, nullptr, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
                     return object;
                   };
                   EXPECT_EQ(CALL(shim, cuUserObjectRelease)(create(), 1), CUDA_ERROR_NOT_PERMITTED);
                   EXPECT_EQ(shim.control().live().kept_user_objects, 1U);
                   EXPECT_EQ(CALL(shim, cuUserObjectRelease)(create(), 1), CUDA_ERROR_LAUNCH_FAILED);
                   EXPECT_EQ(shim.control().live().kept_user_objects, 1U);  // that one is gone
                   CUgraph graph = nullptr;
                   CALL(shim, cuGraphCreate)(&graph, 0);
                   const CUuserObject object = create();
                   CALL(shim, cuGraphRetainUserObject)(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
                   EXPECT_EQ(CALL(shim, cuGraphReleaseUserObject)(graph, object, 1), CUDA_ERROR_NOT_PERMITTED);
                   EXPECT_EQ(shim.control().live().kept_user_objects, 2U);
                   EXPECT_EQ(shim.control().live().user_objects, 0U);
                   CALL(shim, cuGraphDestroy)(graph);  // takes it along
                   EXPECT_EQ(shim.control().live().kept_user_objects, 1U);
                   EXPECT_EQ(shim.control().release_faults(), 2U);
                 });
}

TEST(Steps, WriteTheVisitsOfAThread) {
  const ProcessResult result = RunGoodSubject({}, [](LoadedShim& shim) {
    CUgraph graph = nullptr;
    CALL(shim, cuGraphCreate)(&graph, 0);
    shim.control().announce_step("operation");
    CALL(shim, cuGraphCreate)(&graph, 0);
    CALL(shim, cuGraphCreate)(&graph, 0);
    CALL(shim, cuGraphDestroy)(graph);
    shim.control().decide("alloc");
    std::thread([&] { CALL(shim, cuInit)(0); }).join();
    shim.control().write_visits("operation");
    shim.control().announce_step("after-operation");
    shim.control().write_visits("after-operation");
  });
  EXPECT_EQ(result.Count({R"("event":"visits")"}), 3);
  EXPECT_EQ(result.Count({R"("step":"operation","thread":"main","site":"cuGraphCreate","count":2,"kind":"creation",)"
                          R"("before":true,"after":false)"}),
            1);
  EXPECT_EQ(result.Count({R"("site":"cuGraphDestroy","count":1,"kind":"release","before":true,"after":true)"}), 1);
  EXPECT_EQ(result.Count({R"("site":"alloc","count":1,"kind":"own")"}), 1);
}

TEST(ArmedFaults, ActOnTheirThreadBehindThePlan) {
  const ProcessResult result = RunGoodSubject({"cuGraphCreate:nth=1,return=CUDA_ERROR_UNKNOWN"}, [](LoadedShim& shim) {
    const ShimControl& control = shim.control();
    CUgraph graph = nullptr;
    EXPECT_TRUE(control.arm({"cuGraphCreate", 2, false, false, CUDA_ERROR_OUT_OF_MEMORY}));
    EXPECT_EQ(CALL(shim, cuGraphCreate)(&graph, 0), CUDA_ERROR_UNKNOWN);  // the plan's, which is not counted
    EXPECT_EQ(CALL(shim, cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    std::thread([&] { EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS); }).join();
    EXPECT_EQ(CALL(shim, cuGraphCreate)(&graph, 0), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(CALL(shim, cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(control.disarm(), 1U);
    EXPECT_TRUE(control.arm({"cuGraphDestroy", 1, true, true, CUDA_ERROR_LAUNCH_FAILED}));
    EXPECT_TRUE(control.arm({"alloc", 1, false, false, 0}));
    EXPECT_EQ(CALL(shim, cuGraphDestroy)(graph), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(shim.DriverCalls("cuGraphDestroy"), 1);
    EXPECT_TRUE(control.decide("alloc").fails);
    EXPECT_FALSE(control.decide("alloc").fails);
    EXPECT_EQ(control.disarm(), 2U);
    EXPECT_EQ(control.disarm(), 0U);
    EXPECT_EQ(control.faults(nullptr), 4U);
  });
  EXPECT_EQ(result.Count({R"("event":"fault")"}), 1) << "armed faults are counted and not recorded";
}

TEST(ArmedFaults, AreRefusedWhereTheyCannotAct) {
  RunGoodSubject({}, [](LoadedShim& shim) {
    const ShimControl& control = shim.control();
    EXPECT_FALSE(control.arm({"cuNoSuchThing", 1, false, false, CUDA_ERROR_UNKNOWN}));
    EXPECT_FALSE(control.arm({"cuGraphCreate", 1, false, true, CUDA_ERROR_UNKNOWN}));
    EXPECT_FALSE(control.arm({"cuGraphCreate", 0, false, false, CUDA_ERROR_UNKNOWN}));
    EXPECT_FALSE(control.arm({"destructor", 1, false, false, CUDA_ERROR_UNKNOWN}));
    for (int index = 0; index < 8; ++index) EXPECT_TRUE(control.arm({"alloc", 1, false, false, 0}));
    EXPECT_FALSE(control.arm({"alloc", 1, false, false, 0}));
  });
}

TEST(Faults, TakeEveryVersionOfACallForOneSite) {
  RunGoodSubject({"cuGraphLaunch:nth=2,return=CUDA_ERROR_UNKNOWN"}, [](LoadedShim& shim) {
    EXPECT_EQ(CALL(shim, cuGraphLaunch)(nullptr, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(CALL(shim, cuGraphLaunch_ptsz)(nullptr, nullptr), CUDA_ERROR_UNKNOWN);
  });
}

TEST(Faults, RepeatACall) {
  RunGoodSubject({"cuGraphLaunch:nth=1,repeat=2"}, [](LoadedShim& shim) {
    EXPECT_EQ(CALL(shim, cuGraphLaunch)(nullptr, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(shim.DriverCalls("cuGraphLaunch"), 3);
  });
}

TEST(Faults, DelayACall) {
  RunGoodSubject({"cuInit:nth=1,delay=30ms"}, [](LoadedShim& shim) {
    const auto start = steady_clock::now();
    EXPECT_EQ(CALL(shim, cuInit)(0), CUDA_SUCCESS);
    EXPECT_GE(steady_clock::now() - start, milliseconds(30));
  });
}

TEST(Faults, HoldACallUntilAStep) {
  RunGoodSubject({"cuInit:nth=1,hold=step:go"}, [](LoadedShim& shim) {
    std::atomic<bool> back{false};
    std::thread held([&] {
      CALL(shim, cuInit)(0);
      back = true;
    });
    EXPECT_TRUE(Eventually([&] { return shim.control().faults("cuInit") == 1; }));
    shim.control().announce_step("other");
    EXPECT_FALSE(back);
    EXPECT_EQ(shim.DriverCalls("cuInit"), 0);
    shim.control().announce_step("go");
    held.join();
    EXPECT_EQ(shim.DriverCalls("cuInit"), 1);
  });
}

TEST(Faults, HoldACallUntilARule) {
  RunGoodSubject({"cuInit:nth=1,hold=rule:1", "cuGraphLaunch:nth=1,return=CUDA_ERROR_UNKNOWN"}, [](LoadedShim& shim) {
    std::thread held([&] { CALL(shim, cuInit)(0); });
    EXPECT_TRUE(Eventually([&] { return shim.control().faults("cuInit") == 1; }));
    EXPECT_EQ(shim.DriverCalls("cuInit"), 0);
    EXPECT_EQ(CALL(shim, cuGraphLaunch)(nullptr, nullptr), CUDA_ERROR_UNKNOWN);
    held.join();
    EXPECT_EQ(shim.DriverCalls("cuInit"), 1);
  });
}

TEST(Faults, EndTheProcess) {
  const ProcessResult result = RunSubject({"cuInit:nth=1,abort"}, [](LoadedShim& shim) {
    signal(SIGABRT, SIG_DFL);  // a sanitizer may have taken it
    CALL(shim, cuInit)(0);
  });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_NE(result.errors.find("ends the process at cuInit"), std::string::npos) << result.errors;
  EXPECT_EQ(result.Count({R"("action":"abort")", R"("result":null)"}), 1);
}

TEST(Faults, AskForTheContext) {
  RunGoodSubject({"cuGraphLaunch:while=capture,return=CUDA_ERROR_UNKNOWN",
                  "cuStreamSynchronize:while=drain,return=CUDA_ERROR_UNKNOWN"},
                 [](LoadedShim& shim) {
                   CUstream stream = nullptr;
                   CUgraph graph = nullptr;
                   CALL(shim, cuStreamCreate)(&stream, 0);
                   EXPECT_EQ(CALL(shim, cuGraphLaunch)(nullptr, stream), CUDA_SUCCESS);
                   CALL(shim, cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
                   EXPECT_EQ(CALL(shim, cuGraphLaunch)(nullptr, stream), CUDA_ERROR_UNKNOWN);
                   std::thread([&] { CALL(shim, cuStreamEndCapture)(stream, &graph); }).join();
                   EXPECT_EQ(CALL(shim, cuGraphLaunch)(nullptr, stream), CUDA_SUCCESS);
                   EXPECT_EQ(CALL(shim, cuStreamSynchronize)(stream), CUDA_SUCCESS);
                   shim.control().enter_context("drain");
                   EXPECT_EQ(CALL(shim, cuStreamSynchronize)(stream), CUDA_ERROR_UNKNOWN);
                   shim.control().leave_context("drain");
                   EXPECT_EQ(CALL(shim, cuStreamSynchronize)(stream), CUDA_SUCCESS);
                 });
}

TEST(OwnSites, DecideAllocationsAndPendingCalls) {
  const ProcessResult result = RunGoodSubject(
      {"alloc:nth=2,fail", "Py_AddPendingCall:nth=1,saturate=64,return=-1", "Py_AddPendingCall:nth=2,drop,delay=5us"},
      [](LoadedShim& shim) {
        const ShimControl& control = shim.control();
        EXPECT_FALSE(control.decide("alloc").fires);
        EXPECT_TRUE(control.decide("alloc").fails);
        const SiteDecision first = control.decide("Py_AddPendingCall");
        EXPECT_TRUE(first.fails);
        EXPECT_EQ(first.result, -1);
        EXPECT_EQ(first.saturate, 64U);
        const SiteDecision second = control.decide("Py_AddPendingCall");
        EXPECT_FALSE(second.fails);
        EXPECT_TRUE(second.drops);
        EXPECT_EQ(second.delay_ns, 5000U);
        EXPECT_FALSE(control.decide("scenario.step").fires);
        EXPECT_EQ(control.calls("scenario.step"), 1U);
        EXPECT_EQ(control.calls("alloc"), 2U);
      });
  EXPECT_EQ(result.Count({R"("site":"Py_AddPendingCall")", R"("result":-1)"}), 1);
  EXPECT_EQ(result.Count({R"("site":"alloc")", R"("action":"fail")"}), 1);
}

TEST(Environment, RefusesAPlanThatDoesNotLoad) {
  const ProcessResult result = RunSubject({}, [](LoadedShim&) {}, {{"HOLDFAST_PLAN", "/dev/null"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("holdfast: /dev/null: is a pipe or a device"), std::string::npos) << result.errors;
}

TEST(Environment, RefusesADriverThatIsNone) {
  EXPECT_EQ(RunSubject({}, [](LoadedShim&) {}, {{"HOLDFAST_DRIVER", "/nonexistent/libcuda.so.1"}}).exit_code, 2);
  EXPECT_EQ(RunSubject({}, [](LoadedShim&) {}, {{"HOLDFAST_DRIVER", "libcuda.so.1"}}).exit_code, 2);
  char shim[4096];
  ASSERT_NE(realpath(std::getenv("HOLDFAST_SHIM"), shim), nullptr);
  const ProcessResult result = RunSubject({}, [](LoadedShim&) {}, {{"HOLDFAST_DRIVER", shim}});
  EXPECT_EQ(result.exit_code, 2);  // and no endless recursion
  EXPECT_NE(result.errors.find("is the shim itself"), std::string::npos) << result.errors;
}

TEST(Environment, RefusesASeedThatIsNone) {
  EXPECT_EQ(RunSubject({}, [](LoadedShim&) {}, {{"HOLDFAST_SEED", "coffee"}}).exit_code, 2);
}

TEST(Lookup, HandsOutTheShimsOwnFunctions) {
  RunGoodSubject({"cuMemAlloc:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY"}, [](LoadedShim& shim) {
    const auto look_up = [&](const char* name, int version, cuuint64_t flags) {
      void* function = nullptr;
      EXPECT_EQ(CALL(shim, cuGetProcAddress_v2)(name, &function, version, flags, nullptr), CUDA_SUCCESS) << name;
      return function;
    };
    EXPECT_EQ(look_up("cuMemAlloc", 12000, 0), shim.Symbol("cuMemAlloc_v2"));
    EXPECT_EQ(look_up("cuGraphInstantiate", 12000, 0), shim.Symbol("cuGraphInstantiateWithFlags"));
    EXPECT_EQ(look_up("cuGraphLaunch", 12000, 0), shim.Symbol("cuGraphLaunch"));
    EXPECT_EQ(look_up("cuGraphLaunch", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
              shim.Symbol("cuGraphLaunch_ptsz"));
    EXPECT_EQ(look_up("cuGetProcAddress", 12000, 0), shim.Symbol("cuGetProcAddress_v2"));
    EXPECT_EQ(look_up("cuGetProcAddress", 11030, 0), shim.Symbol("cuGetProcAddress"));
    EXPECT_EQ(look_up("cuArrayCreate", 12000, 0), shim.control().driver_symbol("cuArrayCreate_v2"));  // only forwarded
    void* none = nullptr;
    EXPECT_EQ(CALL(shim, cuGetProcAddress_v2)("cuNoSuchCall", &none, 12000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
    CUdeviceptr address = 0;
    EXPECT_EQ(reinterpret_cast<decltype(&cuMemAlloc_v2)>(look_up("cuMemAlloc", 12000, 0))(&address, 8),
              CUDA_ERROR_OUT_OF_MEMORY);
  });
}

TEST(Ledger, SeesWhatTheDriverAnswersWithSuccess) {
  const ProcessResult result = RunGoodSubject({}, [](LoadedShim& shim) {
    CUgraph graph = nullptr;
    CUuserObject object = nullptr;
    CUstream stream = nullptr;
    CALL(shim, cuGraphCreate)(&graph, 0);
    CALL(shim, cuUserObjectCreate)
    (
        &object, nullptr, [](void*) {}, 5, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    CALL(shim, cuGraphRetainUserObject)(graph, object, 3, CU_GRAPH_USER_OBJECT_MOVE);
    EXPECT_EQ(CALL(shim, cuGraphReleaseUserObject)(graph, object, 4), CUDA_SUCCESS);
    CALL(shim, cuGraphDestroy)(graph);
    CALL(shim, cuGraphDestroy)(graph);
    CALL(shim, cuStreamCreate)(&stream, 0);
    CALL(shim, cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_EQ(CALL(shim, cuStreamEndCapture)(stream, nullptr), CUDA_SUCCESS);
  });
  EXPECT_EQ(result.Count({R"("event":"finding")"}), 3);
  EXPECT_EQ(result.Count({R"("kind":"over-release")", "took 4 references", "held 3;"}), 1);
  EXPECT_EQ(result.Count({R"("kind":"double-destroy")", "cuGraphDestroy"}), 1);
  EXPECT_EQ(result.Count({R"("kind":"leak")"}), 1);
}

TEST(Ledger, SeesADeadHandleInAnyCall) {
  const ProcessResult result = RunGoodSubject({}, [](LoadedShim& shim) {
    CUgraph graph = nullptr, again = nullptr;
    CUgraphExec executable = nullptr;
    std::size_t count = 0;
    CALL(shim, cuGraphCreate)(&graph, 0);
    CALL(shim, cuGraphInstantiateWithFlags)(&executable, graph, 0);
    CALL(shim, cuGraphDestroy)(graph);
    CALL(shim, cuGraphGetNodes)(graph, nullptr, &count);
    CALL(shim, cuGraphCreate)(&again, 0);
    EXPECT_EQ(again, graph);  // reused
    CALL(shim, cuGraphGetNodes)(again, nullptr, &count);
    CALL(shim, cuGraphExecDestroy)(executable);
    CALL(shim, cuGraphLaunch)(executable, nullptr);
  });
  EXPECT_EQ(result.Count({R"("kind":"use-after-destroy")", "cuGraphGetNodes"}), 1);
  EXPECT_EQ(result.Count({R"("kind":"use-after-destroy")", "cuGraphLaunch"}), 1);
  EXPECT_EQ(result.Count({R"("event":"finding")"}), 2);
}

TEST(Ledger, CountsWhatIsAlive) {
  RunGoodSubject(
      {"cuMemFree:nth=1,return=CUDA_ERROR_LAUNCH_FAILED,after", "cuMemAlloc:nth=2,return=CUDA_ERROR_OUT_OF_MEMORY"},
      [](LoadedShim& shim) {
        CUdeviceptr address = 0, other = 0;
        CUevent event = nullptr;
        CALL(shim, cuMemAlloc_v2)(&address, 8);
        CALL(shim, cuMemAlloc_v2)(&other, 8);
        CALL(shim, cuEventCreate)(&event, 0);
        EXPECT_EQ(shim.control().live().allocations, 1U);
        EXPECT_EQ(shim.control().live().events, 1U);
        CALL(shim, cuMemFree_v2)(address);
        CALL(shim, cuEventDestroy_v2)(event);
        EXPECT_EQ(shim.control().live().allocations, 0U);
        EXPECT_EQ(shim.control().live().events, 0U);
      });
}

// Forks while another thread is busy in the shim; each child retires one object and has to end by itself.
void ForkChildren(LoadedShim& shim) {
  std::atomic<bool> stop{false}, running{false};
  std::thread busy([&] {
    while (!stop) {
      shim.control().live();
      running = true;
    }
  });
  // A sanitizer's own locks are not made for a fork in the middle of a thread's start.
  EXPECT_TRUE(Eventually([&] { return running.load(); }));
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a child that hangs ends by this signal
      CUuserObject object = nullptr;
      CALL(shim, cuUserObjectCreate)
      (
          &object, nullptr, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
      CALL(shim, cuUserObjectRelease)(object, 1);
      shim.control().quiesce();
      _exit(shim.control().live().user_objects == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  busy.join();
}

TEST(Fork, LeavesAChildThatDoesNotHang) { RunGoodSubject({}, &ForkChildren); }

TEST(Fork, LeavesAChildThatCanDeliver) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no new thread in the child of a process with threads";
#endif
  RunGoodSubject({"destructor:deliver=thread,delay=1ms"}, [](LoadedShim& shim) {
    CUuserObject object = nullptr;
    CALL(shim, cuUserObjectCreate)
    (
        &object, nullptr, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    CALL(shim, cuUserObjectRelease)(object, 1);  // starts the delivery thread, which the children do not have
    shim.control().quiesce();
    ForkChildren(shim);
  });
}

TEST(Loading, FindsTheShimByItsName) {
  // What a program does that knows nothing of us: the folder of the shim comes first in the search.
  RunGoodSubject({}, [](LoadedShim& shim) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    EXPECT_EQ(dlsym(library, "cuInit"), shim.Symbol("cuInit"));
  });
}

}  // namespace
}  // namespace holdfast::fault
