// OperationWindow: the one operation that a sweep scenario is about.
//
//   bool done = false;
//   try {
//     const harness::OperationWindow window(context);
//     graph->AddHostNode(callback);
//     done = true;
//   } catch (const std::exception&) {}
//
// `holdfast sweep` fails each driver call and each allocation that the calling thread makes while the window is open,
// one after the other: rules for the step "operation" that count from it. What comes before and after it is preparation
// and judgement, which no fault disturbs.
#ifndef HOLDFAST_HARNESS_SCENARIO_OPERATION_WINDOW_H_
#define HOLDFAST_HARNESS_SCENARIO_OPERATION_WINDOW_H_

#include <optional>

#include "harness/scenario/context.h"

namespace holdfast::harness {

class OperationWindow {
 public:
  // Announces the step "operation" and lets the plan fail this thread's allocations.
  // REQUIRES: one at a time, opened once in a scenario. `context` outlives it.
  explicit OperationWindow(const Context& context);

  // Records which sites this thread visited, and announces the step "after-operation".
  ~OperationWindow();
  OperationWindow(const OperationWindow&) = delete;
  OperationWindow& operator=(const OperationWindow&) = delete;

 private:
  const Context& context_;
  std::optional<AllocationFaultWindow> allocations_;
};

}  // namespace holdfast::harness

#endif  // HOLDFAST_HARNESS_SCENARIO_OPERATION_WINDOW_H_
