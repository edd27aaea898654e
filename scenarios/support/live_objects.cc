#include "scenarios/support/live_objects.h"

#include <cstdint>

#include "scenarios/support/cleanup_context.h"

namespace holdfast::scenarios {
namespace {

using fault::LiveObjects;

struct LiveKind {
  const char* name;
  std::uint64_t LiveObjects::*member;
};

constexpr LiveKind kLiveKinds[] = {
    {"user objects", &LiveObjects::user_objects},
    {"graphs", &LiveObjects::graphs},
    {"executables", &LiveObjects::executables},
    {"streams", &LiveObjects::streams},
    {"events", &LiveObjects::events},
    {"allocations", &LiveObjects::allocations},
    {"libraries", &LiveObjects::libraries},
};

// The first kind of which there are not as many; empty if there is none.
std::string LiveDifference(const LiveObjects& before, const LiveObjects& after) {
  for (const LiveKind& kind : kLiveKinds) {
    if (before.*kind.member != after.*kind.member) {
      return std::string(kind.name) + ": " + std::to_string(before.*kind.member) + " before, " +
             std::to_string(after.*kind.member) + " now";
    }
  }
  return "";
}

}  // namespace

void CheckNoOwnersLeft(harness::Context& context, harness::SourcePlace where) {
  context.CheckEventually(
      [&] {
        Settle(context);
        return context.shim().live().user_objects == 0;
      },
      "all owners are released", where);
  // An object counts as gone once its destructor has begun; what that queues is released here.
  SettleIdle(context);
}

LiveObjects LiveWithoutOwners(harness::Context& context, harness::SourcePlace where) {
  CheckNoOwnersLeft(context, where);
  return context.shim().live();
}

void CheckSameLive(harness::Context& context, const LiveObjects& before, const std::string& why,
                   harness::SourcePlace where) {
  context.Await([&] {
    Settle(context);
    return LiveDifference(before, context.shim().live()).empty();
  });
  const std::string difference = LiveDifference(before, context.shim().live());
  context.Check(difference.empty(), "nothing is left behind: " + why + " (" + difference + ")", where);
}

}  // namespace holdfast::scenarios
