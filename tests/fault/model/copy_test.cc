// Arrays and copies of boxes beyond what the facts ask of both drivers: freed memory, absurd extents, misuse.
#include <array>
#include <limits>
#include <vector>

#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

class CopyTest : public DriverTest {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    DriverTest::SetUp();
    ASSERT_EQ(cuMemAlloc(&memory_, kBytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(memory_, 0, kBytes), CUDA_SUCCESS);
  }

  static constexpr std::size_t kBytes = 4096;

  static CUarray MakeArray(std::size_t width, std::size_t height) {
    const CUDA_ARRAY_DESCRIPTOR descriptor{width, height, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUarray array = nullptr;
    EXPECT_EQ(cuArrayCreate(&array, &descriptor), CUDA_SUCCESS);
    return array;
  }

  // From the host to the device.
  CUDA_MEMCPY3D Box(const void* host, std::size_t width, std::size_t height, std::size_t depth) const {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory_;
    copy.WidthInBytes = width;
    copy.Height = height;
    copy.Depth = depth;
    return copy;
  }

  CUdeviceptr memory_ = 0;
};

using CopyDeathTest = CopyTest;

TEST_F(CopyTest, AbsurdExtentsAreRefused) {
  static const std::array<char, 64> host{};
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  CUDA_MEMCPY3D copies[] = {Box(host.data(), kHuge, 1, 1), Box(host.data(), 8, kHuge, 1), Box(host.data(), 8, 2, kHuge),
                            Box(host.data(), kHuge / 2, 3, 3), Box(host.data(), 16, kHuge / 16 + 2, 1)};
  for (const CUDA_MEMCPY3D& copy : copies) EXPECT_EQ(cuMemcpy3D(&copy), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D far = Box(host.data(), 8, 2, 1);
  far.dstPitch = kHuge - 4;
  EXPECT_EQ(cuMemcpy3D(&far), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CopyTest, HugeArraysAreRefused) {
  const CUDA_ARRAY3D_DESCRIPTOR descriptor{100'000, 100'000, 100'000, CU_AD_FORMAT_FLOAT, 4, 0};
  CUarray array = nullptr;
  EXPECT_EQ(cuArray3DCreate(&array, &descriptor), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(CopyTest, RowsAreCopiedOnAStreamInOrder) {
  std::vector<unsigned char> host(256);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i);
  const CUarray array = MakeArray(16, 4);
  CUDA_MEMCPY2D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = host.data();
  in.srcPitch = 64;
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  in.dstArray = array;
  in.WidthInBytes = 16;
  in.Height = 4;
  CUDA_MEMCPY2D out{};
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = array;
  out.srcXInBytes = 8;
  out.srcY = 1;
  out.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  out.dstDevice = memory_;
  out.dstPitch = 32;
  out.WidthInBytes = 8;
  out.Height = 3;
  ASSERT_EQ(cuMemcpy2DAsync(&in, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpy2DAsync(&out, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  std::vector<unsigned char> bytes(96);
  ASSERT_EQ(cuMemcpyDtoH(bytes.data(), memory_, bytes.size()), CUDA_SUCCESS);
  for (std::size_t y = 0; y < 3; ++y) {
    for (std::size_t x = 0; x < 32; ++x) {
      EXPECT_EQ(bytes[y * 32 + x], x < 8 ? (y + 1) * 64 + 8 + x : 0u) << x << ' ' << y;
    }
  }
  ASSERT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
}

TEST_F(CopyTest, ArraysGoWithTheContext) {
  MakeArray(16, 16);
  EXPECT_EQ(control().live().allocations, 2u);
}

TEST_F(CopyTest, ArraysCountAsDeviceMemory) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  const CUarray array = MakeArray(1024, 16);
  ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(before - after, 1024u * 16u);
  ASSERT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
}

// A clone copies what the node says without a look at it; a node that names a live array again is whole again.
TEST_F(CopyTest, NodeOfADestroyedArrayCanBeChanged) {
  static const std::array<char, 64> host{};
  const CUarray gone = MakeArray(8, 8);
  const CUarray there = MakeArray(8, 8);
  CUDA_MEMCPY3D copy = Box(host.data(), 8, 8, 1);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = gone;
  const CUgraph graph = MakeGraph();
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context_), CUDA_SUCCESS);
  ASSERT_EQ(cuArrayDestroy(gone), CUDA_SUCCESS);
  CUgraph clone = nullptr;
  EXPECT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  copy.dstArray = there;
  EXPECT_EQ(cuGraphMemcpyNodeSetParams(node, &copy), CUDA_SUCCESS);
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  cuGraphDestroy(clone);
}

TEST_F(CopyDeathTest, DestroyedArraysAreMisuse) {
  static const std::array<char, 64> host{};
  const CUarray array = MakeArray(8, 8);
  CUDA_MEMCPY3D copy = Box(host.data(), 8, 8, 1);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  const CUgraph graph = MakeGraph();
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context_), CUDA_SUCCESS);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_DEATH(cuArrayDestroy(array), "cuArrayDestroy: the array was never made, or is destroyed already");
  EXPECT_DEATH(cuGraphLaunch(executable, stream_), "cuGraphLaunch: the graph has a node whose array is destroyed");
  EXPECT_DEATH(Instantiate(graph), "cuGraphInstantiateWithFlags: the graph has a node whose array is destroyed");
  EXPECT_DEATH(cuMemcpy3D(&copy), "cuMemcpy3D_v2: the array was never made");
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

}  // namespace
}  // namespace holdfast::fault
