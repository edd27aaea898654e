// A program that embeds Python and outlives it. It says what happened, line by line; the scenario that starts it judges.
//
//   embedding after-finalization   makes graphs in Python, ends Python, then has the driver destroy them, from several
//                                  threads and from this one
//   embedding again                the same with a second Python after the first: what is of the first one goes while
//                                  the second one runs
//
// scenarios/python/support/embedded.py is its part in Python.
#include <Python.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "fault/shim/control.h"

namespace {

using holdfast::fault::ShimControl;
using holdfast::fault::ShimControlFunction;

using RawGraph = std::uintptr_t;
using DestroyGraph = int (*)(RawGraph);

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void Say(const std::string& what) {
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);  // the order with what Python says has to stay
}

template <typename Function>
Function FindInDriver(const char* name) {
  const auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) {
    Fail(std::string("the shim is not preloaded: there is no ") + name);
  }
  return function;
}

void RunPython(const char* statement) {
  if (PyRun_SimpleString(statement) != 0) {
    Fail(std::string("failed: ") + statement);
  }
}

// Graphs that nobody but the driver knows any more; each keeps an owner of ours.
std::vector<RawGraph> TakeClones(const char* expression) {
  PyObject* const names = PyModule_GetDict(PyImport_AddModule("__main__"));
  PyObject* const list = PyRun_String(expression, Py_eval_input, names, names);
  if (list == nullptr) {
    PyErr_Print();
    Fail(std::string("failed: ") + expression);
  }
  std::vector<RawGraph> clones;
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    clones.push_back(static_cast<RawGraph>(PyLong_AsUnsignedLongLong(PyList_GetItem(list, i))));
  }
  Py_DECREF(list);
  return clones;
}

void EndPython() {
  if (Py_FinalizeEx() != 0) {
    Fail("Python did not end well");
  }
  Say("ended");
}

// One on this thread, the others on threads of their own.
void Destroy(const std::vector<RawGraph>& clones) {
  const auto destroy = FindInDriver<DestroyGraph>("cuGraphDestroy");
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < clones.size(); ++i) {
    threads.emplace_back([destroy, clone = clones[i]] { destroy(clone); });
  }
  destroy(clones[0]);
  for (std::thread& thread : threads) {
    thread.join();
  }
  const ShimControl* const shim = FindInDriver<ShimControlFunction>("holdfast_shim_control")();
  shim->release_held();
  shim->quiesce();
  Say("user objects left: " + std::to_string(shim->live().user_objects));
}

constexpr const char* kImport = "from scenarios.python.support import embedded";

void RunAfterFinalization() {
  Py_Initialize();
  RunPython(kImport);
  const std::vector<RawGraph> clones = TakeClones("embedded.make_clones('first', 5)");
  EndPython();
  Destroy(clones);
}

void RunAgain() {
  Py_Initialize();
  RunPython(kImport);
  const std::vector<RawGraph> clones = TakeClones("embedded.make_clones('first', 5)");
  EndPython();
  Py_Initialize();
  RunPython(kImport);
  RunPython("embedded.drop_and_wait('second')");
  Destroy(clones);
  RunPython("embedded.drop_and_wait('second')");
  EndPython();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const char* const what = argument_count == 2 ? arguments[1] : "";
  if (std::strcmp(what, "after-finalization") == 0) {
    RunAfterFinalization();
  } else if (std::strcmp(what, "again") == 0) {
    RunAgain();
  } else {
    Fail("usage: embedding after-finalization | again");
  }
  Say("done");
  return 0;
}
