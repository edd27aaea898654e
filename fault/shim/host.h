// The interpreter, as far as the shim has to ask it something. Its functions are looked up by name; a host that has no
// such function (a test's, say) is taken to be running, and never to end.
#ifndef HOLDFAST_FAULT_SHIM_HOST_H_
#define HOLDFAST_FAULT_SHIM_HOST_H_

#include <atomic>
#include <cstdint>
#include <mutex>

namespace holdfast::fault {

// A function of the interpreter in this process, or null. Takes the dynamic loader's lock.
void* HostSymbol(const char* name);

// Looks up what the functions below need. REQUIRES: there is an interpreter; called once, before the others.
void FindHostFunctions();

// Whether the interpreter is being finalized, or is not running at all. From any thread, at any time.
bool HostIsFinalizing();

// Whether the calling thread, which holds the interpreter's lock, has a Python frame. It has none in the last pass over
// the pending calls, which ends once the queue is empty.
bool HostIsEvaluating();

// Keeps the shim's own thread from calling an interpreter that ends: up to 3.12 such a call crashes (fact P3). The
// interpreter tells through `atexit`, which comes early enough; asking it first would leave a gap between the question
// and the call.
//
// Thread safety: from any thread, but for Watch.
class HostGate {
 public:
  enum class State : std::uint8_t {
    kUnknown,  // nobody would tell of the end
    kOpen,
    kClosed,  // for good: an interpreter that is started again is not watched
  };

  // Asks the interpreter to tell of its end. Does nothing unless there is a need, see Need, or if it does not succeed.
  // REQUIRES: the calling thread holds the interpreter's lock.
  void Watch();

  // From now on the gate is needed.
  // Memory ordering: relaxed; whoever watches a little later does just as well.
  void Need() { needed_.store(true, std::memory_order_relaxed); }

  // Runs `call` if the gate is open, and does not let it close meanwhile.
  template <typename Call>
  State Pass(const Call& call) {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kOpen) call();
    return state_;
  }

  void Close();

  bool IsUnknown();

  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

 private:
  void Open();

  std::atomic<bool> needed_{false};
  std::mutex mutex_;
  State state_ = State::kUnknown;  // guarded by mutex_
};

// Never destroyed: the process ends while the shim's thread is still there.
HostGate& TheHostGate();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_HOST_H_
