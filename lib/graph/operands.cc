#include "lib/graph/operands.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

namespace holdfast {
namespace {

void CUDA_CB RunFunction(void* user_data) {
  try {
    (*static_cast<const std::function<void()>*>(user_data))();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "holdfast: a host callback threw: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "holdfast: a host callback threw something that is no std::exception\n");
  }
}

}  // namespace

MemoryOperand MemoryOperand::Device(const DeviceMemoryHandle& memory, std::size_t offset_bytes) {
  if (memory == nullptr) {
    throw std::invalid_argument("MemoryOperand::Device: the device memory is null");
  }
  if (offset_bytes >= memory->size_bytes()) {
    throw std::out_of_range("MemoryOperand::Device: the offset is behind the end of the allocation");
  }
  return {Kind::kDevice, static_cast<std::uintptr_t>(memory->address() + offset_bytes), memory};
}

MemoryOperand MemoryOperand::Device(CUdeviceptr address, OpaqueHandle owner) {
  return {Kind::kDevice, static_cast<std::uintptr_t>(address), std::move(owner)};
}

MemoryOperand MemoryOperand::Host(void* address, OpaqueHandle owner) {
  return {Kind::kHost, reinterpret_cast<std::uintptr_t>(address), std::move(owner)};
}

MemoryOperand MemoryOperand::Array(const ArrayHandle& array) {
  if (array == nullptr) {
    throw std::invalid_argument("MemoryOperand::Array: the array is null");
  }
  return Array(array->raw(), array);
}

MemoryOperand MemoryOperand::Array(CUarray array, OpaqueHandle owner) {
  return {Kind::kArray, reinterpret_cast<std::uintptr_t>(array), std::move(owner)};
}

HostCallback HostCallback::FromFunction(std::function<void()> function) {
  if (!function) {
    throw std::invalid_argument("HostCallback::FromFunction: the function is empty");
  }
  auto owned = std::make_shared<std::function<void()>>(std::move(function));
  return {&RunFunction, owned.get(), owned, nullptr};
}

KernelArguments& KernelArguments::Add(const DeviceMemoryHandle& memory) {
  if (memory == nullptr) {
    throw std::invalid_argument("KernelArguments::Add: the device memory is null");
  }
  const CUdeviceptr address = memory->address();
  owners_.reserve(owners_.size() + 1);
  AddBytes(&address, sizeof address);
  return AddOwner(memory);
}

KernelArguments& KernelArguments::AddOwner(OpaqueHandle owner) {
  if (owner != nullptr) {
    owners_.push_back(std::move(owner));
  }
  return *this;
}

std::vector<void*> KernelArguments::Pointers() const {
  std::vector<void*> pointers;
  pointers.reserve(first_slots_.size());
  for (const std::size_t first : first_slots_) {
    // The driver takes pointers to non-const and only reads.
    pointers.push_back(const_cast<unsigned char*>(slots_[first].bytes));
  }
  return pointers;
}

void KernelArguments::AddBytes(const void* value, std::size_t size_bytes) {
  const std::size_t first = slots_.size();
  // All room first: an argument is added whole or not at all.
  first_slots_.reserve(first_slots_.size() + 1);
  sizes_bytes_.reserve(sizes_bytes_.size() + 1);
  slots_.resize(first + (size_bytes + sizeof(Slot) - 1) / sizeof(Slot));
  std::memcpy(slots_[first].bytes, value, size_bytes);
  first_slots_.push_back(first);
  sizes_bytes_.push_back(size_bytes);
}

}  // namespace holdfast
