#include "lib/attachments/graph_registry.h"

#include <new>
#include <utility>

#include "lib/attachments/graph_box.h"

namespace holdfast::attachments {

GraphRegistry& GraphRegistry::Process() {
  alignas(GraphRegistry) static unsigned char storage[sizeof(GraphRegistry)];
  static GraphRegistry* const instance = new (storage) GraphRegistry;
  return *instance;
}

GraphRegistry::Room GraphRegistry::MakeRoom() {
  Entries room;
  room.emplace(nullptr, std::weak_ptr<GraphBox>{});
  return room.extract(room.begin());
}

void GraphRegistry::Add(CUgraph graph, std::weak_ptr<GraphBox> box, Room room) noexcept {
  room.key() = graph;
  room.mapped() = std::move(box);
  const std::lock_guard lock(mutex_);
  const auto overtaken = entries_.find(graph);
  if (overtaken != entries_.end()) {
    overtaken->second.swap(room.mapped());
    return;
  }
  entries_.insert(std::move(room));
}

void GraphRegistry::Remove(CUgraph graph, const GraphBox& box) noexcept {
  Room removed;
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(graph);
  // Compared by owner: a box that is being destroyed cannot be locked any more.
  const std::weak_ptr<const GraphBox> own = box.weak_from_this();
  if (entry != entries_.end() && !entry->second.owner_before(own) && !own.owner_before(entry->second)) {
    removed = entries_.extract(entry);
  }
}

std::shared_ptr<GraphBox> GraphRegistry::Find(CUgraph graph) const {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(graph);
  return entry != entries_.end() ? entry->second.lock() : nullptr;
}

std::size_t GraphRegistry::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace holdfast::attachments
