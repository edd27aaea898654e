// The door at Py_AddPendingCall: this program plays the interpreter, exporting the symbol from its executable, and a
// library plays the extension module that imports it.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <climits>
#include <cstdlib>

#include "tests/fault/shim/subject_process.h"

namespace {

int g_added = 0;

}  // namespace

extern "C" __attribute__((visibility("default"))) int Py_AddPendingCall(int (*)(void*), void*) {
  return ++g_added > 40 ? -1 : 0;
}

namespace holdfast::fault {
namespace {

using AddFunction = int (*)(int (*)(void*), void*);

AddFunction LoadImporter() {
  char path[PATH_MAX];
  if (realpath(std::getenv("HOLDFAST_IMPORTER"), path) == nullptr) return nullptr;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<AddFunction>(dlsym(library, "add_through_import"));
}

int Add(AddFunction add) {
  return add([](void*) { return 0; }, nullptr);
}

TEST(PythonDoor, FailsTheCallsOfALoadedModule) {
  const ProcessResult result =
      RunGoodSubject({"Py_AddPendingCall:nth=1,return=-1", "Py_AddPendingCall:nth=2,drop"}, [](LoadedShim& shim) {
        const AddFunction add = LoadImporter();
        ASSERT_NE(add, nullptr);
        EXPECT_EQ(Add(add), 0);  // nothing has led the shim to look yet
        EXPECT_EQ(g_added, 1);
        CALL(shim, cuInit)(0);
        EXPECT_EQ(Add(add), -1);
        EXPECT_EQ(Add(add), 0);  // dropped
        EXPECT_EQ(g_added, 1);
        EXPECT_EQ(Add(add), 0);
        EXPECT_EQ(g_added, 2);
        EXPECT_EQ(shim.control().calls("Py_AddPendingCall"), 3U);
      });
  EXPECT_EQ(result.Count({R"("site":"Py_AddPendingCall")"}), 2);
}

TEST(PythonDoor, FindsAModuleThatIsLoadedLater) {
  RunGoodSubject({"Py_AddPendingCall:nth=1,return=-1"}, [](LoadedShim& shim) {
    CALL(shim, cuInit)(0);
    const AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    CUuserObject object = nullptr;
    CALL(shim, cuUserObjectCreate)
    (
        &object, nullptr, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    EXPECT_EQ(Add(add), -1);
  });
}

TEST(PythonDoor, FillsTheQueueFirst) {
  RunGoodSubject({"Py_AddPendingCall:nth=1,saturate=1000"}, [](LoadedShim& shim) {
    const AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    CALL(shim, cuInit)(0);
    EXPECT_EQ(Add(add), -1);
    EXPECT_EQ(g_added, 42);  // 40 fit, the 41st was refused, and then the call itself
  });
}

TEST(PythonDoor, StaysShutWithoutARule) {
  RunGoodSubject({}, [](LoadedShim& shim) {
    const AddFunction add = LoadImporter();
    ASSERT_NE(add, nullptr);
    CALL(shim, cuInit)(0);
    EXPECT_EQ(Add(add), 0);
    EXPECT_EQ(shim.control().calls("Py_AddPendingCall"), 0U);
  });
}

}  // namespace
}  // namespace holdfast::fault
