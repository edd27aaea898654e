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

// The references that came with one graph of the hierarchy.
struct Holding {
  std::uint64_t source;  // serial of the child-graph node; 0 for the outermost graph
  std::shared_ptr<const HeldReferences> references;
};

class Executable {
 public:
  // Makes one from the graph as it is now; it holds all references of the hierarchy. On a throw `error_node` is the
  // node at fault, if one is.
  static CUgraphExec Instantiate(Graph& graph, std::uint64_t flags, CUgraphNode* error_node);

  // Throws Refusal{CUDA_ERROR_INVALID_VALUE} unless it is live.
  static Executable& Require(CUgraphExec handle);

  // Launches in flight keep what they hold; the rest is let go.
  static void Destroy(CUgraphExec handle);

  // Drops references that an update took away or that a destroyed executable held: here, on the calling thread (fact
  // U6), or on the internal thread once there was a launch, in flight or not (facts U4 and U7).
  void LetGo(std::vector<Holding> holdings) const;

  static std::uint64_t live();

  // Takes over parameters and references of `graph` if it has the same shape. Otherwise nothing moves (fact U8).
  bool Update(Graph& graph, CUgraphExecUpdateResultInfo* info, std::vector<Holding>* dropped);

  // Runs `change` on the node made from `node`. Launches in flight keep the parameters that they began with.
  // Throws Refusal{CUDA_ERROR_INVALID_VALUE} if the executable has no such node.
  void Change(const Node& node, const std::function<void(ProgramNode&)>& change);
  const ProgramNode& NodeOf(const Node& node);

  // Takes over a child graph of the same shape, and its references in place of those of the child before.
  // Throws Refusal{CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE} for another shape.
  void ChangeChild(const Node& node, Graph& graph, std::vector<Holding>* dropped);

  void Launch(Stream& stream);

  const std::uint64_t flags;

 private:
  // The readers are launches in flight.
  struct SharedProgram {
    std::shared_ptr<Program> program;
    std::atomic<std::uint32_t> readers{0};
  };

  explicit Executable(std::uint64_t flags) : flags(flags) {}
  void MakeProgramUnshared();
  const ProgramPath& PathOf(const Node& node);

  std::shared_ptr<SharedProgram> shared_;
  std::vector<Holding> holdings_;                         // in the order in which they go
  std::unordered_map<std::uint64_t, ProgramPath> paths_;  // made when first needed; updates do not change it
  CompletionPointer last_launch_;                         // launches of one executable run one after the other
};

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_EXECUTABLE_H_
