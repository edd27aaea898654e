// Streams: a worker thread each, which runs what is enqueued one after the other.
#ifndef HOLDFAST_FAULT_MODEL_STREAM_H_
#define HOLDFAST_FAULT_MODEL_STREAM_H_

#include <cuda.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "fault/model/completion.h"

namespace holdfast::fault::model {

struct CaptureBranch;

struct StreamWork {
  std::function<void()> run;
  CompletionList after;        // waited for first
  std::function<void()> then;  // runs once the work has been reported done; may be empty
};

// Thread safety: all functions may be called from any thread.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(unsigned int flags, int priority) : flags(flags), priority(priority) {}

  // The work's completion. The worker starts with the first work.
  CompletionPointer Enqueue(StreamWork work);

  // Completion of what was enqueued last; null if nothing was.
  CompletionPointer last() const;

  // No more work comes; the worker ends after what it has.
  void Close();

  // Whether it waits for the null stream, and the null stream for it.
  bool blocks() const { return (flags & CU_STREAM_NON_BLOCKING) == 0; }

  const unsigned int flags;
  const int priority;
  std::shared_ptr<CaptureBranch> branch;  // null while it does not capture; guarded by the lock of captures

  std::uint64_t id = 0;       // set before the handle is given out
  CUstream handle = nullptr;  // set before the handle is given out; null for the null stream

 private:
  struct Task {
    StreamWork work;
    CompletionPointer completion;
  };

  static void Work(std::shared_ptr<Stream> self);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // guarded by mutex_
  CompletionPointer last_;  // guarded by mutex_
  bool started_ = false;    // guarded by mutex_
  bool closed_ = false;     // guarded by mutex_
};

using StreamPointer = std::shared_ptr<Stream>;

// The streams of the one context.
StreamPointer CreateStream(unsigned int flags, int priority);

// The stream of a handle; null and CU_STREAM_LEGACY stand for the null stream. Throws Refusal for a made-up handle,
// Unmodelled for CU_STREAM_PER_THREAD; a destroyed stream is a misuse.
StreamPointer RequireStream(CUstream handle);

// The same for a call that enqueues or waits. A stream brings its context along; the null stream is that of the current
// one. Throws Refusal too if there is none, if work on the device went wrong, or if a stream captures that the null
// stream would wait for.
StreamPointer RequireUsableStream(CUstream handle);

// The same for a call that a capturing stream cannot take: the capture becomes invalid.
StreamPointer RequireRunningStream(CUstream handle);

// A capture that began on the stream ends without a graph.
// REQUIRES: no lock of the model is held; destructors may run.
void DestroyStream(CUstream handle);
void DestroyAllStreams();
std::uint64_t LiveStreams();

// Enqueues in the order that the null stream imposes: it waits for all blocking streams, and they wait for it.
CompletionPointer Submit(Stream& stream, StreamWork work);

// Returns once all that was enqueued on any stream is done.
void SynchronizeAllStreams();

// False while an earlier piece of work that the stream has to wait for is not done.
bool StreamIsIdle(Stream& stream);
void SynchronizeStream(Stream& stream);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_STREAM_H_
