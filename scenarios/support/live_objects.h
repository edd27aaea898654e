// What is alive at the driver, before and after an operation that must leave nothing behind.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_LIVE_OBJECTS_H_
#define HOLDFAST_SCENARIOS_SUPPORT_LIVE_OBJECTS_H_

#include <string>

#include "fault/shim/control.h"
#include "harness/scenario/context.h"

namespace holdfast::scenarios {

// For a time when no owner is meant to be alive: waits for those on their way out, and fails if they do not go. Their
// destructors may come long after a launch, and owners that need the device have to go before the session does.
void CheckNoOwnersLeft(harness::Context& context, harness::SourcePlace where = harness::SourcePlace::Here());

// The same, and what is alive then.
fault::LiveObjects LiveWithoutOwners(harness::Context& context,
                                     harness::SourcePlace where = harness::SourcePlace::Here());

// Settles until as many objects of each kind are alive as before.
void CheckSameLive(harness::Context& context, const fault::LiveObjects& before, const std::string& why,
                   harness::SourcePlace where = harness::SourcePlace::Here());

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_LIVE_OBJECTS_H_
