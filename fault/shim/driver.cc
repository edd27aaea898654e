#include "fault/shim/driver.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// Stands in the table for whatever the driver lacks, so that a trampoline always has somewhere to go.
extern "C" CUresult MissingEntryPoint() { return CUDA_ERROR_NOT_FOUND; }

}  // namespace

void* holdfast_driver_table[holdfast::fault::kEntryCount] = {
#define HOLDFAST_ENTRY(name, wrapped) reinterpret_cast<void*>(&MissingEntryPoint),
#include "fault/shim/entries.inc"
#undef HOLDFAST_ENTRY
};

namespace holdfast::fault {
namespace {

constexpr const char* kUsualFolders[] = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib/x86_64-linux-gnu",
    "/usr/lib/wsl/lib",          "/usr/local/nvidia/lib64",
};

void* g_library = nullptr;
bool g_is_model = false;

[[noreturn]] void RefuseDriver(const char* path, const char* reason) {
  dprintf(STDERR_FILENO, "holdfast: HOLDFAST_DRIVER=%s: %s\n", path, reason);
  _exit(2);
}

// Whether the path is the file that this code was loaded from.
bool IsThisLibrary(const char* path) {
  Dl_info info;
  struct stat own, other;
  if (dladdr(reinterpret_cast<void*>(&IsThisLibrary), &info) == 0 || stat(info.dli_fname, &own) != 0) return false;
  return stat(path, &other) == 0 && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

void* OpenNamedDriver(const char* path) {
  if (path[0] != '/') {
    RefuseDriver(path, "must be an absolute path, or the loader would search for it and find the shim");
  }
  if (IsThisLibrary(path)) RefuseDriver(path, "is the shim itself; name the driver below it");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) RefuseDriver(path, dlerror());
  if (dlsym(library, "holdfast_shim_control") != nullptr) RefuseDriver(path, "is a shim; name the driver below it");
  return library;
}

void* FindDriver() {
  for (const char* folder : kUsualFolders) {
    const std::string path = std::string(folder) + "/libcuda.so.1";
    if (access(path.c_str(), R_OK) != 0 || IsThisLibrary(path.c_str())) continue;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr && dlsym(library, "holdfast_shim_control") == nullptr) return library;
  }
  return nullptr;
}

}  // namespace

void LoadDriver() {
  const char* path = std::getenv("HOLDFAST_DRIVER");
  g_library = path != nullptr && path[0] != '\0' ? OpenNamedDriver(path) : FindDriver();
  if (g_library == nullptr) return;
  for (std::size_t index = 0; index < kEntryCount; ++index) {
    void* function = dlsym(g_library, std::string(AllEntryPoints()[index].name).c_str());
    if (function != nullptr) holdfast_driver_table[index] = function;
  }
  g_is_model = dlsym(g_library, "holdfast_model_control") != nullptr;
}

void* DriverFunction(Entry entry) {
  const std::atomic_ref<void*> slot(holdfast_driver_table[static_cast<std::size_t>(entry)]);
  // Relaxed: the table is filled before any call, and a slot supplied later holds code that was there all along.
  void* function = slot.load(std::memory_order_relaxed);
  return function == reinterpret_cast<void*>(&MissingEntryPoint) ? nullptr : function;
}

void SupplyDriverFunction(Entry entry, void* function) {
  std::atomic_ref<void*>(holdfast_driver_table[static_cast<std::size_t>(entry)])
      .store(function, std::memory_order_relaxed);
}

void NoteMissing() {
  static std::atomic<bool> told{false};
  if (g_library != nullptr || told.exchange(true, std::memory_order_relaxed)) {
    return;  // the exchange decides who speaks
  }
  dprintf(STDERR_FILENO,
          "holdfast: HOLDFAST_DRIVER is not set and the system has no libcuda.so.1; every driver call answers "
          "CUDA_ERROR_NOT_FOUND\n");
}

void* DriverSymbol(const char* name) { return g_library == nullptr ? nullptr : dlsym(g_library, name); }

bool DriverIsModel() { return g_is_model; }

}  // namespace holdfast::fault
