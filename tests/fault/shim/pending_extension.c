// An extension module that imports Py_AddPendingCall, as a library that cleans up after a driver does. Built by
// interpreters_test.py for each interpreter, against its headers.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_long g_ran, g_added;
static atomic_int g_order[64];

static int Ran(void* argument) {
  const long place = atomic_fetch_add(&g_ran, 1);
  if (place < 64) atomic_store(&g_order[place], (int)(intptr_t)argument);
  return 0;
}

static PyObject* Add(PyObject* self, PyObject* arguments) {
  int number = 0;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "|i", &number)) return NULL;
  return PyLong_FromLong(Py_AddPendingCall(&Ran, (void*)(intptr_t)number));
}

// The same, with the function looked up by name.
static PyObject* AddLookedUp(PyObject* self, PyObject* arguments) {
  int (*add)(int (*)(void*), void*) = (int (*)(int (*)(void*), void*))dlsym(RTLD_DEFAULT, "Py_AddPendingCall");
  (void)self, (void)arguments;
  return PyLong_FromLong(add(&Ran, NULL));
}

static void* AddMany(void* count) {
  long refused = 0;
  for (long left = (long)(intptr_t)count; left > 0; --left) refused += Py_AddPendingCall(&Ran, NULL) == 0 ? 0 : 1;
  return (void*)(intptr_t)refused;
}

// Adds calls on a thread of its own; how many were refused. The main thread stays in here meanwhile.
static PyObject* AddOnThread(PyObject* self, PyObject* arguments) {
  long count = 0;
  pthread_t thread;
  void* refused = NULL;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "l", &count)) return NULL;
  // The macros end in a brace.
  // clang-format off
  Py_BEGIN_ALLOW_THREADS
  pthread_create(&thread, NULL, &AddMany, (void*)(intptr_t)count);
  pthread_join(thread, &refused);
  Py_END_ALLOW_THREADS
  return PyLong_FromLong((long)(intptr_t)refused);
  // clang-format on
}

static void* AddForever(void* unused) {
  (void)unused;
  while (1) {
    Py_AddPendingCall(&Ran, NULL);
    atomic_fetch_add(&g_added, 1);
    sched_yield();
  }
  return NULL;
}

// Called once nothing of Python is left: the caller's thread has to have made calls since the interpreter ended.
static void WaitForCallsAfterTheEnd(void) {
  const long before = atomic_load(&g_added);
  while (atomic_load(&g_added) < before + 100) sched_yield();
}

static PyObject* AddUntilTheProcessEnds(PyObject* self, PyObject* arguments) {
  pthread_t thread;
  (void)self, (void)arguments;
  pthread_create(&thread, NULL, &AddForever, NULL);
  pthread_detach(thread);
  atexit(&WaitForCallsAfterTheEnd);
  Py_RETURN_NONE;
}

static void AddOnce(void) { Py_AddPendingCall(&Ran, NULL); }

static PyObject* AddAfterTheEnd(PyObject* self, PyObject* arguments) {
  (void)self, (void)arguments;
  atexit(&AddOnce);
  Py_RETURN_NONE;
}

static PyObject* RanSoFar(PyObject* self, PyObject* arguments) {
  (void)self, (void)arguments;
  return PyLong_FromLong(atomic_load(&g_ran));
}

// The numbers of the first calls that ran, in the order of their runs.
static PyObject* Order(PyObject* self, PyObject* arguments) {
  const long count = atomic_load(&g_ran);
  PyObject* order = PyList_New(0);
  (void)self, (void)arguments;
  for (long index = 0; order != NULL && index < count && index < 64; ++index) {
    PyObject* number = PyLong_FromLong(atomic_load(&g_order[index]));
    PyList_Append(order, number);
    Py_DecRef(number);
  }
  return order;
}

static PyMethodDef g_methods[] = {
    {"add", &Add, METH_VARARGS, NULL},
    {"add_looked_up", &AddLookedUp, METH_NOARGS, NULL},
    {"add_on_thread", &AddOnThread, METH_VARARGS, NULL},
    {"add_until_the_process_ends", &AddUntilTheProcessEnds, METH_NOARGS, NULL},
    {"add_after_the_end", &AddAfterTheEnd, METH_NOARGS, NULL},
    {"ran", &RanSoFar, METH_NOARGS, NULL},
    {"order", &Order, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef g_module = {
    PyModuleDef_HEAD_INIT, "pending_extension", NULL, -1, g_methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_pending_extension(void) { return PyModule_Create(&g_module); }
