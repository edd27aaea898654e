#include "fault/ledger/user_objects.h"

namespace holdfast::fault {

ObjectId UserObjects::Creating() {
  const ObjectId id = ++last_id_;
  objects_.emplace(id, Object{});
  return id;
}

void UserObjects::NotCreated(ObjectId id) { objects_.erase(id); }

void UserObjects::Created(ObjectId id, Handle handle, std::uint64_t references) {
  ids_[handle] = id;
  objects_[id] = {handle, references, 0};
}

void UserObjects::DriverLetGo(ObjectId id) {
  const auto found = objects_.find(id);
  if (found == objects_.end()) return;
  const auto entry = ids_.find(found->second.handle);
  if (entry != ids_.end() && entry->second == id) ids_.erase(entry);
  found->second.handle = 0;
}

void UserObjects::DestructorRan(ObjectId id) { objects_.erase(id); }

ObjectId UserObjects::Find(Handle handle) const {
  const auto found = ids_.find(handle);
  return found == ids_.end() ? kNoObject : found->second;
}

std::uint64_t UserObjects::ReferencesOf(ObjectId id) const {
  const auto found = objects_.find(id);
  return found == objects_.end() ? 0 : found->second.references;
}

void UserObjects::AddReferences(ObjectId id, std::uint64_t count) {
  const auto found = objects_.find(id);
  if (found != objects_.end()) found->second.references += count;
}

std::uint64_t UserObjects::TakeReferences(ObjectId id, std::uint64_t count) {
  const auto found = objects_.find(id);
  if (found == objects_.end()) return 0;
  const std::uint64_t taken = std::min(count, found->second.references);
  found->second.references -= taken;
  return taken;
}

void UserObjects::GiveUpReferences(ObjectId id, std::uint64_t count) {
  const auto found = objects_.find(id);
  if (found != objects_.end()) found->second.given_up += count;
}

}  // namespace holdfast::fault
