#include "fault/shim/timeline.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fault/shim/threads.h"

namespace holdfast::fault {
namespace {

// ---- the file -------------------------------------------------------------------------------------------------------

constexpr std::array<char, 8> kMagic = {'H', 'F', 'T', 'I', 'M', 'E', '0', '1'};

// The harness shows the last 2000 moments of a case.
constexpr std::size_t kRecords = 2048;

constexpr std::uint64_t kPoint = UINT64_MAX;
constexpr std::uint64_t kNotOver = UINT64_MAX - 1;

// A thread that the shim does not know: the record has a number of its own for it.
constexpr std::uint8_t kNoRole = 255;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "an atomic that several processes share has no lock");

struct TimelineRecord {
  std::atomic<std::uint64_t> sequence;  // 0: never written
  std::uint64_t begin_ns;
  std::uint64_t duration_ns;  // or kPoint, or kNotOver
  std::uint64_t object;
  std::uint32_t references;
  std::uint32_t queue;
  std::uint32_t process;
  std::uint32_t thread;  // the ordinal of its name
  std::uint8_t kind;
  std::uint8_t role;
  std::array<char, 6> unused;
  std::array<char, 56> result;  // both texts end with the first zero, if there is one
  std::array<char, 80> name;
};
static_assert(sizeof(TimelineRecord) == 192, "the reader goes by this");

struct TimelineFile {
  std::array<char, 8> magic;
  std::uint32_t record_bytes;
  std::uint32_t record_count;
  std::atomic<std::uint32_t> first_process;
  std::array<char, 44> unused;
  // In a cache line of its own: the one thing that all threads write.
  std::atomic<std::uint64_t> next;  // the ticket of the next moment
  std::array<char, 56> unused_too;
  std::array<TimelineRecord, kRecords> records;
};
static_assert(offsetof(TimelineFile, records) == 128, "the reader goes by this");

// Memory ordering: relaxed for both, here and below: the file is mapped before anything is recorded, and a process
// number is told to the one thread that a child of fork has.
std::atomic<TimelineFile*> g_file{nullptr};
std::atomic<std::uint32_t> g_process{0};

TimelineFile* TheFile() { return g_file.load(std::memory_order_relaxed); }
std::uint32_t ThisProcess() { return g_process.load(std::memory_order_relaxed); }

// ---- one record -----------------------------------------------------------------------------------------------------

constexpr std::uint64_t Busy(std::uint64_t ticket) { return 2 * ticket + 1; }
constexpr std::uint64_t Done(std::uint64_t ticket) { return 2 * ticket + 2; }

TimelineRecord& RecordOf(std::uint64_t ticket) { return TheFile()->records[ticket % kRecords]; }

// The record, for this thread alone until Publish; null if it has gone to a later moment, or somebody is in the middle
// of it.
TimelineRecord* Take(std::uint64_t ticket, std::uint64_t expected) {
  TimelineRecord& record = RecordOf(ticket);
  // Memory ordering: acquire, so that what its last writer wrote is not mixed with what this one writes. That half a
  // record is never taken for a whole one needs no more: the reader comes when the writers have gone, and a thread that
  // is ended has done its stores in the order of the program.
  const bool taken = record.sequence.compare_exchange_strong(expected, Busy(ticket), std::memory_order_acquire,
                                                             std::memory_order_relaxed);
  return taken ? &record : nullptr;
}

// The record for a new moment; null, and the moment is dropped, as above.
TimelineRecord* TakeNew(std::uint64_t ticket) {
  // Memory ordering: relaxed, the exchange in Take decides whether this was the present value.
  const std::uint64_t present = RecordOf(ticket).sequence.load(std::memory_order_relaxed);
  return present % 2 == 1 || present > Done(ticket) ? nullptr : Take(ticket, present);
}

// Memory ordering: release, so that whoever sees the even number sees the rest of the record.
void Publish(TimelineRecord& record, std::uint64_t ticket) {
  record.sequence.store(Done(ticket), std::memory_order_release);
}

template <std::size_t kSize>
void CopyText(std::array<char, kSize>& to, std::string_view from) {
  to.fill(0);
  std::copy_n(from.begin(), std::min(from.size(), kSize), to.begin());
}

// A number for a thread that the shim does not know, of the initial-exec kind, so that reaching it allocates nothing.
thread_local std::uint32_t t_stranger __attribute__((tls_model("initial-exec"))) = 0;
std::atomic<std::uint32_t> g_strangers{0};

void FillInThread(TimelineRecord& record) {
  if (const Thread* thread = KnownThread(); thread != nullptr) {
    record.role = static_cast<std::uint8_t>(thread->name.role);
    record.thread = thread->name.ordinal;
    return;
  }
  // Memory ordering: relaxed, any number that nobody else has will do.
  if (t_stranger == 0) t_stranger = 1 + g_strangers.fetch_add(1, std::memory_order_relaxed);
  record.role = kNoRole;
  record.thread = t_stranger;
}

void FillInFacts(TimelineRecord& record, const MomentFacts& facts) {
  record.object = facts.object;
  record.references = facts.references;
  record.queue = facts.queue;
  CopyText(record.result, facts.result);
}

std::uint64_t Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);  // without a system call
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

struct Time {
  std::uint64_t begin_ns;
  std::uint64_t duration_ns;
};

// Its ticket.
std::uint64_t WriteNew(MomentKind kind, std::string_view name, Time time, const MomentFacts& facts) {
  // Memory ordering: relaxed, the count alone matters; a record's sequence number orders what is in it.
  const std::uint64_t ticket = TheFile()->next.fetch_add(1, std::memory_order_relaxed);
  TimelineRecord* record = TakeNew(ticket);
  if (record == nullptr) return ticket;
  record->begin_ns = time.begin_ns;
  record->duration_ns = time.duration_ns;
  record->process = ThisProcess();
  record->kind = static_cast<std::uint8_t>(kind);
  FillInThread(*record);
  FillInFacts(*record, facts);
  CopyText(record->name, name);
  Publish(*record, ticket);
  return ticket;
}

// ---- the beginning --------------------------------------------------------------------------------------------------

// Of a subject's file that cannot be used. The subject goes on without a timeline: it may have changed its root, its
// limits or its rights since it was started, and none of that is a fault.
TimelineFile* Without(const char* path, int error) {
  dprintf(STDERR_FILENO, "holdfast: HOLDFAST_TIMELINE=%s: %s\n", path, std::strerror(error));
  return nullptr;
}

// Sets the room aside on the disk: a store into a file that cannot grow would end the process, and so would the attempt
// to make a file larger than the process may.
int Allocate(int file) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof(TimelineFile)) return EFBIG;
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file, 0, sizeof(TimelineFile));
  return error;
}

// Null if it cannot be mapped.
TimelineFile* MapFile(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return Without(path, errno);
  const int error = Allocate(file);
  void* memory =
      error == 0 ? mmap(nullptr, sizeof(TimelineFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : nullptr;
  close(file);
  if (error != 0) return Without(path, error);
  return memory == MAP_FAILED ? Without(path, errno) : static_cast<TimelineFile*>(memory);
}

}  // namespace

void OpenTimeline() {
  const char* path = std::getenv("HOLDFAST_TIMELINE");
  if (path == nullptr || path[0] == '\0') return;
  TimelineFile* file = MapFile(path);
  if (file == nullptr) return;
  // A process that the subject starts finds the same there.
  file->magic = kMagic;
  file->record_bytes = sizeof(TimelineRecord);
  file->record_count = kRecords;
  NameProcessInTimeline();
  std::uint32_t nobody = 0;
  // Memory ordering: relaxed, the exchange alone decides who was first.
  file->first_process.compare_exchange_strong(nobody, ThisProcess(), std::memory_order_relaxed);
  g_file.store(file, std::memory_order_relaxed);
}

bool TimelineIsOpen() { return TheFile() != nullptr; }

void NameProcessInTimeline() { g_process.store(static_cast<std::uint32_t>(getpid()), std::memory_order_relaxed); }

void NoteMoment(MomentKind kind, std::string_view name, const MomentFacts& facts) {
  if (TheFile() != nullptr) WriteNew(kind, name, {Now(), kPoint}, facts);
}

OpenMoment BeginMoment(MomentKind kind, std::string_view name) {
  if (TheFile() == nullptr) return {};
  const std::uint64_t now = Now();
  return {WriteNew(kind, name, {now, kNotOver}, {}), now, ThisProcess()};
}

void EndMoment(const OpenMoment& moment, MomentKind kind, std::string_view name, const MomentFacts& facts) {
  if (moment.process == 0 || moment.process != ThisProcess()) return;
  const std::uint64_t duration = Now() - moment.begin_ns;
  TimelineRecord* record = Take(moment.ticket, Done(moment.ticket));
  if (record == nullptr) {
    WriteNew(kind, name, {moment.begin_ns, duration}, facts);
    return;
  }
  record->duration_ns = duration;
  FillInFacts(*record, facts);
  Publish(*record, moment.ticket);
}

}  // namespace holdfast::fault
