#include "lib/attachments/graph_box.h"

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::attachments {

using cleanup::DeferredCleanup;
using driver::GetDriver;

std::shared_ptr<GraphBox> GraphBox::CreateRoot() {
  DeferredCleanup::Process().RequireStarted();
  // The box first: once there is a graph, nothing can fail any more.
  std::shared_ptr<GraphBox> box(new GraphBox);
  driver::Check("cuGraphCreate", GetDriver().cuGraphCreate(&box->graph_, 0u), "creating a graph");
  return box;
}

GraphBox::~GraphBox() {
  if (graph_ == nullptr) {
    return;
  }
  driver::ReportCleanupFailure("cuGraphDestroy", GetDriver().cuGraphDestroy(graph_), graph_);
  DeferredCleanup::Process().OnSafeEntry();
}

std::vector<OpaqueHandle> GraphBox::OwnersOf(CUgraphNode node) const {
  const auto entry = index_.find(node);
  if (entry == index_.end()) {
    return {};
  }
  const std::span<const OpaqueHandle> owners = entry->second->owners();
  return {owners.begin(), owners.end()};
}

void GraphBox::ReleaseReference(Attachment* attachment) noexcept {
  driver::ReportCleanupFailure("cuGraphReleaseUserObject",
                               GetDriver().cuGraphReleaseUserObject(graph_, attachment->user_object(), 1u), graph_);
}

}  // namespace holdfast::attachments
