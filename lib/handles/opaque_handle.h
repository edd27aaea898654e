// OpaqueHandle: a shared reference to something whose type does not matter, only that it stays alive.
#ifndef HOLDFAST_LIB_HANDLES_OPAQUE_HANDLE_H_
#define HOLDFAST_LIB_HANDLES_OPAQUE_HANDLE_H_

#include <memory>

namespace holdfast {

// Any std::shared_ptr converts to one. Dropping the last reference runs the resource's own deleter, which may call
// CUDA or a language runtime: that must never happen inside a driver callback (see lib/cleanup).
using OpaqueHandle = std::shared_ptr<const void>;

}  // namespace holdfast

#endif  // HOLDFAST_LIB_HANDLES_OPAQUE_HANDLE_H_
