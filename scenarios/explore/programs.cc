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
    return all;
  }();
  return programs;
}

}  // namespace holdfast::scenarios
