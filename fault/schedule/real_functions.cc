#include "fault/schedule/real_functions.h"

#include <dlfcn.h>

namespace holdfast::schedule {
namespace {

RealFunctions g_real;
bool g_found = false;

void Find() {
#define HOLDFAST_FIND(name) g_real.name = reinterpret_cast<decltype(g_real.name)>(dlsym(RTLD_NEXT, #name));
  HOLDFAST_REAL_FUNCTIONS(HOLDFAST_FIND)
#undef HOLDFAST_FIND
  g_found = true;
}

}  // namespace

const RealFunctions& Real() {
  if (!g_found) Find();
  return g_real;
}

}  // namespace holdfast::schedule
