// What the tests of executables and builders share: the model driver below the shim, so that any call can be made to
// fail and the shim's books say what is alive; a started cleanup; owners that tell whether they are held.
//
// Everything is created, dropped and drained on the test's own thread, and the driver delivers destructors inline: what
// is free is released once Settle returns.
#ifndef HOLDFAST_TESTS_LIB_GRAPH_DEVICE_TEST_H_
#define HOLDFAST_TESTS_LIB_GRAPH_DEVICE_TEST_H_

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fault/model/control.h"
#include "lib/handles/opaque_handle.h"
#include "lib/handles/resources.h"

namespace holdfast {

// An owner of nothing. Take gives the one reference away.
class Owner {
 public:
  Owner() : owner_(std::make_shared<int>()), watch_(owner_) {}

  OpaqueHandle Take() { return std::move(owner_); }
  bool IsHeld() const { return !watch_.expired(); }

 private:
  std::shared_ptr<int> owner_;
  std::weak_ptr<int> watch_;
};

// One fault on the calling thread. By default the next call of `site` fails before it took effect.
struct Fault {
  const char* site;
  std::uint64_t nth = 1;
  bool after = false;
  bool persistent = false;
  CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
};

// Strikes while it lives. A test whose faults do not all fire fails: it tested something else.
class Faults {
 public:
  Faults(std::initializer_list<Fault> faults);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

 private:
  const std::size_t count_;
};

class DeviceTest : public testing::Test {
 protected:
  static void SetUpTestSuite();
  void SetUp() override;

  // Whatever the test did: nothing is alive that was not before it, the cleanup calls that failed are those that the
  // test expected, and the shim has found fault with nothing.
  void TearDown() override;

  // Releases what is free.
  static void Settle();

  // What the driver itself counts.
  static fault::ModelObjects Live();

  // How often the driver was called at `site`, or at any if it is null.
  static std::uint64_t CallsOf(const char* site);

  // So many cleanup calls fail in this test, and are reported.
  void ExpectCleanupFailures(std::uint64_t count) { expected_cleanup_failures_ += count; }

  // So many graphs and streams are never destroyed: the driver would crash.
  void ExpectLeftAlone(std::uint64_t graphs, std::uint64_t streams) {
    before_.graphs += graphs;
    before_.streams += streams;
  }

  // Kernels add one to each byte: `(memory, size_bytes)`.
  static KernelHandle LoadAddOneKernel();

  static std::vector<std::uint8_t> Read(const DeviceMemoryHandle& memory);

 private:
  fault::ModelObjects before_{};
  std::uint64_t findings_before_ = 0;
  std::uint64_t cleanup_failures_before_ = 0;
  std::uint64_t expected_cleanup_failures_ = 0;
};

// What `function` throws.
template <typename Error, typename Function>
std::string MessageOf(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace holdfast

#endif  // HOLDFAST_TESTS_LIB_GRAPH_DEVICE_TEST_H_
