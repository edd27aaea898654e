// Modules, libraries and kernels. What a kernel does is a host function that the test registered under its name.
#ifndef HOLDFAST_FAULT_MODEL_CODE_H_
#define HOLDFAST_FAULT_MODEL_CODE_H_

#include <cuda.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "fault/model/control.h"
#include "fault/model/ptx.h"

namespace holdfast::fault::model {

// One entry of a loaded image. It outlives its image in the nodes that hold it: an executable made before the code was
// unloaded still runs, a node cannot be instantiated any more.
struct Kernel : std::enable_shared_from_this<Kernel> {
  std::string name;
  std::vector<KernelParameter> parameters;
  HostKernel body = nullptr;
  // The handles that stand for it; null where the kind of image has none.
  CUfunction function = nullptr;
  CUkernel kernel = nullptr;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  std::atomic<bool> loaded{true};
};

using KernelPointer = std::shared_ptr<const Kernel>;

// The arguments of one launch, copied. Immutable, hence shared by all copies of a node.
class KernelArguments {
 public:
  KernelArguments() = default;

  // `parameters` and `extra` as in cuLaunchKernel. Throws Refusal{CUDA_ERROR_INVALID_VALUE} if both or neither are
  // there for a kernel that has parameters.
  KernelArguments(const Kernel& kernel, void** parameters, void** extra);

  // One pointer a parameter; null if the kernel has none. Valid as long as a copy of this lives.
  void** pointers() const;

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
