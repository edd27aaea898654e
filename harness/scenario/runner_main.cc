// The program around the scenarios it links: lists them, or runs one case.
//
//   PROGRAM --list                       one JSON object a scenario
//   PROGRAM --run=NAME --variant=NAME    runs the case; exit 0 no finding, 1 finding, 2 usage, 3 no shim
#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/scenario/context.h"
#include "harness/scenario/events.h"
#include "harness/scenario/scenario.h"

namespace holdfast::harness {
namespace {

using Json = nlohmann::ordered_json;

Json Describe(const Scenario& scenario) {
  Json variants = Json::array();
  for (const Variant& variant : scenario.variants) {
    variants.push_back({{"name", variant.name}, {"plan", variant.plan}});
  }
  return {{"scenario", scenario.name},   {"summary", scenario.summary}, {"covers", scenario.covers},
          {"catches", scenario.catches}, {"suites", scenario.suites},   {"variants", variants},
          {"plan", scenario.plan},       {"drivers", scenario.drivers}, {"timeout_s", scenario.timeout_s},
          {"file", scenario.where.file}, {"line", scenario.where.line}};
}

int List() {
  for (const Scenario& scenario : Scenarios()) {
    std::cout << Describe(scenario).dump() << '\n';
  }
  return kExitClean;
}

const Scenario* FindScenario(std::string_view name) {
  for (const Scenario& scenario : Scenarios()) {
    if (scenario.name == name) {
      return &scenario;
    }
  }
  return nullptr;
}

bool HasVariant(const Scenario& scenario, std::string_view name) {
  for (const Variant& variant : scenario.variants) {
    if (variant.name == name) {
      return true;
    }
  }
  return false;
}

const fault::ShimControl* FindShim() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    std::fprintf(stderr, "holdfast: no libcuda.so.1: %s\n", dlerror());
    return nullptr;
  }
  const auto control = reinterpret_cast<fault::ShimControlFunction>(dlsym(driver, "holdfast_shim_control"));
  if (control == nullptr) {
    std::fprintf(stderr,
                 "holdfast: the libcuda.so.1 found is not the shim; put the shim's folder first in "
                 "LD_LIBRARY_PATH, or use the holdfast command\n");
    return nullptr;
  }
  return control();
}

int Run(const Scenario& scenario, const std::string& variant) {
  const fault::ShimControl* shim = FindShim();
  if (shim == nullptr) {
    return kExitHarness;
  }
  shim->name_thread("main", 0);
  WriteEvent("start", {{"scenario", scenario.name}, {"variant", variant}});
  Context context(scenario, variant, *shim);
  try {
    scenario.run(context);
  } catch (const std::exception& error) {
    // Everything that the scenario made has gone by now, so whatever is left was lost on the way.
    context.CheckNothingLeaked();
    context.EndByException(error);
  }
  context.CheckNothingLeaked();
  WriteEvent("finish");
  return kExitClean;
}

int Usage(const char* complaint) {
  std::fprintf(stderr, "holdfast: %s\nusage: scenario_runner --list | --run=SCENARIO --variant=VARIANT\n", complaint);
  return kExitUsage;
}

int Main(int argument_count, char** arguments) {
  std::string run;
  std::string variant;
  for (int i = 1; i < argument_count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--list") {
      return List();
    }
    if (argument.starts_with("--run=")) {
      run = argument.substr(6);
    } else if (argument.starts_with("--variant=")) {
      variant = argument.substr(10);
    } else {
      return Usage(("unknown argument " + std::string(argument)).c_str());
    }
  }
  const Scenario* scenario = FindScenario(run);
  if (scenario == nullptr) {
    return Usage(("no scenario '" + run + "'").c_str());
  }
  if (!HasVariant(*scenario, variant)) {
    return Usage(("scenario " + run + " has no variant '" + variant + "'").c_str());
  }
  return Run(*scenario, variant);
}

}  // namespace
}  // namespace holdfast::harness

int main(int argument_count, char** arguments) { return holdfast::harness::Main(argument_count, arguments); }
