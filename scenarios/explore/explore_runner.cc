// The program behind `holdfast explore`.
#include "harness/explore/runner.h"
#include "scenarios/explore/programs.h"

int main(int argument_count, char** arguments) {
  return holdfast::explore::RunMain(argument_count, arguments, holdfast::scenarios::Programs());
}
