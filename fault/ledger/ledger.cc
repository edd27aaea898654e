#include "fault/ledger/ledger.h"

#include <algorithm>
#include <cstdio>

namespace holdfast::fault {
namespace {

std::string HandleText(Handle handle) {
  char text[2 + 2 * sizeof(Handle) + 1];
  std::snprintf(text, sizeof(text), "0x%zx", static_cast<std::size_t>(handle));
  return text;
}

std::string CountText(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace

// ---- user objects ---------------------------------------------------------------------------------------------------

ObjectId Ledger::BeginCreateObject() {
  const std::lock_guard lock(mutex_);
  return objects_.Creating();
}

void Ledger::EndCreateObject(ObjectId id, bool created, Handle handle, std::uint64_t references) {
  const std::lock_guard lock(mutex_);
  if (created) {
    objects_.Created(id, handle, references);
  } else {
    objects_.NotCreated(id);
  }
}

void Ledger::DriverLetGo(ObjectId id) {
  const std::lock_guard lock(mutex_);
  objects_.DriverLetGo(id);
}

void Ledger::DestructorRan(ObjectId id) {
  const std::lock_guard lock(mutex_);
  objects_.DestructorRan(id);
}

void Ledger::ObjectRetained(Handle object, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  objects_.AddReferences(objects_.Find(object), count);
}

PendingRelease Ledger::BeginReleaseObject(Handle object, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  PendingRelease pending;
  pending.handle = object;
  pending.object = objects_.Find(object);
  pending.asked = count;
  pending.taken = objects_.TakeReferences(pending.object, count);
  pending.judged = pending.object != kNoObject;
  return pending;
}

PendingRetain Ledger::BeginGraphRetain(Handle graph, Handle object, std::uint64_t count, bool move) {
  const std::lock_guard lock(mutex_);
  PendingRetain pending;
  pending.graph = graph;
  pending.object = objects_.Find(object);
  pending.count = count;
  if (move) pending.moved = objects_.TakeReferences(pending.object, count);
  return pending;
}

void Ledger::EndGraphRetain(const PendingRetain& pending, bool done) {
  const std::lock_guard lock(mutex_);
  if (!done) return objects_.AddReferences(pending.object, pending.moved);
  const GraphPointer graph = graphs_.Seen(pending.graph);
  if (pending.object != kNoObject) graph->references[pending.object] += pending.count;
}

PendingRelease Ledger::BeginGraphRelease(Handle graph, Handle object, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  PendingRelease pending;
  pending.graph = graph;
  pending.handle = object;
  pending.object = objects_.Find(object);
  pending.asked = count;
  const GraphPointer book = graphs_.Find(graph);
  pending.judged = pending.object != kNoObject && book != nullptr && book->known;
  if (pending.object == kNoObject || book == nullptr) return pending;
  const auto held = book->references.find(pending.object);
  if (held == book->references.end()) return pending;
  pending.taken = std::min(count, held->second);
  held->second -= pending.taken;
  if (held->second == 0) book->references.erase(held);
  return pending;
}

void Ledger::EndRelease(const PendingRelease& pending, bool done) {
  if (!done) {
    const std::lock_guard lock(mutex_);
    if (pending.graph == 0) return objects_.AddReferences(pending.object, pending.taken);
    const GraphPointer book = graphs_.Find(pending.graph);
    if (book != nullptr && pending.taken != 0) book->references[pending.object] += pending.taken;
    return;
  }
  if (!pending.judged || pending.taken == pending.asked) return;
  const bool own = pending.graph == 0;
  Report(kOverRelease,
         std::string(own ? "cuUserObjectRelease" : "cuGraphReleaseUserObject") + " took " +
             CountText(pending.asked, "reference") + " of user object " + HandleText(pending.handle) +
             (own ? ", but the subject held " : " from graph " + HandleText(pending.graph) + ", which held ") +
             std::to_string(pending.taken) +
             "; the driver answered success, so the destructor can run while others hold the object");
}

// ---- graphs ---------------------------------------------------------------------------------------------------------

void Ledger::GraphCreated(Handle graph) {
  const std::lock_guard lock(mutex_);
  graphs_.Created(graph);
}

void Ledger::GraphCloned(Handle graph, Handle source) {
  const std::lock_guard lock(mutex_);
  graphs_.Cloned(graph, graphs_.Find(source));
}

PendingGraphDestroy Ledger::BeginDestroyGraph(Handle graph) {
  const std::lock_guard lock(mutex_);
  return {graph, graphs_.TakeGraph(graph)};
}

PendingGraphDestroy Ledger::BeginDestroyNode(Handle node) {
  const std::lock_guard lock(mutex_);
  return {0, graphs_.TakeNode(node)};
}

void Ledger::EndDestroyGraph(const PendingGraphDestroy& pending, bool done) {
  const std::lock_guard lock(mutex_);
  if (done) {
    graphs_.Bury(pending.dying, pending.handle);
  } else {
    graphs_.PutBack(pending.dying);
  }
}

void Ledger::GraphEmbedded(Handle parent, Handle node, Handle source, bool moved) {
  const std::lock_guard lock(mutex_);
  graphs_.Embedded(parent, node, graphs_.Find(source), moved);
}

void Ledger::BodiesMade(Handle parent, Handle node, std::span<const Handle> bodies) {
  const std::lock_guard lock(mutex_);
  graphs_.GotBodies(parent, node, bodies);
}

void Ledger::ChildReplaced(Handle node, Handle source) {
  const std::lock_guard lock(mutex_);
  const Dying replaced = graphs_.TakeNode(node);
  const GraphPointer parent = replaced.nodes.empty() ? nullptr : replaced.nodes.front().parent.lock();
  graphs_.Bury(replaced);
  if (parent != nullptr) graphs_.Embedded(parent->handle, node, graphs_.Find(source), /*moved=*/false);
}

void Ledger::ChildSeen(Handle node, Handle graph) {
  const std::lock_guard lock(mutex_);
  graphs_.ChildSeen(node, graph);
}

// ---- captures -------------------------------------------------------------------------------------------------------

void Ledger::CaptureBegan(Handle stream) {
  const std::lock_guard lock(mutex_);
  captures_[stream] = {graphs_.StartCapture(), false};
}

void Ledger::CaptureToGraphBegan(Handle stream, Handle graph) {
  const std::lock_guard lock(mutex_);
  captures_[stream] = {graphs_.Seen(graph), true};
}

void Ledger::Adopt(Capture& capture, Handle graph) {
  if (capture.told) return;
  capture.told = true;
  const GraphPointer booked = graphs_.Find(graph);
  if (booked == nullptr) return graphs_.Register(graph, capture.graph);
  // Booked as unknown: a stream that joined the capture showed it first, with references perhaps. Booked as known: a
  // graph that died out of our sight, since a new capture has its handle.
  if (booked->known) {
    capture.graph->known = false;
    graphs_.Register(graph, capture.graph);
  } else {
    capture.graph = booked;
  }
}

void Ledger::CaptureSeen(Handle stream, Handle graph) {
  const std::lock_guard lock(mutex_);
  const auto capture = captures_.find(stream);
  if (capture != captures_.end()) Adopt(capture->second, graph);
  graphs_.Seen(graph);
}

void Ledger::CaptureEnded(Handle stream, Handle graph) {
  std::string leak;
  {
    const std::lock_guard lock(mutex_);
    const auto found = captures_.find(stream);
    std::size_t held = 0;
    if (found != captures_.end()) {
      held = found->second.graph->references.size();
      if (graph != 0) Adopt(found->second, graph);
      captures_.erase(found);
    }
    if (graph != 0) {
      graphs_.MakeRoot(graphs_.Seen(graph));
      return;
    }
    leak =
        "cuStreamEndCapture was given a null graph pointer and answered success: nobody can destroy the captured "
        "graph" +
        (held == 0 ? std::string() : ", which holds " + CountText(held, "user object"));
  }
  Report(kLeak, leak);
}

void Ledger::CaptureLost(Handle stream) {
  const std::lock_guard lock(mutex_);
  const auto found = captures_.find(stream);
  if (found == captures_.end()) return;
  const GraphPointer graph = found->second.graph;
  captures_.erase(found);
  graph->known = false;
  if (graph->handle == 0 || graph->root || graphs_.Find(graph->handle) != graph) return;
  graphs_.Bury(graphs_.TakeGraph(graph->handle));
}

// ---- counted resources ----------------------------------------------------------------------------------------------

void Ledger::Created(Resource kind, Handle handle) {
  const std::lock_guard lock(mutex_);
  Of(kind).Created(handle);
  if (kind == Resource::kExecutable) dead_executables_.GivenOut(handle);
}

PendingDestroy Ledger::BeginDestroy(Resource kind, Handle handle) {
  const std::lock_guard lock(mutex_);
  return {handle, Of(kind).Destroying(handle)};
}

void Ledger::EndDestroy(Resource kind, const PendingDestroy& pending, bool done) {
  const std::lock_guard lock(mutex_);
  if (!done && pending.was_alive) Of(kind).NotDestroyed(pending.handle);
  if (done && kind == Resource::kExecutable && !Of(kind).Has(pending.handle)) dead_executables_.Died(pending.handle);
}

// ---- handles given to calls -----------------------------------------------------------------------------------------

void Ledger::CheckHandle(DeadHandles& dead, Handle handle, std::string_view kind, std::string_view what,
                         std::string_view call) {
  {
    const std::lock_guard lock(mutex_);
    if (!dead.IsNewMisuse(handle)) return;
  }
  Report(kind, std::string(call) + " was given the " + std::string(what) + " " + HandleText(handle) +
                   ", which was destroyed and not given out again");
}

void Ledger::UseGraph(Handle graph, std::string_view call) {
  CheckHandle(graphs_.dead(), graph, kUseAfterDestroy, "graph", call);
}

void Ledger::UseExecutable(Handle executable, std::string_view call) {
  CheckHandle(dead_executables_, executable, kUseAfterDestroy, "executable graph", call);
}

void Ledger::DestroyAsked(Handle graph, std::string_view call) {
  CheckHandle(graphs_.dead(), graph, kDoubleDestroy, "graph", call);
}

void Ledger::DestroyExecutableAsked(Handle executable, std::string_view call) {
  CheckHandle(dead_executables_, executable, kDoubleDestroy, "executable graph", call);
}

void Ledger::CallInCallback(std::string_view call, const std::string& thread, std::string_view callback) {
  Report(kDriverCallInCallback, std::string(call) + " was called on thread " + thread + " inside " +
                                    std::string(callback) + "; the driver permits no call there");
}

LiveCounts Ledger::live() const {
  const std::lock_guard lock(mutex_);
  LiveCounts counts;
  counts.user_objects = objects_.alive();
  counts.graphs = graphs_.roots();
  for (std::size_t kind = 0; kind < kResourceKinds; ++kind) counts.resources[kind] = resources_[kind].count();
  return counts;
}

}  // namespace holdfast::fault
