// GraphExec: an executable made from a definition, independent of it from then on.
#ifndef HOLDFAST_LIB_GRAPH_GRAPH_EXEC_H_
#define HOLDFAST_LIB_GRAPH_GRAPH_EXEC_H_

#include <cuda.h>

#include <memory>

#include "lib/graph/graph_definition.h"
#include "lib/handles/resources.h"

namespace holdfast {

// Copies name the same executable, which is destroyed with the last one or by Close. It holds the owners of the
// definition as they were when it was made or last updated.
//
// Thread safety: one thread at a time, the caller synchronises.
class GraphExec {
 public:
  // Instantiates. Throws DriverError with the specific result when the driver gives one; nothing is left behind.
  explicit GraphExec(const GraphDefinition& definition, unsigned long long flags = 0);

  // Null once closed.
  CUgraphExec raw() const noexcept { return record_->raw; }

  // Enqueues one launch on the stream and returns. The launch keeps what it needs by itself.
  // Throws std::logic_error when closed, DriverError.
  void Launch(const StreamHandle& stream) const;

  // Takes parameters and owners over from `source`, whose topology must be the same. Owners that were held before are
  // given up as soon as no launch needs them. Throws std::logic_error when closed, DriverError naming the reason; then
  // the executable is as before.
  void Update(const GraphDefinition& source);

  // Destroys the executable at once; launches in flight go on and keep what they need. A second call does nothing.
  // Throws DriverError when the driver refuses: the executable counts as closed all the same, since it may be gone.
  void Close();

 private:
  struct Record {
    ~Record();
    CUgraphExec raw = nullptr;
  };

  void RequireOpen(const char* operation) const;

  std::shared_ptr<Record> record_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_GRAPH_EXEC_H_
