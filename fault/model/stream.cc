#include "fault/model/stream.h"

#include <set>
#include <thread>
#include <utility>

#include "fault/model/call.h"
#include "fault/model/capture.h"
#include "fault/model/capture_mode.h"
#include "fault/model/context.h"
#include "fault/model/handles.h"

namespace holdfast::fault::model {
namespace {

using Table = HandleTable<CUstream, Stream, HandleKind::kStream>;

struct Streams {
  Table handles;
  std::mutex mutex;
  std::set<StreamPointer> live;                                 // guarded by mutex; owns what `handles` points to
  StreamPointer null_stream = std::make_shared<Stream>(0u, 0);  // immutable
  std::atomic<std::uint64_t> next_id{1};
};

// Never destroyed: workers may run until the process ends.
Streams& All() {
  static auto* streams = new Streams;
  return *streams;
}

std::vector<StreamPointer> LiveList() {
  Streams& streams = All();
  const std::lock_guard<std::mutex> lock(streams.mutex);
  return {streams.live.begin(), streams.live.end()};
}

[[noreturn]] void RefuseDead(CUstream handle) {
  if (All().handles.State(handle) == HandleState::kDead) {
    Misuse("the stream is destroyed already (the real driver crashes)");
  }
  throw Refusal{CUDA_ERROR_INVALID_HANDLE};
}

void AddLast(const Stream& stream, CompletionList* list) {
  if (CompletionPointer last = stream.last(); last != nullptr && !last->done()) list->push_back(std::move(last));
}

}  // namespace

CompletionPointer Stream::Enqueue(StreamWork work) {
  CompletionPointer completion = std::make_shared<Completion>();
  const std::lock_guard<std::mutex> lock(mutex_);
  tasks_.push_back(Task{std::move(work), completion});
  last_ = completion;
  if (!started_) {
    started_ = true;
    std::thread(Work, shared_from_this()).detach();
  }
  changed_.notify_one();
  return completion;
}

CompletionPointer Stream::last() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_;
}

void Stream::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

void Stream::Work(std::shared_ptr<Stream> self) {
  std::unique_lock<std::mutex> lock(self->mutex_);
  while (true) {
    self->changed_.wait(lock, [&self] { return !self->tasks_.empty() || self->closed_; });
    if (self->tasks_.empty()) return;
    Task task = std::move(self->tasks_.front());
    self->tasks_.pop_front();
    lock.unlock();
    for (const CompletionPointer& earlier : task.work.after) earlier->Wait();
    if (task.work.run) task.work.run();
    task.completion->Finish();
    if (task.work.then) task.work.then();
    task = Task();
    lock.lock();
  }
}

StreamPointer CreateStream(unsigned int flags, int priority) {
  Streams& streams = All();
  StreamPointer stream = std::make_shared<Stream>(flags, priority);
  stream->id = streams.next_id.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard<std::mutex> lock(streams.mutex);
  streams.live.insert(stream);
  stream->handle = streams.handles.Insert(stream.get());
  return stream;
}

StreamPointer RequireStream(CUstream handle) {
  Streams& streams = All();
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return streams.null_stream;
  if (handle == CU_STREAM_PER_THREAD) throw Unmodelled{};
  Stream* stream = streams.handles.Find(handle);
  if (stream == nullptr) RefuseDead(handle);
  return stream->shared_from_this();
}

StreamPointer RequireUsableStream(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) {
    RequireNoCallback();
    RequireCurrentContext();
    RequireNoImplicitCapture();
  }
  StreamPointer stream = RequireStream(handle);
  RequireHealthyContext();
  return stream;
}

StreamPointer RequireRunningStream(CUstream handle) {
  StreamPointer stream = RequireUsableStream(handle);
  RefuseCapturing(*stream);
  return stream;
}

void DestroyStream(CUstream handle) {
  Streams& streams = All();
  StreamPointer stream;
  {
    const std::lock_guard<std::mutex> lock(streams.mutex);
    Stream* found = streams.handles.Take(handle);
    if (found == nullptr) RefuseDead(handle);
    stream = found->shared_from_this();
    streams.live.erase(stream);
  }
  LeaveCapture(*stream);
  stream->Close();
}

void DestroyAllStreams() {
  for (const StreamPointer& stream : LiveList()) DestroyStream(stream->handle);
}

std::uint64_t LiveStreams() { return All().handles.live(); }

CompletionPointer Submit(Stream& stream, StreamWork work) {
  Streams& streams = All();
  if (&stream == streams.null_stream.get()) {
    for (const StreamPointer& other : LiveList()) {
      if (other->blocks()) AddLast(*other, &work.after);
    }
  } else if (stream.blocks()) {
    AddLast(*streams.null_stream, &work.after);
  }
  return stream.Enqueue(std::move(work));
}

void SynchronizeAllStreams() {
  std::vector<StreamPointer> streams = LiveList();
  streams.push_back(All().null_stream);
  for (const StreamPointer& stream : streams) {
    if (CompletionPointer last = stream->last()) last->Wait();
  }
}

bool StreamIsIdle(Stream& stream) {
  CompletionList pending;
  AddLast(stream, &pending);
  if (&stream == All().null_stream.get()) {
    for (const StreamPointer& other : LiveList()) {
      if (other->blocks()) AddLast(*other, &pending);
    }
  }
  return pending.empty();
}

void SynchronizeStream(Stream& stream) {
  CompletionList pending;
  AddLast(stream, &pending);
  if (&stream == All().null_stream.get()) {
    for (const StreamPointer& other : LiveList()) {
      if (other->blocks()) AddLast(*other, &pending);
    }
  }
  for (const CompletionPointer& earlier : pending) earlier->Wait();
}

}  // namespace holdfast::fault::model
