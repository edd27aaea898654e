// Heads of PTX entries: names, offsets, and what is no PTX.
#include "fault/model/ptx.h"

#include <gtest/gtest.h>

namespace holdfast::fault::model {
namespace {

std::string LayoutOf(const PtxEntry& entry) {
  std::string layout;
  for (const KernelParameter& parameter : entry.parameters) {
    layout += std::to_string(parameter.offset) + "+" + std::to_string(parameter.bytes) + " ";
  }
  return layout;
}

TEST(PtxTest, ParametersAreAlignedToTheirTypes) {
  std::vector<PtxEntry> entries;
  ASSERT_TRUE(ParsePtx(R"(
      .version 7.0
      .visible .entry scale(
        .param .u64 scale_param_0, .param .f32 scale_param_1,
        .param .u8 scale_param_2,  .param .s16 scale_param_3, .param .b64 scale_param_4)
      { ret; })",
                       &entries));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].name, "scale");
  EXPECT_EQ(LayoutOf(entries[0]), "0+8 8+4 12+1 14+2 16+8 ");
}

TEST(PtxTest, ArraysHaveTheirOwnAlignment) {
  std::vector<PtxEntry> entries;
  ASSERT_TRUE(
      ParsePtx(".version 7.0 .entry f(.param .u8 a, .param .align 16 .b8 b[40], .param .align 4 .b8 c[3])", &entries));
  EXPECT_EQ(LayoutOf(entries.at(0)), "0+1 16+40 56+3 ");
}

TEST(PtxTest, AlignmentBehindThePointerIsAboutWhatItPointsTo) {
  std::vector<PtxEntry> entries;
  ASSERT_TRUE(ParsePtx(".version 7.0 .entry f(.param .u32 a, .param .u64 .ptr .global .align 128 b)", &entries));
  EXPECT_EQ(LayoutOf(entries.at(0)), "0+4 8+8 ");
}

TEST(PtxTest, CommentsAndOtherDirectivesAreSkipped) {
  std::vector<PtxEntry> entries;
  ASSERT_TRUE(ParsePtx(R"(
      // .entry not_this(.param .u64 x)
      .version 7.0 /* .entry nor_this() */
      .func (.param .b32 r) helper(.param .b32 x) { ret; }
      .entry first .maxntid 128, 1, 1 { ret; }
      .entry second(/* nothing */) { ret; })",
                       &entries));
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "first");
  EXPECT_EQ(entries[1].name, "second");
  EXPECT_TRUE(entries[1].parameters.empty());
}

TEST(PtxTest, BrokenTextIsRefused) {
  for (const char* text : {"garbage", "", ".version 7.0 .entry f(.param .u64", ".version 7.0 .entry f(.param .q9 a)",
                           ".version 7.0 .entry f(.reg .u64 a)", ".version 7.0 .entry f(.param .b8 a[x])"}) {
    std::vector<PtxEntry> entries;
    EXPECT_FALSE(ParsePtx(text, &entries)) << text;
  }
}

TEST(PtxTest, TargetIsANumberOrNone) {
  EXPECT_EQ(PtxTarget(".version 7.0\n.target sm_70\n"), 70);
  EXPECT_EQ(PtxTarget(".version 8.0\n// .target sm_50\n.target sm_90a, debug\n"), 90);
  EXPECT_EQ(PtxTarget(".version 7.0\n.target texmode\n"), 0);
  EXPECT_EQ(PtxTarget(".version 7.0\n"), 0);
}

}  // namespace
}  // namespace holdfast::fault::model
