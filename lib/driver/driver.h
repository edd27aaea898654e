// The driver: its entry points, resolved at run time and never linked, so that a program starts without a GPU
// and whatever libcuda.so.1 the loader finds (a real driver, the model driver, a shim) serves.
//
// Thread safety: a table is immutable once made; any thread may call through it.
#ifndef HOLDFAST_LIB_DRIVER_DRIVER_H_
#define HOLDFAST_LIB_DRIVER_DRIVER_H_

#include <cuda.h>

#include <string>
#include <type_traits>
#include <vector>

namespace holdfast::driver {

// One entry point. Absent is a named state, not a null pointer to stumble on: a call then answers `otherwise` and
// changes nothing.
template <typename Function>
class EntryPoint {
 public:
  EntryPoint(const char* name, void* address, CUresult otherwise)
      : name_(name), function_(reinterpret_cast<Function>(address)), otherwise_(otherwise) {}

  const char* name() const noexcept { return name_; }
  bool available() const noexcept { return function_ != nullptr; }

  template <typename... Arguments>
  CUresult operator()(Arguments... arguments) const noexcept {
    return function_ != nullptr ? function_(arguments...) : otherwise_;
  }

 private:
  const char* name_;
  Function function_;
  CUresult otherwise_;
};

// Finds one entry point by name.
class Resolver {
 public:
  // Opens `library` through the loader's usual search when it has no slash.
  // Throws std::runtime_error with the loader's message if it cannot be opened or is no driver.
  explicit Resolver(const std::string& library);

  // The address of `name` in the version that cuda.h declares, or null if the driver lacks it.
  void* Find(const char* name) const noexcept;

 private:
  using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  GetProcAddress get_proc_address_;
};

class Driver {
 public:
  // What this driver lacks answers CUDA_ERROR_NOT_SUPPORTED.
  explicit Driver(const Resolver& resolver);

  // Every call answers `answer`.
  explicit Driver(CUresult answer);

  // Names of the entry points that this driver lacks.
  std::vector<std::string> Missing() const;

#define HOLDFAST_ENTRY_POINT(name) EntryPoint<std::add_pointer_t<decltype(::name)>> name;
#include "lib/driver/entry_points.def"
#undef HOLDFAST_ENTRY_POINT

 private:
  // Ends the list of initialisers, each of which is written with a comma.
  struct End {};
  End end_;
};

// The driver of this process, libcuda.so.1, loaded and initialised (cuInit) by the first call.
// Throws std::runtime_error when there is none, DriverError when cuInit fails; the next call tries again.
const Driver& GetDriver();

// In a child process, right after the fork of one that had initialised CUDA, which CUDA does not support: from here on
// every call through GetDriver() answers CUDA_ERROR_DEINITIALIZED and reaches nothing.
// Thread safety: nothing else of the library runs meanwhile.
void AbandonInForkedChild() noexcept;

// The same as GetDriver without cuInit: for what must work although it failed, such as wording that very failure.
const Driver& GetUninitialisedDriver();

}  // namespace holdfast::driver

#endif  // HOLDFAST_LIB_DRIVER_DRIVER_H_
