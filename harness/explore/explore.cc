#include "harness/explore/explore.h"

namespace holdfast::explore {
namespace {

Operation Make(EventKind kind, std::uint16_t location, std::memory_order order, Place place) {
  Operation operation;
  operation.kind = kind;
  operation.order = order;
  operation.failure_order = std::memory_order_relaxed;
  operation.location = location;
  operation.place = place;
  return operation;
}

bool Increment(std::uint64_t read, std::uint64_t, std::uint64_t, std::uint64_t* written) {
  *written = read + 1;
  return true;
}

bool DecrementFromAboveZero(std::uint64_t read, std::uint64_t, std::uint64_t, std::uint64_t* written) {
  *written = read - 1;
  return read > 0;
}

bool TakeIfFree(std::uint64_t read, std::uint64_t, std::uint64_t, std::uint64_t* written) {
  *written = 1;
  return read == 0;
}

bool SetBits(std::uint64_t read, std::uint64_t bits, std::uint64_t, std::uint64_t* written) {
  *written = read | bits;
  return true;
}

bool ClearBits(std::uint64_t read, std::uint64_t bits, std::uint64_t, std::uint64_t* written) {
  *written = read & ~bits;
  return true;
}

bool ClearBitsIfUnchanged(std::uint64_t read, std::uint64_t bits, std::uint64_t expected, std::uint64_t* written) {
  *written = read & ~bits;
  return read == expected;
}

bool AreBitsClear(std::uint64_t read, std::uint64_t bits, std::uint64_t, std::uint64_t* written) {
  *written = 0;
  return (read & bits) == 0;
}

std::uint64_t ReadModifyWrite(std::uint16_t location, Transform transform, std::uint64_t operand,
                              std::memory_order order, Place place) {
  Operation operation = Make(EventKind::kReadModifyWrite, location, order, place);
  operation.transform = transform;
  operation.operand = operand;
  return Machine::Current().Perform(operation).value_read;
}

void ReadModifyWriteOrWait(std::uint16_t location, Transform transform, std::memory_order order, Place place) {
  Operation operation = Make(EventKind::kReadModifyWrite, location, order, place);
  operation.transform = transform;
  operation.waits = true;
  Machine::Current().Perform(operation);
}

bool TryReadModifyWrite(std::uint16_t location, Transform transform, std::memory_order order, Place place) {
  Operation operation = Make(EventKind::kReadModifyWrite, location, order, place);
  operation.transform = transform;
  return Machine::Current().Perform(operation).has_written;
}

}  // namespace

void semaphore::release(Place place) { ReadModifyWrite(location_, &Increment, 0, std::memory_order_release, place); }

void semaphore::acquire(Place place) {
  ReadModifyWriteOrWait(location_, &DecrementFromAboveZero, std::memory_order_acquire, place);
}

bool semaphore::try_acquire(Place place) {
  return TryReadModifyWrite(location_, &DecrementFromAboveZero, std::memory_order_acquire, place);
}

void mutex::lock(Place place) { ReadModifyWriteOrWait(location_, &TakeIfFree, std::memory_order_acquire, place); }

bool mutex::try_lock(Place place) {
  return TryReadModifyWrite(location_, &TakeIfFree, std::memory_order_acquire, place);
}

void mutex::unlock(Place place) {
  Operation operation = Make(EventKind::kWrite, location_, std::memory_order_release, place);
  Machine::Current().Perform(operation);
}

std::uint64_t condition_variable::BeginWait(Place place) {
  const std::uint64_t me = std::uint64_t{1} << Machine::Current().current_thread();
  ReadModifyWrite(location_, &SetBits, me, std::memory_order_relaxed, place);
  return me;
}

void condition_variable::EndWait(std::uint64_t me, Place place) {
  Operation operation = Make(EventKind::kRead, location_, std::memory_order_relaxed, place);
  operation.transform = &AreBitsClear;
  operation.operand = me;
  operation.waits = true;
  Machine::Current().Perform(operation);
}

// Notifications are in one order: if somebody else notified after the look, this one looks again and chooses anew.
void condition_variable::notify_one(Place place) {
  std::uint64_t waiting = ReadModifyWrite(location_, &ClearBits, 0, std::memory_order_relaxed, place);
  while (waiting != 0) {
    const auto count = static_cast<std::uint64_t>(__builtin_popcountll(waiting));
    std::uint64_t rest = waiting;
    for (std::uint64_t skipped = count == 1 ? 0 : Choose(count, place); skipped > 0; --skipped) {
      rest &= rest - 1;
    }
    Operation operation = Make(EventKind::kReadModifyWrite, location_, std::memory_order_relaxed, place);
    operation.transform = &ClearBitsIfUnchanged;
    operation.operand = rest & -rest;
    operation.expected = waiting;
    const OperationResult result = Machine::Current().Perform(operation);
    if (result.has_written) {
      return;
    }
    waiting = result.value_read;
  }
}

void condition_variable::notify_all(Place place) {
  ReadModifyWrite(location_, &ClearBits, ~std::uint64_t{0}, std::memory_order_relaxed, place);
}

}  // namespace holdfast::explore
