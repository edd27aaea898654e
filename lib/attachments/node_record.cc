#include "lib/attachments/node_record.h"

#include "lib/attachments/graph_box.h"

namespace holdfast::attachments {

NodeRecord::~NodeRecord() {
  if (const CUgraphNode node = raw(); node != nullptr) {
    graph_->node_records().Forget(node);
  }
}

}  // namespace holdfast::attachments
