// What is explored: a handful of threads over shared state, set up anew for each execution.
#ifndef HOLDFAST_HARNESS_EXPLORE_PROGRAM_H_
#define HOLDFAST_HARNESS_EXPLORE_PROGRAM_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/explore/verdict.h"

namespace holdfast::explore {

// Given to a program when an execution begins. The setup happens before everything that the threads do, and they
// before what is done at the end.
class Threads {
 public:
  struct Thread {
    std::string name;
    std::function<void()> body;
    bool may_wait_for_ever;
  };

  // Shared state: anything that the threads use. Lives until after the checks of Finally. Locals of the setup do not.
  template <typename State, typename... Arguments>
  State& Make(Arguments&&... arguments) {
    auto state = std::make_shared<State>(std::forward<Arguments>(arguments)...);
    State& reference = *state;
    kept_.push_back(std::move(state));
    return reference;
  }

  void Add(std::string name, std::function<void()> body) {
    threads_.push_back({std::move(name), std::move(body), false});
  }

  // One that may still wait when all others have ended, as a worker does: that is no deadlock.
  void AddWaiting(std::string name, std::function<void()> body) {
    threads_.push_back({std::move(name), std::move(body), true});
  }

  // Checks of the final state, at quiescence: when nothing can run any more.
  void Finally(std::function<void()> check) { checks_.push_back(std::move(check)); }

  const std::vector<Thread>& threads() const { return threads_; }
  const std::vector<std::function<void()>>& checks() const { return checks_; }

 private:
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<Thread> threads_;
  std::vector<std::function<void()>> checks_;
};

struct Program {
  std::string name;     // as the command line has it: "queue.two-producers"
  std::string summary;  // one line
  std::function<void(Threads&)> set_up;
  std::optional<Verdict> expected = std::nullopt;  // of a specimen, which must fail in just this way
  // How many weak compare-exchanges of an execution fail without a reason, unless the command line says. None is right
  // for a program whose loops keep nothing of a failed attempt but the value that it read.
  std::size_t spurious_failures_max = 1;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_PROGRAM_H_
