#include "fault/model/references.h"

#include <utility>

namespace holdfast::fault::model {
namespace {

constexpr std::size_t kLinearSearchMax = 8;

}  // namespace

Reference* ReferenceList::Find(const Reference& reference) {
  if (entries_.size() <= kLinearSearchMax) {
    for (Reference& entry : entries_) {
      if (entry.count != 0 && entry.object == reference.object && entry.generation == reference.generation) {
        return &entry;
      }
    }
    return nullptr;
  }
  if (index_.empty()) {
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].count != 0) index_[entries_[i].object] = i;
    }
  }
  const auto found = index_.find(reference.object);
  if (found == index_.end()) return nullptr;
  Reference& entry = entries_[found->second];
  // An entry of an older generation is of an object that died while it was held: not this one.
  return entry.generation == reference.generation ? &entry : nullptr;
}

void ReferenceList::Add(const Reference& reference) {
  Reference* entry = Find(reference);
  if (entry == nullptr) {
    entries_.push_back(reference);
    if (!index_.empty()) index_[reference.object] = static_cast<std::uint32_t>(entries_.size() - 1);
    return;
  }
  entry->count += reference.count;
  if (entry->count == 0) DropEntry(*entry);
}

void ReferenceList::Remove(const Reference& reference) {
  Add(Reference{reference.object, reference.generation, 0u - reference.count});
}

void ReferenceList::DropEntry(const Reference& entry) {
  if (!index_.empty()) index_.erase(entry.object);
  if (++gaps_ * 2 > entries_.size()) Compact();
}

void ReferenceList::Compact() {
  std::erase_if(entries_, [](const Reference& entry) { return entry.count == 0; });
  gaps_ = 0;
  index_.clear();
}

void ReferenceList::MoveTo(std::vector<Reference>* references) {
  CopyTo(references);
  entries_.clear();
  index_.clear();
  gaps_ = 0;
}

void ReferenceList::CopyTo(std::vector<Reference>* references) const {
  references->reserve(references->size() + entries_.size());
  for (const Reference& entry : entries_) {
    if (entry.count != 0) references->push_back(entry);
  }
}

HeldReferences::HeldReferences(std::vector<Reference> references) : references_(std::move(references)) {
  for (const Reference& reference : references_) UserObject::Add(reference);
}

HeldReferences::~HeldReferences() {
  for (const Reference& reference : references_) UserObject::Drop(reference);
}

}  // namespace holdfast::fault::model
