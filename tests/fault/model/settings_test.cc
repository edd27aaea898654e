// HOLDFAST_MODEL: what parses, and that what does not is named.
#include "fault/model/settings.h"

#include <gtest/gtest.h>

namespace holdfast::fault::model {
namespace {

TEST(SettingsTest, EmptyTextGivesTheDefaults) {
  Settings settings;
  std::string error;
  ASSERT_TRUE(ParseSettings("", &settings, &error));
  EXPECT_EQ(settings.delivery, Delivery::kInline);
  EXPECT_EQ(settings.reuse, HandleReuse::kAtOnce);
  EXPECT_EQ(settings.seed, 0u);
}

TEST(SettingsTest, EveryKeyIsRead) {
  Settings settings;
  std::string error;
  ASSERT_TRUE(ParseSettings("delivery=mixed,reuse=never,seed=0x1c0ffee", &settings, &error)) << error;
  EXPECT_EQ(settings.delivery, Delivery::kMixed);
  EXPECT_EQ(settings.reuse, HandleReuse::kNever);
  EXPECT_EQ(settings.seed, 0x1c0ffeeu);
}

TEST(SettingsTest, EveryDeliveryHasItsWord) {
  const std::pair<const char*, Delivery> words[] = {{"delivery=inline", Delivery::kInline},
                                                    {"delivery=thread", Delivery::kThread},
                                                    {"delivery=held", Delivery::kHeld},
                                                    {"delivery=mixed", Delivery::kMixed}};
  for (const auto& [text, delivery] : words) {
    Settings settings;
    std::string error;
    ASSERT_TRUE(ParseSettings(text, &settings, &error)) << error;
    EXPECT_EQ(settings.delivery, delivery) << text;
  }
}

class BadSettingsTest : public testing::TestWithParam<const char*> {};

TEST_P(BadSettingsTest, IsNamedAndChangesNothing) {
  Settings settings;
  settings.seed = 7;
  std::string error;
  EXPECT_FALSE(ParseSettings(GetParam(), &settings, &error));
  EXPECT_NE(error.find("cannot use '"), std::string::npos) << error;
  EXPECT_EQ(settings.seed, 7u);
}

INSTANTIATE_TEST_SUITE_P(Texts, BadSettingsTest,
                         testing::Values("delivery", "delivery=sideways", "reuse=often", "seed=", "seed=0x", "seed=12x",
                                         "speed=1", "delivery=inline,,reuse=never", "Delivery=inline"));

}  // namespace
}  // namespace holdfast::fault::model
