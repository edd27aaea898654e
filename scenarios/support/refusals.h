// Whether an operation is refused in the documented way, for scenarios that expect it.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_REFUSALS_H_
#define HOLDFAST_SCENARIOS_SUPPORT_REFUSALS_H_

#include <cuda.h>

#include <exception>
#include <string>
#include <typeinfo>

#include "lib/driver/status.h"

namespace holdfast::scenarios {

// Whether `operation` throws an `Error`, and not one derived from it: the kind of an error is part of the contract.
// Whatever else it throws goes on.
template <typename Error, typename Operation>
bool Throws(Operation operation) {
  try {
    operation();
  } catch (const Error& error) {
    return typeid(error) == typeid(Error);
  }
  return false;
}

// Whether it throws the DriverError that `call` answered `result`.
template <typename Operation>
bool IsRefusedByDriver(const std::string& call, CUresult result, Operation operation) {
  try {
    operation();
  } catch (const driver::DriverError& error) {
    return error.call() == call && error.result() == result;
  }
  return false;
}

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_REFUSALS_H_
