// One attachment: its owners and its single allocation.
#include "lib/attachments/attachment.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace holdfast::attachments {
namespace {

TEST(AttachmentTest, KeepsItsOwnersUntilItGoes) {
  const auto first = std::make_shared<int>(1);
  const auto second = std::make_shared<int>(2);
  const std::vector<OpaqueHandle> owners = {first, second};
  Attachment::Pointer attachment = Attachment::Create(owners);
  EXPECT_EQ(first.use_count(), 3);
  ASSERT_EQ(attachment->owners().size(), 2u);
  EXPECT_EQ(attachment->owners()[0], first);
  EXPECT_EQ(attachment->owners()[1], second);
  EXPECT_EQ(attachment->user_object(), nullptr);
  attachment = nullptr;
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_EQ(second.use_count(), 2);
}

TEST(AttachmentTest, TakesAnyNumberOfOwners) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    const auto owner = std::make_shared<int>();
    const std::vector<OpaqueHandle> owners(count, owner);
    const Attachment::Pointer attachment = Attachment::Create(owners);
    EXPECT_EQ(attachment->owners().size(), count);
    EXPECT_EQ(static_cast<std::size_t>(owner.use_count()), 1 + 2 * count);
  }
}

}  // namespace
}  // namespace holdfast::attachments
