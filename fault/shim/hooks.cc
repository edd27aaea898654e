#include "fault/shim/hooks.h"

#include <vector>

namespace holdfast::fault {

void AddNodeHook::Done(CUresult result) {
  if (result != CUDA_SUCCESS) return;
  if (parameters_->type == CU_GRAPH_NODE_TYPE_GRAPH) {
    const CUDA_CHILD_GRAPH_NODE_PARAMS& child = parameters_->graph;
    TheLedger().GraphEmbedded(HandleOf(graph_), HandleOf(*out_), HandleOf(child.graph),
                              child.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
  } else if (parameters_->type == CU_GRAPH_NODE_TYPE_CONDITIONAL && parameters_->conditional.phGraph_out != nullptr) {
    const CUDA_CONDITIONAL_NODE_PARAMS& conditional = parameters_->conditional;
    std::vector<Handle> bodies;
    for (unsigned int index = 0; index < conditional.size; ++index) {
      bodies.push_back(HandleOf(conditional.phGraph_out[index]));
    }
    TheLedger().BodiesMade(HandleOf(graph_), HandleOf(*out_), bodies);
  }
}

void CaptureBeginHook::Done(CUresult result) {
  if (result != CUDA_SUCCESS) return;
  TheCaptures().Began(HandleOf(stream_), *CurrentThread(Arrival::kSubject));
  if (graph_ == nullptr) {
    TheLedger().CaptureBegan(HandleOf(stream_));
  } else {
    TheLedger().CaptureToGraphBegan(HandleOf(stream_), HandleOf(graph_));
  }
}

void CaptureEndHook::Done(CUresult result) {
  // Only these two end the capture: any other error (a wrong thread, say) leaves it as it was.
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) return;
  TheCaptures().Ended(HandleOf(stream_));
  if (result == CUDA_SUCCESS) {
    TheLedger().CaptureEnded(HandleOf(stream_), out_ == nullptr ? 0 : HandleOf(*out_));
  } else {
    TheLedger().CaptureLost(HandleOf(stream_));
  }
}

void StreamDestructionHook::Done(CUresult result) {
  DestructionHook::Done(result);
  if (result != CUDA_SUCCESS) return;
  TheCaptures().Ended(HandleOf(stream_));
  TheLedger().CaptureLost(HandleOf(stream_));
}

}  // namespace holdfast::fault
