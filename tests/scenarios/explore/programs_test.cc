// The programs of the explorer: each is explored to its end and nothing is wrong, or it fails as a specimen must.
//
// Prints the certificates: what was explored, and how long it took.
#include "scenarios/explore/programs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "harness/explore/exhaustive.h"

namespace holdfast::scenarios {
namespace {

// Minutes: explored in part here, and to the end by hand.
constexpr char kLarge[] = "queue.three-producers";
constexpr std::uint64_t kExecutionsMaxOfLarge = 50'000;

struct Explored {
  explore::Certificate certificate;
  std::optional<explore::Finding> finding;
};

Explored ExploreAll(const explore::Program& program, std::size_t spurious_failures_max) {
  explore::Machine machine;
  explore::Exhaustive search(machine, program, {.spurious_failures_max = spurious_failures_max});
  explore::SearchBounds bounds;
  if (program.name == kLarge) {
    bounds.executions_max = kExecutionsMaxOfLarge;
  }
  Explored explored;
  const auto start = std::chrono::steady_clock::now();
  explored.certificate = search.Run(bounds, [&explored](const explore::Execution& execution) {
    explored.finding = execution.finding();
    return true;
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%-32s %s, %llu executions, %llu blocked, spurious failures: %zu at most; %.2f s\n", program.name.c_str(),
              explored.certificate.is_complete ? "complete" : "not complete",
              static_cast<unsigned long long>(explored.certificate.executions),
              static_cast<unsigned long long>(explored.certificate.blocked), spurious_failures_max, seconds);
  return explored;
}

const explore::Program& Find(const std::string& name) {
  for (const explore::Program& program : Programs()) {
    if (program.name == name) {
      return program;
    }
  }
  throw std::logic_error("there is no program " + name);
}

class ProgramsTest : public testing::TestWithParam<explore::Program> {};

TEST_P(ProgramsTest, EndsAsExpected) {
  const explore::Program& program = GetParam();
  const Explored explored = ExploreAll(program, program.spurious_failures_max);
  if (program.expected) {
    ASSERT_TRUE(explored.finding) << "the specimen is not refuted";
    EXPECT_EQ(explored.finding->verdict, *program.expected) << explored.finding->text;
    return;
  }
  EXPECT_FALSE(explored.finding) << explore::NameOf(explored.finding->verdict) << ": " << explored.finding->text;
  EXPECT_TRUE(explored.certificate.is_complete || program.name == kLarge);
}

std::string TestName(const testing::TestParamInfo<explore::Program>& info) {
  std::string name = info.param.name;
  for (char& letter : name) {
    letter = letter == '.' || letter == '-' ? '_' : letter;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ProgramsTest, testing::ValuesIn(Programs()), TestName);

TEST(SpuriousFailures, AddNothing) {
  for (const char* name : {"list.two-pushers", "queue.two-producers", "queue.drain-bound"}) {
    const Explored explored = ExploreAll(Find(name), 1);
    EXPECT_FALSE(explored.finding) << name;
    EXPECT_TRUE(explored.certificate.is_complete) << name;
  }
}

}  // namespace
}  // namespace holdfast::scenarios
