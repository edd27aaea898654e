#include "fault/model/event.h"

#include <set>
#include <vector>

#include "fault/model/call.h"
#include "fault/model/handles.h"

namespace holdfast::fault::model {
namespace {

struct Events {
  HandleTable<CUevent, Event, HandleKind::kEvent> handles;
  std::mutex mutex;
  std::set<EventPointer> live;  // guarded by mutex; owns what `handles` points to
};

Events& All() {
  static auto* events = new Events;
  return *events;
}

[[noreturn]] void RefuseDead(CUevent handle, CUresult otherwise) {
  if (All().handles.State(handle) == HandleState::kDead) {
    Misuse("the event is destroyed already (the real driver crashes)");
  }
  throw Refusal{otherwise};
}

}  // namespace

EventPointer CreateEvent(unsigned int flags) {
  Events& events = All();
  EventPointer event = std::make_shared<Event>(flags);
  const std::lock_guard<std::mutex> lock(events.mutex);
  events.live.insert(event);
  event->handle = events.handles.Insert(event.get());
  return event;
}

EventPointer RequireEvent(CUevent handle, CUresult otherwise) {
  Event* event = All().handles.Find(handle);
  if (event == nullptr) RefuseDead(handle, otherwise);
  return event->shared_from_this();
}

void DestroyEvent(CUevent handle) {
  Events& events = All();
  const std::lock_guard<std::mutex> lock(events.mutex);
  Event* found = events.handles.Take(handle);
  if (found == nullptr) RefuseDead(handle, CUDA_ERROR_INVALID_HANDLE);
  found->MarkDestroyed();
  events.live.erase(found->shared_from_this());
}

void DestroyAllEvents() {
  Events& events = All();
  std::vector<EventPointer> list;
  {
    const std::lock_guard<std::mutex> lock(events.mutex);
    list.assign(events.live.begin(), events.live.end());
  }
  for (const EventPointer& event : list) DestroyEvent(event->handle);
}

std::uint64_t LiveEvents() { return All().handles.live(); }

}  // namespace holdfast::fault::model
