// The driver entry points as numbers, in the order of entry_points.tsv, and cuda.h with every version of them declared.
//
// Include this instead of <cuda.h>: without the macro below the header renames calls to their newest version.
#ifndef HOLDFAST_FAULT_SHIM_ENTRIES_H_
#define HOLDFAST_FAULT_SHIM_ENTRIES_H_

#define __CUDA_API_VERSION_INTERNAL  // NOLINT(bugprone-reserved-identifier): the header's own switch
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fault/plan/sites.h"

namespace holdfast::fault {

enum class Entry : std::uint16_t {
#define HOLDFAST_ENTRY(name, wrapped) name,
#include "fault/shim/entries.inc"
#undef HOLDFAST_ENTRY
};

inline constexpr std::size_t kEntryCount = 0
#define HOLDFAST_ENTRY(name, wrapped) +1
#include "fault/shim/entries.inc"
#undef HOLDFAST_ENTRY
    ;

inline const EntryPoint& InfoOf(Entry entry) { return AllEntryPoints()[static_cast<std::size_t>(entry)]; }

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_ENTRIES_H_
