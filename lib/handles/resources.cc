#include "lib/handles/resources.h"

#include <stdexcept>
#include <utility>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/handles/handle_registry.h"

namespace holdfast {
namespace {

using driver::Check;
using driver::GetDriver;
using driver::ReportCleanupFailure;
using Events = handles::HandleRegistry<Event>;
using Kernels = handles::HandleRegistry<Kernel>;

// Wraps a fresh driver object. If the handle cannot be allocated the object is destroyed again, so that a failure
// leaves nothing behind.
template <typename Resource, typename Destroy, typename... Parts>
std::shared_ptr<const Resource> Adopt(Destroy destroy, Parts... parts) {
  try {
    return std::make_shared<const Resource>(parts...);
  } catch (...) {
    destroy();
    throw;
  }
}

// Makes a context current on the calling thread for as long as it lives.
class CurrentContextScope {
 public:
  explicit CurrentContextScope(CUcontext context) noexcept {
    ReportCleanupFailure("cuCtxGetCurrent", GetDriver().cuCtxGetCurrent(&previous_), nullptr);
    ReportCleanupFailure("cuCtxSetCurrent", GetDriver().cuCtxSetCurrent(context), context);
  }
  ~CurrentContextScope() { ReportCleanupFailure("cuCtxSetCurrent", GetDriver().cuCtxSetCurrent(previous_), previous_); }
  CurrentContextScope(const CurrentContextScope&) = delete;
  CurrentContextScope& operator=(const CurrentContextScope&) = delete;

 private:
  CUcontext previous_ = nullptr;
};

}  // namespace

StreamHandle Stream::Create(unsigned flags) {
  CUstream raw = nullptr;
  Check("cuStreamCreate", GetDriver().cuStreamCreate(&raw, flags), "creating a stream");
  return Adopt<Stream>([raw] { (void)GetDriver().cuStreamDestroy(raw); }, raw);
}

StreamHandle Stream::CreateWithPriority(unsigned flags, int priority) {
  CUstream raw = nullptr;
  Check("cuStreamCreateWithPriority", GetDriver().cuStreamCreateWithPriority(&raw, flags, priority),
        "creating a stream");
  return Adopt<Stream>([raw] { (void)GetDriver().cuStreamDestroy(raw); }, raw);
}

StreamHandle Stream::Borrow(CUstream raw, OpaqueHandle owner) {
  return std::make_shared<const Stream>(raw, std::move(owner));
}

Stream::~Stream() {
  if (!is_borrowed_) {
    ReportCleanupFailure("cuStreamDestroy", GetDriver().cuStreamDestroy(raw_), raw_);
  }
}

void Stream::Synchronize() const {
  Check("cuStreamSynchronize", GetDriver().cuStreamSynchronize(raw_), "waiting for a stream");
}

EventHandle Event::Create(unsigned flags) {
  CUevent raw = nullptr;
  Check("cuEventCreate", GetDriver().cuEventCreate(&raw, flags), "creating an event");
  EventHandle event = Adopt<Event>([raw] { (void)GetDriver().cuEventDestroy(raw); }, raw, flags);
  Events::Process().Add(event);
  return event;
}

EventHandle Event::Borrow(CUevent raw, OpaqueHandle owner) {
  if (raw == nullptr) {
    throw std::invalid_argument("Event::Borrow: the event is null");
  }
  return Events::Process().FindOrAdd(std::make_shared<const Event>(raw, std::move(owner)));
}

EventHandle Event::Find(CUevent raw) { return Events::Process().Find(raw); }

Event::~Event() {
  Events::Process().Remove(*this);
  if (is_borrowed_) {
    return;
  }
  ReportCleanupFailure("cuEventDestroy", GetDriver().cuEventDestroy(raw_), raw_);
}

DeviceMemoryHandle DeviceMemory::Allocate(std::size_t size_bytes) {
  CUcontext context = nullptr;
  Check("cuCtxGetCurrent", GetDriver().cuCtxGetCurrent(&context), "allocating device memory");
  CUdeviceptr address = 0;
  Check("cuMemAlloc", GetDriver().cuMemAlloc(&address, size_bytes), "allocating device memory");
  return Adopt<DeviceMemory>([address] { (void)GetDriver().cuMemFree(address); }, address, size_bytes, context);
}

DeviceMemory::~DeviceMemory() {
  const CurrentContextScope scope(context_);
  ReportCleanupFailure("cuMemFree", GetDriver().cuMemFree(address_), reinterpret_cast<const void*>(address_));
}

HostMemoryHandle HostMemory::Allocate(std::size_t size_bytes) {
  CUcontext context = nullptr;
  Check("cuCtxGetCurrent", GetDriver().cuCtxGetCurrent(&context), "allocating pinned host memory");
  void* address = nullptr;
  Check("cuMemHostAlloc", GetDriver().cuMemHostAlloc(&address, size_bytes, CU_MEMHOSTALLOC_PORTABLE),
        "allocating pinned host memory");
  return Adopt<HostMemory>([address] { (void)GetDriver().cuMemFreeHost(address); }, address, size_bytes, context);
}

HostMemory::~HostMemory() {
  const CurrentContextScope scope(context_);
  ReportCleanupFailure("cuMemFreeHost", GetDriver().cuMemFreeHost(address_), address_);
}

ArrayHandle Array::Create(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  CUcontext context = nullptr;
  Check("cuCtxGetCurrent", GetDriver().cuCtxGetCurrent(&context), "creating an array");
  CUarray raw = nullptr;
  Check("cuArray3DCreate", GetDriver().cuArray3DCreate(&raw, &descriptor), "creating an array");
  return Adopt<Array>([raw] { (void)GetDriver().cuArrayDestroy(raw); }, raw, descriptor, context);
}

Array::~Array() {
  const CurrentContextScope scope(context_);
  ReportCleanupFailure("cuArrayDestroy", GetDriver().cuArrayDestroy(raw_), raw_);
}

LibraryHandle Library::Load(const std::string& image) {
  CUlibrary raw = nullptr;
  Check("cuLibraryLoadData",
        GetDriver().cuLibraryLoadData(&raw, image.c_str(), nullptr, nullptr, 0u, nullptr, nullptr, 0u),
        "loading a code image");
  return Adopt<Library>([raw] { (void)GetDriver().cuLibraryUnload(raw); }, raw);
}

Library::~Library() { ReportCleanupFailure("cuLibraryUnload", GetDriver().cuLibraryUnload(raw_), raw_); }

KernelHandle Kernel::Find(LibraryHandle library, const std::string& name) {
  if (library == nullptr) {
    throw std::invalid_argument("Kernel::Find: the library is null");
  }
  CUkernel raw = nullptr;
  Check("cuLibraryGetKernel", GetDriver().cuLibraryGetKernel(&raw, library->raw(), name.c_str()),
        "looking a kernel up");
  return Kernels::Process().FindOrAdd(std::make_shared<const Kernel>(raw, std::move(library)));
}

KernelHandle Kernel::Borrow(CUkernel raw, OpaqueHandle owner) {
  if (raw == nullptr) {
    throw std::invalid_argument("Kernel::Borrow: the kernel is null");
  }
  return Kernels::Process().FindOrAdd(std::make_shared<const Kernel>(raw, std::move(owner)));
}

KernelHandle Kernel::Find(CUkernel raw) { return Kernels::Process().Find(raw); }

Kernel::~Kernel() { Kernels::Process().Remove(*this); }

}  // namespace holdfast
