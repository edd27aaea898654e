// What the ledger can object to.
#ifndef HOLDFAST_FAULT_LEDGER_FINDING_H_
#define HOLDFAST_FAULT_LEDGER_FINDING_H_

#include <functional>
#include <string>
#include <string_view>

namespace holdfast::fault {

// More references released than there were, which the driver answers with success (fact U13).
inline constexpr std::string_view kOverRelease = "over-release";
// A graph that nobody can destroy any more, with what it holds (fact C2).
inline constexpr std::string_view kLeak = "leak";
// A handle given to its destroy call, or to another call, after it was destroyed and before the driver gave it out
// again.
inline constexpr std::string_view kDoubleDestroy = "double-destroy";
inline constexpr std::string_view kUseAfterDestroy = "use-after-destroy";
// A driver call made inside the destructor of a user object, or inside a host function.
inline constexpr std::string_view kDriverCallInCallback = "driver-call-in-callback";

// Takes the kind and a sentence. Called without any lock of the ledger.
using FindingSink = std::function<void(std::string_view kind, const std::string& message)>;

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_LEDGER_FINDING_H_
