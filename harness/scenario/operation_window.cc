#include "harness/scenario/operation_window.h"

namespace holdfast::harness {
namespace {

constexpr const char* kStep = "operation";

}  // namespace

OperationWindow::OperationWindow(const Context& context) : context_(context) {
  context_.shim().announce_step(kStep);
  allocations_.emplace(context_);
}

OperationWindow::~OperationWindow() {
  allocations_.reset();
  context_.shim().write_visits(kStep);
  context_.shim().announce_step("after-operation");
}

}  // namespace holdfast::harness
