// The values of an executable's conditional handles, which kernels set and conditional nodes ask for.
#ifndef HOLDFAST_FAULT_MODEL_CONDITIONS_H_
#define HOLDFAST_FAULT_MODEL_CONDITIONS_H_

#include <cuda.h>

#include <atomic>
#include <map>
#include <memory>

namespace holdfast::fault::model {

// Values last as long as the executable: without a default one launch leaves them to the next.
// Thread safety: Set and Get from the thread that runs a launch, one launch at a time; the rest before any launch.
class Conditions {
 public:
  void Add(CUgraphConditionalHandle handle, unsigned int default_value, bool assigns_default);

  // Takes over the values of those that have the same handle there.
  void KeepValues(const Conditions& from);

  bool empty() const { return values_.empty(); }

  // What a launch begins with.
  void AssignDefaults();

  unsigned int Get(CUgraphConditionalHandle handle) const;

  // False if there is no such handle.
  bool Set(CUgraphConditionalHandle handle, unsigned int value);

 private:
  struct Value {
    unsigned int default_value = 0;
    bool assigns_default = false;
    std::atomic<unsigned int> now{0};
  };

  std::map<CUgraphConditionalHandle, Value> values_;
};

// What the kernels that run on the calling thread can set while it lives.
class ConditionScope {
 public:
  explicit ConditionScope(Conditions& conditions);
  ~ConditionScope();
  ConditionScope(const ConditionScope&) = delete;
  ConditionScope& operator=(const ConditionScope&) = delete;
};

// For the body of a kernel. A handle that the running executable does not have, or a kernel outside of a graph, loses
// the context, as on a GPU.
void SetConditional(std::uint64_t handle, unsigned int value);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_CONDITIONS_H_
