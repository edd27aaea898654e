// ExecutableOwners: the owners that updates of single nodes bring to an executable. CUDA has no way to give an
// executable a reference later, so it gets one list when it is made, and the list grows.
#ifndef HOLDFAST_LIB_ATTACHMENTS_EXECUTABLE_OWNERS_H_
#define HOLDFAST_LIB_ATTACHMENTS_EXECUTABLE_OWNERS_H_

#include <cuda.h>

#include <cstddef>
#include <span>
#include <vector>

#include "lib/attachments/graph_box.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/handles/opaque_handle.h"

namespace holdfast::attachments {

// Owned by a user object, like an Attachment. Append-only but for undoing a refused update: an owner that was
// superseded lives until the executable, or its next whole update, is through. Thread safety: as the executable's: one
// thread at a time.
class ExecutableOwners : private cleanup::Payload {
 public:
  // Appends while it lives, unless Keep is called: then the owners stay.
  class Addition {
   public:
    // Throws std::bad_alloc; nothing is appended then.
    Addition(ExecutableOwners& owners, std::span<const OpaqueHandle> added);
    ~Addition();
    Addition(const Addition&) = delete;
    Addition& operator=(const Addition&) = delete;
    void Keep() noexcept { kept_ = true; }

   private:
    ExecutableOwners& owners_;
    const std::size_t size_before_;
    bool kept_ = false;
  };

  ExecutableOwners(const ExecutableOwners&) = delete;
  ExecutableOwners& operator=(const ExecutableOwners&) = delete;

  std::size_t size() const noexcept { return owners_.size(); }

 private:
  friend class StagedExecutableOwners;

  ExecutableOwners() noexcept : cleanup::Payload(&ReleaseItem) {}
  ~ExecutableOwners() = default;
  static void ReleaseItem(cleanup::Item* item) noexcept { delete static_cast<ExecutableOwners*>(item); }
  // CUDA does not know of it: it goes here and now.
  static void ReleaseDirectly(ExecutableOwners* owners) noexcept {
    delete owners;
    cleanup::DeferredCleanup::Process().CountReleasedDirectly();
  }

  std::vector<OpaqueHandle> owners_;
};

// Puts a new list on a graph for as long as it takes to instantiate from it, or to update from it: the executable then
// gets a reference with all others. REQUIRES: nothing else is made from the graph meanwhile.
class StagedExecutableOwners {
 public:
  // Throws DriverError, std::bad_alloc, std::logic_error if the deferred cleanup was not started; then the graph is as
  // before.
  explicit StagedExecutableOwners(GraphBox& source);

  // Gives up the graph's reference. If the driver refuses, the failure is reported and the graph holds the list, at the
  // longest until it is destroyed; so do clones and executables made from it before then.
  ~StagedExecutableOwners();
  StagedExecutableOwners(const StagedExecutableOwners&) = delete;
  StagedExecutableOwners& operator=(const StagedExecutableOwners&) = delete;

  // REQUIRES: an executable has its own reference by now. What it points to lives as long as that one.
  ExecutableOwners* owners() const noexcept { return owners_; }

 private:
  GraphBox& source_;
  ExecutableOwners* owners_ = nullptr;
  CUuserObject user_object_ = nullptr;
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_EXECUTABLE_OWNERS_H_
