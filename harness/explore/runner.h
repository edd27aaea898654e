// The main function of a program that holds programs to explore: lists them, explores one, and tells what came out as
// one line of JSON. The `holdfast explore` command reads it; people may as well.
#ifndef HOLDFAST_HARNESS_EXPLORE_RUNNER_H_
#define HOLDFAST_HARNESS_EXPLORE_RUNNER_H_

#include <vector>

#include "harness/explore/program.h"

namespace holdfast::explore {

// Returns the exit code: 0, also when something was found; 2 if the command line is wrong; 3 if exploring failed.
int RunMain(int argument_count, char** arguments, const std::vector<Program>& programs);

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_RUNNER_H_
