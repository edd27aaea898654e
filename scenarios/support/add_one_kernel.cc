#include "scenarios/support/add_one_kernel.h"

#include <cstdint>

namespace holdfast::scenarios {
namespace {

constexpr char kImage[] = R"(.version 7.0
.target sm_52
.address_size 64

.visible .entry add_one(.param .u64 memory, .param .u32 size_bytes)
{
  .reg .pred %past_end;
  .reg .b16 %byte;
  .reg .b32 %index, %size;
  .reg .b64 %base, %offset, %address;

  ld.param.u64 %base, [memory];
  ld.param.u32 %size, [size_bytes];
  mov.u32 %index, %tid.x;
  setp.ge.u32 %past_end, %index, %size;
  @%past_end ret;
  cvta.to.global.u64 %base, %base;
  cvt.u64.u32 %offset, %index;
  add.s64 %address, %base, %offset;
  ld.global.u8 %byte, [%address];
  add.s16 %byte, %byte, 1;
  st.global.u8 [%address], %byte;
  ret;
}
)";

void AddOneOnHost(void** parameters, const fault::LaunchShape& shape) {
  auto* memory = *static_cast<std::uint8_t**>(parameters[0]);
  const std::uint32_t size_bytes = *static_cast<std::uint32_t*>(parameters[1]);
  for (std::uint32_t thread = 0; thread < shape.block[0] && thread < size_bytes; ++thread) {
    ++memory[thread];
  }
}

}  // namespace

KernelHandle LoadAddOneKernel(const harness::Context& context) {
  if (context.model() != nullptr) {
    context.model()->register_kernel("add_one", &AddOneOnHost);
  }
  return Kernel::Find(Library::Load(kImage), "add_one");
}

}  // namespace holdfast::scenarios
