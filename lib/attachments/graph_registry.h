// GraphRegistry: finds the record of a live graph by its raw handle, whoever asks and from wherever the handle came.
#ifndef HOLDFAST_LIB_ATTACHMENTS_GRAPH_REGISTRY_H_
#define HOLDFAST_LIB_ATTACHMENTS_GRAPH_REGISTRY_H_

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>

namespace holdfast::attachments {

class GraphBox;

// CUDA gives a raw handle out again as soon as its graph is gone, to whichever thread asks next. So an entry can be
// overtaken: its graph was destroyed by one thread, and before that thread took the entry out another one registered a
// new graph of the same handle. The younger registration wins, and a box takes out no entry but its own.
//
// Thread safety: all members from any thread. Its lock is held for the look-up alone, never across a driver call.
class GraphRegistry {
 public:
  using Entries = std::map<CUgraph, std::weak_ptr<GraphBox>>;
  // Room for one entry, made beforehand so that registering cannot fail.
  using Room = Entries::node_type;

  // Never destroyed: handles may go while the process ends.
  static GraphRegistry& Process();

  // Throws std::bad_alloc.
  static Room MakeRoom();

  // REQUIRES: `room` came from MakeRoom.
  void Add(CUgraph graph, std::weak_ptr<GraphBox> box, Room room) noexcept;

  // Takes the entry of `box` out. Does nothing if it has none or another box has been registered in its place.
  void Remove(CUgraph graph, const GraphBox& box) noexcept;

  // Null if there is none.
  std::shared_ptr<GraphBox> Find(CUgraph graph) const;

  std::size_t size() const;

 private:
  GraphRegistry() = default;
  ~GraphRegistry() = delete;

  mutable std::mutex mutex_;
  Entries entries_;  // guarded by mutex_
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_GRAPH_REGISTRY_H_
