// The driver that is under question: whatever libcuda.so.1 the loader finds. It is opened and asked for each entry
// point by name, never linked, so that one program asks the model driver and the real one the same.
#ifndef HOLDFAST_TESTS_CONFORMANCE_DRIVER_H_
#define HOLDFAST_TESTS_CONFORMANCE_DRIVER_H_

#include <cuda.h>

#include <string>

namespace holdfast::conformance {

// Names without their "cu". The type is that of the newest form in cuda.h, which is what the driver hands out for the
// version of CUDA that is asked for.
// clang-format off
#define HOLDFAST_CONFORMANCE_CALLS(X)                                                                                 \
  X(Init) X(DriverGetVersion) X(GetErrorName) X(GetErrorString)                                                       \
  X(DeviceGet) X(DeviceGetCount) X(DeviceGetName) X(DevicePrimaryCtxRetain) X(DevicePrimaryCtxRelease)                \
  X(DevicePrimaryCtxReset) X(CtxGetCurrent) X(CtxSetCurrent) X(CtxSynchronize)                                        \
  X(StreamCreate) X(StreamDestroy) X(StreamSynchronize) X(StreamQuery) X(StreamWaitEvent) X(StreamIsCapturing)        \
  X(StreamGetFlags) X(StreamGetId) X(StreamGetPriority)                                                               \
  X(StreamBeginCapture) X(StreamBeginCaptureToGraph) X(StreamEndCapture) X(StreamGetCaptureInfo)                      \
  X(StreamUpdateCaptureDependencies) X(ThreadExchangeStreamCaptureMode) X(EventRecordWithFlags) X(EventElapsedTime)   \
  X(LaunchKernelEx) X(MemcpyHtoDAsync) X(MemcpyDtoHAsync) X(MemcpyDtoDAsync) X(MemcpyAsync) X(MemsetD8Async)          \
  X(MemsetD16Async) X(MemsetD32Async) X(MemsetD2D8Async) X(MemAllocAsync) X(MemFreeAsync) X(MemHostAlloc)             \
  X(GraphMemcpyNodeGetParams) X(GraphEventWaitNodeGetEvent) X(GraphMemAllocNodeGetParams)                             \
  X(GraphMemFreeNodeGetParams)                                                                                        \
  X(EventCreate) X(EventDestroy) X(EventQuery) X(EventRecord) X(EventSynchronize) X(LaunchHostFunc) X(LaunchKernel)   \
  X(MemAlloc) X(MemFree) X(MemAllocHost) X(MemFreeHost) X(MemcpyDtoH) X(MemcpyHtoD) X(MemsetD8)                       \
  X(PointerGetAttribute) X(ModuleLoadData) X(ModuleUnload) X(ModuleGetFunction) X(FuncGetParamInfo)                   \
  X(LibraryLoadData) X(LibraryGetKernel) X(LibraryUnload) X(KernelGetFunction)                                        \
  X(GraphCreate) X(GraphDestroy) X(GraphClone) X(GraphGetNodes) X(GraphGetEdges) X(GraphAddNode)                      \
  X(GraphAddHostNode) X(GraphAddEmptyNode) X(GraphAddMemsetNode) X(GraphAddMemcpyNode) X(GraphAddKernelNode)          \
  X(GraphAddChildGraphNode) X(GraphAddEventRecordNode) X(GraphAddEventWaitNode) X(GraphAddMemAllocNode)               \
  X(GraphAddDependencies) X(GraphRemoveDependencies) X(GraphDestroyNode) X(GraphNodeGetType) X(GraphNodeFindInClone)  \
  X(GraphNodeSetParams) X(GraphHostNodeGetParams) X(GraphMemsetNodeGetParams) X(GraphKernelNodeGetParams)             \
  X(GraphEventRecordNodeGetEvent) X(GraphChildGraphNodeGetGraph) X(GraphConditionalHandleCreate)                      \
  X(GraphInstantiateWithFlags) X(GraphInstantiateWithParams) X(GraphExecDestroy) X(GraphLaunch) X(GraphUpload)        \
  X(GraphExecUpdate) X(GraphExecHostNodeSetParams) X(GraphExecMemsetNodeSetParams) X(GraphExecChildGraphNodeSetParams)\
  X(GraphNodeSetEnabled) X(GraphNodeGetEnabled)                                                                       \
  X(GraphAddMemFreeNode) X(GraphMemcpyNodeSetParams) X(GraphKernelNodeSetParams) X(GraphKernelNodeGetAttribute)       \
  X(GraphKernelNodeSetAttribute) X(GraphKernelNodeCopyAttributes) X(GraphExecNodeSetParams)                           \
  X(GraphExecKernelNodeSetParams) X(GraphExecMemcpyNodeSetParams) X(GraphExecGetFlags) X(GraphDebugDotPrint)          \
  X(GraphNodeGetDependentNodes)                                                                                       \
  X(DeviceGraphMemTrim) X(DeviceGetGraphMemAttribute) X(DeviceSetGraphMemAttribute)                                   \
  X(ArrayCreate) X(Array3DCreate) X(ArrayDestroy) X(ArrayGetDescriptor) X(Array3DGetDescriptor)                       \
  X(Memcpy2D) X(Memcpy2DAsync) X(Memcpy3D) X(Memcpy3DAsync) X(MemAllocPitch) X(MemGetAddressRange)                    \
  X(MemHostGetDevicePointer) X(FuncGetAttribute) X(FuncSetAttribute) X(KernelGetAttribute) X(KernelSetAttribute)      \
  X(KernelGetParamInfo) X(KernelGetLibrary) X(LaunchCooperativeKernel)                                                \
  X(UserObjectCreate) X(UserObjectRetain) X(UserObjectRelease) X(GraphRetainUserObject) X(GraphReleaseUserObject)     \
  X(GetProcAddress)
// clang-format on

struct Driver {
#define HOLDFAST_MEMBER(name) decltype(&cu##name) name = nullptr;
  HOLDFAST_CONFORMANCE_CALLS(HOLDFAST_MEMBER)
#undef HOLDFAST_MEMBER

  bool is_model = false;
  int version = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;  // does not block on the null stream
};

// Opens the driver and resolves every call. False, with the reason, if there is none that can be used.
bool Load(Driver* driver, std::string* error);

// cuInit, the primary context made current, a stream. False, with the reason, if there is no device.
bool Start(Driver* driver, std::string* error);

// "CUDA_SUCCESS" and the like; the number where the driver knows no name.
std::string NameOf(const Driver& driver, CUresult result);

}  // namespace holdfast::conformance

#endif  // HOLDFAST_TESTS_CONFORMANCE_DRIVER_H_
