// GraphBuilder: makes a graph by capturing what is enqueued on a stream.
#ifndef HOLDFAST_LIB_GRAPH_GRAPH_BUILDER_H_
#define HOLDFAST_LIB_GRAPH_GRAPH_BUILDER_H_

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/graph/condition.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "lib/handles/resources.h"

namespace holdfast {

// Kinds: a primary builder owns a graph of its own; a forked one captures into its primary's graph from a second
// stream, and must be joined; a body builder captures into a body of a conditional node. States: not started,
// capturing, ended, invalidated (ended in error: there is no graph), closed.
//
// Copies name the same builder. With the last one a capture that goes on is ended, and failures are reported; the
// stream is usable again. A transition that the state does not allow throws std::logic_error that says what to do, and
// changes nothing. What the driver refuses is a DriverError.
//
// Owners: host callbacks are kept, and so is what comes with an embedded graph. Of other captured work (kernels,
// copies) the caller keeps what it refers to.
//
// Thread safety: one thread at a time for all builders of one primary, the caller synchronises.
class GraphBuilder {
 public:
  enum class Kind { kPrimary, kForked, kBody };
  enum class State { kNotStarted, kCapturing, kEnded, kInvalidated, kClosed };

  // A primary builder that captures on `stream`.
  explicit GraphBuilder(StreamHandle stream);

  Kind kind() const noexcept;
  State state() const noexcept;

  // The stream to enqueue on. Throws std::logic_error once closed.
  const StreamHandle& stream() const;

  // Begins the capture. Throws std::invalid_argument for an unknown mode, before any driver call. If it fails the
  // stream is not capturing and the builder can be started again; should even ending the capture fail, the builder is
  // invalidated and the failure reported.
  void Begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED);

  // Whether the capture goes on. Throws std::logic_error that says to end it when it has been invalidated.
  bool IsBuilding() const;

  // Ends the capture. Primary and body builders alone. When CUDA answers without a graph (the capture was invalidated,
  // forks with work were not joined, another thread began it and the mode was not relaxed) DriverError is thrown and
  // the builder is invalidated: a primary's graph is gone, and so is a body's.
  //
  // A driver crashes when it destroys or instantiates a graph one of whose bodies is gone that way. So such a graph is
  // never destroyed; and if its own capture has failed as well, or that of a body whose conditional node is gone, the
  // driver is not asked to end it: DriverError is thrown, and the stream stays in the capture for good.
  void End();

  // An executable of the finished graph.
  GraphExec Complete(unsigned long long flags = 0) const;

  // The finished graph, for the explicit API; edits show in Complete, and it outlives the builder. A primary builder
  // has one after End; a body builder before Begin and after End; a forked one never.
  GraphDefinition Definition() const;

  void WriteDot(const std::string& path, unsigned flags = 0) const;

  // Forks into `count` builders, which are returned: this one, and count - 1 forked ones, each with a stream of its
  // own, of this one's priority, that waits for what has been captured here. Throws std::invalid_argument for fewer
  // than two. If a fork fails, those made before are dropped, and the capture goes on as it was.
  // REQUIRES, as for the conditional nodes: the context of this builder's stream is current.
  std::vector<GraphBuilder> Split(std::size_t count);

  // Makes one of the builders wait for all others, which are closed: the first that is not forked, else the first. It
  // is returned. Throws std::invalid_argument for fewer than two, or builders of different captures. If it fails
  // midway, the others that are not joined yet are closed as well, and ending the capture reports unjoined work.
  static GraphBuilder Join(std::span<const GraphBuilder> builders);

  // Runs `callback` at this place of each launch. If the captured node cannot be found, its owners stay with the graph
  // and the driver's error is thrown: the callback is captured all the same.
  void AddCallback(const HostCallback& callback);

  // Embeds a copy of a graph, with its owners, at this place. The builder must have ended. Throws std::invalid_argument
  // for a graph of the captured hierarchy. If the driver refuses midway, a node that was added already is destroyed
  // when the capture has ended, as the driver destroys none of a graph that is being captured; so for conditional
  // nodes.
  void Embed(const GraphDefinition& source);
  void Embed(const GraphBuilder& source);

  // Conditional nodes at this place; one body builder a body, each with a stream of its own. The definition of a body
  // may be filled by the explicit API as well. Throw std::invalid_argument for a condition of another graph.
  Condition MakeCondition(std::optional<unsigned> default_value = std::nullopt) const;
  GraphBuilder If(const Condition& condition);
  std::pair<GraphBuilder, GraphBuilder> IfElse(const Condition& condition);
  GraphBuilder While(const Condition& condition);
  std::vector<GraphBuilder> Switch(const Condition& condition, unsigned body_count);

  // Ends the capture if it goes on (a forked builder's is its primary's), and lets go of graph and stream. The builder
  // is closed even if that fails with DriverError. A second call does nothing.
  void Close();

  // The same for handles that are equal.
  std::size_t Hash() const noexcept { return std::hash<const void*>()(record_.get()); }

  friend bool operator==(const GraphBuilder& left, const GraphBuilder& right) noexcept {
    return left.record_ == right.record_;
  }

 private:
  friend class GraphExec;

  struct Record;

  explicit GraphBuilder(std::shared_ptr<Record> record) noexcept : record_(std::move(record)) {}

  // The definition of a builder that has ended. Throws std::logic_error naming `operation` otherwise.
  GraphDefinition FinishedDefinition(const char* operation) const;

  // One body builder a body.
  std::vector<GraphBuilder> AddConditional(const Condition& condition, CUgraphConditionalNodeType type,
                                           unsigned body_count, const char* operation);

  std::shared_ptr<Record> record_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_GRAPH_BUILDER_H_
