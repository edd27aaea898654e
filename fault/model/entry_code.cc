// Entry points: modules, libraries, kernels and their launch outside of graphs.
#include <cuda.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "fault/model/call.h"
#include "fault/model/capture.h"
#include "fault/model/capture_mode.h"
#include "fault/model/code.h"
#include "fault/model/context.h"
#include "fault/model/node.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {
namespace {

std::string ReadFile(const char* path) {
  Require(path != nullptr);
  std::ifstream file(path, std::ios::binary);
  Require(file.good(), CUDA_ERROR_FILE_NOT_FOUND);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Runs the kernel, or captures it. `function` is a function's handle or a kernel's, and the node remembers which.
void Launch(CUfunction function, CUDA_KERNEL_NODE_PARAMS_v2 launch, CUstream stream,
            const std::shared_ptr<const KernelAttributes>& attributes = nullptr) {
  const KernelPointer kernel = RequireLaunchable(function);
  launch.func = kernel->function;
  if (reinterpret_cast<CUkernel>(function) == kernel->kernel) launch.kern = kernel->kernel;
  const StreamPointer target = RequireUsableStream(stream);
  const auto make = [&] { return MakeKernelNode(launch, attributes); };
  // What is wrong with the arguments leaves a capture valid; what is wrong with the rest does not.
  static_cast<void>(KernelArguments(*kernel, launch.kernelParams, launch.extra));
  if (CaptureNode(*target, make, OnRefusal::kInvalidate)) return;
  StreamWork work;
  work.run = [node = make()] { RunKernel(*node.kernel, node.arguments, node.shape); };
  Submit(*target, std::move(work));
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(module != nullptr);
    RequireCurrentContext();
    *module = LoadModule(image);
  });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*, void**) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(module != nullptr);
    RequireCurrentContext();
    *module = LoadModule(image);
  });
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(module != nullptr);
    RequireCurrentContext();
    *module = LoadModule(ReadFile(path).c_str());
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(module != nullptr, CUDA_ERROR_INVALID_HANDLE);
    RequireSafe();
    UnloadModule(module);
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(function != nullptr);
    *function = ModuleFunction(module, name);
  });
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned int, CUlibraryOption*,
                           void**, unsigned int) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(library != nullptr);
    *library = LoadLibrary(code);
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*, void**, unsigned int,
                               CUlibraryOption*, void**, unsigned int) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(library != nullptr);
    *library = LoadLibrary(ReadFile(path).c_str());
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(library != nullptr, CUDA_ERROR_INVALID_HANDLE);
    RequireSafe();
    UnloadLibrary(library);
  });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(kernel != nullptr);
    *kernel = LibraryKernel(library, name);
  });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(count != nullptr);
    *count = static_cast<unsigned int>(LibraryKernels(library).size());
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int count, CUlibrary library) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(kernels != nullptr);
    const std::vector<CUkernel> all = LibraryKernels(library);
    std::copy_n(all.begin(), std::min<std::size_t>(count, all.size()), kernels);
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(function != nullptr);
    RequireCurrentContext();
    *function = RequireKernel(kernel)->function;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(library != nullptr);
    *library = RequireKernel(kernel)->library;
  });
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(name != nullptr);
    *name = RequireKernel(kernel)->name.c_str();
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(name != nullptr);
    *name = RequireFunction(function)->name.c_str();
  });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(module != nullptr);
    const KernelPointer kernel = RequireFunction(function);
    if (kernel->module == nullptr) throw Unmodelled{};
    *module = kernel->module;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  return Enter(__func__, Rule::kNormal, [&] {
    CUDA_KERNEL_NODE_PARAMS_v2 launch{nullptr, grid_x,       grid_y,     grid_z, block_x, block_y,
                                      block_z, shared_bytes, parameters, extra,  nullptr, nullptr};
    Launch(function, launch, stream);
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(config != nullptr);
    auto attributes = std::make_shared<const KernelAttributes>(LaunchAttributes(config->attrs, config->numAttrs));
    CUDA_KERNEL_NODE_PARAMS_v2 launch{nullptr,           config->gridDimX,
                                      config->gridDimY,  config->gridDimZ,
                                      config->blockDimX, config->blockDimY,
                                      config->blockDimZ, config->sharedMemBytes,
                                      parameters,        extra,
                                      nullptr,           nullptr};
    Launch(function, launch, config->hStream, attributes);
  });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                   unsigned int shared_bytes, CUstream stream, void** parameters) {
  return Enter(__func__, Rule::kNormal, [&] {
    CUDA_KERNEL_NODE_PARAMS_v2 launch{nullptr, grid_x,       grid_y,     grid_z,  block_x, block_y,
                                      block_z, shared_bytes, parameters, nullptr, nullptr, nullptr};
    KernelAttributes attributes;
    attributes.cooperative = 1;
    Launch(function, launch, stream, std::make_shared<const KernelAttributes>(attributes));
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
