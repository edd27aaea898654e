#include "harness/scenario/scenario.h"

#include <algorithm>
#include <utility>

namespace holdfast::harness {
namespace {

std::vector<Scenario>& Registry() {
  static std::vector<Scenario> scenarios;
  return scenarios;
}

}  // namespace

std::vector<Variant> DeliveryVariants() {
  return {{"inline", {}}, {"thread", {"destructor:deliver=thread"}}, {"held", {"destructor:deliver=held"}}};
}

std::vector<Variant> MixedDeliveryVariants() {
  std::vector<Variant> variants = DeliveryVariants();
  variants.push_back({"mixed", {"destructor:every=2,deliver=thread"}});
  return variants;
}

std::vector<Variant> SingleVariant() { return {{"only", {}}}; }

const std::vector<Scenario>& Scenarios() { return Registry(); }

Registration::Registration(Scenario scenario) {
  std::vector<Scenario>& scenarios = Registry();
  const auto place =
      std::upper_bound(scenarios.begin(), scenarios.end(), scenario,
                       [](const Scenario& left, const Scenario& right) { return left.name < right.name; });
  scenarios.insert(place, std::move(scenario));
}

}  // namespace holdfast::harness
