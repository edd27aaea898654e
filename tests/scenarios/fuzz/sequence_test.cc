// Sequences as text: what is written is read back, what is no sequence is refused with its line, and any selection of
// lines is a sequence.

#include "scenarios/fuzz/sequence.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace holdfast::fuzz {
namespace {

constexpr char kText[] =
    "holdfast-fuzz 1 seed=0x00000000000000ff reuse=never delivery=held settle=3\n"
    "0 create g0\n"
    "fault alloc nth=12 persistent\n"
    "fault cuGraphReleaseUserObject nth=1 after\n"
    "0 add_host g0 n15 o23 - n1 -\n"
    "parallel 2\n"
    "1 create g7\n"
    "0 add_switch g0 n2 c3 15 - -\n"
    "2 drain\n"
    "parallel 3 inside\n"
    "0 destroy n0\n";

std::string ErrorOf(const std::string& text) {
  try {
    ParseSequence(text);
  } catch (const SequenceError& error) {
    return error.what();
  }
  return "";
}

TEST(SequenceText, IsReadAsItWasWritten) {
  const Sequence sequence = ParseSequence(kText);
  EXPECT_EQ(TextOf(sequence), kText);
  EXPECT_EQ(sequence.settings.delivery, fault::Delivery::kHeld);
  EXPECT_EQ(sequence.settings.reuse, fault::HandleReuse::kNever);
  EXPECT_EQ(sequence.settings.settle, 3U);
  ASSERT_EQ(sequence.lines.size(), 8U);
  const Operation& host = sequence.lines[1].operation;
  EXPECT_EQ(host.opcode, Opcode::kAddHost);
  EXPECT_EQ(host.operands, (std::array<int, 6>{0, 15, 23, kAbsent, 1, kAbsent}));
  ASSERT_EQ(host.faults.size(), 2U);
  EXPECT_EQ(host.faults[0], (Fault{"alloc", 12, true, false}));
  EXPECT_EQ(sequence.lines[2].parallel, 2U);
  EXPECT_FALSE(sequence.lines[2].inside);
  EXPECT_EQ(sequence.lines[6].parallel, 3U);
  EXPECT_TRUE(sequence.lines[6].inside);
}

TEST(SequenceText, ReadsEachOperation) {
  std::mt19937 random(1);
  for (std::size_t opcode = 0; opcode < kOpcodes; ++opcode) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      Operation operation;
      operation.thread = random() % 3;
      operation.opcode = static_cast<Opcode>(opcode);
      const std::string_view operands = kOperations[opcode].operands;
      ASSERT_LE(operands.size(), Operation::kMostOperands);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const int drawn = static_cast<int>(random() % static_cast<unsigned>(SlotsOf(operands[i])));
        operation.operands[i] = MayBeAbsent(operands[i]) && random() % 2 == 0 ? kAbsent : drawn;
      }
      std::string error;
      EXPECT_EQ(ParseOperation(TextOf(operation), &error), operation) << TextOf(operation) << ": " << error;
    }
  }
}

TEST(SequenceText, SkipsCommentsAndBlankLines) {
  EXPECT_EQ(ParseSequence("# why\n\n  holdfast-fuzz 1 seed=0x1 \r\n\n# what\n\t0 drain\n\n\n").lines.size(), 1U);
}

TEST(SequenceText, IsASequenceWithoutAnyOfItsLines) {
  std::vector<std::string> lines;
  std::string rest = kText;
  for (std::size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1)) {
    lines.push_back(rest.substr(0, end + 1));
  }
  for (unsigned selection = 0; selection < 1U << (lines.size() - 1); ++selection) {
    std::string text = lines[0];
    for (std::size_t i = 1; i < lines.size(); ++i) {
      text += (selection >> (i - 1) & 1U) != 0 ? lines[i] : "";
    }
    EXPECT_EQ(ErrorOf(text), "") << text;
  }
}

TEST(SequenceText, RefusesWithTheLine) {
  const std::string header = "holdfast-fuzz 1 seed=0x1\n";
  EXPECT_EQ(ErrorOf(""), "line 0: there is no header \"holdfast-fuzz 1 ...\"");
  EXPECT_EQ(ErrorOf("0 drain\n"),
            "line 1: expected a header \"holdfast-fuzz 1 ...\", this is no sequence or one of another version");
  EXPECT_EQ(ErrorOf("# c\nholdfast-fuzz 2\n").substr(0, 7), "line 2:");
  EXPECT_EQ(ErrorOf("holdfast-fuzz 1 seed=17\n").substr(0, 18), "line 1: \"seed=17\":");
  EXPECT_EQ(ErrorOf("holdfast-fuzz 1 speed=1\n").substr(0, 18), "line 1: \"speed=1\":");
  EXPECT_EQ(ErrorOf("holdfast-fuzz 1 settle=0\n").substr(0, 19), "line 1: \"settle=0\":");
  EXPECT_EQ(ErrorOf(header + "0 fly\n"), "line 2: there is no operation \"fly\"");
  EXPECT_EQ(ErrorOf(header + "0 create\n"), "line 2: create takes 1 operands, not 0");
  EXPECT_EQ(ErrorOf(header + "0 create g8\n"), "line 2: operand \"g8\": expected g0 to g7");
  EXPECT_EQ(ErrorOf(header + "0 create -\n"), "line 2: operand \"-\": expected g0 to g7");
  EXPECT_EQ(ErrorOf(header + "0 node_at g0 16 n0\n"), "line 2: operand \"16\": expected a number below 16");
  EXPECT_EQ(ErrorOf(header + "0 add_event_wait g0 n0 - - -\n"), "line 2: operand \"-\": expected o0 to o23");
  EXPECT_EQ(ErrorOf(header + "\n3 drain\n").substr(0, 7), "line 3:");
  EXPECT_EQ(ErrorOf(header + "parallel 0\n").substr(0, 26), "line 2: expected: parallel");
  EXPECT_EQ(ErrorOf(header + "parallel 2 outside\n").substr(0, 26), "line 2: expected: parallel");
  EXPECT_EQ(ErrorOf(header + "fault alloc\n").substr(0, 24), "line 2: expected: fault ");
  EXPECT_EQ(ErrorOf(header + "fault alloc nth=0\n").substr(0, 16), "line 2: \"nth=0\":");
  EXPECT_EQ(ErrorOf(header + "fault alloc nth=1 never\n").substr(0, 16), "line 2: \"never\":");
}

TEST(SequenceText, RefusesFaultsThatCannotStrike) {
  const auto none = [](const Fault&) { return false; };
  EXPECT_THROW(ParseSequence("holdfast-fuzz 1\nfault cuFly nth=1\n0 drain\n", none), SequenceError);
}

}  // namespace
}  // namespace holdfast::fuzz
