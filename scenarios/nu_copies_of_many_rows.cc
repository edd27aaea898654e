// NU-C, beyond the reference: copies of rows and slices, at offsets, with pitches, from and to arrays.
//
// Intent: run copies that take a block out of one volume and put it into another, whose rows and slices lie otherwise,
// from device to device, from and to the host, and through an array, and compare with the same copy made by hand.
// Update such a node whole; the driver lets no executable change one. The copy alone keeps its memory and its array.
// What would overlap itself is refused before the driver is asked.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_bytes.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/live_objects.h"

namespace holdfast::scenarios {
namespace {

// How rows and slices lie in memory, and where a block begins in it.
struct Volume {
  std::size_t pitch_bytes, height, slices;
  std::size_t x, y, z;

  std::size_t size_bytes() const { return pitch_bytes * height * slices; }
  std::size_t At(std::size_t column, std::size_t row, std::size_t slice) const {
    return ((z + slice) * height + y + row) * pitch_bytes + x + column;
  }
  CopySide Side(MemoryOperand memory) const {
    return {.memory = std::move(memory), .x_bytes = x, .y = y, .z = z, .pitch_bytes = pitch_bytes, .height = height};
  }
};

struct Block {
  std::size_t width_bytes, height, depth;
};

constexpr Volume kSource{32, 5, 4, 3, 1, 1};
constexpr Volume kTarget{48, 6, 3, 7, 2, 0};
constexpr Block kBlock{9, 3, 3};

Bytes Numbered(std::size_t size_bytes) {
  Bytes bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i % 251 + 1);
  }
  return bytes;
}

// What the copy of `block` from `source` makes of a target of zeroes.
Bytes Expected(const Volume& target, const Volume& source, const Block& block, const Bytes& bytes) {
  Bytes expected(target.size_bytes());
  for (std::size_t slice = 0; slice < block.depth; ++slice) {
    for (std::size_t row = 0; row < block.height; ++row) {
      for (std::size_t column = 0; column < block.width_bytes; ++column) {
        expected[target.At(column, row, slice)] = bytes[source.At(column, row, slice)];
      }
    }
  }
  return expected;
}

CopyParameters Copy(CopySide target, CopySide source, const Block& block) {
  return {.destination = std::move(target),
          .source = std::move(source),
          .width_bytes = block.width_bytes,
          .height = block.height,
          .depth = block.depth};
}

void LaunchOnce(const DeviceSession& session, const GraphExec& executable) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

void CheckDeviceToDevice(harness::Context& context, const DeviceSession& session) {
  const Bytes bytes = Numbered(kSource.size_bytes());
  DeviceMemoryHandle source = AllocateWith(bytes);
  const DeviceMemoryHandle target = AllocateZeroed(kTarget.size_bytes());
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node = graph->AddMemcpyNode(
      Copy(kTarget.Side(MemoryOperand::Device(target)), kSource.Side(MemoryOperand::Device(source)), kBlock));
  source = nullptr;
  const CopyParameters told = node.Copy();
  context.Check(told.width_bytes == kBlock.width_bytes && told.height == kBlock.height && told.depth == kBlock.depth &&
                    told.destination.x_bytes == kTarget.x && told.destination.y == kTarget.y &&
                    told.source.z == kSource.z && told.source.pitch_bytes == kSource.pitch_bytes,
                "the node tells the copy that it was given");
  std::optional<GraphExec> executable(*graph);
  graph.reset();
  node = GraphNode();
  LaunchOnce(session, *executable);
  context.Check(context.shim().live().allocations == 2, "the executable alone keeps the source");
  context.Check(DeviceSession::Read(target) == Expected(kTarget, kSource, kBlock, bytes),
                "a block is copied between volumes that lie otherwise");
}

void CheckThroughHost(harness::Context& context, const DeviceSession& session) {
  Bytes bytes = Numbered(kSource.size_bytes());
  Bytes result(kTarget.size_bytes());
  const DeviceMemoryHandle between = AllocateZeroed(kTarget.size_bytes());
  GraphDefinition graph;
  const GraphNode down = graph.AddMemcpyNode(Copy(kTarget.Side(MemoryOperand::Device(between)),
                                                  kSource.Side(MemoryOperand::Host(bytes.data(), nullptr)), kBlock));
  graph.AddMemcpyNode(Copy(kTarget.Side(MemoryOperand::Host(result.data(), nullptr)),
                           kTarget.Side(MemoryOperand::Device(between)), kBlock),
                      {{down}});
  LaunchOnce(session, GraphExec(graph));
  context.Check(result == Expected(kTarget, kSource, kBlock, bytes), "a block is copied from and to the host");
}

// Rows of one slice into a plane array and out of it, and a block into an array of three dimensions.
void CheckArrays(harness::Context& context, const DeviceSession& session) {
  const Volume plane_source{24, 6, 1, 2, 1, 0}, plane_target{40, 5, 1, 5, 0, 0};
  const Block plane{8, 4, 1};
  const Bytes bytes = Numbered(plane_source.size_bytes());
  const DeviceMemoryHandle source = AllocateWith(bytes);
  const DeviceMemoryHandle target = AllocateZeroed(plane_target.size_bytes());
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  descriptor.Width = 16;
  descriptor.Height = 8;
  descriptor.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  descriptor.NumChannels = 1;
  ArrayHandle array = Array::Create(descriptor);
  CopySide in_array{.memory = MemoryOperand::Array(array), .x_bytes = 3, .y = 2};
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode in = graph->AddMemcpyNode(Copy(in_array, plane_source.Side(MemoryOperand::Device(source)), plane));
  graph->AddMemcpyNode(Copy(plane_target.Side(MemoryOperand::Device(target)), in_array, plane), {{in}});
  array = nullptr;
  in_array.memory.owner = nullptr;
  const GraphExec executable(*graph);
  in = GraphNode();
  graph.reset();
  LaunchOnce(session, executable);
  context.Check(DeviceSession::Read(target) == Expected(plane_target, plane_source, plane, bytes),
                "rows go into an array and out of it");
}

void CheckArrayIsLetGo(harness::Context& context) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  descriptor.Width = 16;
  descriptor.Height = 4;
  descriptor.Depth = 2;
  descriptor.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  descriptor.NumChannels = 1;
  ArrayHandle array = Array::Create(descriptor);
  const std::weak_ptr<const Array> watched = array;
  const DeviceMemoryHandle source = AllocateWith(Numbered(std::size_t{16} * 4 * 2));
  std::optional<GraphDefinition> graph(std::in_place);
  graph->AddMemcpyNode(Copy({.memory = MemoryOperand::Array(array)},
                            {.memory = MemoryOperand::Device(source), .pitch_bytes = 16, .height = 4}, {16, 4, 2}));
  array = nullptr;
  Settle(context);
  context.Check(!watched.expired(), "the copy keeps its array");
  graph.reset();
  Settle(context);
  context.Check(watched.expired(), "the array goes with the graph");
}

void CheckUpdates(harness::Context& context, const DeviceSession& session) {
  const Bytes bytes = Numbered(kSource.size_bytes());
  const DeviceMemoryHandle source = AllocateWith(bytes);
  const DeviceMemoryHandle first = AllocateZeroed(kTarget.size_bytes());
  const DeviceMemoryHandle second = AllocateZeroed(kTarget.size_bytes());
  const CopySide from = kSource.Side(MemoryOperand::Device(source));
  GraphDefinition graph;
  GraphNode node = graph.AddMemcpyNode(MemoryOperand::Device(first), MemoryOperand::Device(source), 4);
  const GraphExec of_one_row(graph);
  node.UpdateMemcpy(Copy(kTarget.Side(MemoryOperand::Device(first)), from, kBlock));
  const GraphExec executable(graph);
  LaunchOnce(session, executable);
  const Bytes expected = Expected(kTarget, kSource, kBlock, bytes);
  context.Check(DeviceSession::Read(first) == expected, "a node of one row is updated to many");

  const CopyParameters elsewhere = Copy(kTarget.Side(MemoryOperand::Device(second)), from, kBlock);
  CheckRefused(context, "an executable's copy of many rows to another place",
               [&] { executable.Node(node).UpdateMemcpy(elsewhere); });
  CheckRefused(context, "an executable's copy of one row made to many",
               [&] { of_one_row.Node(node).UpdateMemcpy(elsewhere); });
  of_one_row.Node(node).UpdateMemcpy({.destination = {.memory = MemoryOperand::Device(second)},
                                      .source = {.memory = MemoryOperand::Device(source)},
                                      .width_bytes = kSource.pitch_bytes});
  LaunchOnce(session, of_one_row);
  const Bytes copied = DeviceSession::Read(second);
  context.Check(std::equal(copied.begin(), copied.begin() + kSource.pitch_bytes, bytes.begin()) &&
                    copied[kSource.pitch_bytes] == 0,
                "an executable's copy of one row is updated by whole parameters");
}

void CheckOverlaps(harness::Context& context) {
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(4096);
  const MemoryOperand operand = MemoryOperand::Device(memory);
  GraphDefinition graph;
  const CopySide good{.memory = operand, .pitch_bytes = 32, .height = 8};
  const CopySide narrow{.memory = operand, .x_bytes = 8, .pitch_bytes = 16, .height = 8};
  const CopySide low{.memory = operand, .y = 4, .pitch_bytes = 32, .height = 6};
  const Block block{12, 3, 2};
  for (const CopySide& side : {narrow, low}) {
    CheckThrows<std::invalid_argument>(context, "a destination whose rows or slices overlap",
                                       [&] { graph.AddMemcpyNode(Copy(side, good, block)); });
    CheckThrows<std::invalid_argument>(context, "a source whose rows or slices overlap",
                                       [&] { graph.AddMemcpyNode(Copy(good, side, block)); });
  }
  context.Check(graph.Nodes().empty(), "what was refused is not in the graph");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckDeviceToDevice(context, session);
  CheckThroughHost(context, session);
  CheckArrays(context, session);
  CheckArrayIsLetGo(context);
  CheckUpdates(context, session);
  CheckOverlaps(context);
  CheckNoOwnersLeft(context);
  context.Oracle("bytes of copies of rows, slices and arrays");
}

const harness::Registration registration({
    .name = "NU.copies-of-many-rows",
    .summary =
        "Copies of rows and slices, with offsets and pitches, from and to arrays, run right and keep what they use",
    .covers = {"NU-C"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
