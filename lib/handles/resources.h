// Typed handles: shared ownership of the driver objects that graph nodes refer to.
//
// Each is made by a static function that throws DriverError, is immutable afterwards, and destroys its object with
// the last reference. Destructors never throw: a failing driver call is reported (driver::ReportCleanupFailure).
// What somebody else made is borrowed: it is not destroyed, and its owner is kept instead.
//
// Thread safety: as std::shared_ptr; the object itself follows CUDA's rules.
#ifndef HOLDFAST_LIB_HANDLES_RESOURCES_H_
#define HOLDFAST_LIB_HANDLES_RESOURCES_H_

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "lib/handles/opaque_handle.h"

namespace holdfast {

class Stream;
class Event;
class DeviceMemory;
class HostMemory;
class Array;
class Library;
class Kernel;
using StreamHandle = std::shared_ptr<const Stream>;
using EventHandle = std::shared_ptr<const Event>;
using DeviceMemoryHandle = std::shared_ptr<const DeviceMemory>;
using HostMemoryHandle = std::shared_ptr<const HostMemory>;
using ArrayHandle = std::shared_ptr<const Array>;
using LibraryHandle = std::shared_ptr<const Library>;
using KernelHandle = std::shared_ptr<const Kernel>;

class Stream {
 public:
  // REQUIRES: a context is current on the calling thread (so for every Create, Allocate and Load below).
  static StreamHandle Create(unsigned flags = CU_STREAM_NON_BLOCKING);
  // Lower numbers are served first.
  static StreamHandle CreateWithPriority(unsigned flags, int priority);

  // `owner` keeps the raw stream valid; null if the caller sees to that. Null is CUDA's default stream.
  static StreamHandle Borrow(CUstream raw, OpaqueHandle owner);

  explicit Stream(CUstream raw) noexcept : raw_(raw), is_borrowed_(false) {}
  Stream(CUstream raw, OpaqueHandle owner) noexcept : raw_(raw), is_borrowed_(true), owner_(std::move(owner)) {}
  ~Stream();
  Stream(const Stream&) = delete;  // one driver object, one owner; share the handle instead
  Stream& operator=(const Stream&) = delete;

  CUstream raw() const noexcept { return raw_; }

  // Waits, through cuStreamSynchronize, for all work on the stream. Destructor callbacks of that work may come later.
  void Synchronize() const;

 private:
  CUstream raw_;
  bool is_borrowed_;
  OpaqueHandle owner_;
};

class Event {
 public:
  static EventHandle Create(unsigned flags = CU_EVENT_DISABLE_TIMING);

  // The live handle of that raw event, else one that keeps `owner`. Throws std::invalid_argument for null.
  static EventHandle Borrow(CUevent raw, OpaqueHandle owner);

  // The live handle of a raw event read back from the driver; null if there is none.
  static EventHandle Find(CUevent raw);

  Event(CUevent raw, unsigned flags) noexcept : raw_(raw), flags_(flags), is_borrowed_(false) {}
  Event(CUevent raw, OpaqueHandle owner) noexcept
      : raw_(raw), flags_(0), is_borrowed_(true), owner_(std::move(owner)) {}
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  CUevent raw() const noexcept { return raw_; }
  // As given to Create; 0 if it is borrowed, and not known.
  unsigned flags() const noexcept { return flags_; }
  bool is_borrowed() const noexcept { return is_borrowed_; }
  // Null unless it is borrowed.
  const OpaqueHandle& owner() const noexcept { return owner_; }

 private:
  CUevent raw_;
  unsigned flags_;
  bool is_borrowed_;
  OpaqueHandle owner_;
};

class DeviceMemory {
 public:
  static DeviceMemoryHandle Allocate(std::size_t size_bytes);
  DeviceMemory(CUdeviceptr address, std::size_t size_bytes, CUcontext context) noexcept
      : address_(address), size_bytes_(size_bytes), context_(context) {}

  // Frees the memory in the context that it was allocated in, whatever is current on the calling thread: the cleanup
  // context may be a thread with no context at all. The other handles need none to be destroyed.
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  CUdeviceptr address() const noexcept { return address_; }
  std::size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  CUdeviceptr address_;
  std::size_t size_bytes_;
  CUcontext context_;
};

// Pinned host memory, which devices reach under the same address.
class HostMemory {
 public:
  static HostMemoryHandle Allocate(std::size_t size_bytes);
  HostMemory(void* address, std::size_t size_bytes, CUcontext context) noexcept
      : address_(address), size_bytes_(size_bytes), context_(context) {}

  // In the context that it was allocated in, as DeviceMemory.
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  void* address() const noexcept { return address_; }
  std::size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  void* address_;
  std::size_t size_bytes_;
  CUcontext context_;
};

// An array: memory with a layout of the driver's own, of one to three dimensions.
class Array {
 public:
  // A descriptor of height 0 has one dimension, of depth 0 two (layers and cube maps: see cuArray3DCreate).
  static ArrayHandle Create(const CUDA_ARRAY3D_DESCRIPTOR& descriptor);
  Array(CUarray raw, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, CUcontext context) noexcept
      : raw_(raw), descriptor_(descriptor), context_(context) {}

  // In the context that the array was made in, as DeviceMemory.
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  CUarray raw() const noexcept { return raw_; }
  const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const noexcept { return descriptor_; }

 private:
  CUarray raw_;
  CUDA_ARRAY3D_DESCRIPTOR descriptor_;
  CUcontext context_;
};

// A loaded code image (PTX text, cubin or fatbin).
class Library {
 public:
  static LibraryHandle Load(const std::string& image);
  explicit Library(CUlibrary raw) noexcept : raw_(raw) {}
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  CUlibrary raw() const noexcept { return raw_; }

 private:
  CUlibrary raw_;
};

// A kernel of a library, which it keeps loaded.
class Kernel {
 public:
  // While a handle of the kernel is alive, the same one. Throws std::invalid_argument for a null library.
  static KernelHandle Find(LibraryHandle library, const std::string& name);

  // The live handle of that raw kernel, else one that keeps `owner`. Throws std::invalid_argument for null.
  static KernelHandle Borrow(CUkernel raw, OpaqueHandle owner);

  // The live handle of a raw kernel read back from the driver; null if there is none.
  static KernelHandle Find(CUkernel raw);

  Kernel(CUkernel raw, LibraryHandle library) noexcept : raw_(raw), library_(std::move(library)) {}
  Kernel(CUkernel raw, OpaqueHandle owner) noexcept : raw_(raw), owner_(std::move(owner)) {}
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  CUkernel raw() const noexcept { return raw_; }
  // Null if it is borrowed.
  const LibraryHandle& library() const noexcept { return library_; }
  // Null unless it is borrowed.
  const OpaqueHandle& owner() const noexcept { return owner_; }

 private:
  CUkernel raw_;
  LibraryHandle library_;
  OpaqueHandle owner_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_HANDLES_RESOURCES_H_
