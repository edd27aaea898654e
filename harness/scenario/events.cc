#include "harness/scenario/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

namespace holdfast::harness {
namespace {

using Json = nlohmann::ordered_json;

int OpenEvents() {
  const char* path = std::getenv("HOLDFAST_EVENTS");
  if (path == nullptr) {
    return STDERR_FILENO;
  }
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) {
    std::fprintf(stderr, "holdfast: HOLDFAST_EVENTS: cannot open %s: %s\n", path, std::strerror(errno));
    _exit(3);
  }
  return file;
}

void WriteLine(const Json& event) {
  static const int file = OpenEvents();
  const std::string line = event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    // A record with holes would be judged as if it were whole.
    std::fprintf(stderr, "holdfast: cannot write an event: %s\n", std::strerror(errno));
    _exit(3);
  }
}

}  // namespace

void WriteEvent(const std::string& name, const std::vector<std::pair<std::string, std::string>>& fields) {
  Json event = {{"event", name}};
  for (const auto& [key, value] : fields) {
    event[key] = value;
  }
  WriteLine(event);
}

void WriteCounter(const std::string& name, std::uint64_t value) {
  WriteLine({{"event", "counter"}, {"name", name}, {"value", value}});
}

}  // namespace holdfast::harness
