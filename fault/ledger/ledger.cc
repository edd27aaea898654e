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

// A question that is asked at each call must not take longer the more graphs there are.
constexpr std::size_t kMostGraphsLookedAt = 128;

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

void Ledger::ObjectReleaseKept(Handle object, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  objects_.GiveUpReferences(objects_.Find(object), count);
  anything_kept_ = true;
}

void Ledger::GraphReleaseKept(Handle graph, Handle object, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const GraphPointer book = graphs_.Find(graph);
  const ObjectId id = objects_.Find(object);
  if (book == nullptr || id == kNoObject) return;
  book->given_up[id] += count;
  anything_kept_ = true;
}

ObjectId Ledger::FindObject(Handle object) const {
  const std::lock_guard lock(mutex_);
  return objects_.Find(object);
}

std::optional<std::uint64_t> Ledger::ReferencesOf(ObjectId object) {
  const std::lock_guard lock(mutex_);
  if (!objects_.WasCreated(object)) return std::nullopt;
  const std::uint64_t references = objects_.ReferencesOf(object);
  if (!objects_.IsAlive(object)) return references;
  if (graphs_.booked() > kMostGraphsLookedAt) return std::nullopt;
  return references + graphs_.ReferencesOf(object);
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

void Ledger::GraphDestroyKept(Handle graph) {
  const std::lock_guard lock(mutex_);
  const GraphPointer book = graphs_.Find(graph);
  if (book == nullptr) return;
  graphs_.Keep(book);
  anything_kept_ = true;
}

void Ledger::GraphEmbedded(Handle parent, Handle node, Handle source, bool moved) {
  const std::lock_guard lock(mutex_);
  graphs_.Embedded(parent, node, moved ? graphs_.Seen(source) : graphs_.Find(source), moved);
}

void Ledger::NodeFoundInClone(Handle clone, Handle original, Handle node) {
  const std::lock_guard lock(mutex_);
  graphs_.NodeFound(clone, original, node);
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
  captures_[stream] = {graphs_.StartCapture()};
}

void Ledger::CaptureToGraphBegan(Handle stream, Handle graph) {
  const std::lock_guard lock(mutex_);
  captures_[stream] = {graphs_.Seen(graph), /*told=*/true, /*existing=*/true};
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
    bool existing = false;
    if (found != captures_.end()) {
      held = found->second.graph->references.size();
      existing = found->second.existing;
      if (graph != 0) Adopt(found->second, graph);
      captures_.erase(found);
    }
    // A graph that was there before has somebody to destroy it, told or not.
    if (existing) return;
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
  // The driver has freed a body that its node still names, and survives neither the destruction of the root nor that of
  // the node: nobody can be asked for either any more.
  anything_kept_ = true;
  graphs_.Keep(graphs_.RootOf(graph));
  graphs_.Bury(graphs_.TakeGraph(graph->handle));
}

// ---- executables ----------------------------------------------------------------------------------------------------

std::vector<ObjectId> Ledger::HeldBy(const GraphPointer& graph) const {
  std::vector<ObjectId> held;
  if (graph == nullptr) return held;
  graphs_.VisitTree(graph, [&held](const Graph& each) {
    for (const auto& [object, count] : each.references) held.push_back(object);
  });
  return held;
}

void Ledger::ExecutableMade(Handle executable, Handle source) {
  const std::lock_guard lock(mutex_);
  Of(Resource::kExecutable).Created(executable);
  dead_executables_.GivenOut(executable);
  executable_references_[executable] = HeldBy(graphs_.Find(source));
}

void Ledger::ExecutableUpdated(Handle executable, Handle source) {
  const std::lock_guard lock(mutex_);
  executable_references_[executable] = HeldBy(graphs_.Find(source));
}

void Ledger::ExecutableGotChild(Handle executable, Handle source) {
  const std::lock_guard lock(mutex_);
  std::vector<ObjectId>& references = executable_references_[executable];
  // Which of the old child's references go is not known here; those that went hold nothing up, since a destroyed object
  // is not alive.
  const std::vector<ObjectId> added = HeldBy(graphs_.Find(source));
  references.insert(references.end(), added.begin(), added.end());
}

// ---- counted resources ----------------------------------------------------------------------------------------------

void Ledger::Created(Resource kind, Handle handle) {
  const std::lock_guard lock(mutex_);
  Of(kind).Created(handle);
}

PendingDestroy Ledger::BeginDestroy(Resource kind, Handle handle) {
  const std::lock_guard lock(mutex_);
  PendingDestroy pending{handle, Of(kind).Destroying(handle), {}};
  const auto references = executable_references_.find(handle);
  if (kind == Resource::kExecutable && references != executable_references_.end()) {
    pending.references = std::move(references->second);
    executable_references_.erase(references);
  }
  return pending;
}

void Ledger::EndDestroy(Resource kind, PendingDestroy pending, bool done) {
  const std::lock_guard lock(mutex_);
  if (!done && pending.was_alive) {
    Of(kind).NotDestroyed(pending.handle);
    if (kind == Resource::kExecutable) executable_references_[pending.handle] = std::move(pending.references);
  }
  if (done && kind == Resource::kExecutable && !Of(kind).Has(pending.handle)) dead_executables_.Died(pending.handle);
}

void Ledger::DestroyKept(Resource kind, Handle handle) {
  const std::lock_guard lock(mutex_);
  Of(kind).Kept(handle);
  anything_kept_ = true;
  if (kind != Resource::kStream) return;
  // A stream that stays keeps the graph that it is capturing, which the subject has no handle to destroy by.
  const auto capture = captures_.find(handle);
  if (capture != captures_.end() && !capture->second.existing) graphs_.Keep(capture->second.graph);
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

// ---- what is alive --------------------------------------------------------------------------------------------------

std::uint64_t Ledger::CountKeptObjects() const {
  struct Holders {
    bool kept = false;
    bool rightful = false;
  };
  std::unordered_map<ObjectId, Holders> holders;
  const auto note = [&](ObjectId object, std::uint64_t held, std::uint64_t given_up) {
    Holders& entry = holders[object];
    entry.kept = entry.kept || given_up != 0;
    entry.rightful = entry.rightful || held != 0;
  };
  const auto note_graph = [&](const Graph& graph) {
    for (const auto& [object, count] : graph.references) {
      const auto found = graph.given_up.find(object);
      const std::uint64_t without = found == graph.given_up.end() ? 0 : std::min(found->second, count);
      const std::uint64_t given_up = graph.kept ? count : without;
      note(object, count - given_up, given_up);
    }
  };
  objects_.ForEachHeld(note);
  graphs_.VisitAll(note_graph);
  for (const auto& [stream, capture] : captures_) note_graph(*capture.graph);
  for (const auto& [executable, objects] : executable_references_) {
    const bool kept = Of(Resource::kExecutable).IsKept(executable);
    for (const ObjectId object : objects) note(object, kept ? 0 : 1, kept ? 1 : 0);
  }
  return static_cast<std::uint64_t>(std::count_if(holders.begin(), holders.end(), [this](const auto& entry) {
    return entry.second.kept && !entry.second.rightful && objects_.IsAlive(entry.first);
  }));
}

LiveCounts Ledger::live() const {
  const std::lock_guard lock(mutex_);
  LiveCounts counts;
  counts.graphs = graphs_.roots();
  counts.kept_others = graphs_.kept_roots();
  for (std::size_t kind = 0; kind < kResourceKinds; ++kind) {
    counts.resources[kind] = resources_[kind].count();
    counts.kept_others += resources_[kind].kept();
  }
  counts.kept_user_objects = anything_kept_ ? CountKeptObjects() : 0;
  counts.user_objects = objects_.alive() - counts.kept_user_objects;
  return counts;
}

}  // namespace holdfast::fault
