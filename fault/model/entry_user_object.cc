// Entry points: user objects, and the references that graphs hold to them.
#include <cuda.h>

#include <limits>

#include "fault/model/call.h"
#include "fault/model/graph.h"
#include "fault/model/user_object.h"

namespace holdfast::fault::model {
namespace {

// What a retain or release may ask for; a creation may ask for any count but 0.
void RequireCount(unsigned int count) {
  Require(count > 0 && count <= static_cast<unsigned int>(std::numeric_limits<int>::max()));
}

}  // namespace

extern "C" {

CUresult cuUserObjectCreate(CUuserObject* object, void* payload, CUhostFn destructor, unsigned int count,
                            unsigned int flags) {
  return Enter(__func__, Rule::kAlways, [&] {
    Require(object != nullptr && destructor != nullptr && flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    Require(count > 0);
    *object = UserObject::Create(destructor, payload, count);
  });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  return Enter(__func__, Rule::kAlways, [&] {
    RequireCount(count);
    if (UserObject* live = UserObject::Find(object)) UserObject::Add(live->Refer(count));
  });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  return Enter(__func__, Rule::kAlways, [&] {
    RequireCount(count);
    if (UserObject* live = UserObject::Find(object)) UserObject::Drop(live->Refer(count));
  });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Graph& holder = Graph::Require(graph);
    const GraphUse use(holder);
    RequireCount(count);
    Require((flags & ~static_cast<unsigned int>(CU_GRAPH_USER_OBJECT_MOVE)) == 0);
    UserObject* live = UserObject::Find(object);
    if (live == nullptr) {
      Misuse("the user object is destroyed already (the real driver crashes when the graph drops it)");
    }
    const Reference reference = live->Refer(count);
    holder.references.Add(reference);
    if (flags != CU_GRAPH_USER_OBJECT_MOVE) UserObject::Add(reference);
  });
}

// The object's count shrinks whether or not the graph holds that many, and the answer is success (fact U13).
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Graph& holder = Graph::Require(graph);
    RequireCount(count);
    UserObject* live = UserObject::Find(object);
    if (live == nullptr) return;
    const Reference reference = live->Refer(count);
    {
      const GraphUse use(holder);
      holder.references.Remove(reference);
    }
    UserObject::Drop(reference);
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
