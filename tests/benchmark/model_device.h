// The cleanup with explicit drains and the first device's context, for a benchmark's process.
#ifndef HOLDFAST_TESTS_BENCHMARK_MODEL_DEVICE_H_
#define HOLDFAST_TESTS_BENCHMARK_MODEL_DEVICE_H_

namespace holdfast::benchmarks {

// Does so by the first call. Throws DriverError and std::runtime_error.
void StartOnce();

}  // namespace holdfast::benchmarks

#endif  // HOLDFAST_TESTS_BENCHMARK_MODEL_DEVICE_H_
