// An attachment: the owners behind one parameter version of one node, in one allocation, owned by one CUDA user object.
#ifndef HOLDFAST_LIB_ATTACHMENTS_ATTACHMENT_H_
#define HOLDFAST_LIB_ATTACHMENTS_ATTACHMENT_H_

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <span>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/handles/opaque_handle.h"

namespace holdfast::attachments {

// Immutable once made. It lives from Create until the queue (or, if the user object was never made, its creator)
// releases it; CUDA's reference count decides when that is. Nothing else owns it.
class Attachment : private cleanup::Payload {
 public:
  struct Destroyer {
    // CUDA does not know of it: it goes here and now.
    void operator()(Attachment* attachment) const noexcept {
      Destroy(attachment);
      cleanup::DeferredCleanup::Process().CountReleasedDirectly();
    }
  };
  using Pointer = std::unique_ptr<Attachment, Destroyer>;

  // One allocation, whatever the number of owners. Throws std::bad_alloc.
  static Pointer Create(std::span<const OpaqueHandle> owners);

  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  std::span<const OpaqueHandle> owners() const noexcept { return {FirstOwner(), owner_count_}; }

  // What the user object is created with, for OnUserObjectDestroyed.
  void* cleanup_payload() noexcept { return static_cast<cleanup::Payload*>(this); }

  // The user object that owns this, once it has been made.
  CUuserObject user_object() const noexcept { return user_object_; }
  void set_user_object(CUuserObject user_object) noexcept { user_object_ = user_object; }

 private:
  explicit Attachment(std::size_t owner_count) noexcept : cleanup::Payload(&ReleaseItem), owner_count_(owner_count) {}
  ~Attachment() = default;

  static void Destroy(Attachment* attachment) noexcept;
  static void ReleaseItem(cleanup::Item* item) noexcept { Destroy(static_cast<Attachment*>(item)); }

  // The owners follow the object in its allocation.
  OpaqueHandle* FirstOwner() noexcept { return reinterpret_cast<OpaqueHandle*>(this + 1); }
  const OpaqueHandle* FirstOwner() const noexcept { return reinterpret_cast<const OpaqueHandle*>(this + 1); }

  const std::size_t owner_count_;
  CUuserObject user_object_ = nullptr;
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_ATTACHMENT_H_
