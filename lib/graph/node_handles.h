// Handles for nodes that are known by their raw value: the one that exists, or a new one.
#ifndef HOLDFAST_LIB_GRAPH_NODE_HANDLES_H_
#define HOLDFAST_LIB_GRAPH_NODE_HANDLES_H_

#include <cuda.h>

#include <memory>

#include "lib/attachments/graph_box.h"
#include "lib/attachments/node_record.h"

namespace holdfast::graph {

// The record of a live node of `graph`; for a new one its type is asked of the driver.
// Throws DriverError, std::bad_alloc.
std::shared_ptr<attachments::NodeRecord> FindOrMakeRecord(const attachments::GraphHandle& graph, CUgraphNode node);

}  // namespace holdfast::graph

#endif  // HOLDFAST_LIB_GRAPH_NODE_HANDLES_H_
