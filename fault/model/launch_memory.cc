#include "fault/model/launch_memory.h"

#include <unordered_map>

#include "fault/model/call.h"

namespace holdfast::fault::model {
namespace {

// What would be allocated after the nodes so far.
using Claims = std::unordered_map<const Allocation*, bool>;

bool& ClaimOf(const Allocation& memory, Claims* claims) {
  const auto [entry, is_new] = claims->try_emplace(&memory, false);
  if (is_new) entry->second = IsAllocated(memory);
  return entry->second;
}

void Claim(const Program& program, bool frees_first, Claims* claims) {
  for (const std::uint32_t position : program.order) {
    const ProgramNode& node = program.nodes[position];
    if (const auto* allocation = std::get_if<MemAllocNode>(&node.parameters)) {
      bool& is_allocated = ClaimOf(allocation->memory->allocation(), claims);
      Require(!is_allocated || frees_first);
      is_allocated = true;
    } else if (const auto* release = std::get_if<MemFreeNode>(&node.parameters)) {
      bool& is_allocated = ClaimOf(*release->memory, claims);
      Require(is_allocated);
      is_allocated = false;
    }
    for (const std::shared_ptr<Program>& graph : node.graphs) Claim(*graph, frees_first, claims);
  }
}

}  // namespace

void ClaimMemory(const Program& program, bool frees_first) {
  Claims claims;
  Claim(program, frees_first, &claims);
  for (const auto& [memory, is_allocated] : claims) MarkAllocated(*memory, is_allocated);
}

}  // namespace holdfast::fault::model
