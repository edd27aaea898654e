// Sanitizer options built into the scenario programs, so that no environment is needed to run them.
//
// The harness tells a sanitizer's report by its text and by the file that log_path names, never by the exit code alone.
extern "C" {

// A real driver maps memory where ASan wants a gap in its shadow.
const char* __asan_default_options() { return "protect_shadow_gap=0:detect_stack_use_after_return=1:exitcode=86"; }

const char* __lsan_default_options() { return "exitcode=86:print_suppressions=0"; }

// The real driver keeps what it allocated until the process ends.
const char* __lsan_default_suppressions() { return "leak:libcuda.so.580\nleak:libnvidia\n"; }

// By default a process waits a second at its end for races to show; the scenarios wait for their threads themselves.
const char* __tsan_default_options() {
  return "halt_on_error=0:second_deadlock_stack=1:exitcode=86:atexit_sleep_ms=20";
}

const char* __ubsan_default_options() { return "print_stacktrace=1:halt_on_error=1:exitcode=86"; }

}  // extern "C"
