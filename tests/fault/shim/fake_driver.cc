// A driver of a few dozen calls, just enough to see what the shim does to it: handles come from a counter, graph
// handles are reused at once (fact N1 for nodes), destructors run inside the call that drops the last reference (facts
// U1, U2), releases are believed (fact U13). `fake_driver_calls` says how often a call arrived.
//
// Not thread-safe beyond one lock around its state; no lock is held while a callback runs.

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Object {
  CUhostFn destroy;
  void* payload;
  long references;
};

std::mutex g_mutex;
std::map<std::string, int> g_calls;
std::map<CUuserObject, Object> g_objects;
std::map<CUgraph, std::map<CUuserObject, long>> g_graphs;
std::map<CUstream, CUgraph> g_captures;
std::vector<CUgraph> g_free_graphs;
std::uintptr_t g_next_handle = 0x1000;

void Count(const char* name) {
  const std::lock_guard lock(g_mutex);
  ++g_calls[name];
}

template <typename Out>
CUresult NewHandle(Out* out, const char* name) {
  const std::lock_guard lock(g_mutex);
  ++g_calls[name];
  *out = reinterpret_cast<Out>(g_next_handle += 0x10);
  return CUDA_SUCCESS;
}

CUgraph NewGraph() {
  const std::lock_guard lock(g_mutex);
  CUgraph graph = nullptr;
  if (g_free_graphs.empty()) {
    graph = reinterpret_cast<CUgraph>(g_next_handle += 0x10);
  } else {
    graph = g_free_graphs.back();
    g_free_graphs.pop_back();
  }
  g_graphs[graph];
  return graph;
}

// Drops references; runs the destructor on this thread if they were the last.
CUresult Drop(CUuserObject object, long count) {
  Object dead{};
  {
    const std::lock_guard lock(g_mutex);
    const auto found = g_objects.find(object);
    if (found == g_objects.end()) return CUDA_ERROR_INVALID_VALUE;
    found->second.references -= count;
    if (found->second.references > 0) return CUDA_SUCCESS;
    dead = found->second;
    g_objects.erase(found);
  }
  dead.destroy(dead.payload);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

int fake_driver_calls(const char* name) {
  const std::lock_guard lock(g_mutex);
  return g_calls[name];
}

CUresult cuInit(unsigned int) {
  Count("cuInit");
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  std::strncpy(name, "Fake \"device\"", static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph* graph, unsigned int) {
  Count("cuGraphCreate");
  *graph = NewGraph();
  return CUDA_SUCCESS;
}
// Calls its own export, as a driver may: through the dynamic loader, which can find the shim first.
CUresult cuGraphClone(CUgraph* clone, CUgraph source) {
  Count("cuGraphClone");
  const CUresult result = cuGraphCreate(clone, 0);
  const std::lock_guard lock(g_mutex);
  for (const auto& [object, count] : g_graphs[source]) {
    g_graphs[*clone][object] = count;
    g_objects[object].references += count;
  }
  return result;
}
CUresult cuGraphDestroy(CUgraph graph) {
  Count("cuGraphDestroy");
  std::map<CUuserObject, long> held;
  {
    const std::lock_guard lock(g_mutex);
    const auto found = g_graphs.find(graph);
    if (found == g_graphs.end()) return CUDA_ERROR_INVALID_VALUE;
    held = found->second;
    g_graphs.erase(found);
    g_free_graphs.push_back(graph);
  }
  for (const auto& [object, count] : held) Drop(object, count);
  return CUDA_SUCCESS;
}
CUresult cuGraphGetNodes(CUgraph, CUgraphNode*, size_t* count) {
  Count("cuGraphGetNodes");
  *count = 0;
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph, unsigned long long) {
  return NewHandle(executable, "cuGraphInstantiateWithFlags");
}
CUresult cuGraphExecDestroy(CUgraphExec) {
  Count("cuGraphExecDestroy");
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec, CUstream) {
  Count("cuGraphLaunch");
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch_ptsz(CUgraphExec, CUstream) {
  Count("cuGraphLaunch_ptsz");
  return CUDA_SUCCESS;
}

CUresult cuUserObjectCreate(CUuserObject* object, void* payload, CUhostFn destroy, unsigned int references,
                            unsigned int flags) {
  if (destroy == nullptr || references == 0 || flags == 0) return CUDA_ERROR_INVALID_VALUE;
  NewHandle(object, "cuUserObjectCreate");
  const std::lock_guard lock(g_mutex);
  g_objects[*object] = {destroy, payload, static_cast<long>(references)};
  return CUDA_SUCCESS;
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  const std::lock_guard lock(g_mutex);
  g_objects[object].references += count;
  return CUDA_SUCCESS;
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  Count("cuUserObjectRelease");
  return Drop(object, count);
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
  const std::lock_guard lock(g_mutex);
  ++g_calls["cuGraphRetainUserObject"];
  g_graphs[graph][object] += count;
  if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) g_objects[object].references += count;
  return CUDA_SUCCESS;
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  {
    const std::lock_guard lock(g_mutex);
    ++g_calls["cuGraphReleaseUserObject"];
    g_graphs[graph][object] -= count;
    if (g_graphs[graph][object] <= 0) g_graphs[graph].erase(object);
  }
  return Drop(object, count);
}

CUresult cuStreamCreate(CUstream* stream, unsigned int) { return NewHandle(stream, "cuStreamCreate"); }
CUresult cuStreamDestroy_v2(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream) {
  Count("cuStreamSynchronize");
  return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) {
  const CUgraph graph = NewGraph();
  const std::lock_guard lock(g_mutex);
  g_captures[stream] = graph;
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const std::lock_guard lock(g_mutex);
  if (graph != nullptr) *graph = g_captures[stream];
  g_captures.erase(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  const std::lock_guard lock(g_mutex);
  *status = g_captures.contains(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph* graph,
                                   const CUgraphNode**, const CUgraphEdgeData**, size_t*) {
  cuStreamIsCapturing(stream, status);
  const std::lock_guard lock(g_mutex);
  if (graph != nullptr && *status == CU_STREAM_CAPTURE_STATUS_ACTIVE) *graph = g_captures[stream];
  return CUDA_SUCCESS;
}
CUresult cuLaunchHostFunc(CUstream, CUhostFn function, void* argument) {
  Count("cuLaunchHostFunc");
  std::thread(function, argument).join();  // the driver's own thread, in the real one
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t) {
  void* handle = nullptr;
  NewHandle(&handle, "cuMemAlloc_v2");
  *address = reinterpret_cast<CUdeviceptr>(handle);
  return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr) {
  Count("cuMemFree_v2");
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned int) { return NewHandle(event, "cuEventCreate"); }
CUresult cuEventDestroy_v2(CUevent) { return CUDA_SUCCESS; }
CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR*) { return NewHandle(array, "cuArrayCreate_v2"); }

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status);
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult*) {
  static const std::map<std::string, std::string> newest = {{"cuMemAlloc", "cuMemAlloc_v2"},
                                                            {"cuMemFree", "cuMemFree_v2"},
                                                            {"cuGraphInstantiate", "cuGraphInstantiateWithFlags"},
                                                            {"cuArrayCreate", "cuArrayCreate_v2"}};
  // By its own handle: the global scope may hold the shim.
  Dl_info info;
  dladdr(reinterpret_cast<void*>(&fake_driver_calls), &info);
  void* self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  std::string name = symbol;
  if (const auto found = newest.find(name); found != newest.end()) name = found->second;
  if (name == "cuGetProcAddress" && version >= 12000) name += "_v2";
  if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0 &&
      dlsym(self, (name + "_ptsz").c_str()) != nullptr) {
    name += "_ptsz";
  }
  *function = dlsym(self, name.c_str());
  dlclose(self);
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

}  // extern "C"
