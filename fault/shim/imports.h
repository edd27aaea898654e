// Leads what loaded objects import somewhere else: each slot of a global offset table that stands for a symbol is
// pointed at a replacement.
//
// Unlike a symbol of our own that is preloaded, this reaches imports that the executable itself answers, since the
// executable comes first in the search order; and nothing new can be found by name, so that a program that looks for
// the symbol does not take us for its owner.
#ifndef HOLDFAST_FAULT_SHIM_IMPORTS_H_
#define HOLDFAST_FAULT_SHIM_IMPORTS_H_

#include <cstdint>
#include <span>

namespace holdfast::fault {

struct Redirection {
  const char* symbol;
  void* original;
  void* replacement;
};

// How many objects were ever loaded into the process.
std::uint64_t LoadsSoFar();

// Rewrites the imports of the objects that were loaded since the last time, those of this library excepted. Allocates
// nothing. The first `settled` loads are known to be complete; what another thread may be in the middle of loading is
// looked at again the next time.
// REQUIRES: the redirections are the same each time.
// Thread safety: from any thread but one that is inside a callback of the driver: it takes the loader's lock.
void RedirectImports(std::span<const Redirection> redirections, std::uint64_t settled);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_IMPORTS_H_
