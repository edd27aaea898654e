// ExecRecord: what all handles of one executable share.
#ifndef HOLDFAST_LIB_GRAPH_EXEC_RECORD_H_
#define HOLDFAST_LIB_GRAPH_EXEC_RECORD_H_

#include <cuda.h>

#include <memory>

#include "lib/attachments/executable_owners.h"

namespace holdfast::graph {

struct ExecRecord {
  ExecRecord() = default;
  // Destroys the executable if it was not closed.
  ~ExecRecord();
  ExecRecord(const ExecRecord&) = delete;
  ExecRecord& operator=(const ExecRecord&) = delete;

  // Throws std::logic_error naming `operation` when closed.
  void RequireOpen(const char* operation) const;

  CUgraphExec raw = nullptr;
  // Held by the executable; null when closed.
  attachments::ExecutableOwners* owners = nullptr;
  std::shared_ptr<const void> copy_of;  // see GraphBox::CopyToken; null when closed
};

}  // namespace holdfast::graph

#endif  // HOLDFAST_LIB_GRAPH_EXEC_RECORD_H_
