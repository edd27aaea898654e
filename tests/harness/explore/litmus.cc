#include "tests/harness/explore/litmus.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "harness/explore/exhaustive.h"
#include "harness/explore/explore.h"

namespace holdfast::explore::litmus {
namespace {

using Registers = std::array<int, kRegisterCount>;
using Finals = std::array<int, kLocationCount>;

struct State {
  std::array<atomic<int>, kLocationCount> locations{};
  Registers registers{};
};

void Do(State& state, const Step& step) {
  if (step.is_guarded && state.registers[step.guard] != step.guard_value) {
    return;
  }
  atomic<int>& location = state.locations[step.location];
  int& into = state.registers[step.into];
  switch (step.kind) {
    case Step::Kind::kLoad:
      into = location.load(step.order);
      break;
    case Step::Kind::kStore:
      location.store(step.value, step.order);
      break;
    case Step::Kind::kExchange:
      into = location.exchange(step.value, step.order);
      break;
    case Step::Kind::kAdd:
      into = location.fetch_add(step.value, step.order);
      break;
    case Step::Kind::kCompareExchange: {
      int read = step.expected;
      location.compare_exchange_strong(read, step.value, step.order, step.failure_order);
      into = read;
      break;
    }
    case Step::Kind::kWeakCompareExchange: {
      int read = step.expected;
      const bool is_done = location.compare_exchange_weak(read, step.value, step.order, step.failure_order);
      into = read;
      state.registers[step.success] = is_done ? 1 : 0;
      break;
    }
    case Step::Kind::kFence:
      explore::Fence(step.order);
      break;
  }
}

struct Column {
  char name;
  std::string values;
};

std::vector<Column> ColumnsOf(const Litmus& litmus) {
  std::vector<Column> columns;
  std::istringstream words(litmus.columns);
  for (std::string word; words >> word;) {
    columns.push_back({word[0], word.substr(2)});
  }
  return columns;
}

// The last run's outcome is written through the pointers: what a program allocates goes with its execution.
Program MakeProgram(const Litmus& litmus, Registers* registers, Finals* finals) {
  Program program;
  program.set_up = [&litmus, registers, finals](explore::Threads& threads) {
    State& state = threads.Make<State>();
    for (const std::vector<Step>& steps : litmus.threads) {
      threads.Add("thread", [&state, &steps] {
        for (const Step& step : steps) {
          Do(state, step);
        }
      });
    }
    threads.Finally([&state, registers, finals] {
      *registers = state.registers;
      for (std::size_t location = 0; location < kLocationCount; ++location) {
        (*finals)[location] = state.locations[location].load();
      }
    });
  };
  return program;
}

std::set<std::string> Explore(const Litmus& litmus) {
  Registers registers{};
  Finals finals{};
  const std::vector<Column> columns = ColumnsOf(litmus);
  const Program program = MakeProgram(litmus, &registers, &finals);
  std::set<std::string> outcomes;
  Machine machine;
  Exhaustive search(machine, program, {});
  const Certificate certificate = search.Run({}, [&](const Execution& execution) {
    EXPECT_FALSE(execution.finding()) << execution.finding()->text;
    std::string outcome;
    for (const Column& column : columns) {
      const int value = column.name >= 'x' ? finals[static_cast<std::size_t>(column.name - 'x')]
                                           : registers[static_cast<std::size_t>(column.name - 'a')];
      outcome += std::to_string(value);
    }
    outcomes.insert(outcome);
    return true;
  });
  EXPECT_TRUE(certificate.is_complete);
  return outcomes;
}

bool Matches(const std::string& outcome, const std::string& pattern) {
  for (std::size_t column = 0; column < outcome.size(); ++column) {
    if (pattern[column] != '.' && pattern[column] != outcome[column]) {
      return false;
    }
  }
  return true;
}

std::set<std::string> ExpectedOf(const Litmus& litmus) {
  const std::vector<std::string>& listed = litmus.expected.outcomes;
  if (!litmus.expected.is_all_but) {
    return {listed.begin(), listed.end()};
  }
  std::set<std::string> outcomes{""};
  for (const Column& column : ColumnsOf(litmus)) {
    std::set<std::string> longer;
    for (const std::string& outcome : outcomes) {
      for (const char value : column.values) {
        longer.insert(outcome + value);
      }
    }
    outcomes = longer;
  }
  for (const std::string& pattern : listed) {
    EXPECT_NE(std::erase_if(outcomes, [&](const std::string& outcome) { return Matches(outcome, pattern); }), 0u)
        << pattern << " is none of the combinations";
  }
  return outcomes;
}

std::string Join(const std::set<std::string>& outcomes) {
  std::string text;
  for (const std::string& outcome : outcomes) {
    text += outcome + " ";
  }
  return text;
}

}  // namespace

Step Load(Register into, Location location, std::memory_order order) {
  return {.kind = Step::Kind::kLoad, .order = order, .location = location, .into = into};
}

Step Store(Location location, int value, std::memory_order order) {
  return {.kind = Step::Kind::kStore, .order = order, .location = location, .value = value};
}

Step Exchange(Register into, Location location, int value, std::memory_order order) {
  return {.kind = Step::Kind::kExchange, .order = order, .location = location, .value = value, .into = into};
}

Step Add(Register into, Location location, int value, std::memory_order order) {
  return {.kind = Step::Kind::kAdd, .order = order, .location = location, .value = value, .into = into};
}

Step Cas(Register into, Location location, int expected, int value, std::memory_order order,
         std::memory_order failure) {
  return {.kind = Step::Kind::kCompareExchange,
          .order = order,
          .failure_order = failure,
          .location = location,
          .value = value,
          .expected = expected,
          .into = into};
}

Step WeakCas(Register into, Register success, Location location, int expected, int value, std::memory_order order,
             std::memory_order failure) {
  Step step = Cas(into, location, expected, value, order, failure);
  step.kind = Step::Kind::kWeakCompareExchange;
  step.success = success;
  return step;
}

Step Fence(std::memory_order order) { return {.kind = Step::Kind::kFence, .order = order}; }

Step If(Register guard, int value, Step step) {
  step.is_guarded = true;
  step.guard = guard;
  step.guard_value = value;
  return step;
}

void Check(const std::vector<Litmus>& programs) {
  for (const Litmus& litmus : programs) {
    EXPECT_EQ(Join(Explore(litmus)), Join(ExpectedOf(litmus))) << litmus.name << ", outcomes of " << litmus.columns;
  }
}

}  // namespace holdfast::explore::litmus
