// A module that says what it was built against, so that a test can compare it with what it runs on.
#include <dlfcn.h>
#include <pybind11/pybind11.h>

#include <string>

namespace {

#ifdef Py_GIL_DISABLED
constexpr bool kFreeThreaded = true;
#else
constexpr bool kFreeThreaded = false;
#endif

// The file that Py_AddPendingCall comes from: the interpreter's executable or a library.
std::string PendingCallFile() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&Py_AddPendingCall), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  return info.dli_fname;
}

}  // namespace

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.attr("VERSION_HEX") = PY_VERSION_HEX;
  module.attr("FREE_THREADED") = kFreeThreaded;
  module.attr("PYBIND11_HEX") = PYBIND11_VERSION_HEX;
  module.def("pending_call_file", &PendingCallFile);
}
