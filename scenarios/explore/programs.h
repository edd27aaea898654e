// The programs that the explorer runs over the library's own templates, and the specimens that it must refute.
#ifndef HOLDFAST_SCENARIOS_EXPLORE_PROGRAMS_H_
#define HOLDFAST_SCENARIOS_EXPLORE_PROGRAMS_H_

#include <vector>

#include "harness/explore/program.h"

namespace holdfast::scenarios {

// All of them, in the order of their subjects.
const std::vector<explore::Program>& Programs();

// Those of one subject; a file each.
std::vector<explore::Program> ListPrograms();
std::vector<explore::Program> QueuePrograms();
std::vector<explore::Program> WakeupPrograms();
std::vector<explore::Program> GatePrograms();
std::vector<explore::Program> ShutdownPrograms();
std::vector<explore::Program> WorkerPrograms();
std::vector<explore::Program> RetryPrograms();
std::vector<explore::Program> StartPrograms();
std::vector<explore::Program> RegistryPrograms();
std::vector<explore::Program> SpecimenPrograms();

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_EXPLORE_PROGRAMS_H_
