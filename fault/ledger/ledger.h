// The shim's own books: what the subject made through the driver, what is still alive, and which of its calls the
// driver answers with success although they break a lifetime (facts U13, C2).
//
// A call that releases or destroys is told in two halves, around the driver call: `Begin...` takes the thing out of the
// books, since its handle may be given out again before the call is back, and `End...` says whether the driver did it.
// A call that makes something is told once it succeeded. Of the calls that a fault kept from the driver only releases
// are told: what they were to release stays, which is the fault's doing and no leak of the subject's. It counts as
// *kept*, and so does a user object as long as nothing but such leftovers holds it.
//
// The ledger raises no false alarm: what did not pass through it from its beginning is counted and never judged.
//
// Thread safety: every function may be called from any thread. One lock inside, held for a few map operations and never
// while a finding is reported.
#ifndef HOLDFAST_FAULT_LEDGER_LEDGER_H_
#define HOLDFAST_FAULT_LEDGER_LEDGER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fault/ledger/finding.h"
#include "fault/ledger/graphs.h"
#include "fault/ledger/handles.h"
#include "fault/ledger/user_objects.h"

namespace holdfast::fault {

// Things that are only counted.
enum class Resource : std::uint8_t { kExecutable, kStream, kEvent, kAllocation, kLibrary };
inline constexpr std::size_t kResourceKinds = 5;

// What is alive and not kept, by kind; and how much of each is kept.
struct LiveCounts {
  std::uint64_t user_objects = 0;
  std::uint64_t graphs = 0;  // roots
  std::array<std::uint64_t, kResourceKinds> resources{};
  std::uint64_t kept_user_objects = 0;
  std::uint64_t kept_others = 0;
};

// The first half of a release, kept for the second.
struct PendingRelease {
  Handle graph = 0;  // 0: the subject's own references
  Handle handle = 0;
  ObjectId object = kNoObject;
  std::uint64_t asked = 0;
  std::uint64_t taken = 0;
  bool judged = false;
};

struct PendingRetain {
  Handle graph = 0;
  ObjectId object = kNoObject;
  std::uint64_t count = 0;
  std::uint64_t moved = 0;  // references taken from the subject
};

struct PendingDestroy {
  Handle handle = 0;
  bool was_alive = false;
  std::vector<ObjectId> references;  // of an executable
};

struct PendingGraphDestroy {
  Handle handle = 0;
  Dying dying;
};

class Ledger {
 public:
  explicit Ledger(FindingSink sink) : sink_(std::move(sink)) {}

  // ---- user objects ----
  ObjectId BeginCreateObject();
  void EndCreateObject(ObjectId id, bool created, Handle handle, std::uint64_t references);
  void DriverLetGo(ObjectId id);
  void DestructorRan(ObjectId id);
  void ObjectRetained(Handle object, std::uint64_t count);
  PendingRelease BeginReleaseObject(Handle object, std::uint64_t count);
  PendingRetain BeginGraphRetain(Handle graph, Handle object, std::uint64_t count, bool move);
  void EndGraphRetain(const PendingRetain& pending, bool done);
  PendingRelease BeginGraphRelease(Handle graph, Handle object, std::uint64_t count);
  void EndRelease(const PendingRelease& pending, bool done);
  void ObjectReleaseKept(Handle object, std::uint64_t count);
  void GraphReleaseKept(Handle graph, Handle object, std::uint64_t count);

  // kNoObject if the object was made out of our sight, or is gone.
  ObjectId FindObject(Handle object) const;

  // How many references of the object the subject and its graphs hold together; those of executables do not count. None
  // once it is gone. Nothing if it was never there, or if there are more graphs to look at than a quick answer allows.
  std::optional<std::uint64_t> ReferencesOf(ObjectId object);

  // ---- graphs ----
  void GraphCreated(Handle graph);
  void GraphCloned(Handle graph, Handle source);
  PendingGraphDestroy BeginDestroyGraph(Handle graph);
  PendingGraphDestroy BeginDestroyNode(Handle node);
  void EndDestroyGraph(const PendingGraphDestroy& pending, bool done);
  void GraphDestroyKept(Handle graph);
  void NodeFoundInClone(Handle clone, Handle original, Handle node);
  void GraphEmbedded(Handle parent, Handle node, Handle source, bool moved);
  void BodiesMade(Handle parent, Handle node, std::span<const Handle> bodies);
  void ChildReplaced(Handle node, Handle source);
  void ChildSeen(Handle node, Handle graph);

  // ---- captures ----
  void CaptureBegan(Handle stream);
  void CaptureToGraphBegan(Handle stream, Handle graph);
  void CaptureSeen(Handle stream, Handle graph);
  void CaptureEnded(Handle stream, Handle graph);  // graph 0: a null pointer was given, and the driver accepted
  void CaptureLost(Handle stream);                 // invalidated, or its stream destroyed: the graph is gone

  // ---- executables: an executable holds what its source held when it was made or updated ----
  void ExecutableMade(Handle executable, Handle source);
  void ExecutableUpdated(Handle executable, Handle source);
  void ExecutableGotChild(Handle executable, Handle source);

  // ---- counted resources ----
  void Created(Resource kind, Handle handle);
  PendingDestroy BeginDestroy(Resource kind, Handle handle);
  void EndDestroy(Resource kind, PendingDestroy pending, bool done);
  void DestroyKept(Resource kind, Handle handle);

  // ---- handles given to calls; `call` is the entry point ----
  void UseGraph(Handle graph, std::string_view call);
  void UseExecutable(Handle executable, std::string_view call);
  void DestroyAsked(Handle graph, std::string_view call);
  void DestroyExecutableAsked(Handle executable, std::string_view call);
  void CallInCallback(std::string_view call, const std::string& thread, std::string_view callback);

  LiveCounts live() const;

  // Around fork, so that the child does not inherit a locked lock.
  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

 private:
  struct Capture {
    GraphPointer graph;
    bool told = false;      // the driver has said which handle it is
    bool existing = false;  // the subject had the graph before, and owns it or not as it did
  };

  // The driver has said which graph the capture builds. REQUIRES: mutex_ is held.
  void Adopt(Capture& capture, Handle graph);

  void Report(std::string_view kind, const std::string& message) { sink_(kind, message); }
  void CheckHandle(DeadHandles& dead, Handle handle, std::string_view kind, std::string_view what,
                   std::string_view call);

  LiveHandles& Of(Resource kind) { return resources_[static_cast<std::size_t>(kind)]; }
  const LiveHandles& Of(Resource kind) const { return resources_[static_cast<std::size_t>(kind)]; }

  // What the tree of a graph holds; empty for a null one. REQUIRES: mutex_ is held.
  std::vector<ObjectId> HeldBy(const GraphPointer& graph) const;

  // The living user objects that nothing holds but what is kept. REQUIRES: mutex_ is held.
  std::uint64_t CountKeptObjects() const;

  const FindingSink sink_;
  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  UserObjects objects_;
  Graphs graphs_;
  std::unordered_map<Handle, Capture> captures_;  // by origin stream
  std::array<LiveHandles, kResourceKinds> resources_;
  std::unordered_map<Handle, std::vector<ObjectId>> executable_references_;
  DeadHandles dead_executables_;
  bool anything_kept_ = false;
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_LEDGER_LEDGER_H_
