// What all handles of one builder share, and how its capture comes to an end.
#ifndef HOLDFAST_LIB_GRAPH_BUILDER_RECORD_H_
#define HOLDFAST_LIB_GRAPH_BUILDER_RECORD_H_

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "lib/attachments/graph_box.h"
#include "lib/graph/graph_builder.h"
#include "lib/handles/resources.h"

namespace holdfast {

struct GraphBuilder::Record {
  Record(Kind builder_kind, StreamHandle builder_stream) noexcept
      : kind(builder_kind), stream(std::move(builder_stream)) {}

  // LetGo, with failures reported.
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  // The state as the caller sees it: a fork's is that of the capture it is part of, and a graph that is gone is no
  // finished one.
  State CurrentState() const noexcept;

  // The builder that began the capture.
  Record& CaptureOwner() noexcept { return origin != nullptr ? *origin : *this; }

  // The graph that this builder captures into; null if there is none.
  attachments::GraphHandle CaptureGraph() noexcept { return CaptureOwner().graph; }

  // Each throws std::logic_error that names `operation`, says what state the builder is in, and what to do.
  void RequireOpen(const char* operation) const;
  void RequireStartable(const char* operation) const;
  void RequireCapturing(const char* operation);
  // A builder with a finished graph.
  void RequireFinished(const char* operation) const;
  // As RequireFinished; a body that was not captured into is finished as well.
  void RequireDefinition(const char* operation) const;

  // Begin of a primary builder and of a body builder. Throw as GraphBuilder::Begin says.
  void BeginRoot(CUstreamCaptureMode mode);
  void BeginBody(CUstreamCaptureMode mode);

  // Ends the capture that is under way. On success the state is ended, and nodes that could not be placed are
  // destroyed. A failure leaves the state capturing when the driver says that the capture goes on: it may be ended
  // later. Otherwise CUDA has destroyed the graph, and the state is invalidated. When the driver can neither end the
  // capture nor say whether it goes on, the graph counts as destroyed: that leaks it at worst, where the contrary could
  // destroy it twice. A capture whose end would crash the driver (see EndWouldCrash) is left alone, with its stream,
  // for good. REQUIRES: the state is capturing and the builder is not forked.
  CUresult EndCapture() noexcept;

  // Ends what is still going on and lets go of graph and stream. ENSURES: the state is closed, whatever the answer.
  CUresult LetGo() noexcept;

  // Room for one more node that may turn out impossible to place. Throws std::bad_alloc.
  std::vector<CUgraphNode>& MakeRoomForUnplaced();

  const Kind kind;
  State state = State::kNotStarted;  // a fork's: closed or not started, see CurrentState
  StreamHandle stream;               // null once closed
  attachments::GraphHandle graph;    // a fork has none of its own
  std::shared_ptr<Record> origin;    // of a fork: who began the capture

  // Of who began the capture: forks that were made and not joined, and nodes that were added and then not placed. As
  // long as a graph is being captured the driver destroys no node of it.
  std::size_t unjoined_forks = 0;
  std::vector<CUgraphNode> unplaced;

 private:
  // Ends a capture whose graph never got an owner, and destroys that graph. If the capture cannot be ended the state is
  // invalidated, and LetGo tries again.
  CUresult AbandonCapture() noexcept;

  // The driver destroys the graph of a capture that ends in error. It crashes if a body in there is gone already, or
  // the graph itself with the node that owned it.
  bool EndWouldCrash() const noexcept;

  void LoseGraph() noexcept;
  void DestroyUnplaced() noexcept;

  bool has_abandoned_capture_ = false;  // see AbandonCapture
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_BUILDER_RECORD_H_
