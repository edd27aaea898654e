// Environment: what all sequences of a process share: the driver as the runner uses it beside the library, the kernel,
// and how the process ends when library and reference model disagree.
#ifndef HOLDFAST_SCENARIOS_FUZZ_ENVIRONMENT_H_
#define HOLDFAST_SCENARIOS_FUZZ_ENVIRONMENT_H_

#include <cuda.h>

#include <functional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "lib/handles/resources.h"
#include "scenarios/support/device_session.h"

namespace holdfast::fuzz {

// Thread safety: never changes once made, but for Fail.
class Environment {
 public:
  // Starts the device and the cleanup, with drains only where the runner asks for them.
  explicit Environment(harness::Context& context);

  harness::Context& context() const { return context_; }
  const scenarios::DeviceSession& device() const { return device_; }
  bool is_model() const { return context_.model() != nullptr; }
  const KernelHandle& kernel() const { return kernel_; }

  // Whether this driver can do it at all; a model driver may not.
  bool has_copies_of_rows() const { return has_copies_of_rows_; }
  bool has_captures() const { return has_captures_; }

  // ---- the driver, past the library; each ends the process as a harness failure where it cannot fail ----

  struct CaptureInfo {
    bool is_active = false;
    bool is_none = true;
    CUgraph graph = nullptr;
    std::vector<CUgraphNode> tail;
  };
  CaptureInfo AskCapture(CUstream stream) const;
  // Ends a capture that the library could not end. The graph, if there is one.
  CUgraph EndCapture(CUstream stream) const;
  // Makes the stream wait for `function`.
  void EnqueueHostFunction(CUstream stream, CUhostFn function, void* data) const;
  CUgraph CreateGraph() const;
  void DestroyGraph(CUgraph graph) const;
  // The graph holds a user object of the runner's own.
  void RetainObject(CUgraph graph, CUhostFn destructor, void* data) const;
  void DestroyExecutable(CUgraphExec executable) const;
  CUgraphNode FindInClone(CUgraphNode original, CUgraph clone) const;
  CUgraph ChildGraphOf(CUgraphNode node) const;
  std::vector<CUgraphNode> NodesOf(CUgraph graph) const;
  // Waits for the stream, which it must not while it captures.
  void SpoilCapture(CUstream stream) const;

  // Run before the process ends by Fail.
  void OnFailure(std::function<void()> action) { on_failure_ = std::move(action); }

  // Library and model disagree: records a finding at the operation `where` and ends the process, for nothing can be
  // learnt from it any more.
  [[noreturn]] void Fail(const std::string& message, const std::string& where) const;

 private:
  // A real driver loads code at its first use, and waits for all that runs on the device; in a sequence that may be a
  // launch that waits for a later operation.
  void LoadKernel() const;
  bool TryCopyOfRows() const;
  bool TryCapture() const;

  harness::Context& context_;
  scenarios::DeviceSession device_;
  KernelHandle kernel_;
  bool has_copies_of_rows_;
  bool has_captures_;
  std::function<void()> on_failure_ = [] {};
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_ENVIRONMENT_H_
