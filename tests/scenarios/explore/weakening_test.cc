// Every memory order of the cleanup, weakened by one step: some program fails, or a reason is given why none can.
//
// Method: the orders are read from the sources. The programs of the explorer say which places they reach, with which
// orders; all must be reached. Then each order that is not relaxed is weakened as the explorer runs (nothing is
// compiled anew), and all programs that reach it are explored until one fails. An order that none needs must be in the
// table of arguments, and one that is in the table must be needed by none.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/explore/exhaustive.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

using Order = std::memory_order;

// An order that a source names.
struct Site {
  std::string file;
  unsigned line = 0;
  Order order = Order::relaxed;

  friend bool operator<(const Site& left, const Site& right) {
    return std::tie(left.file, left.line, left.order) < std::tie(right.file, right.line, right.order);
  }
};

struct Named {
  Site site;
  std::string function;
};

// Why no program can tell the weaker order from the one that is written.
struct Argument {
  const char* file;
  const char* function;
  Order from;
  Order to;
  const char* why;
};

constexpr char kOneChain[] =
    "All operations on the gate's state that change it are read-modify-writes, so Close comes before or after each of "
    "them in one order of modification and reads through the release of every Leave before it";

const std::vector<Argument> kDoesNotMatter = {
    {"cleanup_queue.h", "RequestFromHost", Order::acq_rel, Order::acquire,
     "who is refused tells the retry next, and what it did before comes to the flag with the retry's own exchange"},
    {"gate.h", "Enter", Order::acq_rel, Order::acquire, kOneChain},
    {"gate.h", "Enter", Order::acq_rel, Order::release,
     "who is turned away acquires in Leave, right after; who gets in needs nothing of those who were in before"},
    {"gate.h", "Leave", Order::acq_rel, Order::release,
     "Close reads through the release of every Leave before it; who is turned away acquires in Enter"},
    {"gate.h", "Close", Order::acq_rel, Order::release,
     "the load that follows acquires; a second closer needs nothing"},
    {"gate.h", "CloseWithoutWaiting", Order::acq_rel, Order::release, "there is no other thread to acquire from"},
};

const std::map<std::string, Order> kOrders = {{"relaxed", Order::relaxed},
                                              {"acquire", Order::acquire},
                                              {"release", Order::release},
                                              {"acq_rel", Order::acq_rel},
                                              {"seq_cst", Order::seq_cst}};

std::string NameOf(Order order) {
  for (const auto& [name, value] : kOrders) {
    if (value == order) {
      return name;
    }
  }
  return "consume";
}

std::vector<Order> OneStepWeaker(Order order) {
  switch (order) {
    case Order::seq_cst:
      return {Order::acq_rel};
    case Order::acq_rel:
      return {Order::acquire, Order::release};
    case Order::acquire:
    case Order::consume:
    case Order::release:
      return {Order::relaxed};
    case Order::relaxed:
      return {};
  }
  return {};
}

// The orders in the code of one file, with the functions that they are in.
void ReadOrders(const std::filesystem::path& path, std::vector<Named>* found) {
  static const std::regex kFunction(R"(^  [\w:<>*& ]*?(\w+)\(.*\) (const )?noexcept.*\{)");
  static const std::regex kOrder(R"(memory_order_(\w+))");
  std::ifstream file(path);
  std::string function;
  std::string text;
  for (unsigned line = 1; std::getline(file, text); ++line) {
    const std::string code = text.substr(0, text.find("//"));
    std::smatch match;
    if (std::regex_search(code, match, kFunction)) {
      function = match[1];
    }
    for (std::sregex_iterator order(code.begin(), code.end(), kOrder), end; order != end; ++order) {
      found->push_back({{path.string(), line, kOrders.at((*order)[1])}, function});
    }
  }
}

std::vector<Named> ReadOrdersIn(const char* folder) {
  std::vector<Named> found;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cc") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    // What takes the place of StandardAtomics in the explorer does not have its orders.
    if (path.filename() != "standard_atomics.h") {
      ReadOrders(path, &found);
    }
  }
  return found;
}

// A program that passes, and what it cost.
struct Explored {
  const explore::Program* program;
  std::uint64_t executions = 0;
  std::set<Site> sites;
};

// Larger ones show nothing more about the orders.
constexpr std::uint64_t kExecutionsMax = 120'000;

// As Site, with the file as the compiler has it: compared by address.
using Seen = std::set<std::tuple<const char*, unsigned, Order>>;

void CollectSites(const explore::Execution& execution, Seen* seen) {
  const explore::Graph& graph = execution.graph();
  for (std::uint16_t thread = 0; thread < explore::kThreadsMax; ++thread) {
    for (std::uint16_t index = 1; index <= graph.Size(thread); ++index) {
      const explore::Event& event = graph.At({thread, index});
      seen->insert({event.place.file, event.place.line, event.order});
    }
  }
}

std::set<Site> InCleanup(const Seen& seen) {
  std::set<Site> sites;
  for (const auto& [place, line, order] : seen) {
    const std::string file = place;
    const std::size_t start = file.find("lib/cleanup/");
    if (start != std::string::npos) {
      sites.insert({file.substr(start), line, order});
    }
  }
  return sites;
}

// Those programs that complete within the bound, the cheapest first.
std::vector<Explored> ExploreAll() {
  std::vector<Explored> all;
  explore::Machine machine;
  for (const explore::Program& program : Programs()) {
    if (program.expected) {
      continue;
    }
    Seen seen;
    explore::Exhaustive search(machine, program, {.spurious_failures_max = 0});
    const explore::Certificate certificate =
        search.Run({.executions_max = kExecutionsMax}, [&seen](const explore::Execution& execution) {
          CollectSites(execution, &seen);
          return true;
        });
    EXPECT_EQ(certificate.faults, 0U) << program.name;
    if (certificate.is_complete) {
      all.push_back({&program, certificate.executions, InCleanup(seen)});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Explored& left, const Explored& right) { return left.executions < right.executions; });
  return all;
}

// Which program fails with the weaker order, and how. Empty if none does.
std::string RefutedBy(const std::vector<Explored>& programs, const Site& site, Order weaker) {
  explore::Machine machine;
  const explore::Weakening weakening{site.file, site.line, site.order, weaker};
  for (const Explored& explored : programs) {
    if (explored.sites.count(site) == 0) {
      continue;
    }
    explore::Exhaustive search(machine, *explored.program, {.spurious_failures_max = 0, .weakening = weakening});
    std::string verdict;
    search.Run({}, [&verdict](const explore::Execution& execution) {
      if (execution.finding()) {
        verdict = explore::NameOf(execution.finding()->verdict);
      }
      return true;
    });
    if (!verdict.empty()) {
      return explored.program->name + " (" + verdict + ")";
    }
  }
  return "";
}

const char* ArgumentFor(const Named& named, Order weaker) {
  for (const Argument& argument : kDoesNotMatter) {
    if (named.site.file == std::string("lib/cleanup/") + argument.file && named.function == argument.function &&
        named.site.order == argument.from && weaker == argument.to) {
      return argument.why;
    }
  }
  return nullptr;
}

const std::vector<Explored>& AllExplored() {
  static const std::vector<Explored> all = ExploreAll();
  return all;
}

TEST(WeakeningTest, HandlesHaveNoOrders) { EXPECT_TRUE(ReadOrdersIn("lib/handles").empty()); }

TEST(WeakeningTest, EveryOrderIsReached) {
  std::set<Site> reached;
  for (const Explored& explored : AllExplored()) {
    reached.insert(explored.sites.begin(), explored.sites.end());
  }
  const std::vector<Named> orders = ReadOrdersIn("lib/cleanup");
  EXPECT_FALSE(orders.empty());
  for (const Named& named : orders) {
    EXPECT_EQ(reached.count(named.site), 1U) << named.site.file << ":" << named.site.line << ": " << named.function
                                             << ", " << NameOf(named.site.order) << ": no program comes here";
  }
}

TEST(WeakeningTest, EveryWeakerOrderIsRefutedOrArguedFor) {
  for (const Named& named : ReadOrdersIn("lib/cleanup")) {
    for (const Order weaker : OneStepWeaker(named.site.order)) {
      const auto start = std::chrono::steady_clock::now();
      const std::string refuted = RefutedBy(AllExplored(), named.site, weaker);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const char* const argument = ArgumentFor(named, weaker);
      const std::string what = named.site.file + ":" + std::to_string(named.site.line) + " " + named.function + " " +
                               NameOf(named.site.order) + " -> " + NameOf(weaker);
      std::printf(
          "%-75s %6.1f s  %s\n", what.c_str(), seconds,
          !refuted.empty() ? ("refuted by " + refuted).c_str() : (argument != nullptr ? "argued" : "NOT REFUTED"));
      std::fflush(stdout);
      EXPECT_TRUE(refuted.empty() || argument == nullptr) << what << " is said not to matter; refuted by " << refuted;
      EXPECT_TRUE(!refuted.empty() || argument != nullptr) << what << ": no program fails, and no argument is given";
    }
  }
}

}  // namespace
}  // namespace holdfast::scenarios
