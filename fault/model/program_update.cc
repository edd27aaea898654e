#include "fault/model/program_update.h"

#include <utility>
#include <vector>

namespace holdfast::fault::model {
namespace {

constexpr std::uint32_t kNoPartner = 0xffffffff;

bool IsOneRow(const CUDA_MEMCPY3D& copy) { return copy.Height == 1 && copy.Depth == 1; }

// Copies of several rows, and those of arrays, stay as they are.
bool CanBecome(const MemcpyNode& current, const MemcpyNode& next) {
  const CUDA_MEMCPY3D& from = current.description->given;
  const CUDA_MEMCPY3D& to = next.description->given;
  if (from.srcMemoryType != to.srcMemoryType || from.dstMemoryType != to.dstMemoryType) return false;
  const bool has_array = from.srcMemoryType == CU_MEMORYTYPE_ARRAY || from.dstMemoryType == CU_MEMORYTYPE_ARRAY;
  if (IsOneRow(from) && IsOneRow(to) && !has_array) return true;
  return IsSame(current.description->copy, next.description->copy);
}

// Fills of several rows are fixed but for their address and value.
bool CanBecome(const Fill& from, const Fill& to) {
  if (from.height == 1 && to.height == 1) return true;
  return from.height == to.height && from.width == to.width && from.pitch == to.pitch &&
         from.element_bytes == to.element_bytes;
}

CUgraphExecUpdateResult CompareNodes(const ProgramNode& current, const ProgramNode& next) {
  if (current.parameters.index() != next.parameters.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (current.dependencies.size() != next.dependencies.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  if (const auto* conditional = std::get_if<ConditionalNode>(&current.parameters)) {
    const auto& other = std::get<ConditionalNode>(next.parameters);
    const bool same = conditional->type == other.type && conditional->handle == other.handle &&
                      current.graphs.size() == next.graphs.size();
    return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  }
  return CompareParameters(current.parameters, next.parameters);
}

std::size_t EdgeCount(const Program& program) {
  std::size_t count = 0;
  for (const ProgramNode& node : program.nodes) count += node.dependencies.size();
  return count;
}

std::vector<std::uint32_t> Sinks(const Program& program) {
  std::vector<bool> has_dependents(program.nodes.size());
  for (const ProgramNode& node : program.nodes) {
    for (const std::uint32_t dependency : node.dependencies) has_dependents[dependency] = true;
  }
  std::vector<std::uint32_t> sinks;
  for (std::uint32_t position = 0; position < program.nodes.size(); ++position) {
    if (!has_dependents[position]) sinks.push_back(position);
  }
  return sinks;
}

// Pairs the nodes of two programs.
class Pairing {
 public:
  Pairing(const Program& current, const Program& next)
      : current_(current),
        next_(next),
        partner_of_current_(current.nodes.size(), kNoPartner),
        partner_of_next_(next.nodes.size(), kNoPartner) {}

  // Success, or why not; then at() is the position in `next` at fault, if one is.
  CUgraphExecUpdateResult Make() {
    if (current_.nodes.size() != next_.nodes.size() || EdgeCount(current_) < EdgeCount(next_)) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    const std::vector<std::uint32_t> from = Sinks(current_);
    const std::vector<std::uint32_t> to = Sinks(next_);
    if (from.size() != to.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (const CUgraphExecUpdateResult result = PairBackwards(from[i], to[i])) return result;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
  }

  std::uint32_t PartnerOf(std::uint32_t current) const { return partner_of_current_[current]; }
  std::uint32_t at() const { return at_; }

 private:
  // Depth first, without recursion: a chain may be as long as it likes.
  CUgraphExecUpdateResult PairBackwards(std::uint32_t current, std::uint32_t next) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{current, next}};
    while (!open.empty()) {
      const auto [from, to] = open.back();
      open.pop_back();
      if (partner_of_current_[from] == to) continue;
      at_ = to;
      if (partner_of_current_[from] != kNoPartner || partner_of_next_[to] != kNoPartner) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
      }
      if (const CUgraphExecUpdateResult result = CompareNodes(current_.nodes[from], next_.nodes[to])) return result;
      partner_of_current_[from] = to;
      partner_of_next_[to] = from;
      const std::vector<std::uint32_t>& befores = current_.nodes[from].dependencies;
      for (std::size_t i = befores.size(); i-- > 0;) open.emplace_back(befores[i], next_.nodes[to].dependencies[i]);
    }
    at_ = kNoPartner;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
  }

  const Program& current_;
  const Program& next_;
  std::vector<std::uint32_t> partner_of_current_;
  std::vector<std::uint32_t> partner_of_next_;
  std::uint32_t at_ = kNoPartner;
};

std::vector<const Node*> NodesInOrder(const Graph& graph) {
  std::vector<const Node*> nodes;
  nodes.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) nodes.push_back(&node);
  return nodes;
}

}  // namespace

CUgraphExecUpdateResult CompareParameters(const NodeParameters& current, const NodeParameters& next) {
  if (current.index() != next.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (const auto* kernel = std::get_if<KernelNode>(&current)) {
    const bool same = AttributesOf(*kernel).cooperative == AttributesOf(std::get<KernelNode>(next)).cooperative;
    return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  }
  if (const auto* allocation = std::get_if<MemAllocNode>(&current)) {
    const bool same = allocation->memory == std::get<MemAllocNode>(next).memory;
    return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR;
  }
  if (const auto* release = std::get_if<MemFreeNode>(&current)) {
    const bool same = release->memory == std::get<MemFreeNode>(next).memory;
    return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR;
  }
  bool can_become = true;
  if (const auto* copy = std::get_if<MemcpyNode>(&current)) {
    can_become = CanBecome(*copy, std::get<MemcpyNode>(next));
  } else if (const auto* memset = std::get_if<MemsetNode>(&current)) {
    can_become = CanBecome(memset->fill, std::get<MemsetNode>(next).fill);
  }
  return can_become ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

std::shared_ptr<Program> Updated(const Program& current, const Program& next, const Graph& graph,
                                 CUgraphExecUpdateResultInfo* info) {
  const std::vector<const Node*> definition = NodesInOrder(graph);
  Pairing pairing(current, next);
  info->result = pairing.Make();
  if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
    if (pairing.at() != kNoPartner) info->errorNode = definition[pairing.at()]->handle;
    return nullptr;
  }
  auto updated = std::make_shared<Program>(current);
  updated->references = next.references;
  for (std::uint32_t position = 0; position < updated->nodes.size(); ++position) {
    ProgramNode& node = updated->nodes[position];
    const std::uint32_t partner = pairing.PartnerOf(position);
    node.parameters = next.nodes[partner].parameters;
    for (std::size_t i = 0; i < node.graphs.size(); ++i) {
      node.graphs[i] = Updated(*node.graphs[i], *next.nodes[partner].graphs[i], *definition[partner]->graphs[i], info);
      if (node.graphs[i] == nullptr) return nullptr;
    }
  }
  return updated;
}

}  // namespace holdfast::fault::model
