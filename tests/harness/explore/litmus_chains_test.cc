// Litmus programs of three threads and more: WRC, ISA2, RWC, IRIW, W+RWC, Z6.U, and the longer SB and LB.
#include <gtest/gtest.h>

#include "tests/harness/explore/litmus.h"

namespace holdfast::explore::litmus {
namespace {

// The second thread passes on what it has read.
Threads WriteToReadCausality(Step load_x, Step store_y, Step load_y) {
  return {{Store(x, 1, rlx)}, {load_x, store_y}, {load_y, Load(c, x, rlx)}};
}

TEST(Litmus, WriteToReadCausality) {
  Check({
      {"WRC+rlx", WriteToReadCausality(Load(a, x, rlx), Store(y, 1, rlx), Load(b, y, rlx)), "a:01 b:01 c:01", All()},
      // Coherence alone: the two reads of x are ordered, whatever the store of x was.
      {"WRC+rel+acq", WriteToReadCausality(Load(a, x, rlx), Store(y, 1, rel), Load(b, y, acq)), "a:01 b:01 c:01",
       AllBut({"110"})},
      {"WRC+acq+rlx", WriteToReadCausality(Load(a, x, acq), Store(y, 1, rel), Load(b, y, rlx)), "a:01 b:01 c:01",
       All()},
      {"WRC+sc", WriteToReadCausality(Load(a, x, sc), Store(y, 1, sc), Load(b, y, sc)), "a:01 b:01 c:01",
       AllBut({"110"})},
      {"WRC+relf+acqf",
       {{Store(x, 1, rlx)},
        {Load(a, x, rlx), Fence(rel), Store(y, 1, rlx)},
        {Load(b, y, rlx), Fence(acq), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       AllBut({"110"})},
  });
}

// A message by way of a third thread.
Threads Isa2(Step load_y, Step store_z) {
  return {{Store(x, 1, rlx), Store(y, 1, rel)}, {load_y, store_z}, {Load(b, z, acq), Load(c, x, rlx)}};
}

TEST(Litmus, MessageByAThird) {
  Check({
      {"ISA2+rel+acq", Isa2(Load(a, y, acq), Store(z, 1, rel)), "a:01 b:01 c:01", AllBut({"110"})},
      {"ISA2+rlx+rel", Isa2(Load(a, y, rlx), Store(z, 1, rel)), "a:01 b:01 c:01", All()},
      {"ISA2+acq+rlx", Isa2(Load(a, y, acq), Store(z, 1, rlx)), "a:01 b:01 c:01", All()},
      {"ISA2+arf",
       {{Store(x, 1, rlx), Store(y, 1, rel)},
        {Load(a, y, rlx), Fence(ar), Store(z, 1, rlx)},
        {Load(b, z, acq), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       AllBut({"110"})},
      {"ISA2+acqf",
       {{Store(x, 1, rlx), Store(y, 1, rel)},
        {Load(a, y, rlx), Fence(acq), Store(z, 1, rel)},
        {Load(b, z, acq), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       AllBut({"110"})},
      {"ISA2+relf-alone",
       {{Store(x, 1, rlx), Store(y, 1, rel)},
        {Load(a, y, rlx), Fence(rel), Store(z, 1, rlx)},
        {Load(b, z, acq), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       All()},
  });
}

Threads ReadToWriteCausality(Step store_x, std::memory_order load, std::memory_order store_y) {
  return {{store_x}, {Load(a, x, load), Load(b, y, load)}, {Store(y, 1, store_y), Load(c, x, load)}};
}

TEST(Litmus, ReadToWriteCausality) {
  Check({
      {"RWC+rel+acq", ReadToWriteCausality(Store(x, 1, rel), acq, rel), "a:01 b:01 c:01", All()},
      {"RWC+sc", ReadToWriteCausality(Store(x, 1, sc), sc, sc), "a:01 b:01 c:01", AllBut({"100"})},
      // From a read to a read of one location psc has no edge but by a sequentially consistent store.
      {"RWC+rel+sc", ReadToWriteCausality(Store(x, 1, rel), sc, sc), "a:01 b:01 c:01", All()},
      {"RWC+scfs",
       {{Store(x, 1, rlx)},
        {Load(a, x, rlx), Fence(sc), Load(b, y, rlx)},
        {Store(y, 1, rlx), Fence(sc), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       AllBut({"100"})},
      {"RWC+arf+scf",
       {{Store(x, 1, rlx)},
        {Load(a, x, rlx), Fence(ar), Load(b, y, rlx)},
        {Store(y, 1, rlx), Fence(sc), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       All()},
  });
}

// Two readers; do they see two writes in one order?
Threads IndependentReads(std::memory_order store, std::memory_order first, std::memory_order second) {
  return {{Store(x, 1, store)},
          {Load(a, x, first), Load(b, y, second)},
          {Load(c, y, first), Load(d, x, second)},
          {Store(y, 1, store)}};
}

Threads IndependentReadsAround(Step first_fence, Step second_fence) {
  return {{Store(x, 1, rlx)},
          {Load(a, x, rlx), first_fence, Load(b, y, rlx)},
          {Load(c, y, rlx), second_fence, Load(d, x, rlx)},
          {Store(y, 1, rlx)}};
}

TEST(Litmus, IndependentReadsOfIndependentWrites) {
  const char* const columns = "a:01 b:01 c:01 d:01";
  Check({
      {"IRIW+rlx", IndependentReads(rlx, rlx, rlx), columns, All()},
      {"IRIW+rel+acq", IndependentReads(rel, acq, acq), columns, All()},
      {"IRIW+sc", IndependentReads(sc, sc, sc), columns, AllBut({"1010"})},
      // Of the paper: forbidden by C++11, allowed by RC11, as Power does it.
      {"IRIW-acq-sc", IndependentReads(sc, acq, sc), columns, All()},
      {"IRIW+scfs", IndependentReadsAround(Fence(sc), Fence(sc)), columns, AllBut({"1010"})},
      {"IRIW+scf+arf", IndependentReadsAround(Fence(sc), Fence(ar)), columns, All()},
      {"IRIW+acqfs", IndependentReadsAround(Fence(acq), Fence(acq)), columns, All()},
  });
}

TEST(Litmus, MessageAndReadToWriteCausality) {
  Check({
      // Of the paper.
      {"W+RWC+scfs",
       {{Store(x, 1, rlx), Store(y, 1, rel)},
        {Load(a, y, acq), Fence(sc), Load(b, z, rlx)},
        {Store(z, 1, rlx), Fence(sc), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       AllBut({"100"})},
      {"W+RWC+scf-alone",
       {{Store(x, 1, rlx), Store(y, 1, rel)},
        {Load(a, y, acq), Load(b, z, rlx)},
        {Store(z, 1, rlx), Fence(sc), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       All()},
      {"W+RWC+rlx+scfs",
       {{Store(x, 1, rlx), Store(y, 1, rlx)},
        {Load(a, y, acq), Fence(sc), Load(b, z, rlx)},
        {Store(z, 1, rlx), Fence(sc), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       All()},
  });
}

// Of the paper: with a = 1, b = 3, c = 0 forbidden by C++11 and allowed by RC11. The orders of the writes of y give
// what a and b may be together (01 03 12 13 31 34); no path of psc leads from the store of x to the update, as nothing
// comes before the update in its thread, so that c is free.
TEST(Litmus, Z6U) {
  Check({
      {"Z6.U",
       {{Store(x, 1, sc), Store(y, 1, rel)}, {Add(a, y, 1, sc), Load(b, y, rlx)}, {Store(y, 3, sc), Load(c, x, sc)}},
       "a:013 b:1234 c:01",
       Only({"010", "011", "030", "031", "120", "121", "130", "131", "310", "311", "340", "341"})},
  });
}

TEST(Litmus, LongerCycles) {
  const auto buffering = [](std::memory_order order) {
    return Threads{{Store(x, 1, order), Load(a, y, order)},
                   {Store(y, 1, order), Load(b, z, order)},
                   {Store(z, 1, order), Load(c, x, order)}};
  };
  Check({
      {"SB3+rlx",
       {{Store(x, 1, rlx), Load(a, y, rlx)}, {Store(y, 1, rlx), Load(b, z, rlx)}, {Store(z, 1, rlx), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       All()},
      {"SB3+sc", buffering(sc), "a:01 b:01 c:01", AllBut({"000"})},
      {"SB3+scfs",
       {{Store(x, 1, rlx), Fence(sc), Load(a, y, rlx)},
        {Store(y, 1, rlx), Fence(sc), Load(b, z, rlx)},
        {Store(z, 1, rlx), Fence(sc), Load(c, x, rlx)}},
       "a:01 b:01 c:01",
       AllBut({"000"})},
      {"LB3",
       {{Load(a, x, rlx), Store(y, 1, rlx)}, {Load(b, y, rlx), Store(z, 1, rlx)}, {Load(c, z, rlx), Store(x, 1, rlx)}},
       "a:01 b:01 c:01",
       AllBut({"111"})},
  });
}

}  // namespace
}  // namespace holdfast::explore::litmus
