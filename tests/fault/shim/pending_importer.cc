// A library that imports Py_AddPendingCall, as an extension module does.

extern "C" int Py_AddPendingCall(int (*function)(void*), void* argument);

extern "C" int add_through_import(int (*function)(void*), void* argument) {
  return Py_AddPendingCall(function, argument);
}
