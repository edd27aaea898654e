// Facts P1 to P10: arrays, and copies of rows and boxes: what is checked when a node is added, what its getter gives
// back, what it does, and what an executable takes.
#include <string>
#include <vector>

#include "tests/conformance/fact.h"
#include "tests/conformance/node_tools.h"

namespace holdfast::conformance {
namespace {

constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;
constexpr CUmemorytype kHost = CU_MEMORYTYPE_HOST;
constexpr CUmemorytype kDevice = CU_MEMORYTYPE_DEVICE;
constexpr CUmemorytype kArray = CU_MEMORYTYPE_ARRAY;
constexpr CUmemorytype kUnified = CU_MEMORYTYPE_UNIFIED;

CUDA_ARRAY3D_DESCRIPTOR ArrayOf(std::size_t width, std::size_t height, std::size_t depth = 0) {
  return CUDA_ARRAY3D_DESCRIPTOR{width, height, depth, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
}

CUarray MakeArray(const Driver& driver, Report& report, std::size_t width, std::size_t height, std::size_t depth = 0) {
  const CUDA_ARRAY3D_DESCRIPTOR descriptor = ArrayOf(width, height, depth);
  CUarray array = nullptr;
  HOLDFAST_NEED(report, driver.Array3DCreate(&array, &descriptor));
  return array;
}

// A box on both sides; the sides are filled in by the caller.
CUDA_MEMCPY3D BoxOf(std::size_t width, std::size_t height, std::size_t depth) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = depth;
  return copy;
}

CUDA_MEMCPY3D OnDevice(CUdeviceptr source, std::size_t source_pitch, CUdeviceptr target, std::size_t target_pitch,
                       std::size_t width, std::size_t height, std::size_t depth = 1) {
  CUDA_MEMCPY3D copy = BoxOf(width, height, depth);
  copy.srcMemoryType = copy.dstMemoryType = kDevice;
  copy.srcDevice = source;
  copy.srcPitch = source_pitch;
  copy.dstDevice = target;
  copy.dstPitch = target_pitch;
  return copy;
}

CUDA_MEMCPY3D FromHost(const void* host, CUdeviceptr target, std::size_t bytes) {
  CUDA_MEMCPY3D copy = BoxOf(bytes, 1, 1);
  copy.srcMemoryType = kHost;
  copy.srcHost = host;
  copy.dstMemoryType = kDevice;
  copy.dstDevice = target;
  return copy;
}

CUDA_MEMCPY3D ToArray(const void* host, std::size_t pitch, CUarray array, std::size_t width, std::size_t height,
                      std::size_t depth = 1) {
  CUDA_MEMCPY3D copy = BoxOf(width, height, depth);
  copy.srcMemoryType = kHost;
  copy.srcHost = host;
  copy.srcPitch = pitch;
  copy.dstMemoryType = kArray;
  copy.dstArray = array;
  return copy;
}

CUgraphNode AddCopy(const Driver& driver, Report& report, CUgraph graph, const CUDA_MEMCPY3D& copy,
                    CUgraphNode after = nullptr) {
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report,
                driver.GraphAddMemcpyNode(&node, graph, &after, after == nullptr ? 0 : 1, &copy, driver.context));
  return node;
}

void ArraysAreChecked(const Driver& driver, Report& report) {
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR flat{32, 16, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  report.Expect("two dimensions", CUDA_SUCCESS, driver.ArrayCreate(&array, &flat));
  CUDA_ARRAY_DESCRIPTOR flat_now{};
  CUDA_ARRAY3D_DESCRIPTOR now{};
  HOLDFAST_NEED(report, driver.ArrayGetDescriptor(&flat_now, array));
  HOLDFAST_NEED(report, driver.Array3DGetDescriptor(&now, array));
  report.Expect("descriptor", true, flat_now.Width == 32 && flat_now.Height == 16 && flat_now.NumChannels == 1);
  report.Expect("as of three dimensions", true, now.Width == 32 && now.Height == 16 && now.Depth == 0);
  report.Expect("destroy", CUDA_SUCCESS, driver.ArrayDestroy(array));
  report.Expect("destroy null", CUDA_ERROR_INVALID_HANDLE, driver.ArrayDestroy(nullptr));
  report.Expect("null descriptor", kInvalid, driver.ArrayCreate(&array, nullptr));
  const auto create = [&](auto change) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor = ArrayOf(8, 4);
    change(descriptor);
    return driver.Array3DCreate(&array, &descriptor);
  };
  report.Expect("width 0", kInvalid, create([](auto& given) { given.Width = 0; }));
  report.Expect("one dimension", CUDA_SUCCESS, create([](auto& given) { given.Height = 0; }));
  report.Expect("three dimensions", CUDA_SUCCESS, create([](auto& given) { given.Depth = 2; }));
  report.Expect("depth without height", kInvalid, create([](auto& given) {
                  given.Height = 0;
                  given.Depth = 2;
                }));
  report.Expect("3 channels", kInvalid, create([](auto& given) { given.NumChannels = 3; }));
  report.Expect("4 floats", CUDA_SUCCESS, create([](auto& given) {
                  given.Format = CU_AD_FORMAT_FLOAT;
                  given.NumChannels = 4;
                }));
  report.Expect("no format", kInvalid, create([](auto& given) { given.Format = static_cast<CUarray_format>(0); }));
  report.Expect("layers", CUDA_SUCCESS, create([](auto& given) {
                  given.Depth = 3;
                  given.Flags = CUDA_ARRAY3D_LAYERED;
                }));
}

void DestroyedTwice(const Driver& driver, Report& report) {
  const CUarray array = MakeArray(driver, report, 8, 8);
  HOLDFAST_NEED(report, driver.ArrayDestroy(array));
  driver.ArrayDestroy(array);
}

void ArrayGoneBeforeInstantiation(const Driver& driver, Report& report) {
  static char host[64];
  const CUarray array = MakeArray(driver, report, 8, 8);
  const CUgraph graph = MakeGraph(driver, report);
  AddCopy(driver, report, graph, ToArray(host, 8, array, 8, 8));
  HOLDFAST_NEED(report, driver.ArrayDestroy(array));
  CUgraphExec executable = nullptr;
  driver.GraphInstantiateWithFlags(&executable, graph, 0);
}

void ArrayGoneBeforeLaunch(const Driver& driver, Report& report) {
  static char host[64];
  const CUarray array = MakeArray(driver, report, 8, 8);
  const CUgraph graph = MakeGraph(driver, report);
  AddCopy(driver, report, graph, ToArray(host, 8, array, 8, 8));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.ArrayDestroy(array));
  driver.GraphLaunch(executable, driver.stream);
}

// All members; padding is no part of it.
bool Same(const CUDA_MEMCPY3D& a, const CUDA_MEMCPY3D& b) {
  return a.srcXInBytes == b.srcXInBytes && a.srcY == b.srcY && a.srcZ == b.srcZ && a.srcLOD == b.srcLOD &&
         a.srcMemoryType == b.srcMemoryType && a.srcHost == b.srcHost && a.srcDevice == b.srcDevice &&
         a.srcArray == b.srcArray && a.srcPitch == b.srcPitch && a.srcHeight == b.srcHeight &&
         a.dstXInBytes == b.dstXInBytes && a.dstY == b.dstY && a.dstZ == b.dstZ && a.dstLOD == b.dstLOD &&
         a.dstMemoryType == b.dstMemoryType && a.dstHost == b.dstHost && a.dstDevice == b.dstDevice &&
         a.dstArray == b.dstArray && a.dstPitch == b.dstPitch && a.dstHeight == b.dstHeight &&
         a.WidthInBytes == b.WidthInBytes && a.Height == b.Height && a.Depth == b.Depth;
}

void GettersGiveAllBack(const Driver& driver, Report& report) {
  static char host[4096];
  const CUdeviceptr memory = MakeMemory(driver, report, 65536);
  const CUdeviceptr other = MakeMemory(driver, report, 65536);
  const CUarray array = MakeArray(driver, report, 32, 16, 4);
  const CUgraph graph = MakeGraph(driver, report);
  const auto comes_back = [&](const CUDA_MEMCPY3D& copy) {
    CUDA_MEMCPY3D now{};
    HOLDFAST_NEED(report, driver.GraphMemcpyNodeGetParams(AddCopy(driver, report, graph, copy), &now));
    return Same(copy, now);
  };
  CUDA_MEMCPY3D row = FromHost(host, memory, 64);
  row.srcXInBytes = 3;
  row.dstXInBytes = 5;
  row.srcPitch = 128;
  row.dstHeight = 9;
  report.Expect("a row", true, comes_back(row));
  CUDA_MEMCPY3D box = OnDevice(memory, 64, other, 128, 16, 4, 2);
  box.srcHeight = 8;
  box.dstHeight = 16;
  box.srcXInBytes = 8;
  box.srcY = 2;
  box.srcZ = 1;
  box.dstZ = 2;
  report.Expect("a box", true, comes_back(box));
  CUDA_MEMCPY3D in_array = ToArray(host, 64, array, 16, 8, 2);
  in_array.srcHeight = 16;
  in_array.dstXInBytes = 4;
  in_array.dstY = 2;
  in_array.dstZ = 1;
  report.Expect("a box in an array", true, comes_back(in_array));
  CUDA_MEMCPY3D unified = BoxOf(64, 1, 1);
  unified.srcMemoryType = unified.dstMemoryType = kUnified;
  unified.srcDevice = memory;
  unified.dstDevice = other;
  report.Expect("unified addresses", true, comes_back(unified));
}

void NodesAreChecked(const Driver& driver, Report& report) {
  static char host[4096];
  const CUdeviceptr memory = MakeMemory(driver, report);
  const CUdeviceptr other = MakeMemory(driver, report);
  const CUarray array = MakeArray(driver, report, 32, 16);
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  const auto add = [&](const CUDA_MEMCPY3D& copy) {
    return driver.GraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, driver.context);
  };
  report.Expect("pitch below the width", kInvalid, add(OnDevice(memory, 16, other, 64, 32, 8)));
  report.Expect("the same with one row", kInvalid, add(OnDevice(memory, 16, other, 64, 32, 1)));
  report.Expect("pitch 0", CUDA_SUCCESS, add(OnDevice(memory, 0, other, 0, 32, 2)));
  CUDA_MEMCPY3D copy = OnDevice(memory, 64, other, 64, 32, 2);
  copy.srcXInBytes = 40;
  report.Expect("x and width beyond the pitch", kInvalid, add(copy));
  copy = OnDevice(memory, 64, other, 64, 32, 8);
  copy.srcHeight = 4;
  report.Expect("rows beyond the slice", kInvalid, add(copy));
  report.Expect("slice height 0", CUDA_SUCCESS, add(OnDevice(memory, 64, other, 64, 32, 4, 2)));
  report.Expect("depth 0", kInvalid, add(OnDevice(memory, 64, other, 64, 32, 4, 0)));
  report.Expect("the last row inside", CUDA_SUCCESS, add(OnDevice(memory, 512, other, 64, 64, 8)));
  report.Expect("the last row outside", kInvalid, add(OnDevice(memory, 512, other, 64, 64, 9)));
  report.Expect("the whole array", CUDA_SUCCESS, add(ToArray(host, 64, array, 32, 16)));
  report.Expect("wider than the array", kInvalid, add(ToArray(host, 64, array, 33, 16)));
  report.Expect("higher than the array", kInvalid, add(ToArray(host, 64, array, 32, 17)));
  report.Expect("deeper than the array", kInvalid, add(ToArray(host, 64, array, 32, 16, 2)));
  report.Expect("null array", kInvalid, add(ToArray(host, 64, nullptr, 32, 16)));
  copy = ToArray(host, 64, array, 32, 16);
  copy.dstLOD = 1;
  report.Expect("a level of an array that has one", kInvalid, add(copy));
  copy = FromHost(host, memory, 8);
  copy.srcMemoryType = static_cast<CUmemorytype>(9);
  report.Expect("no type of memory", kInvalid, add(copy));
}

void BoxesAreCopied(const Driver& driver, Report& report) {
  std::vector<unsigned char> source(8192);
  std::vector<unsigned char> target(8192, 0xee);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(1 + i % 251);
  const CUdeviceptr memory = MakeMemory(driver, report, target.size());
  const CUarray array = MakeArray(driver, report, 32, 16, 4);
  CUDA_MEMCPY3D in = ToArray(source.data(), 64, array, 8, 4, 2);
  in.srcHeight = 16;
  in.srcXInBytes = 3;
  in.srcY = 2;
  in.srcZ = 1;
  in.dstXInBytes = 4;
  in.dstY = 5;
  in.dstZ = 1;
  CUDA_MEMCPY3D out = BoxOf(8, 4, 2);
  out.srcMemoryType = kArray;
  out.srcArray = array;
  out.srcXInBytes = 4;
  out.srcY = 5;
  out.srcZ = 1;
  out.dstMemoryType = kDevice;
  out.dstDevice = memory;
  out.dstPitch = 128;
  out.dstHeight = 8;
  out.dstXInBytes = 1;
  out.dstY = 1;
  out.dstZ = 1;
  CUDA_MEMCPY3D back = BoxOf(target.size(), 1, 1);
  back.srcMemoryType = kDevice;
  back.srcDevice = memory;
  back.dstMemoryType = kHost;
  back.dstHost = target.data();
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode first = AddCopy(driver, report, graph, in);
  const CUgraphNode second = AddCopy(driver, report, graph, out, first);
  AddCopy(driver, report, graph, back, second);
  LaunchAndWait(driver, report, Instantiate(driver, report, graph));
  long wrong = 0;
  long written = 0;
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 8; ++x) {
        const unsigned char wanted = source[((z + 1) * 16 + y + 2) * 64 + x + 3];
        wrong += target[((z + 1) * 8 + y + 1) * 128 + x + 1] != wanted ? 1 : 0;
      }
    }
  }
  for (const unsigned char byte : target) written += byte != 0 ? 1 : 0;
  report.Expect("bytes that differ", long{0}, wrong);
  report.Expect("bytes that were written", long{64}, written);
}

// Copies on the device, and gives where each row of the target begins and the value there.
std::string RowsOf(const Driver& driver, Report& report, CUdeviceptr target, const CUDA_MEMCPY3D& copy) {
  constexpr std::size_t kBytes = 1024;
  HOLDFAST_NEED(report, driver.MemsetD8(target, 255, kBytes));
  const CUgraph graph = MakeGraph(driver, report);
  AddCopy(driver, report, graph, copy);
  LaunchAndWait(driver, report, Instantiate(driver, report, graph));
  std::vector<unsigned char> bytes(kBytes);
  HOLDFAST_NEED(report, driver.MemcpyDtoH(bytes.data(), target, kBytes));
  std::string rows;
  for (std::size_t i = 0; i < kBytes; ++i) {
    if (bytes[i] != 255 && (i == 0 || bytes[i - 1] == 255)) {
      rows += std::to_string(i) + ":" + std::to_string(bytes[i]) + " ";
    }
  }
  return rows;
}

void ZeroPitchesEndWithTheBox(const Driver& driver, Report& report) {
  std::vector<unsigned char> ascending(250);
  for (std::size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<unsigned char>(i);
  const CUdeviceptr source = MakeMemory(driver, report);
  const CUdeviceptr target = MakeMemory(driver, report);
  HOLDFAST_NEED(report, driver.MemcpyHtoD(source, ascending.data(), ascending.size()));
  const auto rows = [&](CUDA_MEMCPY3D copy) { return RowsOf(driver, report, target, copy); };
  CUDA_MEMCPY3D copy = OnDevice(source, 0, target, 64, 16, 3);
  report.Expect("pitch 0", "0:0 64:16 128:32 ", rows(copy));
  copy.srcXInBytes = 4;
  report.Expect("pitch 0 and x 4", "0:4 64:24 128:44 ", rows(copy));
  copy = OnDevice(source, 32, target, 64, 16, 2, 2);
  copy.dstHeight = 4;
  report.Expect("slice height 0", "0:0 64:32 256:64 320:96 ", rows(copy));
  copy.srcY = 1;
  report.Expect("slice height 0 and y 1", "0:32 64:64 256:128 320:160 ", rows(copy));
}

void CallsCopyBoxes(const Driver& driver, Report& report) {
  std::vector<unsigned char> host(1024, 7);
  const CUdeviceptr memory = MakeMemory(driver, report);
  CUDA_MEMCPY2D flat{};
  flat.srcMemoryType = kHost;
  flat.srcHost = host.data();
  flat.srcPitch = 64;
  flat.dstMemoryType = kDevice;
  flat.dstDevice = memory;
  flat.dstPitch = 128;
  flat.WidthInBytes = 32;
  flat.Height = 4;
  report.Expect("rows", CUDA_SUCCESS, driver.Memcpy2D(&flat));
  report.Expect("the last byte of the last row", long{7}, ByteAt(driver, report, memory + 3 * 128 + 31));
  report.Expect("the byte behind it", long{0}, ByteAt(driver, report, memory + 3 * 128 + 32));
  report.Expect("rows on a stream", CUDA_SUCCESS, driver.Memcpy2DAsync(&flat, driver.stream));
  flat.WidthInBytes = 0;
  report.Expect("rows of width 0", CUDA_SUCCESS, driver.Memcpy2D(&flat));
  flat.WidthInBytes = 32;
  flat.dstPitch = 16;
  report.Expect("rows with a small pitch", kInvalid, driver.Memcpy2D(&flat));
  report.Expect("null", kInvalid, driver.Memcpy2D(nullptr));
  CUDA_MEMCPY3D box = BoxOf(32, 4, 2);
  box.srcMemoryType = kHost;
  box.srcHost = host.data();
  box.srcPitch = 64;
  box.srcHeight = 8;
  box.dstMemoryType = kDevice;
  box.dstDevice = memory;
  box.dstPitch = 64;
  box.dstHeight = 8;
  report.Expect("a box", CUDA_SUCCESS, driver.Memcpy3D(&box));
  report.Expect("a box on a stream", CUDA_SUCCESS, driver.Memcpy3DAsync(&box, driver.stream));
  box.Depth = 0;
  report.Expect("a box of depth 0", CUDA_SUCCESS, driver.Memcpy3D(&box));
  box.Depth = 100000;
  report.Expect("a box past the allocation", kInvalid, driver.Memcpy3D(&box));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
}

void PitchesAreChosen(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  CUdeviceptr base = 0;
  std::size_t pitch = 0;
  std::size_t size = 0;
  report.Expect("100 bytes", CUDA_SUCCESS, driver.MemAllocPitch(&memory, &pitch, 100, 8, 4));
  report.Expect("its pitch", long{512}, static_cast<long>(pitch));
  HOLDFAST_NEED(report, driver.MemGetAddressRange(&base, &size, memory));
  report.Expect("its size", long{4096}, static_cast<long>(size));
  report.Expect("513 bytes", CUDA_SUCCESS, driver.MemAllocPitch(&memory, &pitch, 513, 3, 16));
  report.Expect("its pitch", long{1024}, static_cast<long>(pitch));
  report.Expect("elements of 3 bytes", kInvalid, driver.MemAllocPitch(&memory, &pitch, 100, 8, 3));
  report.Expect("elements of 1 byte", kInvalid, driver.MemAllocPitch(&memory, &pitch, 100, 8, 1));
  report.Expect("width 0", kInvalid, driver.MemAllocPitch(&memory, &pitch, 0, 8, 4));
  report.Expect("height 0", kInvalid, driver.MemAllocPitch(&memory, &pitch, 100, 0, 4));
}

// What an executable with a node for `from` answers to parameters `to`, and to a whole update by a graph with them.
std::string Change(const Driver& driver, Report& report, const CUDA_MEMCPY3D& from, const CUDA_MEMCPY3D& to) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph source = MakeGraph(driver, report);
  const CUgraphNode node = AddCopy(driver, report, graph, from);
  AddCopy(driver, report, source, to);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  const CUgraphExec updated = Instantiate(driver, report, graph);
  const CUresult set = driver.GraphExecMemcpyNodeSetParams(executable, node, &to, driver.context);
  return NameOf(driver, set) + ", " + NameOf(driver, driver.GraphExecUpdate(updated, source, nullptr));
}

const std::string kTaken = "CUDA_SUCCESS, CUDA_SUCCESS";
const std::string kRefused = "CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE";

void RowsChangeInExecutables(const Driver& driver, Report& report) {
  static char host[4096];
  const CUdeviceptr a = MakeMemory(driver, report);
  const CUdeviceptr b = MakeMemory(driver, report);
  const CUarray array = MakeArray(driver, report, 32, 16);
  CUDA_MEMCPY3D to_host = BoxOf(64, 1, 1);
  to_host.srcMemoryType = kDevice;
  to_host.srcDevice = a;
  to_host.dstMemoryType = kHost;
  to_host.dstHost = host;
  CUDA_MEMCPY3D unified = BoxOf(64, 1, 1);
  unified.srcMemoryType = unified.dstMemoryType = kUnified;
  unified.srcDevice = a;
  unified.dstDevice = b;
  const CUDA_MEMCPY3D from_host = FromHost(host, a, 64);
  const CUDA_MEMCPY3D on_device = OnDevice(a, 0, b, 0, 64, 1);
  report.Expect("other addresses and width", kTaken, Change(driver, report, from_host, FromHost(host + 64, b, 128)));
  report.Expect("on the device, other addresses", kTaken,
                Change(driver, report, on_device, OnDevice(b, 0, a, 0, 32, 1)));
  report.Expect("to the other direction", kRefused, Change(driver, report, from_host, to_host));
  report.Expect("to a device source", kRefused, Change(driver, report, from_host, on_device));
  report.Expect("between unified addresses, from pageable memory", kTaken, Change(driver, report, unified, [&] {
                  CUDA_MEMCPY3D pageable = unified;
                  pageable.srcDevice = reinterpret_cast<CUdeviceptr>(host);
                  return pageable;
                }()));
  report.Expect("one row with a pitch", kTaken, Change(driver, report, on_device, OnDevice(a, 64, b, 64, 32, 1)));
  report.Expect("to unified addresses", kRefused, Change(driver, report, on_device, unified));
  report.Expect("to several rows", kRefused, Change(driver, report, on_device, OnDevice(a, 64, b, 64, 32, 8)));
  report.Expect("to an array", kRefused, Change(driver, report, from_host, ToArray(host, 64, array, 16, 1)));
}

void BoxesStayInExecutables(const Driver& driver, Report& report) {
  static char host[4096];
  const CUdeviceptr a = MakeMemory(driver, report);
  const CUdeviceptr b = MakeMemory(driver, report);
  const CUarray array = MakeArray(driver, report, 32, 16);
  const CUarray other = MakeArray(driver, report, 32, 16);
  const CUDA_MEMCPY3D rows = OnDevice(a, 64, b, 64, 32, 8);
  const CUDA_MEMCPY3D in_array = ToArray(host, 64, array, 32, 16);
  report.Expect("the same", kTaken, Change(driver, report, rows, rows));
  report.Expect("another source", kRefused, Change(driver, report, rows, OnDevice(a + 64, 64, b, 64, 32, 8)));
  report.Expect("another pitch", kRefused, Change(driver, report, rows, OnDevice(a, 128, b, 64, 32, 8)));
  report.Expect("more rows", kRefused, Change(driver, report, rows, OnDevice(a, 64, b, 64, 32, 16)));
  report.Expect("one row", kRefused, Change(driver, report, rows, OnDevice(a, 0, b, 0, 32, 1)));
  report.Expect("the same array", kTaken, Change(driver, report, in_array, in_array));
  report.Expect("another place in the array", kRefused, Change(driver, report, ToArray(host, 64, array, 16, 4), [&] {
                  CUDA_MEMCPY3D moved = ToArray(host, 64, array, 16, 4);
                  moved.dstY = 2;
                  return moved;
                }()));
  report.Expect("another host address", kRefused,
                Change(driver, report, in_array, ToArray(host + 64, 64, array, 32, 16)));
  report.Expect("another array", kRefused, Change(driver, report, in_array, ToArray(host, 64, other, 32, 16)));
  report.Expect("less of the array", kRefused, Change(driver, report, in_array, ToArray(host, 64, array, 16, 4)));
}

void DefinitionsChangeFreely(const Driver& driver, Report& report) {
  static char host[4096];
  const CUdeviceptr a = MakeMemory(driver, report);
  const CUdeviceptr b = MakeMemory(driver, report);
  const CUarray array = MakeArray(driver, report, 32, 16);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddCopy(driver, report, graph, FromHost(host, a, 64));
  const CUDA_MEMCPY3D in_array = ToArray(host, 64, array, 32, 16);
  report.Expect("to an array", CUDA_SUCCESS, driver.GraphMemcpyNodeSetParams(node, &in_array));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  parameters.memcpy.copyParams = OnDevice(a, 64, b, 64, 16, 4, 2);
  parameters.memcpy.copyCtx = driver.context;
  report.Expect("to a box", CUDA_SUCCESS, driver.GraphNodeSetParams(node, &parameters));
  parameters.memcpy.copyCtx = nullptr;
  report.Expect("with a null context", CUDA_SUCCESS, driver.GraphNodeSetParams(node, &parameters));
  const CUDA_MEMCPY3D box = parameters.memcpy.copyParams;
  parameters.memcpy.copyParams.Depth = 0;
  report.Expect("to depth 0", kInvalid, driver.GraphNodeSetParams(node, &parameters));
  CUDA_MEMCPY3D now{};
  HOLDFAST_NEED(report, driver.GraphMemcpyNodeGetParams(node, &now));
  report.Expect("the node is unchanged", true, Same(now, box));
}

void FillsOfRowsHardlyChange(const Driver& driver, Report& report) {
  const CUdeviceptr a = MakeMemory(driver, report);
  const CUdeviceptr b = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const auto parameters = [](CUdeviceptr target, unsigned int element, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    return CUDA_MEMSET_NODE_PARAMS{target, pitch, 1, element, width, height};
  };
  CUDA_MEMSET_NODE_PARAMS fill = parameters(a, 1, 16, 2, 64);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddMemsetNode(&node, graph, nullptr, 0, &fill, driver.context));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  const auto set = [&](CUDA_MEMSET_NODE_PARAMS to) {
    return driver.GraphExecMemsetNodeSetParams(executable, node, &to, driver.context);
  };
  report.Expect("another address", CUDA_SUCCESS, set(parameters(b, 1, 16, 2, 64)));
  CUDA_MEMSET_NODE_PARAMS other_value = parameters(a, 1, 16, 2, 64);
  other_value.value = 9;
  report.Expect("another value", CUDA_SUCCESS, set(other_value));
  report.Expect("another width", kInvalid, set(parameters(a, 1, 8, 2, 64)));
  report.Expect("another height", kInvalid, set(parameters(a, 1, 16, 4, 64)));
  report.Expect("another pitch", kInvalid, set(parameters(a, 1, 16, 2, 128)));
  report.Expect("other elements", kInvalid, set(parameters(a, 4, 4, 2, 64)));
  report.Expect("one row", kInvalid, set(parameters(a, 1, 16, 1, 0)));
}

}  // namespace

std::vector<Fact> CopyFacts() {
  return {
      {"P1", "arrays are checked", &ArraysAreChecked},
      {"P1b", "an array destroyed twice is a crash", &DestroyedTwice, Ending::kCrashes},
      {"P1c", "to instantiate a copy with a destroyed array is a crash", &ArrayGoneBeforeInstantiation,
       Ending::kCrashes},
      {"P1d", "to launch a copy with a destroyed array is a crash", &ArrayGoneBeforeLaunch, Ending::kCrashes},
      {"P2", "the getter of a copy node gives all back", &GettersGiveAllBack},
      {"P3", "copy nodes of rows and boxes are checked", &NodesAreChecked},
      {"P4", "boxes are copied between host, array and device", &BoxesAreCopied},
      {"P4b", "without a pitch or slice height, rows and slices end where the box ends", &ZeroPitchesEndWithTheBox},
      {"P5", "calls copy rows and boxes too", &CallsCopyBoxes},
      {"P6", "the driver chooses a pitch", &PitchesAreChosen},
      {"P7", "a copy of one row changes in an executable, but not between kinds of memory", &RowsChangeInExecutables},
      {"P8", "a copy of several rows or of an array does not change in an executable", &BoxesStayInExecutables},
      {"P9", "a copy changes freely in a definition", &DefinitionsChangeFreely},
      {"P10", "a fill of several rows hardly changes in an executable", &FillsOfRowsHardlyChange},
  };
}

}  // namespace holdfast::conformance
