// The journal: what is in its file while it is written, after it was finished, and after its process died.

#include "scenarios/fuzz/journal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace holdfast::fuzz {
namespace {

std::string PathOf(const char* name) { return testing::TempDir() + "/" + name; }

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Journal, HoldsWhatIsWrittenAtOnce) {
  Journal journal(PathOf("at_once"));
  journal.Begin("head\n");
  EXPECT_TRUE(journal.Append("one\n"));
  const std::string text = Read(PathOf("at_once"));
  EXPECT_EQ(text.substr(0, 9), "head\none\n");
  EXPECT_EQ(text.find_first_not_of('\n', 9), std::string::npos);
}

TEST(Journal, ForgetsWhatWasThereAtEachBeginning) {
  Journal journal(PathOf("begin"));
  journal.Begin("a long text that goes\n");
  journal.Begin("x\n");
  journal.Finish();
  EXPECT_EQ(Read(PathOf("begin")), "x\n");
  EXPECT_TRUE(journal.Append("nothing any more"));
  EXPECT_EQ(Read(PathOf("begin")), "x\n");
}

TEST(Journal, TakesNoMoreThanItHolds) {
  Journal journal(PathOf("full"));
  journal.Begin("");
  const std::string piece(100'000, 'x');
  int taken = 0;
  while (journal.Append(piece)) {
    ++taken;
  }
  journal.Finish();
  EXPECT_EQ(Read(PathOf("full")).size(), piece.size() * static_cast<std::size_t>(taken));
}

TEST(Journal, OutlivesItsProcess) {
  const std::string path = PathOf("killed");
  const pid_t child = fork();
  if (child == 0) {
    Journal journal(path);
    journal.Begin("last words\n");
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(Read(path).substr(0, 12), "last words\n\n");
}

TEST(Journal, WithoutAPathWritesNothing) {
  Journal journal("");
  journal.Begin("text");
  EXPECT_TRUE(journal.Append("more"));
  journal.Finish();
}

TEST(Journal, SaysWhichFileCannotBeMade) {
  try {
    Journal journal(PathOf("no such folder/file"));
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("no such folder/file"), std::string::npos);
  }
}

}  // namespace
}  // namespace holdfast::fuzz
