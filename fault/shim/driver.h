// The driver library below the shim: loaded once, by absolute path, with every entry point looked up at once.
//
// An entry point that the driver lacks is a state with a name: DriverFunction is null, and the call answers
// CUDA_ERROR_NOT_FOUND. Nothing is ever looked up in the global scope, where the shim would find itself.
//
// Thread safety: LoadDriver runs once, before everything else. The rest may be called from any thread.
#ifndef HOLDFAST_FAULT_SHIM_DRIVER_H_
#define HOLDFAST_FAULT_SHIM_DRIVER_H_

#include <span>

#include "fault/shim/entries.h"

// What the trampolines jump through: one address an entry point.
extern "C" __attribute__((visibility("hidden"))) void* holdfast_driver_table[];

namespace holdfast::fault {

// Opens $HOLDFAST_DRIVER, or else the first libcuda.so.1 of the usual folders that is not this library. A driver that
// was named and cannot be used ends the process with exit code 2; if none is found, every call answers
// CUDA_ERROR_NOT_FOUND.
void LoadDriver();

// A call found no function. Says so on stderr, once, if that is because there is no driver at all; not at load, since a
// preloaded shim is loaded into every process that a command starts.
void NoteMissing();

// The driver's function, or null if it has none.
void* DriverFunction(Entry entry);

// Adds a function that the driver exports under no name but hands out (cuGetProcAddress).
void SupplyDriverFunction(Entry entry, void* function);

// A symbol of the driver library, or null.
void* DriverSymbol(const char* name);

// Whether the library below is the model driver.
bool DriverIsModel();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_DRIVER_H_
