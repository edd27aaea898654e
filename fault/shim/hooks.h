// What the ledger is told of each call: a Hook is made right before the driver call, with the arguments, and Done right
// after it, with the driver's answer. A call without a hook of its own changes nothing that is counted.
//
// A hook may change the arguments: that is how a destructor gets the shim between itself and the driver.
#ifndef HOLDFAST_FAULT_SHIM_HOOKS_H_
#define HOLDFAST_FAULT_SHIM_HOOKS_H_

#include <span>
#include <utility>

#include "fault/shim/books.h"
#include "fault/shim/callbacks.h"
#include "fault/shim/captures.h"
#include "fault/shim/driver.h"
#include "fault/shim/entries.h"
#include "fault/shim/lookup.h"
#include "fault/shim/python_door.h"
#include "fault/shim/subject.h"

namespace holdfast::fault {

template <typename Pointer>
Handle HandleOf(Pointer* pointer) {
  return reinterpret_cast<Handle>(pointer);
}
inline Handle HandleOf(CUdeviceptr address) { return static_cast<Handle>(address); }
inline Handle HandleOf(CUdeviceptr_v1 address) { return address; }

// ---- handles given to calls -----------------------------------------------------------------------------------------

template <Entry kEntry, typename Argument>
void CheckHandle(const Argument& argument) {
  if constexpr (std::is_same_v<Argument, CUgraph>) {
    if constexpr (kEntry == Entry::cuGraphDestroy) {
      TheLedger().DestroyAsked(HandleOf(argument), InfoOf(kEntry).name);
    } else {
      TheLedger().UseGraph(HandleOf(argument), InfoOf(kEntry).name);
    }
  } else if constexpr (std::is_same_v<Argument, CUgraphExec>) {
    if constexpr (kEntry == Entry::cuGraphExecDestroy) {
      TheLedger().DestroyExecutableAsked(HandleOf(argument), InfoOf(kEntry).name);
    } else {
      TheLedger().UseExecutable(HandleOf(argument), InfoOf(kEntry).name);
    }
  } else if constexpr (std::is_same_v<Argument, CUgraphNodeParams*>) {
    if (argument == nullptr || argument->type != CU_GRAPH_NODE_TYPE_GRAPH) return;
    TheLedger().UseGraph(HandleOf(argument->graph.graph), InfoOf(kEntry).name);
  }
}

// ---- user objects that calls are about ------------------------------------------------------------------------------

template <typename Argument>
ObjectId ObjectOf(const Argument& argument) {
  if constexpr (std::is_same_v<Argument, CUuserObject>) return TheLedger().FindObject(HandleOf(argument));
  return kNoObject;
}

template <typename Made>
ObjectId ObjectMadeBy(const Made& hook) {
  if constexpr (requires { hook.made(); }) return hook.made();
  return kNoObject;
}

// ---- calls that change nothing that is counted ----------------------------------------------------------------------

template <Entry kEntry>
struct Hook {
  template <typename... Arguments>
  explicit Hook(Arguments&...) {}
  void Done(CUresult) {}
};

// What the ledger is told where a fault answers in the driver's place: only releases have something to tell.
template <Entry kEntry, typename... Arguments>
void NoteKept(Arguments... arguments) {
  if constexpr (requires { Hook<kEntry>::Kept(arguments...); }) Hook<kEntry>::Kept(arguments...);
}

#define HOLDFAST_HOOK(entry, ...)           \
  template <>                               \
  struct Hook<Entry::entry> : __VA_ARGS__ { \
    using Base = __VA_ARGS__;               \
    using Base::Base;                       \
  };

// ---- start and look-up ----------------------------------------------------------------------------------------------

struct InitHook {
  explicit InitHook(unsigned int&) {}
  void Done(CUresult result) {
    if (result == CUDA_SUCCESS) AnnounceSubject();
    GuardPythonDoor();
  }
};
HOLDFAST_HOOK(cuInit, InitHook)

struct LookupHook {
  LookupHook(const char*& symbol, void**& function, int& version, cuuint64_t& flags)
      : symbol_(symbol), function_(function), version_(version), flags_(flags) {}
  LookupHook(const char*& symbol, void**& function, int& version, cuuint64_t& flags, CUdriverProcAddressQueryResult*&)
      : LookupHook(symbol, function, version, flags) {}
  void Done(CUresult result) {
    GuardPythonDoor();
    if (result != CUDA_SUCCESS || function_ == nullptr || symbol_ == nullptr) return;
    *function_ = OwnFunction(symbol_, version_, flags_, *function_);
  }

 private:
  const char* const symbol_;
  void** const function_;
  const int version_;
  const cuuint64_t flags_;
};
HOLDFAST_HOOK(cuGetProcAddress, LookupHook)
HOLDFAST_HOOK(cuGetProcAddress_v2, LookupHook)

// ---- user objects ---------------------------------------------------------------------------------------------------

struct ObjectCreationHook {
  ObjectCreationHook(CUuserObject*& out, void*& payload, CUhostFn& destroy, unsigned int& references, unsigned int&)
      : out_(out), references_(references) {
    GuardPythonDoor();
    if (destroy == nullptr) return;  // the driver refuses it
    object_ = TheLedger().BeginCreateObject();
    record_ = NewDestructor(destroy, payload, object_);
    payload = record_;
    destroy = &DestructorArrived;
  }
  void Done(CUresult result) {
    if (record_ == nullptr) return;
    const bool created = result == CUDA_SUCCESS;
    TheLedger().EndCreateObject(object_, created, created ? HandleOf(*out_) : 0, references_);
    if (!created) DropDestructor(record_);
    made_ = created ? object_ : kNoObject;
  }
  ObjectId made() const { return made_; }

 private:
  CUuserObject* const out_;
  const unsigned int references_;
  ObjectId object_ = kNoObject;
  ObjectId made_ = kNoObject;
  DestructorRecord* record_ = nullptr;
};
HOLDFAST_HOOK(cuUserObjectCreate, ObjectCreationHook)

struct ObjectRetainHook {
  ObjectRetainHook(CUuserObject& object, unsigned int& count) : object_(object), count_(count) {}
  void Done(CUresult result) {
    if (result == CUDA_SUCCESS) TheLedger().ObjectRetained(HandleOf(object_), count_);
  }

 private:
  CUuserObject object_;
  const unsigned int count_;
};
HOLDFAST_HOOK(cuUserObjectRetain, ObjectRetainHook)

struct ReleaseHook {
  ReleaseHook(CUuserObject& object, unsigned int& count)
      : pending_(TheLedger().BeginReleaseObject(HandleOf(object), count)) {}
  ReleaseHook(CUgraph& graph, CUuserObject& object, unsigned int& count)
      : pending_(TheLedger().BeginGraphRelease(HandleOf(graph), HandleOf(object), count)) {}
  void Done(CUresult result) { TheLedger().EndRelease(pending_, result == CUDA_SUCCESS); }
  static void Kept(CUuserObject object, unsigned int count) { TheLedger().ObjectReleaseKept(HandleOf(object), count); }
  static void Kept(CUgraph graph, CUuserObject object, unsigned int count) {
    TheLedger().GraphReleaseKept(HandleOf(graph), HandleOf(object), count);
  }

 private:
  const PendingRelease pending_;
};
HOLDFAST_HOOK(cuUserObjectRelease, ReleaseHook)
HOLDFAST_HOOK(cuGraphReleaseUserObject, ReleaseHook)

struct GraphRetainHook {
  GraphRetainHook(CUgraph& graph, CUuserObject& object, unsigned int& count, unsigned int& flags)
      : pending_(TheLedger().BeginGraphRetain(HandleOf(graph), HandleOf(object), count,
                                              (flags & CU_GRAPH_USER_OBJECT_MOVE) != 0)) {}
  void Done(CUresult result) { TheLedger().EndGraphRetain(pending_, result == CUDA_SUCCESS); }

 private:
  const PendingRetain pending_;
};
HOLDFAST_HOOK(cuGraphRetainUserObject, GraphRetainHook)

// ---- graphs ---------------------------------------------------------------------------------------------------------

struct GraphCreationHook {
  GraphCreationHook(CUgraph*& out, unsigned int&) : out_(out) {}
  void Done(CUresult result) {
    if (result == CUDA_SUCCESS) TheLedger().GraphCreated(HandleOf(*out_));
  }

 private:
  CUgraph* const out_;
};
HOLDFAST_HOOK(cuGraphCreate, GraphCreationHook)

struct CloneHook {
  CloneHook(CUgraph*& out, CUgraph& source) : out_(out), source_(source) {}
  void Done(CUresult result) {
    if (result == CUDA_SUCCESS) TheLedger().GraphCloned(HandleOf(*out_), HandleOf(source_));
  }

 private:
  CUgraph* const out_;
  CUgraph source_;
};
HOLDFAST_HOOK(cuGraphClone, CloneHook)

struct GraphDestructionHook {
  explicit GraphDestructionHook(CUgraph& graph) : pending_(TheLedger().BeginDestroyGraph(HandleOf(graph))) {}
  explicit GraphDestructionHook(CUgraphNode& node) : pending_(TheLedger().BeginDestroyNode(HandleOf(node))) {}
  void Done(CUresult result) { TheLedger().EndDestroyGraph(pending_, result == CUDA_SUCCESS); }
  static void Kept(CUgraph graph) { TheLedger().GraphDestroyKept(HandleOf(graph)); }

 private:
  const PendingGraphDestroy pending_;
};
HOLDFAST_HOOK(cuGraphDestroy, GraphDestructionHook)
HOLDFAST_HOOK(cuGraphDestroyNode, GraphDestructionHook)

struct AddChildHook {
  AddChildHook(CUgraphNode*& out, CUgraph& graph, const CUgraphNode*&, size_t&, CUgraph& child)
      : out_(out), graph_(graph), child_(child) {}
  void Done(CUresult result) {
    if (result != CUDA_SUCCESS) return;
    TheLedger().GraphEmbedded(HandleOf(graph_), HandleOf(*out_), HandleOf(child_), /*moved=*/false);
  }

 private:
  CUgraphNode* const out_;
  CUgraph graph_;
  CUgraph child_;
};
HOLDFAST_HOOK(cuGraphAddChildGraphNode, AddChildHook)

struct AddNodeHook {
  AddNodeHook(CUgraphNode*& out, CUgraph& graph, const CUgraphNode*&, size_t&, CUgraphNodeParams*& parameters)
      : out_(out), graph_(graph), parameters_(parameters) {}
  AddNodeHook(CUgraphNode*& out, CUgraph& graph, const CUgraphNode*&, const CUgraphEdgeData*&, size_t&,
              CUgraphNodeParams*& parameters)
      : out_(out), graph_(graph), parameters_(parameters) {}
  void Done(CUresult result);

 private:
  CUgraphNode* const out_;
  CUgraph graph_;
  CUgraphNodeParams* const parameters_;
};
HOLDFAST_HOOK(cuGraphAddNode, AddNodeHook)
HOLDFAST_HOOK(cuGraphAddNode_v2, AddNodeHook)

struct SetNodeHook {
  SetNodeHook(CUgraphNode& node, CUgraphNodeParams*& parameters) : node_(node), parameters_(parameters) {}
  void Done(CUresult result) {
    if (result != CUDA_SUCCESS || parameters_->type != CU_GRAPH_NODE_TYPE_GRAPH) return;
    TheLedger().ChildReplaced(HandleOf(node_), HandleOf(parameters_->graph.graph));
  }

 private:
  CUgraphNode node_;
  CUgraphNodeParams* const parameters_;
};
HOLDFAST_HOOK(cuGraphNodeSetParams, SetNodeHook)

struct ChildQueryHook {
  ChildQueryHook(CUgraphNode& node, CUgraph*& out) : node_(node), out_(out) {}
  void Done(CUresult result) {
    if (result == CUDA_SUCCESS && out_ != nullptr) TheLedger().ChildSeen(HandleOf(node_), HandleOf(*out_));
  }

 private:
  CUgraphNode node_;
  CUgraph* const out_;
};
HOLDFAST_HOOK(cuGraphChildGraphNodeGetGraph, ChildQueryHook)

struct FindInCloneHook {
  FindInCloneHook(CUgraphNode*& out, CUgraphNode& original, CUgraph& clone)
      : out_(out), original_(original), clone_(clone) {}
  void Done(CUresult result) {
    if (result == CUDA_SUCCESS) TheLedger().NodeFoundInClone(HandleOf(clone_), HandleOf(original_), HandleOf(*out_));
  }

 private:
  CUgraphNode* const out_;
  CUgraphNode original_;
  CUgraph clone_;
};
HOLDFAST_HOOK(cuGraphNodeFindInClone, FindInCloneHook)

// ---- captures -------------------------------------------------------------------------------------------------------

struct CaptureBeginHook {
  explicit CaptureBeginHook(CUstream& stream) : stream_(stream) {}
  CaptureBeginHook(CUstream& stream, CUstreamCaptureMode&) : stream_(stream) {}
  CaptureBeginHook(CUstream& stream, CUgraph& graph, const CUgraphNode*&, const CUgraphEdgeData*&, size_t&,
                   CUstreamCaptureMode&)
      : stream_(stream), graph_(graph) {}
  void Done(CUresult result);

 private:
  CUstream stream_;
  CUgraph graph_ = nullptr;
};
HOLDFAST_HOOK(cuStreamBeginCapture, CaptureBeginHook)
HOLDFAST_HOOK(cuStreamBeginCapture_ptsz, CaptureBeginHook)
HOLDFAST_HOOK(cuStreamBeginCapture_v2, CaptureBeginHook)
HOLDFAST_HOOK(cuStreamBeginCapture_v2_ptsz, CaptureBeginHook)
HOLDFAST_HOOK(cuStreamBeginCaptureToGraph, CaptureBeginHook)
HOLDFAST_HOOK(cuStreamBeginCaptureToGraph_ptsz, CaptureBeginHook)

struct CaptureEndHook {
  CaptureEndHook(CUstream& stream, CUgraph*& out) : stream_(stream), out_(out) {}
  void Done(CUresult result);

 private:
  CUstream stream_;
  CUgraph* const out_;
};
HOLDFAST_HOOK(cuStreamEndCapture, CaptureEndHook)
HOLDFAST_HOOK(cuStreamEndCapture_ptsz, CaptureEndHook)

struct CaptureQueryHook {
  CaptureQueryHook(CUstream& stream, CUstreamCaptureStatus*& status, cuuint64_t*&, CUgraph*& out, const CUgraphNode**&,
                   size_t*&)
      : stream_(stream), status_(status), out_(out) {}
  CaptureQueryHook(CUstream& stream, CUstreamCaptureStatus*& status, cuuint64_t*&, CUgraph*& out, const CUgraphNode**&,
                   const CUgraphEdgeData**&, size_t*&)
      : stream_(stream), status_(status), out_(out) {}
  void Done(CUresult result) {
    if (result != CUDA_SUCCESS || out_ == nullptr || *status_ != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
    TheLedger().CaptureSeen(HandleOf(stream_), HandleOf(*out_));
  }

 private:
  CUstream stream_;
  CUstreamCaptureStatus* const status_;
  CUgraph* const out_;
};
HOLDFAST_HOOK(cuStreamGetCaptureInfo_v2, CaptureQueryHook)
HOLDFAST_HOOK(cuStreamGetCaptureInfo_v2_ptsz, CaptureQueryHook)
HOLDFAST_HOOK(cuStreamGetCaptureInfo_v3, CaptureQueryHook)
HOLDFAST_HOOK(cuStreamGetCaptureInfo_v3_ptsz, CaptureQueryHook)

// ---- what is only counted -------------------------------------------------------------------------------------------

// The first argument is where the driver puts the handle.
template <Resource kKind, typename Out>
struct CreationHook {
  template <typename... Others>
  explicit CreationHook(Out*& out, Others&...) : out_(out) {}
  void Done(CUresult result) {
    if (result == CUDA_SUCCESS) TheLedger().Created(kKind, HandleOf(*out_));
  }

 private:
  Out* const out_;
};

// The first argument is the handle.
template <Resource kKind, typename In>
struct DestructionHook {
  template <typename... Others>
  explicit DestructionHook(In& handle, Others&...) : pending_(TheLedger().BeginDestroy(kKind, HandleOf(handle))) {}
  void Done(CUresult result) { TheLedger().EndDestroy(kKind, std::move(pending_), result == CUDA_SUCCESS); }
  template <typename... Others>
  static void Kept(In handle, Others...) {
    TheLedger().DestroyKept(kKind, HandleOf(handle));
  }

 private:
  PendingDestroy pending_;
};

struct ExecutableCreationHook {
  template <typename... Others>
  ExecutableCreationHook(CUgraphExec*& out, CUgraph& source, Others&...) : out_(out), source_(source) {}
  void Done(CUresult result) {
    if (result == CUDA_SUCCESS) TheLedger().ExecutableMade(HandleOf(*out_), HandleOf(source_));
  }

 private:
  CUgraphExec* const out_;
  CUgraph source_;
};
HOLDFAST_HOOK(cuGraphInstantiate, ExecutableCreationHook)
HOLDFAST_HOOK(cuGraphInstantiate_v2, ExecutableCreationHook)
HOLDFAST_HOOK(cuGraphInstantiateWithFlags, ExecutableCreationHook)
HOLDFAST_HOOK(cuGraphInstantiateWithParams, ExecutableCreationHook)
HOLDFAST_HOOK(cuGraphInstantiateWithParams_ptsz, ExecutableCreationHook)
HOLDFAST_HOOK(cuGraphExecDestroy, DestructionHook<Resource::kExecutable, CUgraphExec>)

struct ExecutableUpdateHook {
  template <typename... Others>
  ExecutableUpdateHook(CUgraphExec& executable, CUgraph& source, Others&...)
      : executable_(executable), source_(source) {}
  void Done(CUresult result) {
    if (result == CUDA_SUCCESS) TheLedger().ExecutableUpdated(HandleOf(executable_), HandleOf(source_));
  }

 private:
  CUgraphExec executable_;
  CUgraph source_;
};
HOLDFAST_HOOK(cuGraphExecUpdate, ExecutableUpdateHook)
HOLDFAST_HOOK(cuGraphExecUpdate_v2, ExecutableUpdateHook)

struct ExecutableChildHook {
  ExecutableChildHook(CUgraphExec& executable, CUgraphNode&, CUgraph& child) : executable_(executable), child_(child) {}
  ExecutableChildHook(CUgraphExec& executable, CUgraphNode&, CUgraphNodeParams*& parameters)
      : executable_(executable),
        child_(parameters != nullptr && parameters->type == CU_GRAPH_NODE_TYPE_GRAPH ? parameters->graph.graph
                                                                                     : nullptr) {}
  void Done(CUresult result) {
    if (result != CUDA_SUCCESS || child_ == nullptr) return;
    TheLedger().ExecutableGotChild(HandleOf(executable_), HandleOf(child_));
  }

 private:
  CUgraphExec executable_;
  CUgraph child_;
};
HOLDFAST_HOOK(cuGraphExecChildGraphNodeSetParams, ExecutableChildHook)
HOLDFAST_HOOK(cuGraphExecNodeSetParams, ExecutableChildHook)

using StreamCreationHook = CreationHook<Resource::kStream, CUstream>;
HOLDFAST_HOOK(cuStreamCreate, StreamCreationHook)
HOLDFAST_HOOK(cuStreamCreateWithPriority, StreamCreationHook)

// A stream takes its capture with it (fact C4).
struct StreamDestructionHook : DestructionHook<Resource::kStream, CUstream> {
  explicit StreamDestructionHook(CUstream& stream) : DestructionHook(stream), stream_(stream) {}
  void Done(CUresult result);

 private:
  CUstream stream_;
};
HOLDFAST_HOOK(cuStreamDestroy, StreamDestructionHook)
HOLDFAST_HOOK(cuStreamDestroy_v2, StreamDestructionHook)

using EventDestructionHook = DestructionHook<Resource::kEvent, CUevent>;
HOLDFAST_HOOK(cuEventCreate, CreationHook<Resource::kEvent, CUevent>)
HOLDFAST_HOOK(cuEventDestroy, EventDestructionHook)
HOLDFAST_HOOK(cuEventDestroy_v2, EventDestructionHook)

using OldAllocationHook = CreationHook<Resource::kAllocation, CUdeviceptr_v1>;
using AllocationHook = CreationHook<Resource::kAllocation, CUdeviceptr>;
using HostAllocationHook = CreationHook<Resource::kAllocation, void*>;
HOLDFAST_HOOK(cuMemAlloc, OldAllocationHook)
HOLDFAST_HOOK(cuMemAlloc_v2, AllocationHook)
HOLDFAST_HOOK(cuMemAllocPitch, OldAllocationHook)
HOLDFAST_HOOK(cuMemAllocPitch_v2, AllocationHook)
HOLDFAST_HOOK(cuMemAllocManaged, AllocationHook)
HOLDFAST_HOOK(cuMemAllocAsync, AllocationHook)
HOLDFAST_HOOK(cuMemAllocAsync_ptsz, AllocationHook)
HOLDFAST_HOOK(cuMemAllocFromPoolAsync, AllocationHook)
HOLDFAST_HOOK(cuMemAllocFromPoolAsync_ptsz, AllocationHook)
HOLDFAST_HOOK(cuMemAllocHost, HostAllocationHook)
HOLDFAST_HOOK(cuMemAllocHost_v2, HostAllocationHook)
HOLDFAST_HOOK(cuMemHostAlloc, HostAllocationHook)

using FreeHook = DestructionHook<Resource::kAllocation, CUdeviceptr>;
HOLDFAST_HOOK(cuMemFree, DestructionHook<Resource::kAllocation, CUdeviceptr_v1>)
HOLDFAST_HOOK(cuMemFree_v2, FreeHook)
HOLDFAST_HOOK(cuMemFreeAsync, FreeHook)
HOLDFAST_HOOK(cuMemFreeAsync_ptsz, FreeHook)
HOLDFAST_HOOK(cuMemFreeHost, DestructionHook<Resource::kAllocation, void*>)

using ModuleCreationHook = CreationHook<Resource::kLibrary, CUmodule>;
HOLDFAST_HOOK(cuModuleLoad, ModuleCreationHook)
HOLDFAST_HOOK(cuModuleLoadData, ModuleCreationHook)
HOLDFAST_HOOK(cuModuleLoadDataEx, ModuleCreationHook)
HOLDFAST_HOOK(cuModuleLoadFatBinary, ModuleCreationHook)
HOLDFAST_HOOK(cuModuleUnload, DestructionHook<Resource::kLibrary, CUmodule>)
using LibraryCreationHook = CreationHook<Resource::kLibrary, CUlibrary>;
HOLDFAST_HOOK(cuLibraryLoadData, LibraryCreationHook)
HOLDFAST_HOOK(cuLibraryLoadFromFile, LibraryCreationHook)
HOLDFAST_HOOK(cuLibraryUnload, DestructionHook<Resource::kLibrary, CUlibrary>)

// ---- host functions -------------------------------------------------------------------------------------------------

// Outside a capture the function runs once, so its record can end with it. Inside one it becomes a host node, whose
// parameters the subject may read back, and is left alone.
template <Entry kIsCapturing>
struct HostFunctionHook {
  HostFunctionHook(CUstream& stream, CUhostFn& function, void*& argument) {
    if (function == nullptr || IsCapturing(stream)) return;
    record_ = NewHostFunction(function, argument);
    argument = record_;
    function = &HostFunctionArrived;
  }
  void Done(CUresult result) {
    if (result != CUDA_SUCCESS && record_ != nullptr) DropHostFunction(record_);
  }

 private:
  static bool IsCapturing(CUstream stream) {
    using Function = CUresult(CUDAAPI*)(CUstream, CUstreamCaptureStatus*);
    const auto function = reinterpret_cast<Function>(DriverFunction(kIsCapturing));
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return function == nullptr || function(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

  HostFunctionRecord* record_ = nullptr;
};
HOLDFAST_HOOK(cuLaunchHostFunc, HostFunctionHook<Entry::cuStreamIsCapturing>)
HOLDFAST_HOOK(cuLaunchHostFunc_ptsz, HostFunctionHook<Entry::cuStreamIsCapturing_ptsz>)

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_HOOKS_H_
