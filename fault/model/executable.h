// Executables: a program, the references that it holds, and its launches.
//
// Thread safety: none for one executable, as with the real driver; a launch in flight shares what it needs.
#ifndef HOLDFAST_FAULT_MODEL_EXECUTABLE_H_
#define HOLDFAST_FAULT_MODEL_EXECUTABLE_H_

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fault/model/program.h"
#include "fault/model/references.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {

class Executable {
 public:
  // Makes one from the graph as it is now; it holds all references of the hierarchy. On a throw `error` says why.
  // Throws Refusal{CUDA_ERROR_NOT_SUPPORTED} if the graph has conditional or memory nodes and has an executable
  // already.
  static CUgraphExec Instantiate(Graph& graph, std::uint64_t flags, InstantiationError* error);

  // Throws Refusal{CUDA_ERROR_INVALID_VALUE} unless it is live.
  static Executable& Require(CUgraphExec handle);

  // Launches in flight keep what they hold; the rest is let go.
  static void Destroy(CUgraphExec handle);

  // Drops references that an update took away or that a destroyed executable held: here, on the calling thread (fact
  // U6), or on the internal thread once there was a launch or an upload, in flight or not (facts U4, U7 and E16).
  void LetGo(Holdings holdings) const;

  static std::uint64_t live();

  // Takes over parameters and references of `graph` if it has the same shape. Otherwise nothing moves (fact U8).
  bool Update(Graph& graph, CUgraphExecUpdateResultInfo* info, Holdings* dropped);

  // Runs `change` on the node made from `node`. Launches in flight keep the parameters that they began with.
  // Throws Refusal{CUDA_ERROR_INVALID_VALUE} if the executable has no such node.
  void Change(const Node& node, const std::function<void(ProgramNode&)>& change);
  const ProgramNode& NodeOf(const Node& node);

  // Takes over a child graph of the same shape, and its references in place of those of the child before.
  // Throws Refusal{CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE} for another shape.
  void ChangeChild(const Node& node, Graph& graph, Holdings* dropped);

  // Nothing has to be brought anywhere; but the references go late from here on.
  void Upload(Stream& stream);

  // Throws Refusal{CUDA_ERROR_INVALID_VALUE} if it would allocate what is allocated, or free what is not.
  void Launch(Stream& stream);

  const std::uint64_t flags;

 private:
  // The readers are launches in flight. Whoever lets go last drops the references, in their order.
  struct SharedProgram {
    explicit SharedProgram(std::shared_ptr<Program> shared);
    ~SharedProgram();
    SharedProgram(const SharedProgram&) = delete;
    SharedProgram& operator=(const SharedProgram&) = delete;

    std::shared_ptr<Program> program;
    Holdings holdings;  // of `program`, in the order in which they go
    std::atomic<std::uint32_t> readers{0};
  };

  explicit Executable(std::uint64_t flags) : flags(flags) {}
  void MakeProgramUnshared();
  const ProgramPath& PathOf(const Node& node);

  std::shared_ptr<SharedProgram> shared_;
  std::shared_ptr<Conditions> conditions_;
  std::shared_ptr<const void> copy_of_;          // the token of the graph that it was made from
  std::shared_ptr<const void> only_executable_;  // see Graph; null where there may be several
  bool has_memory_nodes_ = false;
  bool has_conditions_ = false;
  std::unordered_map<std::uint64_t, ProgramPath> paths_;  // made when first needed; updates do not change it
  // Of a launch or an upload, which run one after the other; null before the first.
  CompletionPointer last_use_;
};

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_EXECUTABLE_H_
