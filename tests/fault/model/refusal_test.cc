// What the model does not do: every exported name answers, and what it lacks is written down.
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fault/model/driver_fixture.h"

extern char** environ;

namespace holdfast::fault {
namespace {

using RefusalTest = DriverTest;

std::vector<std::string> EntryPoints() {
  std::ifstream table("fault/shim/entry_points.tsv");
  std::vector<std::string> names;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("cu")) names.push_back(line.substr(0, line.find('\t')));
  }
  return names;
}

TEST_F(RefusalTest, EveryNameOfTheTableIsExported) {
  const std::vector<std::string> names = EntryPoints();
  EXPECT_EQ(names.size(), 637u);
  for (const std::string& name : names) EXPECT_NE(::dlsym(RTLD_DEFAULT, name.c_str()), nullptr) << name;
}

TEST_F(RefusalTest, WhatIsNotModelledSaysSo) {
  EXPECT_EQ(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(std::string(control().unmodelled()).find("cuStreamQuery"), std::string::npos);
}

TEST_F(RefusalTest, PartsOfModelledCallsAreWrittenDownToo) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  const CUgraph graph = MakeGraph();
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(std::string(control().unmodelled()).find("cuGraphAddNode_v2"), std::string::npos);
  cuGraphDestroy(graph);
}

TEST_F(RefusalTest, RealRefusalsAreNotWrittenDown) {
  const CUgraph graph = MakeGraph();
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.bytesize = 64;
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
  CUgraph clone = nullptr;
  EXPECT_EQ(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(std::string(control().unmodelled()).find("cuGraphClone"), std::string::npos);
  cuGraphDestroy(graph);
}

TEST_F(RefusalTest, EventsFileNamesEachSiteOnce) {
  const std::string path = testing::TempDir() + "/holdfast_events_" + std::to_string(::getpid());
  ::setenv("HOLDFAST_EVENTS", path.c_str(), 1);
  EXPECT_EQ(cuCtxResetPersistingL2Cache(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuCtxResetPersistingL2Cache(), CUDA_ERROR_NOT_SUPPORTED);
  ::unsetenv("HOLDFAST_EVENTS");
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), "{\"event\":\"unsupported\",\"site\":\"cuCtxResetPersistingL2Cache\"}\n");
  ::unlink(path.c_str());
}

int ExitCodeUnder(const char* setting) {
  const std::string variable = std::string("HOLDFAST_MODEL=") + setting;
  std::vector<char*> environment{const_cast<char*>(variable.c_str())};
  for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
  environment.push_back(nullptr);
  char self[] = "/proc/self/exe";
  char list[] = "--gtest_list_tests";
  char* arguments[] = {self, list, nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, self, nullptr, nullptr, arguments, environment.data()) != 0) return -1;
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(RefusalTest, BadSettingsEndTheProcessWhenTheLibraryIsLoaded) {
  EXPECT_EQ(ExitCodeUnder("delivery=sideways"), 2);
  EXPECT_EQ(ExitCodeUnder("delivery=thread,reuse=never,seed=0x2a"), 0);
}

}  // namespace
}  // namespace holdfast::fault
