// GraphExec: an executable made from a definition, independent of it from then on.
#ifndef HOLDFAST_LIB_GRAPH_GRAPH_EXEC_H_
#define HOLDFAST_LIB_GRAPH_GRAPH_EXEC_H_

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "lib/graph/exec_record.h"
#include "lib/graph/graph_definition.h"
#include "lib/handles/resources.h"

namespace holdfast {

class ExecNode;
class GraphBuilder;

// Copies name the same executable, which is destroyed with the last one or by Close. It holds the owners of the
// definition as they were when it was made or last updated, and those that updates of its nodes brought since.
//
// Thread safety: one thread at a time, the caller synchronises; making and updating count as use of the source, too.
class GraphExec {
 public:
  // Instantiates. Throws DriverError with the specific result when the driver gives one, std::logic_error for a graph
  // that is gone, std::bad_alloc; nothing is left behind. A graph with conditional nodes has to be the only one of its
  // kind: CUDA_ERROR_NOT_SUPPORTED as long as there are another executable of it, or clones or embedded copies of it or
  // of a graph that was moved into it.
  explicit GraphExec(const GraphDefinition& definition, unsigned long long flags = 0);

  // Null once closed.
  CUgraphExec raw() const noexcept { return record_->raw; }

  // Each of these throws std::logic_error when the executable has been closed.

  // Enqueues one launch on the stream and returns. The launch keeps what it needs by itself. Throws DriverError.
  void Launch(const StreamHandle& stream) const;

  // Brings the executable to the device, ordered on the stream, so that the first launch need not. Throws DriverError.
  void Upload(const StreamHandle& stream) const;

  // Takes parameters and owners over from `source`, whose topology must be the same. Owners that were held before are
  // given up as soon as no launch needs them. Throws DriverError naming the driver's reason, std::logic_error for a
  // source that is gone or a builder that has not ended; then the executable is as before.
  void Update(const GraphDefinition& source);
  void Update(const GraphBuilder& source);

  // What the executable made of `node`, a node of the definition that it was made from. Throws std::logic_error for a
  // node that is gone, std::invalid_argument for a kind whose parameters cannot be set in an executable.
  ExecNode Node(const GraphNode& node) const;

  // Destroys the executable at once; launches in flight go on and keep what they need. Where there are conditional
  // nodes, the driver waits for its launches first, so nothing may be locked that they need; the same goes for dropping
  // the last handle. A second call does nothing.
  // Throws DriverError when the driver refuses: the executable counts as closed all the same, since it may be gone.
  void Close();

  // The same for handles that are equal.
  std::size_t Hash() const noexcept { return std::hash<const void*>()(record_.get()); }

  // By executable, never by structure.
  friend bool operator==(const GraphExec& left, const GraphExec& right) noexcept {
    return left.record_ == right.record_;
  }

 private:
  std::shared_ptr<graph::ExecRecord> record_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_GRAPH_EXEC_H_
