#include "fault/shim/lookup.h"

#include <optional>

#include "fault/shim/driver.h"
#include "fault/shim/identify.h"

namespace holdfast::fault {

void* OwnFunction(std::string_view symbol, int version, std::uint64_t flags, void* answer) {
  if (answer == nullptr) return answer;
  const Request request{symbol, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0, answer};
  const std::optional<Entry> entry = IdentifyAnswer(request, {holdfast_driver_table, kEntryCount});
  if (!entry) return answer;
  void* own = holdfast_own_functions[static_cast<std::size_t>(*entry)];
  if (own == nullptr) return answer;
  if (DriverFunction(*entry) == nullptr) SupplyDriverFunction(*entry, answer);
  return own;
}

}  // namespace holdfast::fault
