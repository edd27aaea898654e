// What a partial update of a node can say: each member that is absent keeps what the node has, with its owners.
#ifndef HOLDFAST_LIB_GRAPH_NODE_UPDATES_H_
#define HOLDFAST_LIB_GRAPH_NODE_UPDATES_H_

#include <cstddef>
#include <optional>

#include "lib/graph/operands.h"
#include "lib/handles/resources.h"

namespace holdfast {

// A new kernel needs its own arguments, which may be none.
struct KernelUpdate {
  std::optional<LaunchConfiguration> configuration = std::nullopt;
  std::optional<KernelHandle> kernel = std::nullopt;
  std::optional<KernelArguments> arguments = std::nullopt;
};

// For copies of one row; a node of more is updated whole, by CopyParameters.
struct MemcpyUpdate {
  std::optional<MemoryOperand> destination = std::nullopt;
  std::optional<MemoryOperand> source = std::nullopt;
  std::optional<std::size_t> size_bytes = std::nullopt;
};

struct MemsetUpdate {
  std::optional<MemoryOperand> destination = std::nullopt;
  std::optional<unsigned> value = std::nullopt;
  std::optional<unsigned> element_size_bytes = std::nullopt;
  std::optional<std::size_t> width_elements = std::nullopt;
  std::optional<std::size_t> height = std::nullopt;
  std::optional<std::size_t> pitch_bytes = std::nullopt;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_NODE_UPDATES_H_
