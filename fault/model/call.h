// How every entry point begins and ends: the checks that the driver makes before it looks at an argument, and the
// one place where an exception of the model becomes a CUresult.
//
// An entry point is `return Enter(__func__, Rule::kNormal, [&] { ... });`. The body answers by returning (success) or
// by throwing Refusal or Unmodelled.
#ifndef HOLDFAST_FAULT_MODEL_CALL_H_
#define HOLDFAST_FAULT_MODEL_CALL_H_

#include <cuda.h>

#include <cstdint>
#include <new>
#include <string>

namespace holdfast::fault::model {

// When an entry point may be called. Which has which rule was measured on the real driver: inside a destructor of a
// user object and inside a host function the same calls are permitted, on the caller's thread and on the driver's own.
enum class Rule {
  kAlways,      // needs no cuInit, works inside callbacks
  kInCallback,  // needs cuInit, works inside callbacks
  kNodeOfExec,  // needs cuInit; CUDA_ERROR_INVALID_VALUE inside callbacks
  kNormal,      // needs cuInit; CUDA_ERROR_NOT_PERMITTED inside callbacks
  kUnsafe,      // the same; and what a stream capture may forbid to the calling thread (capture_mode.h)
};

// The driver's own "no": the real one gives the same answer.
struct Refusal {
  CUresult result;
};

// The model lacks this; the real driver might well do it. Answers CUDA_ERROR_NOT_SUPPORTED and is written down.
struct Unmodelled {};

inline void Require(bool condition, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
  if (!condition) throw Refusal{otherwise};
}

// A small number for the calling thread, never 0, that no other thread of the process ever has.
std::uint64_t ThreadNumber() noexcept;

// The entry point that the calling thread is in, for messages; "the driver's own thread" where there is none.
const char* CurrentCall() noexcept;

// Prints one line that says what the caller did wrong and aborts. For what makes the real driver crash.
[[noreturn]] void Misuse(const std::string& what) noexcept;

// Writes down that `name` answered CUDA_ERROR_NOT_SUPPORTED because the model lacks it.
void NoteUnmodelled(const char* name) noexcept;

// Names noted so far, separated by commas; valid until the next call.
const char* UnmodelledNames();

void SetInitialized() noexcept;

// Throws Refusal{CUDA_ERROR_NOT_PERMITTED} inside a callback: for calls that are permitted there with some arguments.
void RequireNoCallback();

// Marks the calling thread as being inside a user object's destructor or a host function while it lives.
class CallbackScope {
 public:
  CallbackScope() noexcept;
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
};

namespace internal {

// Names the entry point for CurrentCall; calls nest when an inline destructor calls the driver.
class CallName {
 public:
  explicit CallName(const char* name) noexcept;
  ~CallName();
  CallName(const CallName&) = delete;
  CallName& operator=(const CallName&) = delete;

 private:
  const char* previous_;
};

CUresult CheckRule(Rule rule) noexcept;

// What stream captures have to say to an unsafe call. Defined in capture_mode.cc.
CUresult CheckCaptures() noexcept;

}  // namespace internal

template <typename Body>
CUresult Enter(const char* name, Rule rule, Body&& body) noexcept {
  if (CUresult refused = internal::CheckRule(rule); refused != CUDA_SUCCESS) return refused;
  const internal::CallName call(name);
  try {
    body();
    return CUDA_SUCCESS;
  } catch (const Refusal& refusal) {
    return refusal.result;
  } catch (const Unmodelled&) {
    NoteUnmodelled(name);
    return CUDA_ERROR_NOT_SUPPORTED;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_CALL_H_
