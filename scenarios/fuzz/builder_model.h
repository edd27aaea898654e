// BuilderModel: the part of the reference model that is about graph builders: which transition each state allows, which
// node comes behind which, and what a capture that ends leaves.
//
// A builder's record lives as long as a handle of the program or a fork of it. A fork is part of the capture of its
// *owner*, the primary or body builder that began it.
//
// Thread safety: none.
#ifndef HOLDFAST_SCENARIOS_FUZZ_BUILDER_MODEL_H_
#define HOLDFAST_SCENARIOS_FUZZ_BUILDER_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/fuzz/reference_model.h"

namespace holdfast::fuzz {

using BuilderId = int;

struct Builder {
  enum class Kind : std::uint8_t { kPrimary, kForked, kBody };
  enum class State : std::uint8_t { kNotStarted, kCapturing, kEnded, kInvalidated, kClosed };

  Kind kind = Kind::kPrimary;
  State state = State::kNotStarted;
  GraphId graph = kNone;    // with a handle to it
  BuilderId owner = kNone;  // of a fork
  int holders = 1;
  std::vector<NodeId> tail;  // what the next captured node depends on; sorted

  // Of one that began a capture:
  std::vector<NodeId> unplaced;  // added and then not placed: they are destroyed when the capture has ended
  bool is_spoiled = false;       // invalidated by what was done meanwhile
};

class BuilderModel {
 public:
  explicit BuilderModel(ReferenceModel& graphs) : graphs_(graphs) {}

  BuilderId MakePrimary();
  BuilderId MakeBody(GraphId body);
  // Behind what `from` has captured.
  BuilderId MakeFork(BuilderId from);

  const Builder& builder(BuilderId id) const { return builders_[id]; }
  Builder& builder(BuilderId id) { return builders_[id]; }

  // The builder that began the capture which this one is part of.
  BuilderId OwnerOf(BuilderId id) const { return builders_[id].owner != kNone ? builders_[id].owner : id; }
  Builder::State StateOf(BuilderId id) const;
  bool IsCapturing(BuilderId id) const;
  // Whether an operation on the capture can succeed.
  bool IsSound(BuilderId id) const { return !builders_[OwnerOf(id)].is_spoiled; }
  bool HasFinishedGraph(BuilderId id) const;
  bool HasDefinition(BuilderId id) const;
  // Whether the capture is valid, and all that was captured has come back to the builder that began it.
  bool CanEndWell(BuilderId id) const;
  // The graph that it captures into.
  GraphId CaptureGraph(BuilderId id) const { return builders_[OwnerOf(id)].graph; }

  // A primary builder begins a root of its own.
  void Begin(BuilderId id);
  // `node` was captured, or placed, at the tail.
  void Place(BuilderId id, NodeId node) { builders_[id].tail = {node}; }
  // All of `joined` are waited for by `root` and closed.
  void Join(BuilderId root, std::span<const BuilderId> joined);

  // The capture ended with its graph, or in error: then the graph is gone. The root that went with the last handle, or
  // kNone; so for LetGo.
  GraphId End(BuilderId id, bool with_graph);

  // Ends a capture under way, with or without its graph, and lets go of graph and owner.
  GraphId LetGo(BuilderId id, bool capture_ends_with_graph);
  // Whose capture ends when the program drops its handle of the builder; kNone if none does.
  BuilderId EndsWith(BuilderId id) const;

  // A handle of the program went. Whether it was the last holder, so that the record lets go.
  bool DropHolder(BuilderId id) { return --builders_[id].holders == 0; }

 private:
  ReferenceModel& graphs_;
  std::vector<Builder> builders_;
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_BUILDER_MODEL_H_
