// SourcePlace: a file and a line of the code that calls, for messages.
#ifndef HOLDFAST_HARNESS_SCENARIO_SOURCE_PLACE_H_
#define HOLDFAST_HARNESS_SCENARIO_SOURCE_PLACE_H_

#include <string>

namespace holdfast::harness {

// What std::source_location does; clang 14 does not have it with this standard library.
struct SourcePlace {
  // As a default argument it gives the place of the call, not of the declaration.
  static constexpr SourcePlace Here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }

  std::string Text() const { return std::string(file) + ":" + std::to_string(line); }

  const char* file;
  unsigned line;
};

}  // namespace holdfast::harness

#endif  // HOLDFAST_HARNESS_SCENARIO_SOURCE_PLACE_H_
