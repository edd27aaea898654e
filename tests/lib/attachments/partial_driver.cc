// A driver library that passes everything on to another one, but for what the environment takes away:
//
//   HOLDFAST_WHOLE_DRIVER   the library that is passed on to
//   HOLDFAST_LACKS          the name of one entry point that is not there, as in an older driver
//   HOLDFAST_REPEATS        "cuGraphNodeFindInClone": every answer is the first one
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using GetProcAddress = CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

std::string_view FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The whole driver's function; the process ends if there is none.
template <typename Function>
Function* WholeDriver(const char* name) {
  static void* const library = dlopen(std::getenv("HOLDFAST_WHOLE_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  void* const function = library != nullptr ? dlsym(library, name) : nullptr;
  if (function == nullptr) {
    std::fprintf(stderr, "partial driver: %s\n", dlerror());
    std::abort();
  }
  return reinterpret_cast<Function*>(function);
}

CUresult FindTheFirstAgain(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  static CUgraphNode first = nullptr;
  CUresult result = CUDA_SUCCESS;
  if (first == nullptr) {
    result = WholeDriver<decltype(cuGraphNodeFindInClone)>("cuGraphNodeFindInClone")(&first, original, clone);
  }
  *found = first;
  return result;
}

}  // namespace

extern "C" CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult* status) {
  if (symbol == FromEnvironment("HOLDFAST_LACKS")) {
    *function = nullptr;
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_ERROR_NOT_FOUND;
  }
  if (symbol == FromEnvironment("HOLDFAST_REPEATS")) {
    *function = reinterpret_cast<void*>(&FindTheFirstAgain);
    *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
  }
  return WholeDriver<GetProcAddress>("cuGetProcAddress_v2")(symbol, function, version, flags, status);
}
