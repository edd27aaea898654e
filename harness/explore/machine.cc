#include "harness/explore/machine.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "harness/explore/arena.h"

namespace holdfast::explore {
namespace {

namespace context = boost::context::detail;

Machine* current_machine = nullptr;

// Ends the set-up or a check whose finding has been reported.
struct Stopped {};

// What the explorer itself allocates while a program's thread is on the processor.
class OutsideArena {
 public:
  OutsideArena() : thread_(Arena::Instance().current()), was_entered_(Arena::Instance().IsEntered()) {
    Arena::Instance().Leave();
  }
  ~OutsideArena() {
    if (was_entered_) {
      Arena::Instance().Enter(thread_);
    }
  }
  OutsideArena(const OutsideArena&) = delete;
  OutsideArena& operator=(const OutsideArena&) = delete;

 private:
  const std::size_t thread_;
  const bool was_entered_;
};

}  // namespace

struct FiberEntry {
  Machine* machine;
  std::size_t thread;

  static void Run(context::transfer_t transfer) {
    const FiberEntry entry = *static_cast<FiberEntry*>(transfer.data);
    entry.machine->driver_context_ = transfer.fctx;
    entry.machine->RunBody(entry.thread);
    entry.machine->fibers_[entry.thread].state = Machine::ThreadState::kEnded;
    entry.machine->SwitchToDriver();
  }
};

Machine& Machine::Current() {
  if (current_machine == nullptr || current_machine->phase_ == Phase::kIdle) {
    throw std::logic_error("explore: an operation of the explorer outside of a program that it runs");
  }
  return *current_machine;
}

Machine::Machine() : arena_(Arena::Instance()) {
  if (current_machine != nullptr) {
    throw std::logic_error("explore: there is a machine in this process already");
  }
  for (Fiber& fiber : fibers_) {
    void* const stack = mmap(nullptr, kStackSizeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) {
      throw std::bad_alloc();
    }
    // An overflow is a fault, not a corruption of what lies below.
    mprotect(stack, 4096, PROT_NONE);
    fiber.stack = static_cast<std::byte*>(stack);
  }
  current_machine = this;
}

Machine::~Machine() {
  for (const Fiber& fiber : fibers_) {
    munmap(fiber.stack, kStackSizeBytes);
  }
  current_machine = nullptr;
}

void Machine::Begin(const Program& program, const Graph& graph) {
  arena_.Leave();
  // Whatever the last execution left is forgotten, not destroyed: its threads may be in the middle of anything.
  arena_.Reset();
  threads_ = nullptr;
  graph_ = &graph;
  finding_.reset();
  created_.fill(0);
  plain_accesses_ = 0;
  phase_ = Phase::kSetUp;
  arena_.Enter(kThreadsMax);
  current_ = kThreadsMax;
  threads_ = new Threads;
  RunGuarded([&] { program.set_up(*threads_); }, "the set-up");
  arena_.Leave();
  thread_count_ = finding_ ? 0 : threads_->threads().size();
  if (thread_count_ > kThreadsMax) {
    Report(Verdict::kTooManyThreads, "the program has " + std::to_string(thread_count_) + " threads; at most " +
                                         std::to_string(kThreadsMax) + " can be explored");
    thread_count_ = 0;
  }
  phase_ = Phase::kThreads;
  for (std::size_t thread = 0; thread < thread_count_ && !finding_; ++thread) {
    Fiber& fiber = fibers_[thread];
    fiber.executed = 0;
    fiber.state = ThreadState::kReady;
    names_[thread] = threads_->threads()[thread].name;
    fiber.context = context::make_fcontext(fiber.stack + kStackSizeBytes, kStackSizeBytes, &FiberEntry::Run);
    FiberEntry entry{this, thread};
    arena_.Enter(thread);
    current_ = thread;
    fiber.context = context::jump_fcontext(fiber.context, &entry).fctx;
    arena_.Leave();
  }
}

void Machine::RunBody(std::size_t thread) {
  std::string what;
  try {
    threads_->threads()[thread].body();
    return;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "one that is no std::exception";
  }
  // Out here, where the exception is over with: what fails does not come back.
  Fail(Verdict::kUncaughtException, "a thread ended with an exception: " + what);
}

void Machine::SwitchToDriver() { driver_context_ = context::jump_fcontext(driver_context_, nullptr).fctx; }

// Only now, and not when the thread asked: another may have destroyed the location in between.
void Machine::CheckAtomicAccess(std::size_t thread) {
  const Operation& operation = fibers_[thread].pending;
  if (operation.kind == EventKind::kFence || operation.kind == EventKind::kChoice) {
    return;
  }
  current_ = thread;
  const Location& location = locations_[operation.location];
  if (!location.is_alive) {
    Report(HappenedBefore(location.destroyed) ? Verdict::kUseAfterFree : Verdict::kDataRace,
           Say(operation.location, operation.place) + ": an atomic access to something that has been destroyed");
  } else if (!HappenedBefore(location.created)) {
    Report(Verdict::kDataRace,
           Say(operation.location, operation.place) + ": accessed by a thread that does not know it to be constructed");
  }
}

void Machine::Wait(std::size_t thread) {
  ++fibers_[thread].executed;
  fibers_[thread].state = ThreadState::kWaiting;
  CheckAtomicAccess(thread);
}

void Machine::RunChecks() {
  phase_ = Phase::kChecks;
  current_ = kThreadsMax;
  if (threads_->threads().size() != thread_count_) {
    Report(Verdict::kMisuse, "a thread was added by another thread, and never ran: threads are added by the set-up");
  }
  bool is_everything_over = true;
  for (std::size_t thread = 0; thread < thread_count_; ++thread) {
    is_everything_over = is_everything_over && fibers_[thread].state == ThreadState::kEnded;
  }
  arena_.Enter(kThreadsMax);
  for (const std::function<void()>& check : threads_->checks()) {
    if (finding_) {
      break;
    }
    RunGuarded(check, "a final check");
  }
  // What a thread that waits has on its stack was not taken down: then nothing is said of leaks.
  if (!finding_ && is_everything_over) {
    delete threads_;
    threads_ = nullptr;
    arena_.Leave();
    if (!finding_ && arena_.live_count() != 0) {
      Report(Verdict::kLeak, std::to_string(arena_.live_count()) + " allocations were not freed");
    }
  }
  arena_.Leave();
}

void Machine::Report(Verdict verdict, std::string text) {
  const OutsideArena outside;
  if (!finding_) {
    finding_ = Finding{verdict, std::string(text.data(), text.size())};
  }
}

void Machine::Fail(Verdict verdict, std::string text) {
  Report(verdict, std::move(text));
  if (phase_ == Phase::kThreads) {
    while (true) {  // nobody resumes it
      SwitchToDriver();
    }
  }
}

void Machine::FailProgram(Verdict verdict, std::string text) {
  Fail(verdict, std::move(text));
  throw Stopped();
}

template <typename Function>
void Machine::RunGuarded(const Function& function, const char* what) {
  std::string said;
  try {
    function();
    return;
  } catch (const Stopped&) {
    return;
  } catch (const std::exception& error) {
    said = error.what();
  } catch (...) {
    said = "it is no std::exception";
  }
  Report(Verdict::kUncaughtException, std::string(what) + " ended with an exception: " + said);
}

void Machine::ReportDoubleFree() { Fail(Verdict::kDoubleFree, "memory was freed that is not allocated any more"); }

std::uint64_t Machine::HashOfState(std::size_t thread) const {
  // FNV-1a, by words.
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](const std::byte* first, const std::byte* last) {
    for (; first + sizeof(std::uint64_t) <= last; first += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      __builtin_memcpy(&word, first, sizeof(word));
      hash = (hash ^ word) * 0x100000001b3;
    }
  };
  const Fiber& fiber = fibers_[thread];
  // A fiber's context is where its registers lie, at the top of its stack.
  add(static_cast<const std::byte*>(fiber.context), fiber.stack + kStackSizeBytes);
  arena_.ForEachRegion(add);
  return hash;
}

OperationResult Machine::Perform(const Operation& operation) {
  if (phase_ != Phase::kThreads) {
    return PerformAtOnce(operation);
  }
  Fiber& fiber = fibers_[current_];
  fiber.pending = operation;
  fiber.state = ThreadState::kReady;
  SwitchToDriver();
  return fiber.result;
}

std::uint64_t& Machine::FinalValue(std::uint16_t location) {
  Location& found = locations_[location];
  if (phase_ == Phase::kChecks && !graph_->Writes(location).empty() && !found.has_final_value) {
    found.value = graph_->At(graph_->Writes(location).back()).value_written;
  }
  found.has_final_value = found.has_final_value || phase_ == Phase::kChecks;
  return found.value;
}

// Before the threads and after them there is nobody else.
OperationResult Machine::PerformAtOnce(const Operation& operation) {
  if (operation.kind == EventKind::kFence) {
    return {0, false};
  }
  if (operation.kind == EventKind::kChoice) {
    FailProgram(Verdict::kMisuse, operation.place.Text() + ": a choice before or after the threads is not explored");
  }
  RequireUsable(operation.location, operation.place, "an atomic access to");
  std::uint64_t& value = FinalValue(operation.location);
  const std::uint64_t read = value;
  if (operation.kind == EventKind::kRead) {
    return {read, false};
  }
  std::uint64_t written = operation.operand;
  if (operation.transform != nullptr && !operation.transform(read, operation.operand, operation.expected, &written)) {
    if (operation.waits) {
      Report(Verdict::kDeadlock, "the code before or after the threads waits at " + operation.place.Text() +
                                     ", where nobody else can help it");
    }
    return {read, false};
  }
  value = written;
  return {read, true};
}

std::uint16_t Machine::CreateLocation(std::uint64_t value, harness::SourcePlace place) {
  const OutsideArena outside;
  std::vector<std::uint16_t>& numbers = numbers_[current_];
  if (created_[current_] == numbers.size()) {
    if (locations_.size() > 0xfff0) {
      throw std::length_error("explore: too many atomics and variables");
    }
    numbers.push_back(static_cast<std::uint16_t>(locations_.size()));
    locations_.emplace_back();
  }
  const std::uint16_t number = numbers[created_[current_]++];
  Location& location = locations_[number];
  location = Location{};
  location.value = value;
  location.place = place;
  location.is_alive = true;
  if (phase_ == Phase::kThreads) {
    location.created = {static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(fibers_[current_].executed)};
  }
  return number;
}

bool Machine::HappenedBefore(Epoch epoch) const {
  if (phase_ != Phase::kThreads || epoch.thread == kNobody || epoch.thread == current_) {
    return true;
  }
  const std::size_t executed = fibers_[current_].executed;
  if (executed == 0) {
    return false;
  }
  const EventId last{static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(executed)};
  return graph_->At(last).happens_before.counts[epoch.thread] > epoch.executed;
}

std::string Machine::Say(std::uint16_t location, harness::SourcePlace place) const {
  const OutsideArena outside;
  const Location& what = locations_[location];
  return place.Text() + ": " + (what.name != nullptr ? what.name : "what was made at " + what.place.Text());
}

Machine::Location& Machine::RequireUsable(std::uint16_t number, harness::SourcePlace place, const char* what) {
  Location& location = locations_[number];
  if (!location.is_alive) {
    Fail(HappenedBefore(location.destroyed) ? Verdict::kUseAfterFree : Verdict::kDataRace,
         Say(number, place) + ": " + what + " something that has been destroyed");
  }
  return location;
}

void Machine::DestroyLocation(std::uint16_t number, harness::SourcePlace place) {
  Location& location = RequireUsable(number, place, "the destruction of");
  if (phase_ == Phase::kThreads) {
    for (const auto& [access, index] : graph_->Accesses(number)) {
      const bool was_executed = access.index <= fibers_[access.thread].executed;
      const Epoch epoch{access.thread, static_cast<std::uint16_t>(access.index - 1)};
      if (was_executed && !HappenedBefore(epoch)) {
        Fail(Verdict::kDataRace,
             Say(number, place) + ": destroyed without waiting for the access at " + graph_->At(access).place.Text());
      }
    }
    PlainWrite(number, place);
    location.destroyed = {static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(fibers_[current_].executed)};
  }
  location.is_alive = false;
}

void Machine::CheckPlain(std::uint16_t number, harness::SourcePlace place, const char* what) {
  const Location& location = RequireUsable(number, place, what);
  if (phase_ != Phase::kThreads) {
    return;
  }
  if (++plain_accesses_ > kPlainAccessesMax) {
    Fail(Verdict::kTooManySteps, Say(number, place) + ": the threads go on without end");
  }
  if (!HappenedBefore(location.created)) {
    Fail(Verdict::kDataRace, Say(number, place) + ": " + what + " something without knowing that it was made");
  }
  if (!HappenedBefore(location.written)) {
    Fail(Verdict::kDataRace,
         Say(number, place) + ": " + what + " it without knowing of the write at " + location.written_place.Text());
  }
}

void Machine::PlainRead(std::uint16_t number, harness::SourcePlace place) {
  CheckPlain(number, place, "a read of");
  if (phase_ == Phase::kThreads) {
    Location& location = locations_[number];
    location.read[current_] = static_cast<std::uint16_t>(fibers_[current_].executed + 1);
    location.read_place = place;
  }
}

void Machine::PlainWrite(std::uint16_t number, harness::SourcePlace place) {
  CheckPlain(number, place, "a write of");
  if (phase_ != Phase::kThreads) {
    return;
  }
  Location& location = locations_[number];
  for (std::uint16_t thread = 0; thread < kThreadsMax; ++thread) {
    const std::uint16_t read = location.read[thread];
    if (read != 0 && !HappenedBefore({thread, static_cast<std::uint16_t>(read - 1)})) {
      Fail(Verdict::kDataRace,
           Say(number, place) + ": a write of it without knowing of a read, such as at " + location.read_place.Text());
    }
  }
  location.written = {static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(fibers_[current_].executed)};
  location.written_place = place;
}

}  // namespace holdfast::explore
