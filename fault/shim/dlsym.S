/* What the imports of dlsym lead to once the Python door is open (python_door.h): asks holdfast_before_dlsym first, and
   unless that answers, goes on to the real dlsym with a jump. A call would put this library in the place of the caller,
   which dlsym goes by to resolve RTLD_NEXT and RTLD_DEFAULT. */

  .hidden holdfast_dlsym
  .hidden holdfast_real_dlsym
  .hidden holdfast_before_dlsym
  .text
  .globl holdfast_dlsym
#if defined(__x86_64__)
  .type holdfast_dlsym, @function
holdfast_dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call holdfast_before_dlsym
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  jne 1f
  jmp *holdfast_real_dlsym(%rip)
1:
  ret
  .cfi_endproc
#elif defined(__aarch64__)
  .type holdfast_dlsym, %function
holdfast_dlsym:
  .cfi_startproc
  stp x29, x30, [sp, -32]!
  .cfi_def_cfa_offset 32
  .cfi_offset x29, -32
  .cfi_offset x30, -24
  stp x0, x1, [sp, 16]
  bl holdfast_before_dlsym
  mov x16, x0
  ldp x0, x1, [sp, 16]
  ldp x29, x30, [sp], 32
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  cbnz x16, 1f
  adrp x16, holdfast_real_dlsym
  ldr x16, [x16, #:lo12:holdfast_real_dlsym]
  br x16
1:
  mov x0, x16
  ret
  .cfi_endproc
#else
#error "the jump to dlsym is written for x86-64 and AArch64"
#endif
  .size holdfast_dlsym, .-holdfast_dlsym
  .section .note.GNU-stack,"",%progbits
