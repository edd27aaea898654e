// Streams, events, memory, libraries and kernels, and what is done with them outside graphs.
#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/node_parameters.h"
#include "lib/graph/operands.h"
#include "lib/python/core/bindings.h"
#include "lib/python/core/pybind.h"
#include "lib/python/core/python_owner.h"
#include "lib/python/core/resource_objects.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

using driver::Check;
using driver::GetDriver;

template <typename Raw>
std::uintptr_t AsNumber(Raw raw) {
  return reinterpret_cast<std::uintptr_t>(raw);
}

StreamObject BorrowStream(std::uintptr_t raw, const py::object& owner) {
  return {Stream::Borrow(reinterpret_cast<CUstream>(raw), OwnerOf(owner))};
}

EventObject BorrowEvent(std::uintptr_t raw, const py::object& owner) {
  return {Event::Borrow(reinterpret_cast<CUevent>(raw), OwnerOf(owner))};
}

KernelObject BorrowKernel(std::uintptr_t raw, const py::object& owner) {
  return {Kernel::Borrow(reinterpret_cast<CUkernel>(raw), OwnerOf(owner))};
}

void Record(const EventObject& event, const StreamObject& stream) {
  Check("cuEventRecord", GetDriver().cuEventRecord(event.handle->raw(), stream.handle->raw()), "recording an event");
}

void Synchronize(const EventObject& event) {
  Check("cuEventSynchronize", GetDriver().cuEventSynchronize(event.handle->raw()), "waiting for an event");
}

void WaitFor(const StreamObject& stream, const EventObject& event) {
  Check("cuStreamWaitEvent", GetDriver().cuStreamWaitEvent(stream.handle->raw(), event.handle->raw(), 0u),
        "having a stream wait for an event");
}

bool Query(const EventObject& event) {
  const CUresult result = GetDriver().cuEventQuery(event.handle->raw());
  if (result == CUDA_ERROR_NOT_READY) {
    return false;
  }
  Check("cuEventQuery", result, "asking for an event");
  return true;
}

float ElapsedMilliseconds(const EventObject& end, const EventObject& start) {
  float milliseconds = 0;
  Check("cuEventElapsedTime", GetDriver().cuEventElapsedTime(&milliseconds, start.handle->raw(), end.handle->raw()),
        "asking for the time between two events");
  return milliseconds;
}

MemoryObject AllocateDevice(std::size_t size_bytes) {
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(size_bytes);
  return {memory, static_cast<std::uintptr_t>(memory->address()), memory->size_bytes()};
}

MemoryObject AllocateHost(std::size_t size_bytes) {
  const HostMemoryHandle memory = HostMemory::Allocate(size_bytes);
  return {memory, AsNumber(memory->address()), memory->size_bytes()};
}

LibraryObject LoadLibrary(const py::bytes& image) {
  const std::string bytes = image;
  const GilReleased released;
  return {Library::Load(bytes)};
}

KernelObject FindKernel(const LibraryObject& library, const std::string& name) {
  return {Kernel::Find(library.handle, name)};
}

void Copy(std::uintptr_t destination, std::uintptr_t source, std::size_t size_bytes, const StreamObject& stream) {
  Check("cuMemcpyAsync", GetDriver().cuMemcpyAsync(destination, source, size_bytes, stream.handle->raw()),
        "copying memory");
}

void Fill(std::uintptr_t destination, unsigned value, unsigned element_size_bytes, std::size_t count,
          const StreamObject& stream) {
  constexpr const char* kDoing = "filling memory";
  const CUstream raw = stream.handle->raw();
  switch (element_size_bytes) {
    case 1:
      return Check("cuMemsetD8Async",
                   GetDriver().cuMemsetD8Async(destination, static_cast<unsigned char>(value), count, raw), kDoing);
    case 2:
      return Check("cuMemsetD16Async",
                   GetDriver().cuMemsetD16Async(destination, static_cast<unsigned short>(value), count, raw), kDoing);
    case 4:
      return Check("cuMemsetD32Async", GetDriver().cuMemsetD32Async(destination, value, count, raw), kDoing);
    default:
      throw std::invalid_argument("an element has 1, 2 or 4 bytes, not " + std::to_string(element_size_bytes));
  }
}

void Launch(const KernelObject& kernel, const LaunchConfiguration& configuration, const KernelArguments& arguments,
            const StreamObject& stream) {
  CUlaunchConfig launch{};
  launch.gridDimX = configuration.grid[0];
  launch.gridDimY = configuration.grid[1];
  launch.gridDimZ = configuration.grid[2];
  launch.blockDimX = configuration.block[0];
  launch.blockDimY = configuration.block[1];
  launch.blockDimZ = configuration.block[2];
  launch.sharedMemBytes = configuration.shared_memory_bytes;
  launch.hStream = stream.handle->raw();
  CUlaunchAttribute attributes[2] = {};
  launch.attrs = attributes;
  if (configuration.cluster[0] != 0) {
    CUlaunchAttribute& attribute = attributes[launch.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {configuration.cluster[0], configuration.cluster[1], configuration.cluster[2]};
  }
  if (configuration.cooperative) {
    CUlaunchAttribute& attribute = attributes[launch.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
  }
  std::vector<void*> pointers = arguments.Pointers();
  // A kernel serves as a function: the driver finds the one of the current context.
  const auto function = reinterpret_cast<CUfunction>(kernel.handle->raw());
  Check("cuLaunchKernelEx", GetDriver().cuLaunchKernelEx(&launch, function, pointers.data(), nullptr),
        "launching a kernel");
}

void BindStreams(py::module_& module) {
  Class<StreamObject>(module, "Stream")
      .def_static(
          "create",
          [](unsigned flags, int priority) { return StreamObject{Stream::CreateWithPriority(flags, priority)}; },
          py::arg("flags"), py::arg("priority"), WithoutGil())
      .def_static("borrow", &BorrowStream, py::arg("raw"), py::arg("owner"))
      .def_property_readonly("raw", [](const StreamObject& stream) { return AsNumber(stream.handle->raw()); })
      .def(
          "synchronize", [](const StreamObject& stream) { stream.handle->Synchronize(); }, WithoutGil())
      .def("wait", &WaitFor, py::arg("event"), WithoutGil());
}

void BindEvents(py::module_& module) {
  Class<EventObject>(module, "Event")
      .def_static(
          "create", [](unsigned flags) { return EventObject{Event::Create(flags)}; }, py::arg("flags"), WithoutGil())
      .def_static("borrow", &BorrowEvent, py::arg("raw"), py::arg("owner"))
      .def_property_readonly("raw", [](const EventObject& event) { return AsNumber(event.handle->raw()); })
      .def_property_readonly("flags",
                             [](const EventObject& event) -> std::optional<unsigned> {
                               return event.handle->is_borrowed() ? std::nullopt : std::optional(event.handle->flags());
                             })
      .def_property_readonly("owner", [](const EventObject& event) { return ObjectOf(event.handle->owner()); })
      .def("record", &Record, py::arg("stream"), WithoutGil())
      .def("synchronize", &Synchronize, WithoutGil())
      .def("query", &Query, WithoutGil())
      .def("elapsed_since_ms", &ElapsedMilliseconds, py::arg("start"), WithoutGil());
}

void BindMemory(py::module_& module) {
  Class<MemoryObject>(module, "Memory")
      .def_static("allocate_device", &AllocateDevice, py::arg("size_bytes"), WithoutGil())
      .def_static("allocate_host", &AllocateHost, py::arg("size_bytes"), WithoutGil())
      .def_readonly("address", &MemoryObject::address)
      .def_readonly("size_bytes", &MemoryObject::size_bytes);
  module.def("copy", &Copy, py::arg("destination"), py::arg("source"), py::arg("size_bytes"), py::arg("stream"),
             WithoutGil());
  module.def("fill", &Fill, py::arg("destination"), py::arg("value"), py::arg("element_size_bytes"), py::arg("count"),
             py::arg("stream"), WithoutGil());
}

void BindCode(py::module_& module) {
  Class<LibraryObject>(module, "Library").def_static("load", &LoadLibrary, py::arg("image"));
  Class<KernelObject>(module, "Kernel")
      .def_static("find", &FindKernel, py::arg("library"), py::arg("name"), WithoutGil())
      .def_static("borrow", &BorrowKernel, py::arg("raw"), py::arg("owner"))
      .def_property_readonly("raw", [](const KernelObject& kernel) { return AsNumber(kernel.handle->raw()); })
      .def_property_readonly("owner", [](const KernelObject& kernel) { return ObjectOf(kernel.handle->owner()); })
      .def(
          "parameter_sizes", [](const KernelObject& kernel) { return graph::ParameterSizes(kernel.handle->raw()); },
          WithoutGil());
}

}  // namespace

void BindResources(py::module_& module) {
  BindStreams(module);
  BindEvents(module);
  BindMemory(module);
  BindCode(module);
  // Its arguments are bound by then: see BindOperands.
  module.def("launch", &Launch, py::arg("kernel"), py::arg("configuration"), py::arg("arguments"), py::arg("stream"),
             WithoutGil());
}

}  // namespace holdfast::python
