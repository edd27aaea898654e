#include "lib/attachments/attachment_index.h"

#include <utility>

namespace holdfast::attachments {

AttachmentIndex::Entry AttachmentIndex::MakeEntry(const NodeEntry& value) {
  // Made in the map itself, so that the map has grown by then if it has to.
  return entries_.extract(entries_.emplace(nullptr, value).first);
}

void AttachmentIndex::Insert(CUgraphNode node, Entry entry) noexcept {
  entry.key() = node;
  attachment_count_ += entry.mapped().attachment != nullptr ? 1 : 0;
  entries_.insert(std::move(entry));
}

NodeEntry AttachmentIndex::Take(CUgraphNode node) noexcept {
  const auto found = entries_.find(node);
  if (found == entries_.end()) {
    return {};
  }
  const NodeEntry taken = found->second;
  attachment_count_ -= taken.attachment != nullptr ? 1 : 0;
  entries_.erase(found);
  return taken;
}

NodeEntry AttachmentIndex::Find(CUgraphNode node) const noexcept {
  const auto found = entries_.find(node);
  return found != entries_.end() ? found->second : NodeEntry{};
}

void AttachmentIndex::Clear() noexcept {
  entries_.clear();
  attachment_count_ = 0;
}

}  // namespace holdfast::attachments
