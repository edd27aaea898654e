// User objects: which are alive, and how many references the subject itself holds.
//
// An object is known by a number of ours, since the driver reuses handles. References that a graph holds are not here
// but with the graph (graphs.h). Not thread-safe; the ledger locks.
#ifndef HOLDFAST_FAULT_LEDGER_USER_OBJECTS_H_
#define HOLDFAST_FAULT_LEDGER_USER_OBJECTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "fault/ledger/handles.h"

namespace holdfast::fault {

using ObjectId = std::uint64_t;
inline constexpr ObjectId kNoObject = 0;

class UserObjects {
 public:
  // A creation is about to be asked for. The object counts as alive until DestructorRan or NotCreated.
  ObjectId Creating();
  void NotCreated(ObjectId id);
  void Created(ObjectId id, Handle handle, std::uint64_t references);

  // The driver is done with the object, so its handle may come back for another; the destructor may still be pending.
  void DriverLetGo(ObjectId id);
  void DestructorRan(ObjectId id);

  // kNoObject if the object was made out of our sight, or is gone.
  ObjectId Find(Handle handle) const;

  void AddReferences(ObjectId id, std::uint64_t count);

  // Takes up to `count` of the subject's references; the number taken.
  std::uint64_t TakeReferences(ObjectId id, std::uint64_t count);

  // A fault kept the release of `count` references from the driver: they stay, and the subject has given them up.
  void GiveUpReferences(ObjectId id, std::uint64_t count);

  // Whether there was such an object ever, and how many references of it the subject itself holds.
  bool WasCreated(ObjectId id) const { return id != kNoObject && id <= last_id_; }
  std::uint64_t ReferencesOf(ObjectId id) const;

  std::size_t alive() const { return objects_.size(); }
  bool IsAlive(ObjectId id) const { return objects_.contains(id); }

  // Calls `visit(id, held, given_up)` for each object of which the subject has references: those that it holds, and
  // those that it has given up without the driver's knowing.
  template <typename Visit>
  void ForEachHeld(Visit visit) const {
    for (const auto& [id, object] : objects_) {
      const std::uint64_t given_up = std::min(object.given_up, object.references);
      if (object.references != 0) visit(id, object.references - given_up, given_up);
    }
  }

 private:
  struct Object {
    Handle handle = 0;  // 0: not created yet, or the driver let go
    std::uint64_t references = 0;
    std::uint64_t given_up = 0;  // of the references
  };

  ObjectId last_id_ = 0;
  std::unordered_map<ObjectId, Object> objects_;
  std::unordered_map<Handle, ObjectId> ids_;
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_LEDGER_USER_OBJECTS_H_
