#include "lib/attachments/executable_owners.h"

#include <memory>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::attachments {

using cleanup::DeferredCleanup;
using driver::Check;
using driver::GetDriver;

ExecutableOwners::Addition::Addition(ExecutableOwners& owners, std::span<const OpaqueHandle> added)
    : owners_(owners), size_before_(owners.owners_.size()) {
  owners_.owners_.insert(owners_.owners_.end(), added.begin(), added.end());
}

ExecutableOwners::Addition::~Addition() {
  if (!kept_) {
    owners_.owners_.resize(size_before_);
  }
}

StagedExecutableOwners::StagedExecutableOwners(GraphBox& source) : source_(source) {
  DeferredCleanup::Process().RequireStarted();
  DeferredCleanup::Process().OnSafeEntry();
  if (!GetDriver().cuGraphReleaseUserObject.available()) {
    throw driver::DriverError("cuGraphReleaseUserObject", CUDA_ERROR_NOT_SUPPORTED, "preparing an executable");
  }
  const auto destroy = [](ExecutableOwners* owners) { ExecutableOwners::ReleaseDirectly(owners); };
  std::unique_ptr<ExecutableOwners, decltype(destroy)> owners(new ExecutableOwners, destroy);
  Check("cuUserObjectCreate",
        GetDriver().cuUserObjectCreate(&user_object_, static_cast<cleanup::Payload*>(owners.get()),
                                       &DeferredCleanup::OnUserObjectDestroyed, 1u, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
        "preparing an executable");
  // From here on CUDA owns it, and only the queue may release it.
  owners_ = owners.release();
  const CUresult result =
      GetDriver().cuGraphRetainUserObject(source_.graph(), user_object_, 1u, CU_GRAPH_USER_OBJECT_MOVE);
  if (result != CUDA_SUCCESS) {
    driver::ReportCleanupFailure("cuUserObjectRelease", GetDriver().cuUserObjectRelease(user_object_, 1u),
                                 user_object_);
    throw driver::DriverError("cuGraphRetainUserObject", result, "preparing an executable");
  }
}

StagedExecutableOwners::~StagedExecutableOwners() {
  driver::ReportCleanupFailure("cuGraphReleaseUserObject",
                               GetDriver().cuGraphReleaseUserObject(source_.graph(), user_object_, 1u),
                               source_.graph());
}

}  // namespace holdfast::attachments
