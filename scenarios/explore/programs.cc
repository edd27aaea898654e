#include "scenarios/explore/programs.h"

#include <iterator>
#include <utility>

namespace holdfast::scenarios {

const std::vector<explore::Program>& Programs() {
  static const std::vector<explore::Program> programs = [] {
    std::vector<explore::Program> all;
    for (auto* subject : {&ListPrograms, &QueuePrograms, &WakeupPrograms, &GatePrograms, &ShutdownPrograms,
                          &WorkerPrograms, &RetryPrograms, &StartPrograms, &RegistryPrograms, &SpecimenPrograms}) {
      std::vector<explore::Program> some = subject();
      all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    }
    // Weak compare-exchanges that fail without need show nothing: each such failure in lib/ is a relaxed read of the
    // very value that the attempt before it read, and leads round a loop that keeps nothing but that value. Without the
    // read the execution is one of those that are explored anyway, with the same writes, and a relaxed read that is
    // gone takes no order with it, as there are no fences.
    for (explore::Program& program : all) {
      program.spurious_failures_max = 0;
    }
    return all;
  }();
  return programs;
}

}  // namespace holdfast::scenarios
