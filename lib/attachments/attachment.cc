#include "lib/attachments/attachment.h"

#include <memory>
#include <new>

namespace holdfast::attachments {

static_assert(alignof(OpaqueHandle) <= alignof(Attachment) && sizeof(Attachment) % alignof(OpaqueHandle) == 0,
              "the owners must be aligned right behind the attachment");

Attachment::Pointer Attachment::Create(std::span<const OpaqueHandle> owners) {
  void* memory = ::operator new(sizeof(Attachment) + owners.size_bytes());
  Attachment* attachment = new (memory) Attachment(owners.size());
  std::uninitialized_copy(owners.begin(), owners.end(), attachment->FirstOwner());
  return Pointer(attachment);
}

void Attachment::Destroy(Attachment* attachment) noexcept {
  std::destroy_n(attachment->FirstOwner(), attachment->owner_count_);
  attachment->~Attachment();
  ::operator delete(attachment);
}

}  // namespace holdfast::attachments
