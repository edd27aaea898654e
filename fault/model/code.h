// Modules, libraries and kernels. What a kernel does is a host function that the test registered under its name.
#ifndef HOLDFAST_FAULT_MODEL_CODE_H_
#define HOLDFAST_FAULT_MODEL_CODE_H_

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fault/model/control.h"
#include "fault/model/ptx.h"

namespace holdfast::fault::model {

// What a caller may set, of a function and of a kernel.
struct KernelLimits {
  std::atomic<std::uint32_t> shared_memory_bytes{49152};
  std::atomic<int> carveout{-1};
  std::atomic<int> non_portable_cluster{0};
  std::atomic<int> cluster_scheduling{0};
};

// One entry of a loaded image. It outlives its image in the nodes that hold it: an executable made before the code was
// unloaded still runs, a node cannot be instantiated any more.
struct Kernel : std::enable_shared_from_this<Kernel> {
  std::string name;
  std::vector<KernelParameter> parameters;
  int ptx_version = 0;  // of the target, e.g. 70
  HostKernel body = nullptr;
  // The handles that stand for it; null where the kind of image has none.
  CUfunction function = nullptr;
  CUkernel kernel = nullptr;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  std::atomic<bool> loaded{true};
  mutable KernelLimits function_limits;
  mutable KernelLimits kernel_limits;
};

using KernelPointer = std::shared_ptr<const Kernel>;

// The arguments of one launch, copied. Immutable, hence shared by all copies of a node.
class KernelArguments {
 public:
  KernelArguments() = default;

  // `parameters` and `extra` as in cuLaunchKernel. Throws Refusal{CUDA_ERROR_INVALID_VALUE} if both or neither are
  // there for a kernel that has parameters, and for a buffer that is longer than they are.
  KernelArguments(const Kernel& kernel, void** parameters, void** extra);

  // One pointer a parameter; null if the kernel has none. Valid as long as a copy of this lives.
  void** pointers() const;

  // The same as the caller gave it: one of the two is null, or both if the kernel has no parameters.
  void** given_pointers() const;
  void** given_extra() const;

 private:
  struct Block;
  std::shared_ptr<const Block> block_;
};

// Thread safety: all functions may be called from any thread.
void RegisterKernel(const char* name, HostKernel body);

// Images in PTX text. Throws Unmodelled for a binary image, Refusal for what is no PTX.
CUmodule LoadModule(const void* image);
void UnloadModule(CUmodule module);
CUlibrary LoadLibrary(const void* image);
void UnloadLibrary(CUlibrary library);
void UnloadAllCode();
std::uint64_t LiveLibraries();  // modules too

CUfunction ModuleFunction(CUmodule module, const char* name);
CUkernel LibraryKernel(CUlibrary library, const char* name);
std::vector<CUkernel> LibraryKernels(CUlibrary library);

// Each throws Refusal{CUDA_ERROR_INVALID_HANDLE} for what it does not know.
KernelPointer RequireFunction(CUfunction function);
KernelPointer RequireKernel(CUkernel kernel);

// A function's handle, or a kernel's cast to it: cuLaunchKernel takes both.
KernelPointer RequireLaunchable(CUfunction function);

// Runs on a stream's worker.
void RunKernel(const Kernel& kernel, const KernelArguments& arguments, const LaunchShape& shape);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_CODE_H_
