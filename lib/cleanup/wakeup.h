// The seam between the queue and whatever gets a drain to run: a host's pending call, a worker thread, or a caller.
#ifndef HOLDFAST_LIB_CLEANUP_WAKEUP_H_
#define HOLDFAST_LIB_CLEANUP_WAKEUP_H_

namespace holdfast::cleanup {

// What a wakeup runs when its time has come. A plain function, so that it fits hosts that know C alone.
struct DrainFunction {
  void (*call)(void* argument) noexcept;
  void* argument;

  void operator()() const noexcept { call(argument); }
};

class Wakeup {
 public:
  virtual ~Wakeup() = default;

  // Called once, before the first Request.
  virtual void Start(DrainFunction drain) = 0;

  // Asks for one drain, later, in the context where owners may be released. Runs on CUDA's threads and on threads
  // inside a driver call: it must not block, allocate, call CUDA or take a lock of the library.
  // False means refused: nothing will run, and the queue asks again later.
  virtual bool Request() noexcept = 0;

  // After it returned, the wakeup touches the host no more and runs no drain. Called once the gate is closed.
  virtual void Stop() noexcept = 0;
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_WAKEUP_H_
