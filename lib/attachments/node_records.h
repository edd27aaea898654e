// NodeRecords: the records of those nodes of one graph that somebody has a handle of.
#ifndef HOLDFAST_LIB_ATTACHMENTS_NODE_RECORDS_H_
#define HOLDFAST_LIB_ATTACHMENTS_NODE_RECORDS_H_

#include <cuda.h>

#include <memory>
#include <mutex>
#include <unordered_map>

#include "lib/attachments/node_record.h"

namespace holdfast::attachments {

// Thread safety: all members from any thread, since the last handle of a node may be dropped anywhere. The lock is held
// for the look-up alone, and nothing is destroyed under it.
// Memory ordering: raw handles are stored relaxed, as NodeRecord says.
class NodeRecords {
 public:
  using Map = std::unordered_map<CUgraphNode, std::weak_ptr<NodeRecord>>;
  // Room for one record, made beforehand so that adding it cannot fail.
  using Room = Map::node_type;

  // Throws std::bad_alloc. REQUIRES: one room at a time, as there is one operation on a graph at a time.
  Room MakeRoom();

  // Makes `record` that of `node`. A record that `node` had before is of a node that is gone, and is told so.
  void Add(CUgraphNode node, const std::shared_ptr<NodeRecord>& record, Room room) noexcept;

  // Null if nobody has a handle of `node`.
  std::shared_ptr<NodeRecord> Find(CUgraphNode node) const;

  // The node is gone: its handles say so from now on.
  void End(CUgraphNode node) noexcept;

  // The same for all nodes.
  void EndAll() noexcept;

  std::size_t size() const;

 private:
  friend class NodeRecord;

  // A record is being destroyed: takes its entry out, if it is its own.
  void Forget(CUgraphNode node) noexcept;

  mutable std::mutex mutex_;
  Map records_;  // guarded by mutex_
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_NODE_RECORDS_H_
