// User objects: a counted owner of a payload whose destructor runs once, when the count reaches zero.
//
// A record is never freed, only reused, and carries a generation: a reference that outlived its object (which the
// real driver lets happen, fact U13) is noticed when it is dropped instead of reaching the record's next user.
#ifndef HOLDFAST_FAULT_MODEL_USER_OBJECT_H_
#define HOLDFAST_FAULT_MODEL_USER_OBJECT_H_

#include <cuda.h>

#include <atomic>
#include <cstdint>

namespace holdfast::fault::model {

class UserObject;

// `count` references to one object, as a graph or an executable holds them. Counts are taken modulo 2^32: a graph that
// released more than it had holds less than none.
struct Reference {
  UserObject* object;
  std::uint32_t generation;
  std::uint32_t count;
};

// Thread safety: all functions may be called from any thread (fact U18).
class UserObject {
 public:
  static CUuserObject Create(CUhostFn destructor, void* payload, std::uint32_t count);

  // The live object of the handle. Null for one that is destroyed: the real driver answers success there, and what it
  // writes to is nobody's. Throws Refusal{CUDA_ERROR_INVALID_VALUE} for what never was a handle.
  static UserObject* Find(CUuserObject handle);

  // A reference to what the object is now; adds nothing to the count.
  Reference Refer(std::uint32_t count) noexcept;

  static std::uint64_t live();

  // The object's count grows by reference.count. A reference to an object that died is a misuse, unless it is one to
  // less than none, which reaches nobody.
  static void Add(const Reference& reference);

  // The count shrinks by reference.count; at zero the destructor is delivered. A count that is taken past zero wraps,
  // as the real driver's does, and the destructor does not run.
  // REQUIRES: no lock of the model is held.
  static void Drop(const Reference& reference);

 private:
  void Retire();

  // Generation in the upper half, count in the lower. One word, so that nobody can add to an object that another thread
  // has just brought to zero. An object that died has the next generation already.
  std::atomic<std::uint64_t> state_{0};
  // Written before the handle is given out and after the count reached zero; hence not atomic.
  CUhostFn destructor_ = nullptr;
  void* payload_ = nullptr;
  CUuserObject handle_ = nullptr;
};

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_USER_OBJECT_H_
