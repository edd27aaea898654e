#include "scenarios/support/condition_kernels.h"

#include <atomic>

#include "fault/model/control.h"

namespace holdfast::scenarios {
namespace {

constexpr char kConditionImage[] = R"(.version 7.8
.target sm_70
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);

.visible .entry set_condition(.param .u64 condition, .param .u32 value)
{
  .reg .b32 %value;
  .reg .b64 %condition;

  ld.param.u64 %condition, [condition];
  ld.param.u32 %value, [value];
  {
    .param .b64 first;
    .param .b32 second;
    st.param.b64 [first], %condition;
    st.param.b32 [second], %value;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}

.visible .entry count_up_to(.param .u64 condition, .param .u64 counter, .param .u32 limit)
{
  .reg .pred %below;
  .reg .b32 %count, %limit, %value;
  .reg .b64 %condition, %counter;

  ld.param.u64 %condition, [condition];
  ld.param.u64 %counter, [counter];
  ld.param.u32 %limit, [limit];
  cvta.to.global.u64 %counter, %counter;
  ld.global.u32 %count, [%counter];
  add.u32 %count, %count, 1;
  st.global.u32 [%counter], %count;
  setp.lt.u32 %below, %count, %limit;
  selp.u32 %value, 1, 0, %below;
  {
    .param .b64 first;
    .param .b32 second;
    st.param.b64 [first], %condition;
    st.param.b32 [second], %value;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}
)";

// Where the host functions find the model: they get nothing but their parameters.
std::atomic<const fault::ModelControl*> model{nullptr};

void SetConditionOnHost(void** parameters, const fault::LaunchShape&) {
  model.load()->set_conditional(*static_cast<std::uint64_t*>(parameters[0]),
                                *static_cast<std::uint32_t*>(parameters[1]));
}

void CountUpToOnHost(void** parameters, const fault::LaunchShape&) {
  std::uint32_t* counter = *static_cast<std::uint32_t**>(parameters[1]);
  const std::uint32_t limit = *static_cast<std::uint32_t*>(parameters[2]);
  model.load()->set_conditional(*static_cast<std::uint64_t*>(parameters[0]), ++*counter < limit ? 1 : 0);
}

}  // namespace

ConditionKernels LoadConditionKernels(const harness::Context& context) {
  if (context.model() != nullptr) {
    model = context.model();
    context.model()->register_kernel("set_condition", &SetConditionOnHost);
    context.model()->register_kernel("count_up_to", &CountUpToOnHost);
  }
  const LibraryHandle library = Library::Load(kConditionImage);
  return {Kernel::Find(library, "set_condition"), Kernel::Find(library, "count_up_to")};
}

KernelArguments SetConditionArguments(const Condition& condition, std::uint32_t value) {
  return KernelArguments().Add(condition.raw()).Add(value);
}

KernelArguments CountUpToArguments(const Condition& condition, const DeviceMemoryHandle& counter, std::uint32_t limit) {
  return KernelArguments().Add(condition.raw()).Add(counter).Add(limit);
}

}  // namespace holdfast::scenarios
