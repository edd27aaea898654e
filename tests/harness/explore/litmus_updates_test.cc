// Litmus programs of read-modify-writes: atomicity, the release sequences that they go on with, and compare-exchanges
// of all orders, strong and weak, that succeed and that fail.
#include <gtest/gtest.h>

#include "tests/harness/explore/litmus.h"

namespace holdfast::explore::litmus {
namespace {

TEST(Litmus, Atomicity) {
  Check({
      {"two-adds", {{Add(a, x, 1, rlx)}, {Add(b, x, 1, rlx)}}, "a:01 b:01 x:2", Only({"012", "102"})},
      {"three-adds",
       {{Add(a, x, 1, rlx)}, {Add(b, x, 1, rlx)}, {Add(c, x, 1, rlx)}},
       "a:012 b:012 c:012 x:3",
       Only({"0123", "0213", "1023", "1203", "2013", "2103"})},
      {"two-exchanges", {{Exchange(a, x, 1, rlx)}, {Exchange(b, x, 2, rlx)}}, "a:02 b:01 x:12", Only({"012", "201"})},
      // Nothing comes between an update and what it reads; a store may come last though it runs first.
      {"add-and-store", {{Add(a, x, 1, rlx)}, {Store(x, 5, rlx)}}, "a:05 x:56", Only({"05", "56"})},
      {"two-cas", {{Cas(a, x, 0, 1, rlx, rlx)}, {Cas(b, x, 0, 2, rlx, rlx)}}, "a:02 b:01 x:12", Only({"011", "202"})},
      {"cas-chain", {{Cas(a, x, 0, 1, rlx, rlx)}, {Cas(b, x, 1, 2, rlx, rlx)}}, "a:0 b:01 x:12", Only({"001", "012"})},
      // A compare-exchange that fails may read something old.
      {"cas-reads-old",
       {{Store(x, 1, rlx), Store(x, 2, rlx)}, {Cas(a, x, 2, 3, rlx, rlx)}},
       "a:012 x:23",
       Only({"02", "12", "23"})},
      {"cas-reads-old+sc",
       {{Store(x, 1, sc), Store(x, 2, sc)}, {Cas(a, x, 2, 3, sc, sc)}},
       "a:012 x:23",
       Only({"02", "12", "23"})},
  });
}

// A third thread updates what the first one released. `columns` of all: what the update read, what the reader read.
Threads Sequence(Step release, Step update, Step acquire) {
  return {{Store(x, 1, rlx), release}, {update}, {acquire, Load(b, x, rlx)}};
}

TEST(Litmus, ReleaseSequences) {
  Check({
      // c = 1: the update is of the release's sequence, and whoever reads 2 knows of x. c = 0: it wrote 1 before.
      {"rel+rlx-add+acq", Sequence(Store(y, 1, rel), Add(c, y, 1, rlx), Load(a, y, acq)), "c:01 a:012 b:01",
       Only({"000", "001", "010", "011", "100", "101", "111", "121"})},
      {"rel+rlx-add+rlx", Sequence(Store(y, 1, rel), Add(c, y, 1, rlx), Load(a, y, rlx)), "c:01 a:012 b:01",
       AllBut({"02."})},
      {"rlx+ar-add+acq", Sequence(Store(y, 1, rlx), Add(c, y, 1, ar), Load(a, y, acq)), "c:01 a:012 b:01",
       AllBut({"02."})},
      {"rel+rlx-cas+acq", Sequence(Store(y, 1, rel), Cas(c, y, 1, 2, rlx, rlx), Load(a, y, acq)), "c:01 a:012 b:01",
       AllBut({"02.", "010", "110", "120"})},
      // A plain store of another thread, or of the same, ends the sequence.
      {"rel+rlx-store+acq", Sequence(Store(y, 1, rel), Store(y, 2, rlx), Load(a, y, acq)), "a:012 b:01",
       AllBut({"10"})},
      {"rel+own-store+acq",
       {{Store(x, 1, rlx), Store(y, 1, rel), Store(y, 2, rlx)}, {Load(a, y, acq), Load(b, x, rlx)}},
       "a:012 b:01",
       AllBut({"10"})},
      {"rel+own-add+acq",
       {{Store(x, 1, rlx), Store(y, 1, rel), Add(c, y, 1, rlx)}, {Load(a, y, acq), Load(b, x, rlx)}},
       "a:012 b:01",
       AllBut({"10", "20"})},
      {"relf+rlx-add+acqf",
       {{Store(x, 1, rlx), Fence(rel), Store(y, 1, rlx)},
        {Add(c, y, 1, rlx)},
        {Load(a, y, rlx), Fence(acq), Load(b, x, rlx)}},
       "c:01 a:012 b:01",
       Only({"000", "001", "010", "011", "100", "101", "111", "121"})},
      // Only both adds after the release make 3; 2 is also made by both before it.
      {"rel+two-adds+acq",
       {{Store(x, 1, rlx), Store(y, 1, rel)},
        {Add(c, y, 1, rlx)},
        {Add(d, y, 1, rlx)},
        {Load(a, y, acq), Load(b, x, rlx)}},
       "a:0123 b:01",
       AllBut({"30"})},
  });
}

// The flag is taken by compare-exchange, then the message is read.
Threads Take(Step take) { return {{Store(x, 1, rlx), Store(y, 1, rel)}, {take, Load(b, x, rlx)}}; }

TEST(Litmus, OrdersOfCompareExchange) {
  Check({
      {"MP+cas+acq+rlx", Take(Cas(a, y, 1, 2, acq, rlx)), "a:01 b:01", AllBut({"10"})},
      {"MP+cas+rel+rlx", Take(Cas(a, y, 1, 2, rel, rlx)), "a:01 b:01", All()},
      {"MP+cas+ar+acq", Take(Cas(a, y, 1, 2, ar, acq)), "a:01 b:01", AllBut({"10"})},
      {"MP+cas+sc+rlx", Take(Cas(a, y, 1, 2, sc, rlx)), "a:01 b:01", AllBut({"10"})},
      // Those that fail: the order of the success is of no account.
      {"MP+failing-cas+acq+rlx", Take(Cas(a, y, 5, 6, acq, rlx)), "a:01 b:01", All()},
      {"MP+failing-cas+sc+rlx", Take(Cas(a, y, 5, 6, sc, rlx)), "a:01 b:01", All()},
      {"MP+failing-cas+rlx+acq", Take(Cas(a, y, 5, 6, rlx, acq)), "a:01 b:01", AllBut({"10"})},
      {"MP+failing-cas+rlx+sc", Take(Cas(a, y, 5, 6, rlx, sc)), "a:01 b:01", AllBut({"10"})},
      {"MP+failing-cas+acqf",
       {{Store(x, 1, rlx), Store(y, 1, rel)}, {Cas(a, y, 5, 6, rlx, rlx), Fence(acq), Load(b, x, rlx)}},
       "a:01 b:01",
       AllBut({"10"})},
      {"MP+publish-by-cas",
       {{Store(x, 1, rlx), Cas(c, y, 0, 1, rel, rlx)}, {Load(a, y, acq), Load(b, x, rlx)}},
       "a:01 b:01",
       AllBut({"10"})},
      {"MP+publish-by-cas+acq",
       {{Store(x, 1, rlx), Cas(c, y, 0, 1, acq, acq)}, {Load(a, y, acq), Load(b, x, rlx)}},
       "a:01 b:01",
       All()},
  });
}

// In each execution one weak compare-exchange at most fails although it need not (Limits::spurious_failures_max).
TEST(Litmus, WeakCompareExchange) {
  Check({
      {"weak", {{WeakCas(a, b, x, 0, 1, ar, rlx)}}, "a:0 b:01 x:01", Only({"011", "000"})},
      {"weak-twice",
       {{WeakCas(a, b, x, 0, 1, ar, rlx), WeakCas(a, c, x, 1, 2, ar, rlx)}},
       "b:01 c:01 x:012",
       Only({"112", "000", "101"})},
      {"weak-two-threads",
       {{WeakCas(a, c, x, 0, 1, rlx, rlx)}, {WeakCas(b, d, x, 0, 2, rlx, rlx)}},
       "a:02 c:01 b:01 d:01 x:12",
       Only({"01101", "20012", "00012", "01001"})},
      // One that fails by itself asks of memory what any failure does.
      {"MP+weak+acq+rlx",
       {{Store(x, 1, rlx), Store(y, 1, rel)}, {WeakCas(a, c, y, 1, 2, acq, rlx), Load(b, x, rlx)}},
       "a:01 c:01 b:01",
       AllBut({"01.", "110"})},
      {"MP+weak+acq+acq",
       {{Store(x, 1, rlx), Store(y, 1, rel)}, {WeakCas(a, c, y, 1, 2, acq, acq), Load(b, x, rlx)}},
       "a:01 c:01 b:01",
       AllBut({"01.", "1.0"})},
  });
}

}  // namespace
}  // namespace holdfast::explore::litmus
