#include "lib/attachments/graph_box.h"

#include <algorithm>
#include <mutex>

#include "lib/attachments/hierarchy.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::attachments {
namespace {

// Guards, of all boxes, which hierarchy keeps them and who shares their handle. Held for a look and no longer.
std::mutex& HandleMutex() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}

}  // namespace

// The box goes before the hierarchy that it refers to.
struct GraphBox::Pin {
  std::shared_ptr<Hierarchy> hierarchy;
  std::shared_ptr<GraphBox> box;
};

GraphBox::GraphBox(Hierarchy& hierarchy, Kind kind)
    : hierarchy_(&hierarchy),
      kind_(kind),
      registry_room_(GraphRegistry::MakeRoom()),
      keeper_(hierarchy.weak_from_this()) {}

GraphHandle GraphBox::Handle() {
  auto fresh = std::make_shared<Pin>();
  const std::lock_guard lock(HandleMutex());
  std::shared_ptr<Pin> pin = pin_.lock();
  if (pin == nullptr) {
    fresh->hierarchy = keeper_.lock();
    if (fresh->hierarchy == nullptr) {
      return nullptr;
    }
    fresh->box = shared_from_this();
    pin_ = fresh;
    pin = std::move(fresh);
  }
  return GraphHandle(std::move(pin), this);
}

void GraphBox::SetHierarchy(Hierarchy& hierarchy) noexcept {
  hierarchy_ = &hierarchy;
  const std::lock_guard lock(HandleMutex());
  keeper_ = hierarchy.weak_from_this();
}

std::shared_ptr<const void> GraphBox::CopyToken() {
  if (copies_ == nullptr) {
    copies_ = std::make_shared<const char>('\0');
  }
  return copies_;
}

template <typename Predicate>
bool GraphBox::AnyBelow(const Predicate& is_so) const noexcept {
  return std::any_of(owned_graphs_.entries().begin(), owned_graphs_.entries().end(), [&](const auto& entry) {
    return std::any_of(entry.second.begin(), entry.second.end(),
                       [&](const std::shared_ptr<GraphBox>& below) { return is_so(*below) || below->AnyBelow(is_so); });
  });
}

bool GraphBox::HasCopiesBelow() const noexcept {
  return AnyBelow([](const GraphBox& below) {
    return below.kind() == Kind::kChild && below.copies_ != nullptr && below.copies_.use_count() > 1;
  });
}

bool GraphBox::HasBodiesBelow() const noexcept {
  return AnyBelow([](const GraphBox& below) { return below.kind() == Kind::kBody; });
}

std::vector<OpaqueHandle> GraphBox::OwnersOf(CUgraphNode node) const {
  const Attachment* attachment = index_.Find(node).attachment;
  if (attachment == nullptr) {
    return {};
  }
  const std::span<const OpaqueHandle> owners = attachment->owners();
  return {owners.begin(), owners.end()};
}

void GraphBox::ReleaseReference(Attachment* attachment) noexcept {
  const CUgraph released_from = graph();
  if (released_from == nullptr) {
    return;
  }
  driver::ReportCleanupFailure(
      "cuGraphReleaseUserObject",
      driver::GetDriver().cuGraphReleaseUserObject(released_from, attachment->user_object(), 1u), released_from);
}

}  // namespace holdfast::attachments
