#include "lib/attachments/node_records.h"

#include <utility>

namespace holdfast::attachments {

NodeRecords::Room NodeRecords::MakeRoom() {
  const std::lock_guard lock(mutex_);
  // Made in the map itself, so that the map has grown by then if it has to.
  return records_.extract(records_.emplace(nullptr, std::weak_ptr<NodeRecord>{}).first);
}

void NodeRecords::Add(CUgraphNode node, const std::shared_ptr<NodeRecord>& record, Room room) noexcept {
  End(node);
  room.key() = node;
  room.mapped() = record;
  const std::lock_guard lock(mutex_);
  record->raw_.store(node, std::memory_order_relaxed);
  records_.insert(std::move(room));
}

std::shared_ptr<NodeRecord> NodeRecords::Find(CUgraphNode node) const {
  const std::lock_guard lock(mutex_);
  const auto entry = records_.find(node);
  return entry != records_.end() ? entry->second.lock() : nullptr;
}

void NodeRecords::End(CUgraphNode node) noexcept {
  // Declared first: should this be the last reference, the record goes after the lock.
  std::shared_ptr<NodeRecord> ended;
  const std::lock_guard lock(mutex_);
  const auto entry = records_.find(node);
  if (entry == records_.end()) {
    return;
  }
  ended = entry->second.lock();
  if (ended != nullptr) {
    ended->raw_.store(nullptr, std::memory_order_relaxed);
  }
  records_.erase(entry);
}

void NodeRecords::EndAll() noexcept {
  Map ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(records_);
  }
  for (const auto& [node, weak] : ended) {
    if (const std::shared_ptr<NodeRecord> record = weak.lock()) {
      record->raw_.store(nullptr, std::memory_order_relaxed);
    }
  }
}

std::size_t NodeRecords::size() const {
  const std::lock_guard lock(mutex_);
  return records_.size();
}

void NodeRecords::Forget(CUgraphNode node) noexcept {
  const std::lock_guard lock(mutex_);
  const auto entry = records_.find(node);
  if (entry != records_.end() && entry->second.expired()) {
    records_.erase(entry);
  }
}

}  // namespace holdfast::attachments
