// A program that embeds Python and outlives it. It says what happened, line by line; the scenario that starts it
// judges.
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
using CloneGraph = int (*)(RawGraph*, RawGraph);

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

// What the nodes call: nothing launches them.
void Nothing(void*) {}

PyObject* MainNames() { return PyModule_GetDict(PyImport_AddModule("__main__")); }

PyObject* Evaluate(const std::string& expression) {
  PyObject* const result = PyRun_String(expression.c_str(), Py_eval_input, MainNames(), MainNames());
  if (result == nullptr) {
    PyErr_Print();
    Fail("failed: " + expression);
  }
  return result;
}

void Call(const std::string& expression) { Py_DECREF(Evaluate(expression)); }

void BeginPython() {
  Py_Initialize();
  if (PyRun_SimpleString("from scenarios.python.support import embedded") != 0) {
    Fail("the embedded part cannot be imported");
  }
}

std::string CallbackText() { return std::to_string(reinterpret_cast<std::uintptr_t>(&Nothing)); }

void DropAndWait() { Call("embedded.drop_and_wait(" + CallbackText() + ")"); }

// Graphs that nobody but the driver knows; each keeps an owner of the first life.
std::vector<RawGraph> MakeClones() {
  PyObject* const list = Evaluate("embedded.make_graphs(" + CallbackText() + ", 5)");
  const auto clone = FindInDriver<CloneGraph>("cuGraphClone");
  std::vector<RawGraph> clones(static_cast<std::size_t>(PyList_Size(list)));
  for (std::size_t i = 0; i < clones.size(); ++i) {
    const auto raw = PyLong_AsUnsignedLongLong(PyList_GetItem(list, static_cast<Py_ssize_t>(i)));
    if (clone(&clones[i], static_cast<RawGraph>(raw)) != 0) {
      Fail("the driver clones no graph");
    }
  }
  Py_DECREF(list);
  Call("embedded.drop_graphs()");
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

void RunAfterFinalization() {
  BeginPython();
  const std::vector<RawGraph> clones = MakeClones();
  EndPython();
  Destroy(clones);
}

void RunAgain() {
  BeginPython();
  const std::vector<RawGraph> clones = MakeClones();
  EndPython();
  BeginPython();
  DropAndWait();
  Destroy(clones);
  DropAndWait();
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
