// Translation between operands and the driver's parameter structs, checked as far as can be seen without changing
// anything, and the owners that go with each kind of node.
#ifndef HOLDFAST_LIB_GRAPH_NODE_PARAMETERS_H_
#define HOLDFAST_LIB_GRAPH_NODE_PARAMETERS_H_

#include <cuda.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lib/graph/operands.h"
#include "lib/handles/opaque_handle.h"
#include "lib/handles/resources.h"

namespace holdfast::graph {

// The context that new nodes run in: the calling thread's. Throws DriverError.
CUcontext CurrentContext();

// Owner slots keep their place, nulls included, so that a partial update knows whose is whose: a kernel's are
// {kernel, owners of arguments...}, a copy's {destination, source}.
std::vector<OpaqueHandle> KernelOwners(OpaqueHandle kernel, std::span<const OpaqueHandle> arguments);

// `arguments` is what cuLaunchKernel takes: it must stay until the driver has copied the values.
CUDA_KERNEL_NODE_PARAMS MakeKernel(CUkernel kernel, const LaunchConfiguration& configuration, void** arguments);

// Grid, block and shared memory alone.
void SetShape(CUDA_KERNEL_NODE_PARAMS& parameters, const LaunchConfiguration& configuration);
void GetShape(const CUDA_KERNEL_NODE_PARAMS& parameters, LaunchConfiguration& configuration);

// The bytes of each parameter; nothing where the driver cannot tell (CUDA 12.4 and newer can, where a context is
// current) and for a null kernel. Throws DriverError if it fails to tell.
std::optional<std::vector<std::size_t>> ParameterSizes(CUkernel kernel);

// Throws std::invalid_argument if the driver can tell that number or sizes of the arguments are not what `kernel`
// takes (CUDA 12.4 and newer can, where a context is current), DriverError if it fails to tell. Does nothing for a null
// kernel.
void CheckArguments(CUkernel kernel, const KernelArguments& arguments);

// A copy of `size_bytes` in one dimension.
CUDA_MEMCPY3D MakeMemcpy(const MemoryOperand& destination, const MemoryOperand& source, std::size_t size_bytes);

// Throws std::invalid_argument where rows or slices of a side would overlap.
CUDA_MEMCPY3D MakeMemcpy(const CopyParameters& copy);

// The operands have no owners.
CopyParameters ReadMemcpy(const CUDA_MEMCPY3D& copy);

// Whether MakeMemcpy of two operands and a size could have made it, of host and device addresses.
bool IsPlainCopy(const CUDA_MEMCPY3D& copy);

// Throws std::invalid_argument for a target that is no device address, an element size that is not 1, 2 or 4, and a
// value that does not fit its element.
CUDA_MEMSET_NODE_PARAMS MakeMemset(const MemoryOperand& destination, const MemsetParameters& parameters);

// The operand has no owner.
FillParameters ReadMemset(const CUDA_MEMSET_NODE_PARAMS& fill);

// The same in the form that cuGraphNodeSetParams and cuGraphExecNodeSetParams take.
CUgraphNodeParams AsNodeParameters(const CUDA_KERNEL_NODE_PARAMS& kernel);
CUgraphNodeParams AsNodeParameters(const CUDA_MEMCPY3D& copy, CUcontext context);
CUgraphNodeParams AsNodeParameters(const CUDA_MEMSET_NODE_PARAMS& fill, CUcontext context);
CUgraphNodeParams HostNodeParameters(const HostCallback& callback);
CUgraphNodeParams EventRecordNodeParameters(const Event& event);
CUgraphNodeParams EventWaitNodeParameters(const Event& event);
CUgraphNodeParams ChildGraphNodeParameters(CUgraph source, CUgraphChildGraphNodeOwnership ownership);

// The event of a handle. Throws std::invalid_argument naming `operation` for a null one.
const Event& RequireEvent(const EventHandle& event, const char* operation);

}  // namespace holdfast::graph

#endif  // HOLDFAST_LIB_GRAPH_NODE_PARAMETERS_H_
