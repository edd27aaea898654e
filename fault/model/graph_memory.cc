#include "fault/model/graph_memory.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "fault/model/call.h"

namespace holdfast::fault::model {
namespace {

struct Reservations {
  std::mutex mutex;
  std::unordered_map<CUdeviceptr, std::weak_ptr<GraphMemory>> by_address;  // guarded by mutex
};

Reservations& All() {
  static auto* reservations = new Reservations;
  return *reservations;
}

void RequireKnownProperties(const CUmemPoolProps& properties) {
  Require(properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
  if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  }
  Require(properties.location.id == 0);
}

void RequireKnownAccess(const CUDA_MEM_ALLOC_NODE_PARAMS& given) {
  if (given.accessDescCount > 0 && given.accessDescs == nullptr) {
    Misuse("access descriptors are counted and not given (the real driver crashes)");
  }
  for (std::size_t i = 0; i < given.accessDescCount; ++i) {
    const CUmemAccessDesc& access = given.accessDescs[i];
    Require(access.location.id == 0, CUDA_ERROR_INVALID_DEVICE);
    Require(access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CUDA_ERROR_NOT_SUPPORTED);
  }
}

}  // namespace

std::shared_ptr<GraphMemory> GraphMemory::Reserve(const CUDA_MEM_ALLOC_NODE_PARAMS& given) {
  RequireKnownProperties(given.poolProps);
  RequireKnownAccess(given);
  AllocationPointer allocation = ReserveGraphMemory(given.bytesize);
  const CUdeviceptr address = allocation->address();
  auto memory = std::make_shared<GraphMemory>(given, std::move(allocation));
  Reservations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.by_address[address] = memory;
  return memory;
}

std::shared_ptr<GraphMemory> GraphMemory::Find(CUdeviceptr address) {
  Reservations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.by_address.find(address);
  return found == all.by_address.end() ? nullptr : found->second.lock();
}

GraphMemory::GraphMemory(const CUDA_MEM_ALLOC_NODE_PARAMS& given, AllocationPointer allocation)
    : allocation_(std::move(allocation)),
      access_(given.accessDescs, given.accessDescs + given.accessDescCount),
      parameters_(given) {
  parameters_.accessDescs = access_.empty() ? nullptr : access_.data();
  parameters_.dptr = allocation_->address();
}

GraphMemory::~GraphMemory() {
  {
    Reservations& all = All();
    const std::lock_guard<std::mutex> lock(all.mutex);
    // Another may have taken the place of an address that a reset of the context took away.
    const auto found = all.by_address.find(allocation_->address());
    if (found != all.by_address.end() && found->second.expired()) all.by_address.erase(found);
  }
  EndReservation(*allocation_);
}

}  // namespace holdfast::fault::model
