#include "fault/model/conditions.h"

#include "fault/model/context.h"

namespace holdfast::fault::model {
namespace {

thread_local Conditions* running = nullptr;

}  // namespace

void Conditions::Add(CUgraphConditionalHandle handle, unsigned int default_value, bool assigns_default) {
  Value& value = values_[handle];
  value.default_value = default_value;
  value.assigns_default = assigns_default;
}

void Conditions::KeepValues(const Conditions& from) {
  for (auto& [handle, value] : values_) {
    if (const auto found = from.values_.find(handle); found != from.values_.end()) {
      value.now.store(found->second.now.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
  }
}

void Conditions::AssignDefaults() {
  for (auto& [handle, value] : values_) {
    if (value.assigns_default) value.now.store(value.default_value, std::memory_order_relaxed);
  }
}

unsigned int Conditions::Get(CUgraphConditionalHandle handle) const {
  return values_.at(handle).now.load(std::memory_order_relaxed);
}

bool Conditions::Set(CUgraphConditionalHandle handle, unsigned int value) {
  const auto found = values_.find(handle);
  if (found == values_.end()) return false;
  found->second.now.store(value, std::memory_order_relaxed);
  return true;
}

ConditionScope::ConditionScope(Conditions& conditions) { running = &conditions; }
ConditionScope::~ConditionScope() { running = nullptr; }

void SetConditional(std::uint64_t handle, unsigned int value) {
  if (running != nullptr && running->Set(handle, value)) return;
  FailContext(CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel sets a conditional handle that its graph does not have");
}

}  // namespace holdfast::fault::model
