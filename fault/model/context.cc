#include "fault/model/context.h"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "fault/model/array.h"
#include "fault/model/call.h"
#include "fault/model/code.h"
#include "fault/model/event.h"
#include "fault/model/handles.h"
#include "fault/model/memory.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {
namespace {

struct Context {};

struct Primary {
  Context context;
  HandleTable<CUcontext, Context, HandleKind::kContext> handles;
  std::mutex mutex;
  CUcontext handle = nullptr;  // guarded by mutex; the same value for as long as the process lives
  std::uint32_t retained = 0;  // guarded by mutex
  unsigned int flags = 0;      // guarded by mutex
  std::atomic<bool> active{false};
  std::atomic<CUresult> error{CUDA_SUCCESS};
};

Primary& State() {
  static auto* primary = new Primary;
  return *primary;
}

thread_local std::vector<CUcontext> current_stack;

// What belongs to the context goes with it. Graphs and user objects do not (fact U17): no destructor runs.
void DestroyContents() {
  SynchronizeAllStreams();
  DestroyAllStreams();
  DestroyAllEvents();
  UnloadAllCode();
  DestroyAllArrays();
  FreeAll();
}

}  // namespace

void RequireDevice(CUdevice device) { Require(device == 0, CUDA_ERROR_INVALID_DEVICE); }

CUcontext RetainPrimaryContext() {
  RequireHealthyContext();
  Primary& primary = State();
  const std::lock_guard<std::mutex> lock(primary.mutex);
  if (primary.handle == nullptr) primary.handle = primary.handles.Insert(&primary.context);
  ++primary.retained;
  primary.active.store(true, std::memory_order_release);
  return primary.handle;
}

void ReleasePrimaryContext() {
  Primary& primary = State();
  {
    const std::lock_guard<std::mutex> lock(primary.mutex);
    Require(primary.retained > 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--primary.retained > 0) return;
  }
  ResetPrimaryContext();
}

void ResetPrimaryContext() {
  Primary& primary = State();
  if (!primary.active.exchange(false, std::memory_order_acq_rel)) return;
  DestroyContents();
}

bool PrimaryContextIsActive() { return State().active.load(std::memory_order_acquire); }

CUcontext PrimaryContext() {
  const std::lock_guard<std::mutex> lock(State().mutex);
  return State().handle;
}

unsigned int PrimaryContextFlags() {
  const std::lock_guard<std::mutex> lock(State().mutex);
  return State().flags;
}

void SetPrimaryContextFlags(unsigned int flags) {
  const std::lock_guard<std::mutex> lock(State().mutex);
  State().flags = flags;
}

CUcontext CurrentContext() { return current_stack.empty() ? nullptr : current_stack.back(); }

void SetCurrentContext(CUcontext context) {
  if (!current_stack.empty()) current_stack.pop_back();
  if (context != nullptr) current_stack.push_back(context);
}

void PushCurrentContext(CUcontext context) { current_stack.push_back(context); }

CUcontext PopCurrentContext() {
  Require(!current_stack.empty(), CUDA_ERROR_INVALID_CONTEXT);
  const CUcontext context = current_stack.back();
  current_stack.pop_back();
  return context;
}

void RequireContext(CUcontext context) {
  Require(context == nullptr || State().handles.Find(context) != nullptr, CUDA_ERROR_INVALID_CONTEXT);
}

void RequireNodeContext(CUcontext context) {
  if (context == nullptr || State().handles.Find(context) != nullptr) return;
  Misuse("the context of a node is none (the real driver crashes)");
}

void RequireCurrentContext() {
  Require(CurrentContext() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  Require(PrimaryContextIsActive(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  RequireHealthyContext();
}

void FailContext(CUresult error, const std::string& why) {
  CUresult none = CUDA_SUCCESS;
  if (!State().error.compare_exchange_strong(none, error, std::memory_order_acq_rel)) return;
  const std::string line = "holdfast model driver: the context is lost: " + why + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

bool ContextIsHealthy() { return State().error.load(std::memory_order_acquire) == CUDA_SUCCESS; }

void RequireHealthyContext() {
  const CUresult error = State().error.load(std::memory_order_acquire);
  if (error != CUDA_SUCCESS) throw Refusal{error};
}

}  // namespace holdfast::fault::model
