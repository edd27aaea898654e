// Litmus programs of two threads and two locations: SB, MP, LB, S, R and 2+2W, with each kind of access and fence.
#include <gtest/gtest.h>

#include "tests/harness/explore/litmus.h"

namespace holdfast::explore::litmus {
namespace {

// Each writes one location and reads the other; may both read what was there before?
Threads StoreBuffering(Step store_x, Step load_y, Step store_y, Step load_x) {
  return {{store_x, load_y}, {store_y, load_x}};
}

Threads StoreBufferingAround(Step first_fence, Step second_fence) {
  return {{Store(x, 1, rlx), first_fence, Load(a, y, rlx)}, {Store(y, 1, rlx), second_fence, Load(b, x, rlx)}};
}

TEST(Litmus, StoreBufferingOfAccesses) {
  Check({
      {"SB+rlx", StoreBuffering(Store(x, 1, rlx), Load(a, y, rlx), Store(y, 1, rlx), Load(b, x, rlx)), "a:01 b:01",
       All()},
      {"SB+rel+acq", StoreBuffering(Store(x, 1, rel), Load(a, y, acq), Store(y, 1, rel), Load(b, x, acq)), "a:01 b:01",
       All()},
      {"SB+4sc", StoreBuffering(Store(x, 1, sc), Load(a, y, sc), Store(y, 1, sc), Load(b, x, sc)), "a:01 b:01",
       AllBut({"00"})},
      // One access that is not sequentially consistent breaks the cycle.
      {"SB+3sc+rel", StoreBuffering(Store(x, 1, rel), Load(a, y, sc), Store(y, 1, sc), Load(b, x, sc)), "a:01 b:01",
       All()},
      {"SB+3sc+acq", StoreBuffering(Store(x, 1, sc), Load(a, y, acq), Store(y, 1, sc), Load(b, x, sc)), "a:01 b:01",
       All()},
      {"SB+sc+sc+rlx+rlx", StoreBuffering(Store(x, 1, sc), Load(a, y, sc), Store(y, 1, rlx), Load(b, x, rlx)),
       "a:01 b:01", All()},
  });
}

TEST(Litmus, StoreBufferingOfUpdates) {
  Check({
      // Updates of different locations know nothing of each other ...
      {"SB+exchange+acq_rel",
       StoreBuffering(Exchange(c, x, 1, ar), Load(a, y, acq), Exchange(d, y, 1, ar), Load(b, x, acq)), "a:01 b:01",
       All()},
      // ... nor does an update learn from one that comes after it.
      {"SB+read-by-update", StoreBuffering(Store(x, 1, rlx), Add(a, y, 0, ar), Store(y, 1, rlx), Add(b, x, 0, ar)),
       "a:01 b:01", All()},
      {"SB+exchange+sc", StoreBuffering(Exchange(c, x, 1, sc), Load(a, y, sc), Exchange(d, y, 1, sc), Load(b, x, sc)),
       "a:01 b:01", AllBut({"00"})},
      // Of two updates of one location one comes first and is seen by the other.
      {"SB+update-of-one",
       {{Store(x, 1, rlx), Add(c, z, 1, ar), Load(a, y, rlx)}, {Store(y, 1, rlx), Add(d, z, 1, ar), Load(b, x, rlx)}},
       "a:01 b:01",
       AllBut({"00"})},
      // A compare-exchange that fails is a load of the failure order.
      {"SB+failing-cas+sc", StoreBuffering(Store(x, 1, sc), Cas(a, y, 5, 6, sc, sc), Store(y, 1, sc), Load(b, x, sc)),
       "a:01 b:01", AllBut({"00"})},
      {"SB+failing-cas+rlx", StoreBuffering(Store(x, 1, sc), Cas(a, y, 5, 6, sc, rlx), Store(y, 1, sc), Load(b, x, sc)),
       "a:01 b:01", All()},
  });
}

TEST(Litmus, StoreBufferingOfFences) {
  Check({
      {"SB+scfs", StoreBufferingAround(Fence(sc), Fence(sc)), "a:01 b:01", AllBut({"00"})},
      {"SB+scf+arf", StoreBufferingAround(Fence(sc), Fence(ar)), "a:01 b:01", All()},
      {"SB+arfs", StoreBufferingAround(Fence(ar), Fence(ar)), "a:01 b:01", All()},
      {"SB+acqf+relf", StoreBufferingAround(Fence(acq), Fence(rel)), "a:01 b:01", All()},
      // A fence here, sequentially consistent accesses there: what C++11 left open and RC11 and C++20 forbid.
      {"SB+scf+2sc",
       {{Store(x, 1, rlx), Fence(sc), Load(a, y, rlx)}, {Store(y, 1, sc), Load(b, x, sc)}},
       "a:01 b:01",
       AllBut({"00"})},
      {"SB+scf+sc+rlx",
       {{Store(x, 1, rlx), Fence(sc), Load(a, y, rlx)}, {Store(y, 1, sc), Load(b, x, rlx)}},
       "a:01 b:01",
       All()},
      {"SB+fences-too-early",
       {{Fence(sc), Store(x, 1, rlx), Load(a, y, rlx)}, {Fence(sc), Store(y, 1, rlx), Load(b, x, rlx)}},
       "a:01 b:01",
       All()},
  });
}

// x is the message, y says that it is there.
Threads MessagePassing(Step store_y, Step load_y) { return {{Store(x, 1, rlx), store_y}, {load_y, Load(b, x, rlx)}}; }

Threads MessagePassingAround(Step first_fence, Step second_fence) {
  return {{Store(x, 1, rlx), first_fence, Store(y, 1, rlx)}, {Load(a, y, rlx), second_fence, Load(b, x, rlx)}};
}

TEST(Litmus, MessagePassingOfAccesses) {
  Check({
      {"MP+rlx", MessagePassing(Store(y, 1, rlx), Load(a, y, rlx)), "a:01 b:01", All()},
      {"MP+rel+rlx", MessagePassing(Store(y, 1, rel), Load(a, y, rlx)), "a:01 b:01", All()},
      {"MP+rlx+acq", MessagePassing(Store(y, 1, rlx), Load(a, y, acq)), "a:01 b:01", All()},
      {"MP+rel+acq", MessagePassing(Store(y, 1, rel), Load(a, y, acq)), "a:01 b:01", AllBut({"10"})},
      {"MP+sc+sc", MessagePassing(Store(y, 1, sc), Load(a, y, sc)), "a:01 b:01", AllBut({"10"})},
      {"MP+sc+rlx", MessagePassing(Store(y, 1, sc), Load(a, y, rlx)), "a:01 b:01", All()},
      {"MP+rel+acq-update", MessagePassing(Store(y, 1, rel), Add(a, y, 0, acq)), "a:01 b:01", AllBut({"10"})},
      {"MP+rel+rel-update", MessagePassing(Store(y, 1, rel), Add(a, y, 0, rel)), "a:01 b:01", All()},
      {"MP+rel-update+acq", MessagePassing(Add(c, y, 1, rel), Load(a, y, acq)), "a:01 b:01", AllBut({"10"})},
      {"MP+acq-update+acq", MessagePassing(Add(c, y, 1, acq), Load(a, y, acq)), "a:01 b:01", All()},
  });
}

TEST(Litmus, MessagePassingOfFences) {
  Check({
      {"MP+relf+acqf", MessagePassingAround(Fence(rel), Fence(acq)), "a:01 b:01", AllBut({"10"})},
      {"MP+arf+arf", MessagePassingAround(Fence(ar), Fence(ar)), "a:01 b:01", AllBut({"10"})},
      {"MP+scf+scf", MessagePassingAround(Fence(sc), Fence(sc)), "a:01 b:01", AllBut({"10"})},
      {"MP+acqf+acqf", MessagePassingAround(Fence(acq), Fence(acq)), "a:01 b:01", All()},
      {"MP+relf+relf", MessagePassingAround(Fence(rel), Fence(rel)), "a:01 b:01", All()},
      {"MP+relf+acq",
       {{Store(x, 1, rlx), Fence(rel), Store(y, 1, rlx)}, {Load(a, y, acq), Load(b, x, rlx)}},
       "a:01 b:01",
       AllBut({"10"})},
      {"MP+rel+acqf",
       {{Store(x, 1, rlx), Store(y, 1, rel)}, {Load(a, y, rlx), Fence(acq), Load(b, x, rlx)}},
       "a:01 b:01",
       AllBut({"10"})},
      {"MP+rel+scf",
       {{Store(x, 1, rlx), Store(y, 1, rel)}, {Load(a, y, rlx), Fence(sc), Load(b, x, rlx)}},
       "a:01 b:01",
       AllBut({"10"})},
      {"MP+relf-too-late+acq",
       {{Store(x, 1, rlx), Store(y, 1, rlx), Fence(rel)}, {Load(a, y, acq), Load(b, x, rlx)}},
       "a:01 b:01",
       All()},
      {"MP+rel+acqf-too-early",
       {{Store(x, 1, rlx), Store(y, 1, rel)}, {Fence(acq), Load(a, y, rlx), Load(b, x, rlx)}},
       "a:01 b:01",
       All()},
      // A fence releases all stores after it, not the next one alone.
      {"MP+relf+two-stores",
       {{Store(x, 1, rlx), Fence(rel), Store(y, 1, rlx), Store(y, 2, rlx)}, {Load(a, y, acq), Load(b, x, rlx)}},
       "a:012 b:01",
       AllBut({"10", "20"})},
  });
}

TEST(Litmus, LoadBuffering) {
  Check({
      {"LB+rlx",
       {{Load(a, x, rlx), Store(y, 1, rlx)}, {Load(b, y, rlx), Store(x, 1, rlx)}},
       "a:01 b:01",
       AllBut({"11"})},
      {"LB+acq+rel",
       {{Load(a, x, acq), Store(y, 1, rel)}, {Load(b, y, acq), Store(x, 1, rel)}},
       "a:01 b:01",
       AllBut({"11"})},
      {"LB+sc", {{Load(a, x, sc), Store(y, 1, sc)}, {Load(b, y, sc), Store(x, 1, sc)}}, "a:01 b:01", AllBut({"11"})},
      // Out of thin air.
      {"LB+ctrls",
       {{Load(a, x, rlx), If(a, 1, Store(y, 1, rlx))}, {Load(b, y, rlx), If(b, 1, Store(x, 1, rlx))}},
       "a:01 b:01",
       Only({"00"})},
      {"LB+ctrl",
       {{Load(a, x, rlx), If(a, 1, Store(y, 1, rlx))}, {Load(b, y, rlx), Store(x, 1, rlx)}},
       "a:01 b:01",
       AllBut({"01", "11"})},
  });
}

// Does a store that has seen the other thread's second one come after its first one?
Threads S(Step store_y, Step load_y) { return {{Store(x, 2, rlx), store_y}, {load_y, Store(x, 1, rlx)}}; }

TEST(Litmus, StoreAfterLoad) {
  Check({
      {"S+rlx", S(Store(y, 1, rlx), Load(a, y, rlx)), "a:01 x:12", All()},
      {"S+rel+rlx", S(Store(y, 1, rel), Load(a, y, rlx)), "a:01 x:12", All()},
      {"S+rlx+acq", S(Store(y, 1, rlx), Load(a, y, acq)), "a:01 x:12", All()},
      {"S+rel+acq", S(Store(y, 1, rel), Load(a, y, acq)), "a:01 x:12", AllBut({"12"})},
      {"S+sc", S(Store(y, 1, sc), Load(a, y, sc)), "a:01 x:12", AllBut({"12"})},
      {"S+relf+acqf",
       {{Store(x, 2, rlx), Fence(rel), Store(y, 1, rlx)}, {Load(a, y, rlx), Fence(acq), Store(x, 1, rlx)}},
       "a:01 x:12",
       AllBut({"12"})},
  });
}

// The second thread overwrites y; does it then know of x?
Threads R(Step store_x, Step store_y, Step overwrite_y, Step load_x) {
  return {{store_x, store_y}, {overwrite_y, load_x}};
}

TEST(Litmus, LoadAfterStore) {
  Check({
      {"R+rlx", R(Store(x, 1, rlx), Store(y, 1, rlx), Store(y, 2, rlx), Load(a, x, rlx)), "a:01 y:12", All()},
      {"R+rel+acq", R(Store(x, 1, rel), Store(y, 1, rel), Store(y, 2, rel), Load(a, x, acq)), "a:01 y:12", All()},
      {"R+4sc", R(Store(x, 1, sc), Store(y, 1, sc), Store(y, 2, sc), Load(a, x, sc)), "a:01 y:12", AllBut({"02"})},
      {"R+rel+3sc", R(Store(x, 1, sc), Store(y, 1, rel), Store(y, 2, sc), Load(a, x, sc)), "a:01 y:12", All()},
      {"R+scfs",
       {{Store(x, 1, rlx), Fence(sc), Store(y, 1, rlx)}, {Store(y, 2, rlx), Fence(sc), Load(a, x, rlx)}},
       "a:01 y:12",
       AllBut({"02"})},
      {"R+relf+scf",
       {{Store(x, 1, rlx), Fence(rel), Store(y, 1, rlx)}, {Store(y, 2, rlx), Fence(sc), Load(a, x, rlx)}},
       "a:01 y:12",
       All()},
      // With an update in place of the store the second thread reads what it overwrites.
      {"R+rel+acq-exchange", R(Store(x, 1, rlx), Store(y, 1, rel), Exchange(b, y, 2, acq), Load(a, x, rlx)),
       "a:01 b:01 y:12", AllBut({"01.", ".02", ".11"})},
  });
}

Threads TwoAndTwoWrites(std::memory_order x1, std::memory_order y2, std::memory_order y1, std::memory_order x2) {
  return {{Store(x, 1, x1), Store(y, 2, y2)}, {Store(y, 1, y1), Store(x, 2, x2)}};
}

TEST(Litmus, TwoAndTwoWrites) {
  Check({
      {"2+2W+rlx", TwoAndTwoWrites(rlx, rlx, rlx, rlx), "x:12 y:12", All()},
      {"2+2W+rel", TwoAndTwoWrites(rel, rel, rel, rel), "x:12 y:12", All()},
      {"2+2W+4sc", TwoAndTwoWrites(sc, sc, sc, sc), "x:12 y:12", AllBut({"11"})},
      {"2+2W+3sc+rel1", TwoAndTwoWrites(rel, sc, sc, sc), "x:12 y:12", All()},
      {"2+2W+3sc+rel2", TwoAndTwoWrites(sc, rel, sc, sc), "x:12 y:12", All()},
      {"2+2W+scfs",
       {{Store(x, 1, rlx), Fence(sc), Store(y, 2, rlx)}, {Store(y, 1, rlx), Fence(sc), Store(x, 2, rlx)}},
       "x:12 y:12",
       AllBut({"11"})},
      {"2+2W+scf+2sc",
       {{Store(x, 1, rlx), Fence(sc), Store(y, 2, rlx)}, {Store(y, 1, sc), Store(x, 2, sc)}},
       "x:12 y:12",
       AllBut({"11"})},
      {"2+2W+arfs",
       {{Store(x, 1, rlx), Fence(ar), Store(y, 2, rlx)}, {Store(y, 1, rlx), Fence(ar), Store(x, 2, rlx)}},
       "x:12 y:12",
       All()},
  });
}

}  // namespace
}  // namespace holdfast::explore::litmus
