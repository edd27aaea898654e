#include "lib/attachments/transaction.h"

#include <algorithm>
#include <utility>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::attachments {

using cleanup::DeferredCleanup;
using driver::Check;
using driver::GetDriver;

AttachmentTransaction::AttachmentTransaction(GraphBox& box, std::span<const OpaqueHandle> owners, CUcontext context)
    : box_(box) {
  DeferredCleanup::Process().RequireStarted();
  DeferredCleanup::Process().OnSafeEntry();
  // Without it an attachment could be made but never given up again.
  if (!GetDriver().cuGraphReleaseUserObject.available()) {
    throw driver::DriverError("cuGraphReleaseUserObject", CUDA_ERROR_NOT_SUPPORTED, "preparing an attachment");
  }
  const bool has_owner =
      std::any_of(owners.begin(), owners.end(), [](const OpaqueHandle& owner) { return owner != nullptr; });
  Attachment::Pointer attachment = has_owner ? Attachment::Create(owners) : nullptr;
  if (attachment != nullptr || context != nullptr) {
    entry_ = box_.index().MakeEntry({attachment.get(), context});
  }
  if (attachment != nullptr) {
    MakeUserObject(std::move(attachment));
  }
}

void AttachmentTransaction::MakeUserObject(Attachment::Pointer attachment) {
  CUuserObject user_object = nullptr;
  Check("cuUserObjectCreate",
        GetDriver().cuUserObjectCreate(&user_object, attachment->cleanup_payload(),
                                       &DeferredCleanup::OnUserObjectDestroyed, 1u, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
        "preparing an attachment");
  attachment->set_user_object(user_object);
  // From here on CUDA owns it, and only the queue may release it.
  Attachment* owned_by_cuda = attachment.release();
  const CUresult result = GetDriver().cuGraphRetainUserObject(box_.graph(), user_object, 1u, CU_GRAPH_USER_OBJECT_MOVE);
  if (result != CUDA_SUCCESS) {
    driver::ReportCleanupFailure("cuUserObjectRelease", GetDriver().cuUserObjectRelease(user_object, 1u), user_object);
    throw driver::DriverError("cuGraphRetainUserObject", result, "preparing an attachment");
  }
  prepared_ = owned_by_cuda;
}

AttachmentTransaction::~AttachmentTransaction() {
  if (prepared_ != nullptr) {
    box_.ReleaseReference(prepared_);
  }
}

void AttachmentTransaction::Commit(CUgraphNode node) noexcept {
  Attachment* old = box_.index().Take(node).attachment;
  if (!entry_.empty()) {
    box_.index().Insert(node, std::move(entry_));
  }
  prepared_ = nullptr;
  if (old != nullptr) {
    box_.ReleaseReference(old);
  }
}

void AttachmentTransaction::CommitAnonymously() noexcept { prepared_ = nullptr; }

}  // namespace holdfast::attachments
