// What the library does with a driver that lacks entry points of user objects, or that finds one node twice.
//
// Method: partial_driver.cc passes everything on to the model driver but for what the environment takes away. A process
// has one driver for good, so each test has a process of its own.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/attachments/graph_registry.h"
#include "lib/attachments/hierarchy.h"
#include "lib/attachments/transaction.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/cleanup/wakeups.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::attachments {
namespace {

using cleanup::DeferredCleanup;
using driver::GetDriver;

// Runs `body` with the driver that the environment says, and ends the process.
[[noreturn]] void Run(const char* variable, const char* entry_point, void (*body)()) {
  setenv(variable, entry_point, 1);
  DeferredCleanup::Process().Start(std::make_unique<cleanup::ManualWakeup>());
  body();
  std::fflush(nullptr);
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

void RunInOwnProcess(const char* variable, const char* entry_point, void (*body)()) {
  EXPECT_EXIT(Run(variable, entry_point, body), testing::ExitedWithCode(0), "");
}

CUgraphNode AddEmpty(CUgraph graph) {
  CUgraphNode added = nullptr;
  EXPECT_EQ(GetDriver().cuGraphAddEmptyNode(&added, graph, nullptr, 0), CUDA_SUCCESS);
  return added;
}

// What preparing these owners is refused for; empty if it is not.
std::string Refusal(GraphBox& box, const std::vector<OpaqueHandle>& owners) {
  try {
    const AttachmentTransaction transaction(box, owners);
  } catch (const driver::DriverError& error) {
    return error.call() + ": " + driver::ResultName(error.result());
  }
  return "";
}

// The owner goes, and the graph has nothing of it: destroying it brings no payload.
void ExpectOwnersRefused(const std::string& refusal) {
  GraphHandle root = Hierarchy::CreateRoot();
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = owner;
  std::vector<OpaqueHandle> owners = {std::move(owner)};
  EXPECT_EQ(Refusal(*root, owners), refusal);
  owners.clear();
  DeferredCleanup::Process().Drain();
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(root->index().attachment_count(), 0U);
  const std::uint64_t enqueued = DeferredCleanup::Process().Counters().enqueued;
  root = nullptr;
  EXPECT_EQ(DeferredCleanup::Process().Counters().enqueued, enqueued);
}

// Covers: AP-02.
TEST(PartialDriver, WithoutReleaseNotEvenARemovalIsPrepared) {
  RunInOwnProcess("HOLDFAST_LACKS", "cuGraphReleaseUserObject", [] {
    const GraphHandle root = Hierarchy::CreateRoot();
    EXPECT_EQ(Refusal(*root, {}), "cuGraphReleaseUserObject: CUDA_ERROR_NOT_SUPPORTED");
  });
}

// Covers: AP-02, AP-03.
TEST(PartialDriver, WithoutReleaseNoOwnerIsTaken) {
  RunInOwnProcess("HOLDFAST_LACKS", "cuGraphReleaseUserObject", [] {
    ExpectOwnersRefused("cuGraphReleaseUserObject: CUDA_ERROR_NOT_SUPPORTED");
    EXPECT_EQ(DeferredCleanup::Process().Counters().enqueued, 0U);
  });
}

// Covers: AP-03.
TEST(PartialDriver, WithoutUserObjectsNoOwnerIsTaken) {
  RunInOwnProcess("HOLDFAST_LACKS", "cuUserObjectCreate", [] {
    ExpectOwnersRefused("cuUserObjectCreate: CUDA_ERROR_NOT_SUPPORTED");
    EXPECT_EQ(DeferredCleanup::Process().ReleasedDirectly(), 1U);
  });
}

// Covers: AP-03.
TEST(PartialDriver, WithoutRetainNoOwnerIsTaken) {
  RunInOwnProcess("HOLDFAST_LACKS", "cuGraphRetainUserObject", [] {
    ExpectOwnersRefused("cuGraphRetainUserObject: CUDA_ERROR_NOT_SUPPORTED");
    EXPECT_EQ(DeferredCleanup::Process().Counters().released, 1U);
  });
}

// Covers: CL-06.
TEST(PartialDriver, TwoNodesWithOneCopyAreNoClone) {
  RunInOwnProcess("HOLDFAST_REPEATS", "cuGraphNodeFindInClone", [] {
    GraphHandle root = Hierarchy::CreateRoot();
    const std::vector<OpaqueHandle> owners = {std::make_shared<int>(0)};
    for (const CUgraphNode node : {AddEmpty(root->graph()), AddEmpty(root->graph())}) {
      AttachmentTransaction transaction(*root, owners);
      transaction.Commit(node);
    }
    EXPECT_THROW(Hierarchy::CloneRoot(*root), std::logic_error);
    EXPECT_EQ(GraphRegistry::Process().size(), 1U);
    EXPECT_EQ(root->index().attachment_count(), 2U);
    root = nullptr;
    DeferredCleanup::Process().Drain();
    EXPECT_EQ(owners.front().use_count(), 1);
  });
}

}  // namespace
}  // namespace holdfast::attachments
