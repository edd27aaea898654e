// How a scenario is written down: what it is about, what it needs, what it proves, and the function that runs it.
//
// A scenario is one file that registers one function. The program that links it lists it for the `holdfast` command and
// runs it, one case in one process.
#ifndef HOLDFAST_HARNESS_SCENARIO_SCENARIO_H_
#define HOLDFAST_HARNESS_SCENARIO_SCENARIO_H_

#include <string>
#include <vector>

#include "harness/scenario/source_place.h"

namespace holdfast::harness {

class Context;

// One way to run a scenario. The rules of its plan have to fire, like the scenario's own.
struct Variant {
  std::string name;
  std::vector<std::string> plan;  // one-line rules, as for --fault
};

// Where the destructors of user objects run that a driver call sets free: before the call returns, later on another
// thread, or later still, when the scenario lets them go. The real driver does the first; none may matter to the
// library.
std::vector<Variant> DeliveryVariants();

// The same, and every second one on another thread: for scenarios that see several.
std::vector<Variant> MixedDeliveryVariants();

// For scenarios with nothing to vary.
std::vector<Variant> SingleVariant();

struct Scenario {
  std::string name;                  // criterion and title: "A2.executable-outlives-its-node"
  std::string summary;               // one sentence: what must hold
  std::vector<std::string> covers;   // ids of behaviours.md, hazards.md and bug-reports.md
  std::vector<std::string> catches;  // seeded bugs that make it fail: the names of patches in scenarios/bugs
  std::vector<std::string> suites = {"default"};
  std::vector<Variant> variants = DeliveryVariants();
  std::vector<std::string> plan = {};  // one-line rules; each has to fire in every case
  std::vector<std::string> drivers = {"model", "real"};
  unsigned timeout_s = 30;
  void (*run)(Context&);
  SourcePlace where = SourcePlace::Here();
};

// All that this program links, by name.
const std::vector<Scenario>& Scenarios();

// A static object of this type, one a scenario file, adds the scenario.
class Registration {
 public:
  explicit Registration(Scenario scenario);
};

}  // namespace holdfast::harness

#endif  // HOLDFAST_HARNESS_SCENARIO_SCENARIO_H_
