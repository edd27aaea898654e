#include "scenarios/support/launch_kernels.h"

#include "fault/model/control.h"

namespace holdfast::scenarios {
namespace {

constexpr char kLaunchImage[] = R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry mark_blocks(.param .u64 memory, .param .u32 value)
{
  .reg .pred %other_thread;
  .reg .b32 %thread, %block, %value;
  .reg .b64 %base, %offset, %address;

  mov.u32 %thread, %tid.x;
  setp.ne.u32 %other_thread, %thread, 0;
  @%other_thread ret;
  ld.param.u64 %base, [memory];
  ld.param.u32 %value, [value];
  cvta.to.global.u64 %base, %base;
  mov.u32 %block, %ctaid.x;
  cvt.u64.u32 %offset, %block;
  add.s64 %address, %base, %offset;
  st.global.u8 [%address], %value;
  ret;
}

.visible .entry take_arguments(.param .u64 first, .param .u8 second, .param .align 8 .b8 third[24])
{
  ret;
}
)";

void MarkBlocksOnHost(void** parameters, const fault::LaunchShape& shape) {
  auto* memory = *static_cast<std::uint8_t**>(parameters[0]);
  const std::uint32_t value = *static_cast<std::uint32_t*>(parameters[1]);
  for (std::uint32_t block = 0; block < shape.grid[0]; ++block) {
    memory[block] = static_cast<std::uint8_t>(value);
  }
}

void TakeArgumentsOnHost(void**, const fault::LaunchShape&) {}

}  // namespace

LaunchKernels LoadLaunchKernels(const harness::Context& context) {
  if (context.model() != nullptr) {
    context.model()->register_kernel("mark_blocks", &MarkBlocksOnHost);
    context.model()->register_kernel("take_arguments", &TakeArgumentsOnHost);
  }
  const LibraryHandle library = Library::Load(kLaunchImage);
  return {Kernel::Find(library, "mark_blocks"), Kernel::Find(library, "take_arguments")};
}

KernelArguments MarkBlocksArguments(const DeviceMemoryHandle& memory, std::uint32_t value) {
  return KernelArguments().Add(memory).Add(value);
}

}  // namespace holdfast::scenarios
