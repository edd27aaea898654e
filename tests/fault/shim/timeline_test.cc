// What the shim leaves in the file of a timeline, read as the harness reads it: by places in the file, after the
// process has ended. Each case is a process.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/shim/subject_process.h"

namespace holdfast::fault {
namespace {

constexpr std::size_t kHeader = 128, kRecord = 192, kRecords = 2048;
constexpr std::uint64_t kPoint = UINT64_MAX, kNotOver = UINT64_MAX - 1;
constexpr std::uint32_t kNotCounted = UINT32_MAX;
enum Kind : std::uint8_t { kCall = 1, kDestructor = 2, kDrain = 5, kStep = 7, kFault = 8, kFinding = 9, kRelease = 10 };

// One record, as its bytes say.
struct Moment {
  std::uint64_t sequence, begin_ns, duration_ns, object;
  std::uint32_t references, queue, process, thread;
  std::uint8_t kind, role;
  std::string result, name;
};

template <typename Number>
Number NumberAt(const std::string& bytes, std::size_t place) {
  Number number;
  std::memcpy(&number, bytes.data() + place, sizeof(number));
  return number;
}

std::string TextAt(const std::string& bytes, std::size_t place, std::size_t size) {
  const std::string text = bytes.substr(place, size);
  return text.substr(0, text.find('\0'));
}

Moment MomentAt(const std::string& bytes, std::size_t at) {
  return {NumberAt<std::uint64_t>(bytes, at),
          NumberAt<std::uint64_t>(bytes, at + 8),
          NumberAt<std::uint64_t>(bytes, at + 16),
          NumberAt<std::uint64_t>(bytes, at + 24),
          NumberAt<std::uint32_t>(bytes, at + 32),
          NumberAt<std::uint32_t>(bytes, at + 36),
          NumberAt<std::uint32_t>(bytes, at + 40),
          NumberAt<std::uint32_t>(bytes, at + 44),
          NumberAt<std::uint8_t>(bytes, at + 48),
          NumberAt<std::uint8_t>(bytes, at + 49),
          TextAt(bytes, at + 56, 56),
          TextAt(bytes, at + 112, 80)};
}

struct Recording {
  ProcessResult process;
  std::uint64_t next = 0;  // the number of moments that were ever begun
  std::uint32_t first_process = 0;
  std::vector<Moment> moments;  // whole ones, in the order in which they began to be recorded

  const Moment* Find(Kind kind, const std::string& name) const {
    const auto found = std::find_if(moments.begin(), moments.end(),
                                    [&](const Moment& moment) { return moment.kind == kind && moment.name == name; });
    return found == moments.end() ? nullptr : &*found;
  }
};

Recording Record(const std::vector<std::string>& rules, const std::function<void(LoadedShim&)>& body) {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path =
      std::string(folder == nullptr ? "/tmp" : folder) + "/" + std::to_string(getpid()) + ".timeline";
  Recording recording;
  recording.process = RunSubject(rules, body, {{"HOLDFAST_TIMELINE", path}});
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());
  EXPECT_EQ(bytes.size(), kHeader + kRecords * kRecord);
  if (bytes.size() < kHeader + kRecords * kRecord) return recording;
  EXPECT_EQ(bytes.substr(0, 8), "HFTIME01");
  recording.first_process = NumberAt<std::uint32_t>(bytes, 16);
  recording.next = NumberAt<std::uint64_t>(bytes, 64);
  for (std::size_t slot = 0; slot < kRecords; ++slot) {
    const Moment moment = MomentAt(bytes, kHeader + slot * kRecord);
    if (moment.sequence != 0 && moment.sequence % 2 == 0) recording.moments.push_back(moment);
  }
  std::sort(recording.moments.begin(), recording.moments.end(),
            [](const Moment& a, const Moment& b) { return a.sequence < b.sequence; });
  return recording;
}

CUuserObject CreateObject(LoadedShim& shim, CUhostFn destroy, unsigned int references = 1) {
  CUuserObject object = nullptr;
  EXPECT_EQ(CALL(shim, cuUserObjectCreate)(&object, nullptr, destroy, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  return object;
}

void Nothing(void*) {}

TEST(Timeline, HasCallsWithTheirObjectsAndWhoHoldsThem) {
  const Recording recording = Record({}, [](LoadedShim& shim) {
    CUgraph graph = nullptr;
    CALL(shim, cuGraphCreate)(&graph, 0);
    CUuserObject object = CreateObject(shim, &Nothing, 2);
    CALL(shim, cuGraphRetainUserObject)(graph, object, 3, 0);
    CALL(shim, cuUserObjectRelease)(object, 2);
    CALL(shim, cuGraphDestroy)(graph);
  });
  EXPECT_EQ(recording.process.exit_code, 0) << recording.process.errors;
  std::vector<std::string> seen;
  for (const Moment& moment : recording.moments) {
    seen.push_back(moment.name + " " + std::to_string(moment.object) + " " +
                   (moment.references == kNotCounted ? "-" : std::to_string(moment.references)));
    EXPECT_LT(moment.duration_ns, kNotOver) << moment.name;
  }
  EXPECT_EQ(seen,
            (std::vector<std::string>{"cuGraphCreate 0 -", "cuUserObjectCreate 1 2", "cuGraphRetainUserObject 1 5",
                                      "cuUserObjectRelease 1 3", "cuGraphDestroy 0 -", "object 1 1 0"}));
  EXPECT_EQ(recording.next, recording.moments.size());
}

TEST(Timeline, HasFaultsFindingsStepsAndReleasesWhereTheyHappened) {
  const Recording recording = Record({"cuMemAlloc:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY"}, [](LoadedShim& shim) {
    CUdeviceptr address = 0;
    CUgraph graph = nullptr;
    shim.control().announce_step("build");
    CALL(shim, cuMemAlloc_v2)(&address, 8);
    shim.control().note_moment("release", "owner 1", 4);
    CALL(shim, cuGraphCreate)(&graph, 0);
    CALL(shim, cuGraphDestroy)(graph);
    CALL(shim, cuGraphDestroy)(graph);
  });
  std::vector<std::string> names;
  for (const Moment& moment : recording.moments) names.push_back(moment.name);
  EXPECT_EQ(names, (std::vector<std::string>{"build", "cuMemAlloc_v2", "cuMemAlloc", "owner 1", "cuGraphCreate",
                                             "cuGraphDestroy", "cuGraphDestroy", "double-destroy"}));
  const Moment& call = recording.moments.at(1);
  const Moment& fault = recording.moments.at(2);
  EXPECT_EQ(fault.kind, kFault);
  EXPECT_EQ(fault.result, "return CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(call.result, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_GE(fault.begin_ns, call.begin_ns);
  EXPECT_LE(fault.begin_ns, call.begin_ns + call.duration_ns);
  for (const std::size_t point : {0U, 2U, 3U, 7U}) EXPECT_EQ(recording.moments.at(point).duration_ns, kPoint);
  EXPECT_EQ(recording.moments.at(3).kind, kRelease);
  EXPECT_EQ(recording.moments.at(3).queue, 4U);
  EXPECT_EQ(recording.moments.at(7).kind, kFinding);
}

TEST(Timeline, HasTheContextsThatTheSubjectAnnounces) {
  const Recording recording = Record({}, [](LoadedShim& shim) {
    shim.control().leave_context("capture");  // never entered
    shim.control().enter_context("capture");
    shim.control().enter_context("drain");
    shim.control().note_moment("queue", "", 7);
    shim.control().leave_context("drain");
    shim.control().leave_context("capture");
  });
  ASSERT_EQ(recording.moments.size(), 2U);
  const Moment& capture = recording.moments[0];
  const Moment& drain = recording.moments[1];
  EXPECT_EQ(capture.name, "capture");
  EXPECT_EQ(capture.queue, kNotCounted);
  EXPECT_EQ(drain.kind, kDrain);
  EXPECT_EQ(drain.queue, 7U);
  EXPECT_LE(drain.begin_ns + drain.duration_ns, capture.begin_ns + capture.duration_ns);
}

TEST(Timeline, SaysWhatTheProcessWasInTheMiddleOfWhenItDied) {
  const Recording recording = Record({}, [](LoadedShim& shim) {
    CUuserObject object = CreateObject(shim, [](void*) { raise(SIGKILL); });
    CALL(shim, cuUserObjectRelease)(object, 1);
  });
  EXPECT_EQ(recording.process.signal, SIGKILL);
  ASSERT_EQ(recording.moments.size(), 3U);
  EXPECT_LT(recording.moments[0].duration_ns, kNotOver);
  EXPECT_EQ(recording.moments[1].name, "cuUserObjectRelease");
  EXPECT_EQ(recording.moments[1].duration_ns, kNotOver);
  EXPECT_EQ(recording.moments[2].name, "object 1");
  EXPECT_EQ(recording.moments[2].duration_ns, kNotOver);
}

TEST(Timeline, KeepsTheLastMomentsOfSeveralThreads) {
  constexpr int kThreads = 4, kCallsOfEach = 3000;
  const Recording recording = Record({}, [](LoadedShim& shim) {
    shim.control().enter_context("drain");  // its record is gone long before its end
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&shim, thread] {
        shim.control().name_thread("subject", static_cast<std::uint32_t>(thread));
        for (int call = 0; call < kCallsOfEach; ++call) {
          CUgraph graph = nullptr;
          CALL(shim, cuGraphCreate)(&graph, 0);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    shim.control().leave_context("drain");
  });
  EXPECT_GE(recording.next, kThreads * kCallsOfEach + 2U) << "more where a thread stood still for a round";
  EXPECT_GT(recording.moments.size(), kRecords - 16) << "those that threads a round apart dropped are few";
  std::set<std::uint64_t> sequences;
  int of_earlier_rounds = 0;
  for (const Moment& moment : recording.moments) {
    sequences.insert(moment.sequence);
    if (moment.sequence / 2 + kRecords <= recording.next) ++of_earlier_rounds;
    EXPECT_EQ(moment.name, moment.kind == kDrain ? "drain" : "cuGraphCreate");
  }
  EXPECT_LE(of_earlier_rounds, kThreads) << "each thread can stand still in the writing of one";
  EXPECT_EQ(sequences.size(), recording.moments.size());
  const Moment& last = recording.moments.back();
  EXPECT_EQ(last.kind, kDrain) << "made anew at its end";
  EXPECT_LE(last.begin_ns, recording.moments.front().begin_ns) << "with its own beginning";
}

TEST(Timeline, TellsTheChildOfAForkFromItsParent) {
  const Recording recording = Record({}, [](LoadedShim& shim) {
    shim.control().enter_context("drain");
    const pid_t child = fork();
    CUgraph graph = nullptr;
    CALL(shim, cuGraphCreate)(&graph, 0);
    if (child == 0) {
      shim.control().leave_context("drain");  // the parent began it
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
  });
  ASSERT_EQ(recording.moments.size(), 3U);
  const Moment* drain = recording.Find(kDrain, "drain");
  ASSERT_NE(drain, nullptr);
  EXPECT_EQ(drain->process, recording.first_process);
  EXPECT_EQ(drain->duration_ns, kNotOver);
  std::set<std::uint32_t> processes;
  for (const Moment& moment : recording.moments) processes.insert(moment.process);
  EXPECT_EQ(processes.size(), 2U);
}

TEST(Timeline, CutsALongNameAndTakesAnyBytes) {
  const Recording recording = Record({}, [](LoadedShim& shim) {
    shim.control().announce_step(std::string(500, 'x').c_str());
    shim.control().announce_step("\xff\x01");
    shim.control().note_moment("no such kind", "nothing", 0);
  });
  ASSERT_EQ(recording.moments.size(), 2U);
  EXPECT_EQ(recording.moments[0].name, std::string(80, 'x'));
  EXPECT_EQ(recording.moments[1].name, "\xff\x01");
}

TEST(Timeline, WithoutAFileThatCanBeWrittenTheSubjectGoesOn) {
  const ProcessResult result = RunSubject({}, [](LoadedShim&) {}, {{"HOLDFAST_TIMELINE", "/proc/no/such/file"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.errors.find("HOLDFAST_TIMELINE=/proc/no/such/file: No such file"), std::string::npos)
      << result.errors;
}

}  // namespace
}  // namespace holdfast::fault
