#include "lib/graph/node_handles.h"

#include <utility>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::graph {

using attachments::NodeRecord;
using attachments::NodeRecords;

std::shared_ptr<NodeRecord> FindOrMakeRecord(const attachments::GraphHandle& graph, CUgraphNode node) {
  NodeRecords& records = graph->node_records();
  if (std::shared_ptr<NodeRecord> known = records.Find(node)) {
    return known;
  }
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  driver::Check("cuGraphNodeGetType", driver::GetDriver().cuGraphNodeGetType(node, &type), "asking for a node's kind");
  auto record = std::make_shared<NodeRecord>(graph, type);
  NodeRecords::Room room = records.MakeRoom();
  records.Add(node, record, std::move(room));
  return record;
}

}  // namespace holdfast::graph
