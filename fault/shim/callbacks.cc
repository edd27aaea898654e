#include "fault/shim/callbacks.h"

#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string_view>

#include "fault/shim/books.h"
#include "fault/shim/delivery.h"
#include "fault/shim/injector.h"
#include "fault/shim/order.h"
#include "fault/shim/threads.h"
#include "fault/shim/timeline.h"

namespace holdfast::fault {

struct DestructorRecord : Payload {
  CUhostFn destroy = nullptr;
  void* payload = nullptr;
  ObjectId object = kNoObject;
};

struct HostFunctionRecord {
  CUhostFn function = nullptr;
  void* argument = nullptr;
};

namespace {

// "object 3", in `text`; empty if nobody will read it.
std::string_view NameOf(ObjectId object, std::array<char, 32>& text) {
  if (!TimelineIsOpen()) return {};
  std::snprintf(text.data(), text.size(), "object %" PRIu64, object);
  return text.data();
}

// Runs the destructor on this thread. The object counts as gone from here on, so that a subject that counts in its
// destructor agrees with the ledger.
void RunDestructor(Thread& thread, DestructorRecord* record) {
  PassPoint("deliver", "destructor");
  std::array<char, 32> text;
  TheLedger().DestructorRan(record->object);
  {
    const std::string_view name = NameOf(record->object, text);
    Stretch stretch(MomentKind::kDestructor, name);
    stretch.facts().object = record->object;
    stretch.facts().references = 0;
    const InsideCallback inside(thread, "the destructor callback of a user object");
    record->destroy(record->payload);
  }
  delete record;
}

void DeliverLate(Payload* payload) {
  auto* record = static_cast<DestructorRecord*>(payload);
  Thread* thread = CurrentThread(Arrival::kCallback);
  const InsideShim inside(*thread);
  RunDestructor(*thread, record);
}

// Whether the action moves the destructor to the delivery thread.
bool IsLate(const Action& action) { return action.hold || (action.deliver && *action.deliver != Delivery::kInline); }

void EnqueueLate(DestructorRecord* record, int rule, const Action& action) {
  record->deliver = &DeliverLate;
  record->due = std::chrono::steady_clock::now() + std::chrono::nanoseconds(action.delay_ns.value_or(0));
  record->order = action.order.value_or(Order::kFifo);
  record->rule = action.hold ? rule : -1;
  record->held = action.deliver == Delivery::kHeld;
  TheDelivery().Enqueue(record);
}

}  // namespace

DestructorRecord* NewDestructor(CUhostFn destroy, void* payload, ObjectId object) {
  auto record = std::make_unique<DestructorRecord>();
  record->destroy = destroy;
  record->payload = payload;
  record->object = object;
  return record.release();
}

void DropDestructor(DestructorRecord* record) { delete record; }

void CUDA_CB DestructorArrived(void* argument) {
  auto* record = static_cast<DestructorRecord*>(argument);
  Thread* thread = CurrentThread(Arrival::kCallback);
  const InsideShim inside(*thread);
  TheLedger().DriverLetGo(record->object);
  const int rule = TheInjector().Visited(*thread, DestructorSite(), "");
  if (rule < 0) return RunDestructor(*thread, record);
  const Action& action = TheInjector().table().rule(static_cast<std::size_t>(rule)).action;
  if (action.drop) {
    delete record;  // the object itself stays in the ledger: its destructor never runs
  } else if (IsLate(action)) {
    EnqueueLate(record, rule, action);
  } else {
    TheInjector().Wait(rule, DestructorSite());
    RunDestructor(*thread, record);
  }
}

HostFunctionRecord* NewHostFunction(CUhostFn function, void* argument) {
  return new HostFunctionRecord{function, argument};
}

void DropHostFunction(HostFunctionRecord* record) { delete record; }

void CUDA_CB HostFunctionArrived(void* argument) {
  const std::unique_ptr<HostFunctionRecord> record(static_cast<HostFunctionRecord*>(argument));
  Thread* thread = CurrentThread(Arrival::kCallback);
  const InsideShim inside(*thread);
  PassPoint("deliver", "host function");
  const Stretch stretch(MomentKind::kHostFunction, "host function");
  const InsideCallback callback(*thread, "a host function");
  record->function(record->argument);
}

}  // namespace holdfast::fault
