// Entry points: modules, libraries, kernels and their launch outside of graphs.
#include <cuda.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "fault/model/call.h"
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

CUresult ParameterInfo(const char* name, const auto& find, size_t index, size_t* offset, size_t* bytes) {
  return Enter(name, Rule::kNormal, [&] {
    Require(offset != nullptr);
    const KernelPointer kernel = find();
    Require(index < kernel->parameters.size());
    *offset = kernel->parameters[index].offset;
    if (bytes != nullptr) *bytes = kernel->parameters[index].bytes;
  });
}

// What a kernel of the model needs of each resource.
int FunctionAttribute(CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return 16;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return 90;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return 90;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return 49152;
    default:
      return 0;
  }
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
  return Enter(__func__, Rule::kNormal, [&] { UnloadModule(module); });
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
  return Enter(__func__, Rule::kNormal, [&] { UnloadLibrary(library); });
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

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(value != nullptr);
    RequireFunction(function);
    *value = FunctionAttribute(attribute);
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(value != nullptr);
    RequireDevice(device);
    RequireKernel(kernel);
    *value = FunctionAttribute(attribute);
  });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return ParameterInfo(
      __func__, [&] { return RequireFunction(function); }, index, offset, bytes);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return ParameterInfo(
      __func__, [&] { return RequireKernel(kernel); }, index, offset, bytes);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  return Enter(__func__, Rule::kNormal, [&] {
    const KernelPointer kernel = RequireLaunchable(function);
    KernelNode node =
        MakeKernelNode(CUDA_KERNEL_NODE_PARAMS_v2{kernel->function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                                  shared_bytes, parameters, extra, nullptr, nullptr});
    StreamWork work;
    work.run = [node = std::move(node)] { RunKernel(*node.kernel, node.arguments, node.shape); };
    Submit(*RequireUsableStream(stream), std::move(work));
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
