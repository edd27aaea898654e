#include "fault/shim/host.h"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstddef>
#include <string_view>

namespace holdfast::fault {
namespace {

// The interpreter's own types and flags, as its stable interface has them.
struct Object;
struct MethodDefinition {
  const char* name;
  Object* (*method)(Object*, Object*);
  int flags;
  const char* text;
};
constexpr int kNoArguments = 0x0004;

struct {
  int (*is_initialized)();
  int (*is_finalizing)();
  void* (*frame)();  // a borrowed reference
  void* (*interpreter)();
  void* (*main_interpreter)();
  Object* (*import)(const char*);
  Object* (*new_function)(MethodDefinition*, Object*, Object*);
  Object* (*call_method)(Object*, const char*, const char*, ...);
  Object* (*build)(const char*, ...);
  void (*give_up)(Object*);
  void (*fetch_error)(Object**, Object**, Object**);
  void (*restore_error)(Object*, Object*, Object*);
} g_host;

template <typename Function>
void Find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(HostSymbol(name));
}

// A libpython that was loaded for its loader alone, or null.
void* OpenLocalLibrary() {
  char path[PATH_MAX] = "";
  const auto visit = [](dl_phdr_info* object, std::size_t, void* out) {
    const std::string_view name = object->dlpi_name == nullptr ? "" : object->dlpi_name;
    if (name.find("/libpython") == name.npos || name.size() >= PATH_MAX) return 0;
    name.copy(static_cast<char*>(out), name.size());
    return 1;
  };
  return dl_iterate_phdr(visit, path) == 0 ? nullptr : dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
}

// What `atexit` calls.
Object* HostIsLeaving(Object*, Object*) {
  TheHostGate().Close();
  return g_host.build("");  // None
}

MethodDefinition g_leaving = {"holdfast_host_is_leaving", &HostIsLeaving, kNoArguments, nullptr};

// False if the interpreter refuses; it then has no error set on that account.
bool RegisterWithAtexit() {
  Object *type, *value, *trace;
  g_host.fetch_error(&type, &value, &trace);
  Object* module = g_host.import("atexit");
  Object* function = g_host.new_function(&g_leaving, nullptr, nullptr);
  Object* result = nullptr;
  if (module != nullptr && function != nullptr) result = g_host.call_method(module, "register", "O", function);
  const bool registered = result != nullptr;
  for (Object* object : {result, function, module}) g_host.give_up(object);
  g_host.restore_error(type, value, trace);
  return registered;
}

}  // namespace

void* HostSymbol(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  // Not closed: the interpreter is called from now on, so it has to stay.
  void* library = OpenLocalLibrary();
  return library == nullptr ? nullptr : dlsym(library, name);
}

void FindHostFunctions() {
  Find(g_host.is_initialized, "Py_IsInitialized");
  Find(g_host.is_finalizing, "Py_IsFinalizing");
  if (g_host.is_finalizing == nullptr) Find(g_host.is_finalizing, "_Py_IsFinalizing");  // before 3.13
  Find(g_host.frame, "PyEval_GetFrame");
  Find(g_host.interpreter, "PyInterpreterState_Get");
  Find(g_host.main_interpreter, "PyInterpreterState_Main");
  Find(g_host.import, "PyImport_ImportModule");
  Find(g_host.new_function, "PyCFunction_NewEx");
  Find(g_host.call_method, "PyObject_CallMethod");
  Find(g_host.build, "Py_BuildValue");
  Find(g_host.give_up, "Py_DecRef");
  Find(g_host.fetch_error, "PyErr_Fetch");
  Find(g_host.restore_error, "PyErr_Restore");
}

bool HostIsFinalizing() {
  if (g_host.is_initialized == nullptr || g_host.is_finalizing == nullptr) return false;
  return g_host.is_initialized() == 0 || g_host.is_finalizing() != 0;
}

bool HostIsEvaluating() { return g_host.frame == nullptr || g_host.frame() != nullptr; }

bool HostGate::IsUnknown() {
  const std::lock_guard lock(mutex_);
  return state_ == State::kUnknown;
}

void HostGate::Open() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kUnknown) state_ = State::kOpen;
}

void HostGate::Close() {
  const std::lock_guard lock(mutex_);
  state_ = State::kClosed;
}

void HostGate::Watch() {
  if (!needed_.load(std::memory_order_relaxed) || !IsUnknown()) return;
  if (g_host.is_initialized == nullptr) return Open();
  // `atexit` runs at the end of the interpreter that is current; the queue is the main one's.
  if (HostIsFinalizing() || g_host.interpreter() != g_host.main_interpreter()) return;
  if (RegisterWithAtexit()) Open();
}

HostGate& TheHostGate() {
  static HostGate* gate = new HostGate;
  return *gate;
}

}  // namespace holdfast::fault
