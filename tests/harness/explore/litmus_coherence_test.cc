// Litmus programs of one location: each location has one order of writes, and nobody sees it run backwards.
#include <gtest/gtest.h>

#include "tests/harness/explore/litmus.h"

namespace holdfast::explore::litmus {
namespace {

TEST(Litmus, Coherence) {
  Check({
      {"CoRR", {{Store(x, 1, rlx)}, {Load(a, x, rlx), Load(b, x, rlx)}}, "a:01 b:01", AllBut({"10"})},
      {"CoRR+two-readers",
       {{Store(x, 1, rlx)}, {Store(x, 2, rlx)}, {Load(a, x, rlx), Load(b, x, rlx)}, {Load(c, x, rlx), Load(d, x, rlx)}},
       "a:012 b:012 c:012 d:012",
       AllBut({"10..", "20..", "..10", "..20", "1221", "2112"})},
      {"CoWR", {{Store(x, 1, rlx), Load(a, x, rlx)}, {Store(x, 2, rlx)}}, "a:12 x:12", AllBut({"21"})},
      {"CoRW", {{Load(a, x, rlx), Store(x, 1, rlx)}, {Store(x, 2, rlx)}}, "a:02 x:12", AllBut({"22"})},
      {"CoRW1", {{Load(a, x, rlx), Store(x, 1, rlx)}}, "a:01", Only({"0"})},
      {"CoWW", {{Store(x, 1, rlx), Store(x, 2, rlx)}}, "x:12", Only({"2"})},
      {"CoWW+reader",
       {{Store(x, 1, rlx), Store(x, 2, rlx)}, {Load(a, x, rlx), Load(b, x, rlx)}},
       "a:012 b:012 x:2",
       AllBut({"10.", "20.", "21."})},
      {"CoWW+two-writers", {{Store(x, 1, rlx), Store(x, 2, rlx)}, {Store(x, 3, rlx)}}, "x:123", Only({"2", "3"})},
  });
}

// The same, with the order of one thread's steps replaced by synchronisation of two.
TEST(Litmus, CoherenceAcrossThreads) {
  Check({
      {"CoRR+rel+acq",
       {{Load(a, x, rlx), Store(y, 1, rel)}, {Load(b, y, acq), Load(c, x, rlx)}, {Store(x, 1, rlx)}},
       "a:01 b:01 c:01",
       AllBut({"110"})},
      {"CoWR+rel+acq",
       {{Store(x, 1, rlx), Store(y, 1, rel)}, {Load(a, y, acq), Load(b, x, rlx)}, {Store(x, 2, rlx)}},
       "a:01 b:012 x:12",
       AllBut({"10.", "121"})},
      {"CoRW+rel+acq",
       {{Load(a, x, rlx), Store(y, 1, rel)}, {Load(b, y, acq), Store(x, 1, rlx)}, {Store(x, 2, rlx)}},
       "a:012 b:01 x:12",
       AllBut({"11.", "212"})},
      {"CoWW+rel+acq",
       {{Store(x, 1, rlx), Store(y, 1, rel)}, {Load(a, y, acq), Store(x, 2, rlx)}},
       "a:01 x:12",
       AllBut({"11"})},
  });
}

// Sequentially consistent reads of what others wrote in any way: each sees the order of the location, no more.
TEST(Litmus, CoherenceOfSequentialReads) {
  Check({
      {"CoRR+sc", {{Store(x, 1, sc)}, {Load(a, x, sc), Load(b, x, sc)}}, "a:01 b:01", AllBut({"10"})},
      {"CoWR+sc", {{Store(x, 1, sc), Load(a, x, sc)}, {Store(x, 2, sc)}}, "a:12 x:12", AllBut({"21"})},
  });
}

}  // namespace
}  // namespace holdfast::explore::litmus
