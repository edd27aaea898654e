// Checks for what an operation must throw: misuse, and what the driver refuses.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_EXPECTED_ERRORS_H_
#define HOLDFAST_SCENARIOS_SUPPORT_EXPECTED_ERRORS_H_

#include <cuda.h>

#include <stdexcept>
#include <string>

#include "harness/scenario/context.h"
#include "lib/driver/status.h"

namespace holdfast::scenarios {

// `operation` must throw an `Error`, and nothing else. Returns it.
template <typename Error, typename Operation>
Error CheckThrows(harness::Context& context, const std::string& what, Operation operation,
                  harness::SourcePlace where = harness::SourcePlace::Here()) {
  try {
    operation();
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    context.Find("contract", what + " is refused, but not with this kind of error: " + error.what(), where);
  }
  context.Find("contract", what + " is refused", where);
}

// Misuse: std::logic_error, or a kind of it, that says which operation was misused.
template <typename Error = std::logic_error, typename Operation>
void CheckMisuse(harness::Context& context, const std::string& what, const std::string& operation_name,
                 Operation operation, harness::SourcePlace where = harness::SourcePlace::Here()) {
  const Error error = CheckThrows<Error>(context, what, operation, where);
  context.Check(std::string(error.what()).find(operation_name) != std::string::npos,
                what + ": the error names " + operation_name + ", and says \"" + error.what() + "\"", where);
}

// A refusal of the driver. Returns its result.
template <typename Operation>
CUresult CheckRefused(harness::Context& context, const std::string& what, Operation operation,
                      harness::SourcePlace where = harness::SourcePlace::Here()) {
  return CheckThrows<driver::DriverError>(context, what, operation, where).result();
}

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_EXPECTED_ERRORS_H_
