// Runs a piece of a test in a child process that has the shim loaded over the fake driver, and reads back what the shim
// recorded.
//
// A process has one plan and one ledger, so each case takes a process of its own. The child is forked before anything
// is loaded; gtest's EXPECT works in it, and its failures fail the parent.
#ifndef HOLDFAST_TESTS_FAULT_SHIM_SUBJECT_PROCESS_H_
#define HOLDFAST_TESTS_FAULT_SHIM_SUBJECT_PROCESS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "fault/shim/control.h"

namespace holdfast::fault {

// The shim, as a program finds it.
class LoadedShim {
 public:
  // Opens the library in $HOLDFAST_SHIM; ends the process if it cannot.
  LoadedShim();

  template <typename Function>
  Function* Find(const char* name) const {
    return reinterpret_cast<Function*>(Symbol(name));
  }
  void* Symbol(const char* name) const;

  const ShimControl& control() const { return *control_; }

  // How often the fake driver got the call.
  int DriverCalls(const char* name) const;

 private:
  void* library_;
  const ShimControl* control_;
};

// `CALL(shim, cuGraphCreate)(&graph, 0)` calls through the shim.
#define CALL(shim, name) (shim).Find<decltype(name)>(#name)

struct ProcessResult {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string errors;               // what it wrote to stderr
  std::vector<std::string> events;  // lines that the shim recorded

  // The recorded lines that contain all of `texts`.
  int Count(const std::vector<std::string>& texts) const;
};

using Environment = std::map<std::string, std::string>;

// Runs `body` in a child with the rules as its plan. The child ends with 0 if `body` had no failure.
ProcessResult RunSubject(const std::vector<std::string>& rules, const std::function<void(LoadedShim&)>& body,
                         const Environment& environment = {});

// As above; fails the test unless the child ended with 0.
ProcessResult RunGoodSubject(const std::vector<std::string>& rules, const std::function<void(LoadedShim&)>& body);

}  // namespace holdfast::fault

#endif  // HOLDFAST_TESTS_FAULT_SHIM_SUBJECT_PROCESS_H_
