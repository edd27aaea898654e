#include "lib/graph/exec_record.h"

#include <stdexcept>
#include <string>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::graph {

ExecRecord::~ExecRecord() {
  if (raw != nullptr) {
    driver::ReportCleanupFailure("cuGraphExecDestroy", driver::GetDriver().cuGraphExecDestroy(raw), raw);
    cleanup::DeferredCleanup::Process().OnSafeEntry();
  }
}

void ExecRecord::RequireOpen(const char* operation) const {
  if (raw == nullptr) {
    throw std::logic_error(std::string(operation) + ": the executable has been closed");
  }
}

}  // namespace holdfast::graph
