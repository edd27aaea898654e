// Each verdict is given where it is due, and not to the program next to it that does the same thing right.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "harness/explore/exhaustive.h"
#include "harness/explore/explore.h"

namespace holdfast::explore {
namespace {

using Order = std::memory_order;
using Verdicts = std::set<std::string>;

struct Found {
  Verdicts verdicts;
  std::string text;  // of one of the findings
  Certificate certificate;
};

// All that any execution of the program is found to do.
Found Explore(const std::function<void(Threads&)>& set_up, const Limits& limits = {}) {
  Program program;
  program.set_up = set_up;
  Found found;
  Machine machine;
  Exhaustive search(machine, program, limits);
  SearchBounds bounds;
  bounds.faults_max = UINT64_MAX;
  found.certificate = search.Run(bounds, [&found](const Execution& execution) {
    if (execution.finding()) {
      found.verdicts.insert(NameOf(execution.finding()->verdict));
      found.text = execution.finding()->text;
    }
    return true;
  });
  return found;
}

void ExpectFine(const std::function<void(Threads&)>& set_up) {
  const Found found = Explore(set_up);
  EXPECT_EQ(found.verdicts, Verdicts{}) << found.text;
  EXPECT_TRUE(found.certificate.is_complete);
  EXPECT_GT(found.certificate.executions, 0u);
}

void ExpectFound(const char* verdict, const std::function<void(Threads&)>& set_up) {
  const Found found = Explore(set_up);
  EXPECT_EQ(found.verdicts, Verdicts{verdict}) << found.text;
}

bool Contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

struct Message {
  atomic<int> flag{0};
  atomic<int> relaxed{0};
  var<int> plain{0};
};

// Assertions.

std::function<void(Threads&)> RelaxedMessage(Order store, Order load) {
  return [=](Threads& threads) {
    auto& message = threads.Make<Message>();
    threads.Add("writer", [&message, store] {
      message.relaxed.store(1, Order::relaxed);
      message.flag.store(1, store);
    });
    threads.Add("reader", [&message, load] {
      if (message.flag.load(load) == 1) {
        Require(message.relaxed.load(Order::relaxed) == 1, "the message has come");
      }
    });
  };
}

TEST(Assertion, InAThread) {
  ExpectFound("assertion", RelaxedMessage(Order::relaxed, Order::relaxed));
  ExpectFine(RelaxedMessage(Order::release, Order::acquire));
}

TEST(Assertion, SaysWhereAndWhat) {
  const std::string text = Explore(RelaxedMessage(Order::relaxed, Order::relaxed)).text;
  EXPECT_TRUE(Contains(text, "verdicts_test.cc:")) << text;
  EXPECT_TRUE(Contains(text, "the message has come")) << text;
}

std::function<void(Threads&)> FinalValue(int expected) {
  return [expected](Threads& threads) {
    auto& message = threads.Make<Message>();
    for (int thread = 0; thread < 2; ++thread) {
      threads.Add("adder", [&message] { message.flag.fetch_add(1, Order::relaxed); });
    }
    threads.Finally([&message, expected] { Require(message.flag.load() == expected, "all were counted"); });
  };
}

TEST(Assertion, AtTheEnd) {
  ExpectFound("assertion", FinalValue(3));
  ExpectFine(FinalValue(2));
}

// Data races.

std::function<void(Threads&)> PlainMessage(Order store, Order load) {
  return [=](Threads& threads) {
    auto& message = threads.Make<Message>();
    threads.Add("writer", [&message, store] {
      message.plain = 1;
      message.flag.store(1, store);
    });
    threads.Add("reader", [&message, load] {
      if (message.flag.load(load) == 1) {
        Require(message.plain == 1, "the message has come");
      }
    });
  };
}

TEST(DataRace, WriteAndRead) {
  ExpectFound("data-race", PlainMessage(Order::relaxed, Order::acquire));
  ExpectFound("data-race", PlainMessage(Order::release, Order::relaxed));
  ExpectFine(PlainMessage(Order::release, Order::acquire));
}

TEST(DataRace, ReadAndWrite) {
  const auto program = [](Order store) {
    return [store](Threads& threads) {
      auto& message = threads.Make<Message>();
      threads.Add("reader", [&message, store] {
        message.plain.Get();
        message.flag.store(1, store);
      });
      threads.Add("writer", [&message] {
        if (message.flag.load(Order::acquire) == 1) {
          message.plain = 1;
        }
      });
    };
  };
  ExpectFound("data-race", program(Order::relaxed));
  ExpectFine(program(Order::release));
}

TEST(DataRace, WriteAndWriteUnderAMutexOrNot) {
  struct State {
    mutex lock;
    var<int> plain{0};
  };
  const auto program = [](bool locks) {
    return [locks](Threads& threads) {
      auto& state = threads.Make<State>();
      for (int thread = 0; thread < 2; ++thread) {
        threads.Add("writer", [&state, locks] {
          if (locks) {
            state.lock.lock();
          }
          state.plain = state.plain + 1;
          if (locks) {
            state.lock.unlock();
          }
        });
      }
      threads.Finally([&state] { Require(state.plain == 2, "both have written"); });
    };
  };
  ExpectFound("data-race", program(false));
  ExpectFine(program(true));
}

TEST(DataRace, ReadsAreNone) {
  ExpectFine([](Threads& threads) {
    auto& message = threads.Make<Message>();
    for (int thread = 0; thread < 3; ++thread) {
      threads.Add("reader", [&message] { message.plain.Get(); });
    }
  });
}

struct Node {
  atomic<int> value{0};
};

struct Shared {
  atomic<Node*> node{nullptr};
  atomic<int> flag{0};
};

TEST(DataRace, ConstructionAndAccess) {
  const auto program = [](Order store) {
    return [store](Threads& threads) {
      auto& shared = threads.Make<Shared>();
      threads.Add("maker", [&shared, store] { shared.node.store(new Node, store); });
      threads.Add("user", [&shared] {
        if (Node* const node = shared.node.load(Order::acquire); node != nullptr) {
          node->value.store(1, Order::relaxed);
        }
      });
      threads.Finally([&shared] { delete shared.node.load(); });
    };
  };
  ExpectFound("data-race", program(Order::relaxed));
  ExpectFine(program(Order::release));
}

// The user says that it is done; the owner frees when it has been told.
TEST(DataRace, DestructionAndAccess) {
  const auto program = [](Order done) {
    return [done](Threads& threads) {
      auto& shared = threads.Make<Shared>();
      shared.node.store(new Node);
      threads.Add("user", [&shared, done] {
        shared.node.load(Order::relaxed)->value.store(1, Order::relaxed);
        shared.flag.store(1, done);
      });
      threads.Add("owner", [&shared] {
        if (shared.flag.load(Order::acquire) == 1) {
          delete shared.node.exchange(nullptr, Order::relaxed);
        }
      });
      threads.Finally([&shared] { delete shared.node.load(); });
    };
  };
  ExpectFound("data-race", program(Order::relaxed));
  ExpectFine(program(Order::release));
}

// Deadlocks.

struct TwoLocks {
  mutex first;
  mutex second;
};

void HoldBoth(mutex& outer, mutex& inner) {
  outer.lock();
  inner.lock();
  inner.unlock();
  outer.unlock();
}

TEST(Deadlock, TwoMutexes) {
  const auto program = [](bool is_one_order) {
    return [is_one_order](Threads& threads) {
      auto& locks = threads.Make<TwoLocks>();
      threads.Add("one", [&locks] { HoldBoth(locks.first, locks.second); });
      threads.Add("other", [&locks, is_one_order] {
        is_one_order ? HoldBoth(locks.first, locks.second) : HoldBoth(locks.second, locks.first);
      });
    };
  };
  ExpectFound("deadlock", program(false));
  ExpectFine(program(true));
  const std::string text = Explore(program(false)).text;
  EXPECT_TRUE(Contains(text, "one at ") && Contains(text, "other at ")) << text;
}

TEST(Deadlock, AMutexTwice) {
  ExpectFound("deadlock", [](Threads& threads) {
    auto& locks = threads.Make<TwoLocks>();
    threads.Add("thread", [&locks] { HoldBoth(locks.first, locks.first); });
  });
}

TEST(Deadlock, NotOfAThreadThatMayWait) {
  const auto program = [](bool may_wait) {
    return [may_wait](Threads& threads) {
      auto& tokens = threads.Make<semaphore>();
      const auto body = [&tokens] { tokens.acquire(); };
      may_wait ? threads.AddWaiting("worker", body) : threads.Add("worker", body);
      threads.Add("other", [] { Fails(); });
    };
  };
  ExpectFound("deadlock", program(false));
  ExpectFine(program(true));
}

// Notifications.

struct Condition {
  mutex lock;
  condition_variable changed;
  atomic<int> is_ready{0};
  int waiting_for[2] = {0, 0};
};

TEST(LostNotification, TheConditionChangesWithoutTheMutex) {
  const auto program = [](bool locks) {
    return [locks](Threads& threads) {
      auto& condition = threads.Make<Condition>();
      threads.Add("waiter", [&condition] {
        condition.lock.lock();
        condition.changed.wait(condition.lock, [&condition] { return condition.is_ready.load() == 1; });
        condition.lock.unlock();
      });
      threads.Add("notifier", [&condition, locks] {
        if (locks) {
          condition.lock.lock();
        }
        condition.is_ready.store(1);
        if (locks) {
          condition.lock.unlock();
        }
        condition.changed.notify_one();
      });
    };
  };
  ExpectFound("deadlock", program(false));
  ExpectFine(program(true));
}

// Two wait for different things on one condition variable: one notification may wake up the wrong one.
TEST(LostNotification, OneOfSeveralWaiters) {
  const auto program = [](bool notifies_all) {
    return [notifies_all](Threads& threads) {
      auto& condition = threads.Make<Condition>();
      for (int wanted = 1; wanted <= 2; ++wanted) {
        const auto body = [&condition, wanted] {
          condition.lock.lock();
          condition.changed.wait(condition.lock,
                                 [&condition, wanted] { return condition.is_ready.load(Order::relaxed) == wanted; });
          condition.lock.unlock();
        };
        wanted == 1 ? threads.Add("first", body) : threads.AddWaiting("second", body);
      }
      threads.Add("notifier", [&condition, notifies_all] {
        condition.lock.lock();
        condition.is_ready.store(1, Order::relaxed);
        notifies_all ? condition.changed.notify_all() : condition.changed.notify_one();
        condition.lock.unlock();
      });
    };
  };
  ExpectFound("deadlock", program(false));
  ExpectFine(program(true));
}

TEST(LostNotification, OneForEachOfTwoWaiters) {
  const auto program = [](int notifications) {
    return [notifications](Threads& threads) {
      auto& condition = threads.Make<Condition>();
      for (int waiter = 0; waiter < 2; ++waiter) {
        threads.Add("waiter", [&condition] {
          condition.lock.lock();
          condition.changed.wait(condition.lock, [&condition] { return condition.is_ready.load(Order::relaxed) == 1; });
          condition.lock.unlock();
        });
      }
      threads.Add("notifier", [&condition, notifications] {
        condition.lock.lock();
        condition.is_ready.store(1, Order::relaxed);
        for (int notification = 0; notification < notifications; ++notification) {
          condition.changed.notify_one();
        }
        condition.lock.unlock();
      });
    };
  };
  ExpectFound("deadlock", program(1));
  ExpectFine(program(2));
}

// Livelocks.

TEST(Livelock, AFlagThatNobodySets) {
  const auto program = [](int value) {
    return [value](Threads& threads) {
      auto& message = threads.Make<Message>();
      threads.Add("spinner", [&message] {
        while (message.flag.load(Order::acquire) != 1) {
        }
      });
      threads.Add("other", [&message, value] { message.flag.store(value, Order::release); });
    };
  };
  ExpectFound("livelock", program(2));
  ExpectFine(program(1));
  const std::string text = Explore(program(2)).text;
  EXPECT_TRUE(Contains(text, "spinner at ")) << text;
}

TEST(Livelock, ALockTakenByCompareExchange) {
  const auto program = [](bool unlocks) {
    return [unlocks](Threads& threads) {
      auto& message = threads.Make<Message>();
      for (int thread = 0; thread < 2; ++thread) {
        threads.Add("locker", [&message, unlocks] {
          int free = 0;
          while (!message.flag.compare_exchange_strong(free, 1, Order::acquire, Order::relaxed)) {
            free = 0;
          }
          message.plain = message.plain + 1;
          if (unlocks) {
            message.flag.store(0, Order::release);
          }
        });
      }
    };
  };
  ExpectFound("livelock", program(false));
  ExpectFine(program(true));
}

TEST(Livelock, EachWaitsForTheOther) {
  ExpectFound("livelock", [](Threads& threads) {
    auto& message = threads.Make<Message>();
    threads.Add("one", [&message] {
      while (message.flag.load(Order::acquire) == 0) {
      }
      message.relaxed.store(1, Order::release);
    });
    threads.Add("other", [&message] {
      while (message.relaxed.load(Order::acquire) == 0) {
      }
      message.flag.store(1, Order::release);
    });
  });
}

TEST(Livelock, ALoopThatLooksAtTwoFlags) {
  const auto program = [](int value) {
    return [value](Threads& threads) {
      auto& message = threads.Make<Message>();
      threads.Add("spinner", [&message] {
        while (message.flag.load(Order::acquire) == 0 && message.relaxed.load(Order::acquire) == 0) {
        }
      });
      threads.Add("other", [&message, value] { message.relaxed.store(value, Order::release); });
    };
  };
  ExpectFound("livelock", program(0));
  ExpectFine(program(1));
}

TEST(Livelock, NotOfABoundedLoopOfEqualReads) {
  const auto program = [](bool is_written) {
    return [is_written](Threads& threads) {
      auto& message = threads.Make<Message>();
      threads.Add("reader", [&message] {
        for (int round = 0; round < 3; ++round) {
          message.flag.load(Order::relaxed);
        }
      });
      if (is_written) {
        threads.Add("writer", [&message] { message.flag.store(1, Order::relaxed); });
      }
    };
  };
  ExpectFine(program(false));
  ExpectFine(program(true));
  EXPECT_EQ(Explore(program(false)).certificate.executions, 1u);
  // The store is seen from the first, the second or the third read on, or not at all.
  EXPECT_EQ(Explore(program(true)).certificate.executions, 4u);
}

// Memory.

TEST(Leak, OfAThread) {
  const auto program = [](bool frees) {
    return [frees](Threads& threads) {
      threads.Add("thread", [frees] {
        const Node* const node = new Node;
        if (frees) {
          delete node;
        }
      });
    };
  };
  ExpectFound("leak", program(false));
  ExpectFine(program(true));
}

// What is lost only when the push loses.
TEST(Leak, OfOneExecutionAlone) {
  const auto program = [](bool frees) {
    return [frees](Threads& threads) {
      auto& shared = threads.Make<Shared>();
      for (int thread = 0; thread < 2; ++thread) {
        threads.Add("maker", [&shared, frees] {
          Node* const node = new Node;
          Node* expected = nullptr;
          if (!shared.node.compare_exchange_strong(expected, node) && frees) {
            delete node;
          }
        });
      }
      threads.Finally([&shared] { delete shared.node.load(); });
    };
  };
  ExpectFound("leak", program(false));
  ExpectFine(program(true));
}

TEST(DoubleFree, OfTwoThreads) {
  struct State {
    atomic<int*> memory{nullptr};
  };
  const auto program = [](bool takes) {
    return [takes](Threads& threads) {
      auto& state = threads.Make<State>();
      state.memory.store(new int(1));
      for (int thread = 0; thread < 2; ++thread) {
        threads.Add("owner", [&state, takes] {
          delete (takes ? state.memory.exchange(nullptr, Order::acq_rel) : state.memory.load(Order::acquire));
        });
      }
    };
  };
  ExpectFound("double-free", program(false));
  ExpectFine(program(true));
}

TEST(UseAfterFree, ByOneWhoWasTold) {
  const auto program = [](bool uses) {
    return [uses](Threads& threads) {
      auto& shared = threads.Make<Shared>();
      shared.node.store(new Node);
      threads.Add("owner", [&shared] {
        delete shared.node.load(Order::relaxed);
        shared.flag.store(1, Order::release);
      });
      threads.Add("user", [&shared, uses] {
        if (shared.flag.load(Order::acquire) == 1 && uses) {
          shared.node.load(Order::relaxed)->value.load(Order::relaxed);
        }
      });
    };
  };
  ExpectFound("use-after-free", program(true));
  ExpectFine(program(false));
}

TEST(UseAfterFree, OfAPlainVariable) {
  struct State {
    atomic<var<int>*> variable{nullptr};
  };
  ExpectFound("use-after-free", [](Threads& threads) {
    auto& state = threads.Make<State>();
    state.variable.store(new var<int>(1));
    threads.Add("thread", [&state] {
      delete state.variable.load();
      state.variable.load()->Get();
    });
  });
}

// Stranded work: the drain clears the flag and leaves; the push that finds the flag set relies on it.

TEST(StrandedWork, OfAFlagThatIsClearedTooLate) {
  struct Queue {
    atomic<int> items{0};
    atomic<int> is_woken{0};
  };
  const auto program = [](bool clears_first) {
    return [clears_first](Threads& threads) {
      auto& queue = threads.Make<Queue>();
      queue.is_woken.store(1);
      threads.Add("push", [&queue] {
        queue.items.fetch_add(1);
        queue.is_woken.exchange(1);
      });
      threads.Add("drain", [&queue, clears_first] {
        if (clears_first) {
          queue.is_woken.exchange(0);
        }
        queue.items.exchange(0);
        if (!clears_first) {
          queue.is_woken.exchange(0);
        }
      });
      threads.Finally([&queue] {
        RequireNotStranded(queue.items.load() == 0 || queue.is_woken.load() == 1, "an item is left and nobody comes");
      });
    };
  };
  ExpectFound("stranded-work", program(false));
  ExpectFine(program(true));
}

// Exceptions.

TEST(UncaughtException, OfAThread) {
  const auto program = [](bool catches) {
    return [catches](Threads& threads) {
      threads.Add("thread", [catches] {
        try {
          throw std::runtime_error("no way on");
        } catch (const std::runtime_error&) {
          if (!catches) {
            throw;
          }
        }
      });
    };
  };
  ExpectFound("uncaught-exception", program(false));
  ExpectFine(program(true));
  const std::string text = Explore(program(false)).text;
  EXPECT_TRUE(Contains(text, "no way on")) << text;
}

TEST(UncaughtException, ThatIsNoStandardOne) {
  ExpectFound("uncaught-exception",
              [](Threads& threads) { threads.Add("thread", [] { throw 1; }); });  // NOLINT(hicpp-exception-baseclass)
}

TEST(UncaughtException, OfMemoryThatIsUsedUp) {
  struct State {
    atomic<char*> memory{nullptr};
  };
  ExpectFound("uncaught-exception", [](Threads& threads) {
    auto& state = threads.Make<State>();
    threads.Add("thread", [&state] { state.memory.store(new char[std::size_t{64} << 20]); });
  });
}

TEST(UncaughtException, OfAFinalCheck) {
  ExpectFound("uncaught-exception", [](Threads& threads) {
    threads.Add("thread", [] {});
    threads.Finally([] { throw std::runtime_error("at the end"); });
  });
}

// Programs that cannot be explored.

void ExpectUnfit(const char* verdict, const char* part, const std::function<void(Threads&)>& set_up) {
  const Found found = Explore(set_up);
  EXPECT_EQ(found.verdicts, Verdicts{verdict});
  EXPECT_TRUE(Contains(found.text, part)) << found.text;
  EXPECT_FALSE(found.certificate.is_complete);
}

TEST(Unfit, ALoopWithoutABound) {
  const auto program = [](Threads& threads) {
    auto& message = threads.Make<Message>();
    threads.Add("climber", [&message] {
      while (message.flag.fetch_add(1, Order::relaxed) >= 0) {
      }
    });
  };
  ExpectUnfit("too-many-steps", "thread climber has more than 2000 operations", program);
  ExpectUnfit("too-many-steps", "a loop without a bound?", program);
}

// It counts its rounds, so that none is like another.
TEST(Unfit, ALoopThatCounts) {
  ExpectUnfit("too-many-steps", "thread counter has more than 2000 operations", [](Threads& threads) {
    auto& message = threads.Make<Message>();
    threads.Add("counter", [&message] {
      var<int> rounds{0};
      while (message.flag.load(Order::relaxed) == 0 && rounds < 1'000'000) {
        rounds = rounds + 1;
      }
    });
  });
}

TEST(Unfit, ALoopOfPlainAccesses) {
  ExpectUnfit("too-many-steps", "go on without end", [](Threads& threads) {
    auto& message = threads.Make<Message>();
    threads.Add("thread", [&message] {
      while (message.plain == 0) {
      }
    });
  });
}

TEST(Unfit, NineThreads) {
  const auto program = [](int count) {
    return [count](Threads& threads) {
      for (int thread = 0; thread < count; ++thread) {
        threads.Add("thread", [] {});
      }
    };
  };
  ExpectUnfit("too-many-threads", "has 9 threads; at most 8", program(9));
  ExpectFine(program(8));
}

// Something that is not the same in the next execution, as time and addresses outside of the program's memory.
TEST(Unfit, ABranchOnTheTime) {
  const auto ticks = std::make_shared<int>(0);
  const auto program = [ticks](bool looks) {
    return [ticks, looks](Threads& threads) {
      auto& message = threads.Make<Message>();
      int* const clock = ticks.get();
      for (int thread = 0; thread < 2; ++thread) {
        threads.Add("thread", [&message, clock, looks] {
          atomic<int>& location = looks && ++*clock % 3 == 0 ? message.flag : message.relaxed;
          location.fetch_add(1, Order::relaxed);
          location.load(Order::relaxed);
        });
      }
    };
  };
  ExpectUnfit("not-deterministic", "it depends on addresses, time or chance", program(true));
  ExpectFine(program(false));
}

TEST(Unfit, AnAtomicOutsideOfAProgram) {
  EXPECT_THROW(atomic<int>{0}, std::logic_error);
  Machine machine;
  EXPECT_THROW(atomic<int>{0}, std::logic_error);
  EXPECT_THROW(Machine{}, std::logic_error);
}

// What a review found once, each the other way round.

// Two who notify without the mutex wake two who wait: notifications are in one order.
TEST(LostNotification, NotWithoutTheMutexByTwo) {
  struct Tickets {
    mutex lock;
    condition_variable there_are;
    int count = 0;
  };
  ExpectFine([](Threads& threads) {
    auto& tickets = threads.Make<Tickets>();
    for (const char* name : {"first", "second"}) {
      threads.Add(name, [&tickets] {
        tickets.lock.lock();
        tickets.there_are.wait(tickets.lock, [&tickets] { return tickets.count > 0; });
        --tickets.count;
        tickets.lock.unlock();
      });
      threads.Add("seller", [&tickets] {
        tickets.lock.lock();
        ++tickets.count;
        tickets.lock.unlock();
        tickets.there_are.notify_one();
      });
    }
  });
}

TEST(UseAfterFree, ByOneWhoWaits) {
  struct Shared {
    std::unique_ptr<semaphore> bell = std::make_unique<semaphore>();
    atomic<int> is_gone{0};
  };
  ExpectFound("use-after-free", [](Threads& threads) {
    auto& shared = threads.Make<Shared>();
    semaphore* const bell = shared.bell.release();
    threads.Add("destroyer", [&shared, bell] {
      delete bell;
      shared.is_gone.store(1, Order::release);
    });
    threads.AddWaiting("waiter", [&shared, bell] {
      if (shared.is_gone.load(Order::acquire) == 1) {
        bell->acquire();
      }
    });
  });
}

// A choice is no event of the memory model: it orders nothing between the accesses around it.
void StoresAroundAChoice(Threads& threads, bool chooses) {
  struct State {
    atomic<int> x{0}, y{0};
    int r = 0, q = 0;
  };
  auto& state = threads.Make<State>();
  threads.Add("a", [&state, chooses] {
    state.x.store(1, Order::seq_cst);
    if (chooses) {
      Choose(1);
      Fence(Order::relaxed);
    }
    state.x.store(2, Order::release);
  });
  threads.Add("b", [&state] {
    state.r = state.x.load(Order::acquire);
    state.y.store(1, Order::seq_cst);
  });
  threads.Add("c", [&state] {
    state.y.store(2, Order::seq_cst);
    state.q = state.x.load(Order::seq_cst);
  });
  threads.Finally([&state] { Require(!(state.r == 2 && state.q == 0 && state.y.load() == 2), "not both"); });
}

TEST(Assertion, AChoiceInBetweenHidesNothing) {
  for (const bool chooses : {false, true}) {
    ExpectFound("assertion", [chooses](Threads& threads) { StoresAroundAChoice(threads, chooses); });
  }
}

TEST(Assertion, AtTheEndEndsTheCheck) {
  ExpectFound("assertion", [](Threads& threads) {
    threads.Finally([] {
      Require(false, "on purpose");
      Machine::Current().Fail(Verdict::kLeak, "the check went on");
    });
  });
}

// The round has two looks at one place in it; the flag before them is what ends the loop.
TEST(Livelock, NotOfALoopThatLooksTwiceAtOnePlace) {
  struct State {
    atomic<int> flag{0}, other{0};
    int Look() const { return other.load(Order::relaxed); }
  };
  ExpectFine([](Threads& threads) {
    auto& state = threads.Make<State>();
    threads.Add("setter", [&state] { state.flag.store(1, Order::relaxed); });
    threads.Add("waiter", [&state] {
      while (true) {
        const int flag = state.flag.load(Order::relaxed);
        state.Look();
        state.Look();
        if (flag != 0) {
          break;
        }
      }
    });
  });
}

TEST(Livelock, NotOfALoopThatCountsInAlignedMemory) {
  struct alignas(64) State {
    atomic<int> flag{0};
    int count = 0;
  };
  ExpectFine([](Threads& threads) {
    auto& state = threads.Make<State>();
    threads.Add("waiter", [&state] {
      while (state.flag.load(Order::relaxed) == 0 && ++state.count < 5) {
      }
    });
  });
}

TEST(Misuse, ChoicesThatAreNone) {
  ExpectFound("misuse", [](Threads& threads) { threads.Add("a", [] { Choose(0); }); });
  ExpectFound("misuse", [](Threads& threads) { threads.Add("a", [] { Choose(~std::uint64_t{0}); }); });
  ExpectFound("misuse", [](Threads&) { Choose(2); });
  ExpectFound("misuse", [](Threads& threads) { threads.Finally([] { Choose(2); }); });
}

TEST(Misuse, AThreadThatAddsOne) {
  ExpectFound("misuse", [](Threads& threads) { threads.Add("a", [&threads] { threads.Add("b", [] {}); }); });
}

TEST(UncaughtException, OfTheSetUp) {
  ExpectFound("uncaught-exception", [](Threads&) { throw std::runtime_error("on purpose"); });
  ExpectFound("uncaught-exception", [](Threads&) { throw 3; });
}

}  // namespace
}  // namespace holdfast::explore
