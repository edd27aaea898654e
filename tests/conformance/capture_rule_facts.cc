// Facts C45 to C53: what a capture forbids to calls that are no part of it, to which threads, and what then happens to
// it.
#include <string>

#include "tests/conformance/capture.h"

namespace holdfast::conformance {
namespace {

constexpr char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry holdfast_nothing()\n{\n  ret;\n}\n";

// A call that a capture may forbid, and what it needs, which is made before the capture begins.
struct Call {
  std::string name;
  bool is_unsafe;
  std::function<CUresult()> call;
  std::function<void()> prepare = {};
};

// What the calls work on. Each call uses up what it needs.
struct Subjects {
  const Driver& driver;
  Report& report;
  CUdeviceptr memory = 0;
  void* pinned = nullptr;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CUstream stream = nullptr;
  CUstream idle_stream = nullptr;
  CUevent event = nullptr;
  char bytes[16] = {};

  void MakeMemory() { HOLDFAST_NEED(report, driver.MemAlloc(&memory, 64)); }
  void MakePinned() { HOLDFAST_NEED(report, driver.MemAllocHost(&pinned, 64)); }
  void MakeModule() { HOLDFAST_NEED(report, driver.ModuleLoadData(&module, kPtx)); }
  void MakeLibrary() {
    HOLDFAST_NEED(report, driver.LibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  void MakeGraphOfOne() {
    graph = MakeGraph(driver, report);
    AddHost(driver, report, graph);
  }
  void MakeExecutable() {
    MakeGraphOfOne();
    executable = Instantiate(driver, report, graph);
  }
  void MakePooled() { HOLDFAST_NEED(report, driver.MemAllocAsync(&memory, 64, stream)); }
};

std::vector<Call> UnsafeCalls(Subjects* subjects) {
  const Driver& driver = subjects->driver;
  return {
      {"cuMemAlloc", true, [=, &driver] { return driver.MemAlloc(&subjects->memory, 64); }},
      {"cuMemFree", true, [=, &driver] { return driver.MemFree(subjects->memory); }, [=] { subjects->MakeMemory(); }},
      {"cuMemAllocHost", true, [=, &driver] { return driver.MemAllocHost(&subjects->pinned, 64); }},
      {"cuMemHostAlloc", true, [=, &driver] { return driver.MemHostAlloc(&subjects->pinned, 64, 0); }},
      {"cuMemFreeHost", true, [=, &driver] { return driver.MemFreeHost(subjects->pinned); },
       [=] { subjects->MakePinned(); }},
      {"cuMemAllocAsync on another stream", true,
       [=, &driver] { return driver.MemAllocAsync(&subjects->memory, 64, subjects->stream); }},
      {"cuMemFreeAsync on another stream", true,
       [=, &driver] { return driver.MemFreeAsync(subjects->memory, subjects->stream); },
       [=] { subjects->MakePooled(); }},
      {"cuModuleUnload", true, [=, &driver] { return driver.ModuleUnload(subjects->module); },
       [=] { subjects->MakeModule(); }},
      {"cuLibraryUnload", true, [=, &driver] { return driver.LibraryUnload(subjects->library); },
       [=] { subjects->MakeLibrary(); }},
      {"cuGraphInstantiateWithFlags", true,
       [=, &driver] { return driver.GraphInstantiateWithFlags(&subjects->executable, subjects->graph, 0); },
       [=] { subjects->MakeGraphOfOne(); }},
      {"cuGraphExecDestroy", true, [=, &driver] { return driver.GraphExecDestroy(subjects->executable); },
       [=] { subjects->MakeExecutable(); }},
      {"cuStreamSynchronize of another stream", true,
       [=, &driver] { return driver.StreamSynchronize(subjects->idle_stream); }},
      {"cuStreamQuery of another stream", true, [=, &driver] { return driver.StreamQuery(subjects->idle_stream); }},
      {"cuStreamSynchronize of the null stream", true, [&driver] { return driver.StreamSynchronize(nullptr); }},
      {"cuEventQuery", true, [=, &driver] { return driver.EventQuery(subjects->event); }},
      {"cuEventSynchronize", true, [=, &driver] { return driver.EventSynchronize(subjects->event); }},
  };
}

std::vector<Call> SafeCalls(Subjects* subjects) {
  const Driver& driver = subjects->driver;
  const auto graph_of_one = [=] { subjects->MakeGraphOfOne(); };
  const auto executable = [=] { subjects->MakeExecutable(); };
  return {
      {"cuModuleLoadData", false, [=, &driver] { return driver.ModuleLoadData(&subjects->module, kPtx); }},
      {"cuLibraryLoadData", false,
       [=, &driver] {
         return driver.LibraryLoadData(&subjects->library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0);
       }},
      {"cuMemcpyDtoH", false, [=, &driver] { return driver.MemcpyDtoH(subjects->bytes, subjects->memory, 16); },
       [=] { subjects->MakeMemory(); }},
      {"cuMemsetD8", false, [=, &driver] { return driver.MemsetD8(subjects->memory, 1, 16); },
       [=] { subjects->MakeMemory(); }},
      {"cuGraphCreate", false, [=, &driver] { return driver.GraphCreate(&subjects->graph, 0); }},
      {"cuGraphDestroy", false, [=, &driver] { return driver.GraphDestroy(subjects->graph); }, graph_of_one},
      {"cuGraphClone", false, [=, &driver] { return driver.GraphClone(&subjects->graph, subjects->graph); },
       graph_of_one},
      {"cuGraphExecUpdate", false,
       [=, &driver] {
         CUgraphExecUpdateResultInfo info{};
         return driver.GraphExecUpdate(subjects->executable, subjects->graph, &info);
       },
       executable},
      {"cuGraphLaunch on another stream", false,
       [=, &driver] { return driver.GraphLaunch(subjects->executable, subjects->stream); }, executable},
      {"cuGraphUpload on another stream", false,
       [=, &driver] { return driver.GraphUpload(subjects->executable, subjects->stream); }, executable},
      {"cuStreamCreate", false,
       [&driver] {
         CUstream made = nullptr;
         return driver.StreamCreate(&made, CU_STREAM_NON_BLOCKING);
       }},
      {"cuStreamDestroy", false,
       [=, &driver] {
         const CUresult result = driver.StreamDestroy(subjects->stream);
         subjects->stream = MakeStream(driver, subjects->report);
         return result;
       }},
      {"cuEventCreate", false,
       [&driver] {
         CUevent made = nullptr;
         return driver.EventCreate(&made, 0);
       }},
      {"cuEventRecord on another stream", false,
       [=, &driver] { return driver.EventRecord(subjects->event, subjects->stream); }},
      {"cuStreamWaitEvent on another stream", false,
       [=, &driver] { return driver.StreamWaitEvent(subjects->stream, subjects->event, 0); }},
      {"cuLaunchHostFunc on another stream", false,
       [=, &driver] { return driver.LaunchHostFunc(subjects->stream, &DoNothing, nullptr); }},
      {"cuLaunchHostFunc on the null stream", false,
       [&driver] { return driver.LaunchHostFunc(nullptr, &DoNothing, nullptr); }},
  };
}

// Whether a capture begun in `capture` mode forbids unsafe calls to a thread in `thread` mode.
bool Forbids(CUstreamCaptureMode capture, bool same_thread, CUstreamCaptureMode thread) {
  if (capture == CU_STREAM_CAPTURE_MODE_RELAXED || thread == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  return same_thread || (capture == CU_STREAM_CAPTURE_MODE_GLOBAL && thread == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

void AskCall(const Driver& driver, Report& report, const Call& asked, CUstreamCaptureMode capture, bool same_thread,
             const CaptureMode& thread) {
  if (asked.prepare) asked.prepare();
  Begin(driver, report, driver.stream, capture);
  std::string answer;
  if (same_thread) {
    const ThreadMode held(driver, thread.mode);
    answer = Answered(driver, asked.call(), driver.stream);
  } else {
    OnThread(
        driver, [&] { answer = Answered(driver, asked.call(), driver.stream); }, thread.mode);
  }
  const bool refused = asked.is_unsafe && Forbids(capture, same_thread, thread.mode);
  report.Expect(asked.name + (same_thread ? " here" : " elsewhere") + " in " + thread.name + " mode, capture " +
                    std::to_string(capture),
                std::string(refused ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, invalid" : "CUDA_SUCCESS, active"),
                answer);
  Drop(driver, driver.stream);
}

void AskCalls(const Driver& driver, Report& report, std::vector<Call> (*calls)(Subjects*)) {
  Subjects subjects{driver, report};
  subjects.stream = MakeStream(driver, report);
  subjects.idle_stream = MakeStream(driver, report);
  subjects.event = MakeEvent(driver, report);
  for (const Call& asked : calls(&subjects)) {
    for (const CaptureMode& capture : kCaptureModes) {
      for (const CaptureMode& thread : kCaptureModes) {
        for (const bool same_thread : {true, false}) {
          AskCall(driver, report, asked, capture.mode, same_thread, thread);
        }
      }
    }
  }
}

void UnsafeCallsAreForbidden(const Driver& driver, Report& report) { AskCalls(driver, report, &UnsafeCalls); }

void SafeCallsAreNot(const Driver& driver, Report& report) { AskCalls(driver, report, &SafeCalls); }

// An unsafe call makes those captures invalid that forbid it, and no others.
void ForbiddenByWhich(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  CUstream here[3];
  CUstream elsewhere[3];
  for (int i = 0; i < 3; ++i) {
    here[i] = MakeStream(driver, report);
    elsewhere[i] = MakeStream(driver, report);
  }
  const auto states = [&](const CUstream(&streams)[3]) {
    return Status(driver, streams[0]) + " " + Status(driver, streams[1]) + " " + Status(driver, streams[2]);
  };
  const auto begin = [&](const CUstream(&streams)[3]) {
    for (int i = 0; i < 3; ++i) Begin(driver, report, streams[i], kCaptureModes[i].mode);
  };
  OnThread(driver, [&] { begin(elsewhere); });
  begin(here);
  const auto allocate = [&] { return driver.MemAlloc(&memory, 64); };
  report.Expect("allocate", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, allocate());
  report.Expect("global, thread-local, relaxed here", std::string("invalid invalid active"), states(here));
  report.Expect("the same of another thread", std::string("invalid active active"), states(elsewhere));
  for (const CUstream stream : here) Drop(driver, stream);
  report.Expect("an invalid capture of a thread that ended forbids too", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                allocate());
  report.Expect("anybody can end it", std::string("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, null"),
                End(driver, elsewhere[0]));
  report.Expect("then nothing forbids it", CUDA_SUCCESS, allocate());
  begin(here);
  const ThreadMode held(driver, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  report.Expect("allocate in thread-local mode", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, allocate());
  report.Expect("then", std::string("invalid invalid active"), states(here));
}

// What a call looks at before it asks whether a capture forbids it, and what only after.
void RefusedInWhichOrder(const Driver& driver, Report& report) {
  const auto ask = [&](const char* question, const char* expected, const std::function<CUresult()>& call) {
    Begin(driver, report, driver.stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    report.Expect(question, std::string(expected), Answered(driver, call(), driver.stream));
    Drop(driver, driver.stream);
  };
  constexpr char kForbidden[] = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, invalid";
  CUdeviceptr memory = 0;
  CUgraphExec executable = nullptr;
  const auto without_context = [&](const std::function<CUresult()>& call) {
    driver.CtxSetCurrent(nullptr);
    const CUresult result = call();
    driver.CtxSetCurrent(driver.context);
    return result;
  };
  ask("allocation of nothing", kForbidden, [&] { return driver.MemAlloc(&memory, 0); });
  ask("allocation to nowhere", kForbidden, [&] { return driver.MemAlloc(nullptr, 64); });
  ask("allocation without a context", "CUDA_ERROR_INVALID_CONTEXT, active",
      [&] { return without_context([&] { return driver.MemAlloc(&memory, 64); }); });
  ask("free of null", kForbidden, [&] { return driver.MemFree(0); });
  ask("free of what is no memory", kForbidden, [&] { return driver.MemFree(64); });
  ask("instantiation of no graph", kForbidden,
      [&] { return driver.GraphInstantiateWithFlags(&executable, nullptr, 0); });
  ask("destruction of no executable", kForbidden, [&] { return driver.GraphExecDestroy(nullptr); });
  ask("unload of no module", "CUDA_ERROR_INVALID_HANDLE, active", [&] { return driver.ModuleUnload(nullptr); });
  ask("unload of no library", "CUDA_ERROR_INVALID_HANDLE, active", [&] { return driver.LibraryUnload(nullptr); });
  ask("query of no event", "CUDA_ERROR_INVALID_HANDLE, active", [&] { return driver.EventQuery(nullptr); });
  ask("the context, without one", "CUDA_ERROR_INVALID_CONTEXT, active",
      [&] { return without_context([&] { return driver.CtxSynchronize(); }); });
}

void ContextWaitsForNoCapture(const Driver& driver, Report& report) {
  CUstream streams[4];
  for (CUstream& stream : streams) stream = MakeStream(driver, report);
  OnThread(driver, [&] { Begin(driver, report, streams[3], CU_STREAM_CAPTURE_MODE_RELAXED); });
  for (int i = 0; i < 3; ++i) Begin(driver, report, streams[i], kCaptureModes[i].mode);
  const ThreadMode held(driver, CU_STREAM_CAPTURE_MODE_RELAXED);
  report.Expect("synchronize the context", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, driver.CtxSynchronize());
  for (const CUstream stream : streams) {
    report.Expect("each capture", std::string("invalid"), Status(driver, stream));
  }
  report.Expect("again", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, driver.CtxSynchronize());
  for (const CUstream stream : streams) Drop(driver, stream);
  report.Expect("without captures", CUDA_SUCCESS, driver.CtxSynchronize());
}

// The calls on the null stream, and what they answer while a stream that it waits for captures.
void NullStreamIsRefused(const Driver& driver, Report& report) {
  const CUfunction function = LoadKernel(driver, report);
  const CUstream blocking = MakeStream(driver, report, CU_STREAM_DEFAULT);
  const CUstream other = MakeStream(driver, report, CU_STREAM_DEFAULT);
  const CUevent event = MakeEvent(driver, report);
  const CUevent captured = MakeEvent(driver, report);
  const CUgraph plain = MakeGraph(driver, report);
  AddHost(driver, report, plain);
  const CUgraphExec executable = Instantiate(driver, report, plain);
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 64));
  char bytes[16] = {};
  unsigned int flags = 0;
  unsigned long long id = 0;
  int priority = 0;
  CUdeviceptr allocated = 0;
  struct Case {
    const char* question;
    const char* expected;
    std::function<CUresult()> call;
  };
  constexpr char kRefused[] = "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, invalid";
  constexpr char kAsked[] = "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, active";
  CUstreamCaptureStatus status{};
  const Case cases[] = {
      {"is capturing", kAsked, [&] { return driver.StreamIsCapturing(nullptr, &status); }},
      {"is capturing, by its name", kAsked, [&] { return driver.StreamIsCapturing(CU_STREAM_LEGACY, &status); }},
      {"capture info", kAsked,
       [&] { return driver.StreamGetCaptureInfo(nullptr, &status, nullptr, nullptr, nullptr, nullptr, nullptr); }},
      {"host function", kRefused, [&] { return driver.LaunchHostFunc(nullptr, &DoNothing, nullptr); }},
      {"kernel", kRefused,
       [&] { return driver.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr); }},
      {"fill", kRefused, [&] { return driver.MemsetD8Async(memory, 1, 16, nullptr); }},
      {"fill at once", kRefused, [&] { return driver.MemsetD8(memory, 1, 16); }},
      {"copy", kRefused, [&] { return driver.MemcpyDtoDAsync(memory, memory + 32, 16, nullptr); }},
      {"copy at once", kRefused, [&] { return driver.MemcpyDtoH(bytes, memory, 16); }},
      {"record", kRefused, [&] { return driver.EventRecord(event, nullptr); }},
      {"wait", kRefused, [&] { return driver.StreamWaitEvent(nullptr, event, 0); }},
      {"synchronize", kRefused, [&] { return driver.StreamSynchronize(nullptr); }},
      {"query", kRefused, [&] { return driver.StreamQuery(nullptr); }},
      {"flags", kRefused, [&] { return driver.StreamGetFlags(nullptr, &flags); }},
      {"id", kRefused, [&] { return driver.StreamGetId(nullptr, &id); }},
      {"priority", kRefused, [&] { return driver.StreamGetPriority(nullptr, &priority); }},
      {"allocation", kRefused, [&] { return driver.MemAllocAsync(&allocated, 64, nullptr); }},
      {"begin", kRefused, [&] { return driver.StreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED); }},
      {"end", kRefused, [&] { return driver.StreamEndCapture(nullptr, nullptr); }},
      {"update", kRefused, [&] { return driver.StreamUpdateCaptureDependencies(nullptr, nullptr, nullptr, 0, 0); }},
      {"graph launch", kRefused, [&] { return driver.GraphLaunch(executable, nullptr); }},
      {"another blocking stream", "CUDA_SUCCESS, active",
       [&] { return driver.LaunchHostFunc(other, &DoNothing, nullptr); }},
  };
  for (const CaptureMode& mode : kCaptureModes) {
    for (const Case& each : cases) {
      Begin(driver, report, blocking, mode.mode);
      report.Expect(std::string(mode.name) + ", " + each.question, std::string(each.expected),
                    Answered(driver, each.call(), blocking));
      Drop(driver, blocking);
    }
    Begin(driver, report, driver.stream, mode.mode);
    report.Expect(std::string(mode.name) + ", a stream that does not block", std::string("CUDA_SUCCESS, active"),
                  Answered(driver, driver.LaunchHostFunc(nullptr, &DoNothing, nullptr), driver.stream));
    HOLDFAST_NEED(report, driver.EventRecord(captured, driver.stream));
    report.Expect(std::string(mode.name) + ", the null stream waits for its event", std::string(kRefused),
                  Answered(driver, driver.StreamWaitEvent(nullptr, captured, 0), driver.stream));
    Drop(driver, driver.stream);
  }
}

void NullStreamAndBranches(const Driver& driver, Report& report) {
  const CUstream blocking = MakeStream(driver, report, CU_STREAM_DEFAULT);
  Begin(driver, report, driver.stream);
  Follow(driver, report, blocking, driver.stream);
  report.Expect("a branch that blocks", std::string("CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"), Status(driver, nullptr));
  report.Expect("work", std::string("CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, invalid"),
                Answered(driver, driver.LaunchHostFunc(nullptr, &DoNothing, nullptr), driver.stream));
  report.Expect("while it is invalid", std::string("CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"), Status(driver, nullptr));
  Drop(driver, driver.stream);
  report.Expect("after the end", std::string("none"), Status(driver, nullptr));
  report.Expect("work then", CUDA_SUCCESS, driver.LaunchHostFunc(nullptr, &DoNothing, nullptr));
}

struct InCallback {
  const Driver* driver = nullptr;
  CUstream capturing = nullptr;
  CUstream other = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  std::vector<std::pair<std::string, std::pair<std::string, std::string>>> answers;  // question, expected, got

  void Ask(const char* question, CUresult got, const char* expected = "CUDA_SUCCESS, active") {
    answers.push_back({question, {expected, Answered(*driver, got, capturing)}});
  }
};

void AskInCallback(void* argument) {
  InCallback& state = *static_cast<InCallback*>(argument);
  const Driver& driver = *state.driver;
  constexpr char kNo[] = "CUDA_ERROR_NOT_PERMITTED, active";
  CUstreamCaptureStatus status{};
  CUgraph ended = nullptr;
  CUdeviceptr memory = 0;
  state.Ask("begin", driver.StreamBeginCapture(state.other, CU_STREAM_CAPTURE_MODE_RELAXED));
  state.Ask("end", driver.StreamEndCapture(state.other, &ended));
  state.Ask("begin into a graph", driver.StreamBeginCaptureToGraph(state.other, state.graph, nullptr, nullptr, 0,
                                                                   CU_STREAM_CAPTURE_MODE_RELAXED));
  state.Ask("end that", driver.StreamEndCapture(state.other, &ended));
  state.Ask("info", driver.StreamGetCaptureInfo(state.capturing, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  state.Ask("update", driver.StreamUpdateCaptureDependencies(state.capturing, nullptr, nullptr, 0, 0));
  state.Ask("host function", driver.LaunchHostFunc(state.capturing, &DoNothing, nullptr));
  state.Ask("fill", driver.MemsetD8Async(state.memory, 1, 16, state.capturing));
  state.Ask("copy", driver.MemcpyDtoDAsync(state.memory, state.memory + 32, 16, state.capturing), kNo);
  state.Ask("kernel", driver.LaunchKernel(state.function, 1, 1, 1, 1, 1, 1, 0, state.capturing, nullptr, nullptr), kNo);
  state.Ask("unsafe call", driver.MemAlloc(&memory, 64), kNo);
  state.Ask("record", driver.EventRecord(state.event, state.capturing));
  state.Ask("wait", driver.StreamWaitEvent(state.capturing, state.event, 0));
  state.Ask("synchronize", driver.StreamSynchronize(state.capturing), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, invalid");
  state.Ask("end of the invalid one", driver.StreamEndCapture(state.capturing, &ended),
            "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, none");
}

void CapturesInCallbacks(const Driver& driver, Report& report) {
  InCallback state;
  state.driver = &driver;
  state.capturing = driver.stream;
  state.other = MakeStream(driver, report);
  state.function = LoadKernel(driver, report);
  state.event = MakeEvent(driver, report);
  state.graph = MakeGraph(driver, report);
  HOLDFAST_NEED(report, driver.MemAlloc(&state.memory, 64));
  for (const bool in_destructor : {true, false}) {
    Begin(driver, report, driver.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    state.answers.clear();
    if (in_destructor) {
      CUuserObject object = nullptr;
      HOLDFAST_NEED(report,
                    driver.UserObjectCreate(&object, &state, &AskInCallback, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
      HOLDFAST_NEED(report, driver.UserObjectRelease(object, 1));
    } else {
      const CUstream runner = MakeStream(driver, report);
      HOLDFAST_NEED(report, driver.LaunchHostFunc(runner, &AskInCallback, &state));
      HOLDFAST_NEED(report, driver.StreamSynchronize(runner));
    }
    for (const auto& [question, answers] : state.answers) {
      report.Expect(std::string(in_destructor ? "destructor, " : "host function, ") + question, answers.first,
                    answers.second);
    }
  }
}

void StreamsGoMidCapture(const Driver& driver, Report& report) {
  const CUstream origin = MakeStream(driver, report);
  const CUstream branch = driver.stream;
  const CUevent event = MakeEvent(driver, report);
  for (const CaptureMode& mode : kCaptureModes) {
    const CUstream own = MakeStream(driver, report);
    Payload payload;
    Begin(driver, report, own, mode.mode);
    Own(driver, report, GraphOf(driver, report, own), &payload);
    OnThread(driver, [&] {
      report.Expect("destroy on another thread", CUDA_SUCCESS, driver.StreamDestroy(own));
      report.Expect("ran there", true, payload.ran_here());
    });
  }
  Begin(driver, report, origin);
  const CUgraph graph = GraphOf(driver, report, origin);
  Follow(driver, report, branch, origin);
  Work(driver, report, branch);
  HOLDFAST_NEED(report, driver.EventRecord(event, branch));
  report.Expect("destroy the origin", CUDA_SUCCESS, driver.StreamDestroy(origin));
  report.Expect("the branch", std::string("CUDA_SUCCESS, none"),
                Answered(driver, driver.LaunchHostFunc(branch, &DoNothing, nullptr), branch));
  report.Expect("its event", CUDA_ERROR_INVALID_VALUE, driver.EventQuery(event));
  std::size_t count = 0;
  report.Expect("the graph", CUDA_ERROR_INVALID_VALUE, driver.GraphGetNodes(graph, nullptr, &count));
  report.Expect("a new capture", CUDA_SUCCESS, driver.StreamBeginCapture(branch, CU_STREAM_CAPTURE_MODE_RELAXED));
}

}  // namespace

std::vector<Fact> CaptureRuleFacts() {
  return {
      {"C45", "an unsafe call is refused and makes a capture invalid, by the capture's mode and the thread's",
       &UnsafeCallsAreForbidden},
      {"C46", "calls that destroy graphs, load code or copy at once are not unsafe", &SafeCallsAreNot},
      {"C47", "an unsafe call makes those captures invalid that forbid it", &ForbiddenByWhich},
      {"C48", "an unsafe call is refused after its context and before most arguments are looked at",
       &RefusedInWhichOrder},
      {"C49", "to wait for the context makes all captures invalid, whatever the modes are", &ContextWaitsForNoCapture},
      {"C50", "the null stream is refused while a stream captures that it waits for", &NullStreamIsRefused},
      {"C51", "a branch counts for the null stream too, and an invalid capture", &NullStreamAndBranches},
      {"C52", "inside callbacks, captures begin, take the work that is permitted there, and end", &CapturesInCallbacks},
      {"C53", "with its origin a capture goes for all its branches, on whatever thread", &StreamsGoMidCapture},
  };
}

}  // namespace holdfast::conformance
