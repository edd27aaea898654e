"""The classes of nodes, by what they do.

Parameters that are numbers are read when they are first asked for, or when the node is destroyed, and stay readable
once it is gone. What a node keeps (kernel, event, callback) is None from then on: the graph has let go of it.

Every update replaces parameters of the definition's node, and what it keeps for them; executables that were made
before keep the old. It raises RuntimeError for a node that is gone and for closed objects, TypeError, ValueError and
OverflowError as the method does that adds such a node, and DriverError; then node and owners are as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast import _core
from holdfast._arguments import arguments_of, checked_sequence
from holdfast._callback import callback_of, is_function_pointer
from holdfast._event import event_of, wrap_event
from holdfast._launch_config import LaunchConfig, config_of, configuration_of
from holdfast._module import kernel_of, wrap_kernel
from holdfast.graph import _identity
from holdfast.graph._allocation import memory_type_of
from holdfast.graph._copy import CopyParameters, copy_update
from holdfast.graph._definition import GraphDefinition
from holdfast.graph._fill import FillParameters, fill_update
from holdfast.graph._node import GraphNode
from holdfast.typing import GraphMemoryType, GraphNodeType

__all__ = [
    "AllocNode",
    "ChildGraphNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "FreeNode",
    "HostCallbackNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
]


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY)
class EmptyNode(GraphNode):
    """Does nothing; others depend on it, and it on others."""

    __slots__ = ()


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL)
class KernelNode(GraphNode):
    """Launches a kernel."""

    __slots__ = ()

    def update(self, *, config: Any = None, kernel: Any = None, args: Sequence[Any] | None = None) -> None:
        """Replaces what is given. A new kernel needs its arguments, which may be `()`: ValueError without.

        Clusters and cooperative launch can be changed as well.
        """
        self._require_valid()
        if kernel is not None and args is None:
            raise ValueError("a new kernel needs args, which may be ()")
        if config is None and kernel is None and args is None:
            return
        configuration = None if config is None else configuration_of(config)
        function = None if kernel is None else kernel_of(kernel)
        arguments = None
        if args is not None:
            arguments = arguments_of(function or self._node.kernel(), checked_sequence(args))
        self._node.update_kernel(function, configuration, arguments)
        self._remembered = None

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks, in three dimensions; also where they form clusters."""
        return tuple(self._parameters().grid)

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads in a block, in three dimensions."""
        return tuple(self._parameters().block)

    @property
    def shmem_size(self) -> int:
        """Dynamic shared memory of a block, in bytes."""
        return self._parameters().shared_memory_bytes

    @property
    def config(self) -> LaunchConfig:
        """All of that, with clusters and cooperative launch."""
        return config_of(self._parameters())

    @property
    def kernel(self) -> Any:
        """The kernel as it was given; None once the node is gone. DriverError."""
        if not self.is_valid:
            return None
        resource = self._node.kernel()
        # One that the library never had came by a capture, or by other means.
        return wrap_kernel(_core.Kernel.borrow(self._node.raw_kernel(), None) if resource is None else resource)

    def _read(self) -> _core.Configuration:
        return self._node.configuration()


class Allocation(NamedTuple):
    """What an allocation node says of itself."""

    address: int
    size_bytes: int
    location_type: int
    allocation_type: int
    device: int
    peer_devices: list[int]


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC)
class AllocNode(GraphNode):
    """Allocates memory, anew at each launch, at the same address."""

    __slots__ = ()

    @property
    def dptr(self) -> int:
        """The address, which is known before any launch."""
        return self._parameters().address

    @property
    def bytesize(self) -> int:
        """Size in bytes."""
        return self._parameters().size_bytes

    @property
    def device_id(self) -> int:
        """The device that it lies on; 0 for memory of the host."""
        return self._parameters().device

    @property
    def memory_type(self) -> GraphMemoryType:
        """Device, host or managed memory."""
        parameters = self._parameters()
        return memory_type_of(parameters.location_type, parameters.allocation_type)

    @property
    def peer_access(self) -> tuple[int, ...]:
        """Ordinals of the devices that reach it besides."""
        return tuple(self._parameters().peer_devices)

    def _read(self) -> Allocation:
        return Allocation(*self._node.allocated())


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE)
class FreeNode(GraphNode):
    """Frees what an allocation node allocated."""

    __slots__ = ()

    @property
    def dptr(self) -> int:
        """The address."""
        return self._parameters()

    def _read(self) -> int:
        return self._node.freed_address()


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET)
class MemsetNode(GraphNode):
    """Fills memory."""

    __slots__ = ()

    def update(
        self,
        *,
        dst: Any = None,
        value: Any = None,
        width: int | None = None,
        height: int | None = None,
        pitch: int | None = None,
        dst_owner: Any = None,
    ) -> None:
        """Replaces what is given; a new `value` brings its element size. ValueError for an owner without `dst`."""
        self._require_valid()
        change = fill_update(self._parameters(), dst, value, width, height, pitch, dst_owner)
        if any(part is not None for part in change):
            self._node.update_memset(*change)
            self._remembered = None

    @property
    def dptr(self) -> int:
        """The address that is filled."""
        return self._parameters().address

    @property
    def value(self) -> int:
        """The element, as an unsigned number."""
        return self._parameters().value

    @property
    def element_size(self) -> int:
        """1, 2 or 4 bytes."""
        return self._parameters().element_size_bytes

    @property
    def width(self) -> int:
        """Elements in a row."""
        return self._parameters().width

    @property
    def height(self) -> int:
        """Rows."""
        return self._parameters().height

    @property
    def pitch(self) -> int:
        """Bytes from row to row; unused for one row."""
        return self._parameters().pitch_bytes

    def _read(self) -> FillParameters:
        return FillParameters(*self._node.filled())


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY)
class MemcpyNode(GraphNode):
    """Copies memory. What it says of itself is a RuntimeError for a copy of rows, slices or arrays, as a capture may
    bring it."""

    __slots__ = ()

    def update(
        self, *, dst: Any = None, src: Any = None, size: int | None = None, dst_owner: Any = None, src_owner: Any = None
    ) -> None:
        """Replaces what is given. ValueError for an owner without its operand. RuntimeError for a copy of rows, slices
        or arrays."""
        self._require_valid()
        change = copy_update(self._parameters(), dst, src, size, dst_owner, src_owner)
        if any(part is not None for part in change):
            self._node.update_memcpy(*change)
            self._remembered = None

    @property
    def dst(self) -> int:
        """The address that is written to."""
        return self._parameters().destination

    @property
    def src(self) -> int:
        """The address that is read."""
        return self._parameters().source

    @property
    def size(self) -> int:
        """In bytes."""
        return self._parameters().size_bytes

    def _read(self) -> CopyParameters:
        return CopyParameters(*self._node.copied())


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH)
class ChildGraphNode(GraphNode):
    """Runs the graph that is embedded in it."""

    __slots__ = ()

    def update(self, child: GraphDefinition) -> None:
        """Puts a copy of `child` in place of the embedded graph. Views of that, and of its nodes, are gone then.

        ValueError for a graph of this node's own hierarchy.
        """
        self._require_valid()
        self._node.update_child(_identity.graph_of(child, "child"))
        self._remembered = None

    @property
    def child_graph(self) -> GraphDefinition:
        """The embedded graph, to look at and to change. Once the node is gone, a graph that is gone."""
        return _identity.wrap_graph(self._parameters())

    def _read(self) -> _core.GraphDefinition:
        return self._node.child_graph()


class _EventNode(GraphNode):
    __slots__ = ()

    @property
    def event(self) -> Any:
        """The event as it was given; None once the node is gone. DriverError."""
        if not self.is_valid:
            return None
        resource = self._node.event()
        # One that the library never had came by a capture, or by other means.
        return wrap_event(_core.Event.borrow(self._node.raw_event(), None) if resource is None else resource)


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD)
class EventRecordNode(_EventNode):
    """Records an event."""

    __slots__ = ()

    def update(self, event: Any) -> None:
        """Records another event."""
        self._require_valid()
        self._node.update_event_record(event_of(event))


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT)
class EventWaitNode(_EventNode):
    """Waits for an event."""

    __slots__ = ()

    def update(self, event: Any) -> None:
        """Waits for another event."""
        self._require_valid()
        self._node.update_event_wait(event_of(event))


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_HOST)
class HostCallbackNode(GraphNode):
    """Calls a function on the host."""

    __slots__ = ()

    def update(self, fn: Any, *, user_data: Any = None) -> None:
        """Calls another function; it and its data are replaced together."""
        self._require_valid()
        self._node.update_host(callback_of(fn, user_data))

    @property
    def callback(self) -> Any:
        """The callable; None for a function of ctypes, and once the node is gone."""
        owners = self._node.owners() if self.is_valid else []
        function = owners[0] if owners else None
        return None if is_function_pointer(function) else function
