"""GraphNode: a node of a graph, and what can be added behind it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from holdfast import _core
from holdfast._arguments import arguments_of
from holdfast._callback import callback_of
from holdfast._condition import GraphCondition, condition_of
from holdfast._event import event_of
from holdfast._launch_config import configuration_of
from holdfast._module import kernel_of
from holdfast._numbers import count as count_argument
from holdfast._numbers import size as size_argument
from holdfast.graph import _allocation, _identity
from holdfast.graph._adjacency import AdjacencySetProxy
from holdfast.graph._copy import copy_of
from holdfast.graph._fill import fill_of
from holdfast.typing import GraphMemoryType, GraphNodeType

if TYPE_CHECKING:
    from holdfast.graph._conditional_nodes import IfElseNode, IfNode, SwitchNode, WhileNode
    from holdfast.graph._definition import GraphDefinition
    from holdfast.graph._nodes import (
        AllocNode,
        ChildGraphNode,
        EmptyNode,
        EventRecordNode,
        EventWaitNode,
        FreeNode,
        HostCallbackNode,
        KernelNode,
        MemcpyNode,
        MemsetNode,
    )

__all__ = ["GraphNode"]


@_identity.wraps_nodes_of(_identity.OTHER_NODES)
class GraphNode:
    """A node of a graph. It has a class of its own by what it does: KernelNode, MemcpyNode and so on.

    A node keeps its graph, and the graphs around that, alive. While a wrapper is alive, nodes(), edges(), pred and succ
    give that very object for its node; made anew it is equal. Equality and hash stay as they are when the node is
    destroyed.

    What adds a node behind this one:
    - returns the new node, which depends on this one;
    - raises TypeError for an argument of another type, ValueError and OverflowError for a value that cannot be,
      RuntimeError for a node or graph that is gone, a closed object, or a node of another graph, DriverError for what
      CUDA refuses; then the graph is as before, and owners that were given are let go of;
    - needs a current context, as Device.set_current makes one;
    - has the new node keep what it works on for as long as this graph, a copy of it, an executable made from either, or
      a launch may use it. An owner that itself refers to the graph is never let go of: give it a weak reference.

    Thread safety: one thread at a time for all graphs of one hierarchy, the caller synchronises. Reading is use, too;
    `is_valid`, `handle`, `type`, comparison and hash are not.
    """

    __slots__ = ("__weakref__", "_entered", "_node", "_remembered")

    # _core.GraphNode; None for the entry of the graph `_entered`, which stands in front of all nodes and is none.
    _node: Any
    _entered: _core.GraphDefinition | None
    _remembered: Any

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("nodes are made by the methods of a GraphDefinition or of another node")

    @classmethod
    def _wrap(cls, node: _core.GraphNode) -> GraphNode:
        wrapper = cls.__new__(cls)
        wrapper._node = node
        wrapper._entered = None
        wrapper._remembered = None
        return wrapper

    @classmethod
    def _entry_of(cls, graph: _core.GraphDefinition) -> GraphNode:
        entry = cls.__new__(cls)
        entry._node = None
        entry._entered = graph
        entry._remembered = None
        return entry

    # ---- what it is ----

    @property
    def type(self) -> GraphNodeType | None:
        """The kind of node as CUDA has it; None for the entry, and once the node is gone."""
        return GraphNodeType(self._node.type) if self._node is not None and self._node.is_valid else None

    @property
    def graph(self) -> GraphDefinition:
        """The graph that the node is in, or was."""
        return _identity.wrap_graph(self._graph)

    @property
    def handle(self) -> int | None:
        """The raw node (CUgraphNode); None for the entry, and once the node is gone."""
        return self._node.raw or None if self._node is not None else None

    @property
    def is_valid(self) -> bool:
        """Whether the node exists; of the entry, whether its graph does."""
        return self._graph.is_valid if self._node is None else self._node.is_valid

    def destroy(self) -> None:
        """Removes the node with its edges, and the graphs in it. Nothing happens to an entry, or a node that is gone.

        The graph lets go of what the node kept; executables that were made before keep it. If CUDA refuses
        (DriverError), as it does in graphs with allocation nodes, everything is as before.
        """
        if self._node is None or not self._node.is_valid:
            return
        with contextlib.suppress(RuntimeError):
            self._parameters()
        try:
            self._node.destroy()
        finally:
            if not self._node.is_valid:
                _identity.forget_node(self._node)

    @property
    def pred(self) -> AdjacencySetProxy:
        """The nodes that this one depends on: a set to look at and to change. Assigning replaces all of them."""
        return AdjacencySetProxy(self, False)

    @pred.setter
    def pred(self, value: Iterable[GraphNode]) -> None:
        self.pred._replace(value)

    @property
    def succ(self) -> AdjacencySetProxy:
        """The nodes that depend on this one: a set to look at and to change. Assigning replaces all of them."""
        return AdjacencySetProxy(self, True)

    @succ.setter
    def succ(self, value: Iterable[GraphNode]) -> None:
        self.succ._replace(value)

    # ---- what comes behind it ----

    def launch(self, config: Any, kernel: Any, *args: Any) -> KernelNode:
        """Adds a kernel, launched as a LaunchConfig says; clusters and cooperative launches among them.

        Arguments are buffers or arrays on the device (anything with `__cuda_array_interface__` or DLPack), ints,
        floats, bools, complex numbers, scalars of ctypes or numpy, structures of ctypes, and GraphConditions. Python
        numbers are as wide as the kernel's parameter where the driver tells its width, else 8 bytes (a bool 1, complex
        16). Kept: the kernel with its module, and the arguments' memory.
        """
        configuration = configuration_of(config)
        function = kernel_of(kernel)
        arguments = arguments_of(function, args)
        return self._added(self._graph.add_kernel(function, configuration, arguments, self._dependencies()))

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """Adds a node that does nothing, and depends on this one and `nodes`."""
        others = [dependency for node in nodes for dependency in _checked(node)._dependencies()]
        return self._added(self._graph.add_empty(self._dependencies() + others))

    def allocate(
        self,
        size: int,
        *,
        device: Any = None,
        memory_type: GraphMemoryType | str = GraphMemoryType.DEVICE,
        peer_access: Iterable[Any] | None = None,
    ) -> AllocNode:
        """Adds an allocation of `size` bytes, made anew by each launch, at the address `dptr` of the node.

        `device` is a Device or its ordinal, None the current one; `peer_access` are the devices that reach the memory
        besides. ValueError for a memory type that is not of GraphMemoryType.
        """
        location, kind, ordinal = _allocation.location_of(memory_type, device)
        peers = _allocation.peers_of(peer_access)
        size_bytes = size_argument(size, "size")
        node = self._graph.add_allocation(size_bytes, location, kind, ordinal, peers, self._dependencies())
        return self._added(node)

    def deallocate(self, dptr: int) -> FreeNode:
        """Adds the freeing of what an allocation node, of this or another graph, allocated at the address `dptr`."""
        return self._added(self._graph.add_free(size_argument(dptr, "dptr"), self._dependencies()))

    def memset(
        self, dst: Any, value: Any, width: int, height: int = 1, pitch: int = 0, *, dst_owner: Any = None
    ) -> MemsetNode:
        """Adds a fill of `height` rows of `width` elements with `value`.

        dst: a buffer, an array, or an address, which `dst_owner` keeps valid. ValueError for an owner beside a buffer,
            for an array that is not contiguous or read-only, and for a fill past the end of what has a size.
        value: an int from 0 to 255 (OverflowError beyond), or an object of 1, 2 or 4 bytes (ValueError else), which is
            one element.
        pitch: bytes from row to row; unused for one row.
        """
        fill = fill_of(dst, value, width, height, pitch, dst_owner)
        return self._added(self._graph.add_memset(*fill, self._dependencies()))

    def memcpy(self, dst: Any, src: Any, size: int, *, dst_owner: Any = None, src_owner: Any = None) -> MemcpyNode:
        """Adds a copy of `size` bytes from `src` to `dst`.

        Each is a buffer, an array (of the host too, by DLPack), or an address, of device or host memory, which its
        owner keeps valid. ValueError for an owner beside a buffer, for an array that is not contiguous, a destination
        that is read-only, and a copy past the end of what has a size; OverflowError for a negative size.
        """
        copy = copy_of(dst, src, size, dst_owner, src_owner)
        return self._added(self._graph.add_memcpy(*copy, self._dependencies()))

    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """Adds a copy of `child`, with all that it keeps. ValueError for a graph of this one's own hierarchy."""
        return self._added(self._graph.add_child(_identity.graph_of(child, "child"), self._dependencies()))

    def record(self, event: Any) -> EventRecordNode:
        """Adds the recording of an event, of this library, cuda.core, CuPy or PyTorch."""
        return self._added(self._graph.add_event_record(event_of(event), self._dependencies()))

    def wait(self, event: Any) -> EventWaitNode:
        """Adds the wait for an event, as record takes it."""
        return self._added(self._graph.add_event_wait(event_of(event), self._dependencies()))

    def callback(self, fn: Any, *, user_data: Any = None) -> HostCallbackNode:
        """Adds a call on the host, on a thread of CUDA's. It must not call CUDA.

        fn: a callable without arguments; what it raises goes to sys.unraisablehook, and the graph goes on. Or a ctypes
            function of the prototype CFUNCTYPE(None, c_void_p), which is called with `user_data`.
        user_data: an int is passed as it is; bytes (anything with them) are copied, and no bytes are a null pointer.
        TypeError for another prototype or other data, ValueError for data beside a callable. Kept: function and copy.
        """
        return self._added(self._graph.add_host(callback_of(fn, user_data), self._dependencies()))

    def if_then(self, condition: GraphCondition) -> IfNode:
        """Adds a conditional node with a body that runs if the condition is not zero.

        For this and the other three: ValueError for a condition of a graph that this one is not in.
        """
        node = self._graph.add_if(condition_of(condition), self._dependencies())
        return self._added_conditional(node, "IfNode", condition)

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """Adds a conditional node with two bodies: one runs if the condition is not zero, the other if it is."""
        node = self._graph.add_if_else(condition_of(condition), self._dependencies())
        return self._added_conditional(node, "IfElseNode", condition)

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """Adds a conditional node whose body runs again and again while the condition is not zero."""
        node = self._graph.add_while(condition_of(condition), self._dependencies())
        return self._added_conditional(node, "WhileNode", condition)

    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """Adds a conditional node with `count` bodies, of which the one runs whose index the condition is, if any."""
        bodies = count_argument(count, "count")
        node = self._graph.add_switch(condition_of(condition), bodies, self._dependencies())
        return self._added_conditional(node, "SwitchNode", condition)

    # ---- what the classes are made with ----

    @property
    def _graph(self) -> _core.GraphDefinition:
        return self._node.graph if self._entered is None else self._entered

    def _dependencies(self) -> list[_core.GraphNode]:
        return [] if self._node is None else [self._node]

    def _added(self, node: _core.GraphNode) -> Any:
        return _identity.wrap_node(node)

    def _added_conditional(self, node: _core.GraphNode, class_name: str, condition: GraphCondition) -> Any:
        # CUDA does not tell what a conditional node is, so its class and condition are said here.
        return _identity.register_node(node, _identity.conditional_class(class_name)._wrap_with(node, condition))

    def _require_valid(self) -> None:
        if not self.is_valid:
            raise RuntimeError("the node has been destroyed")

    def _parameters(self) -> Any:
        """The node's parameters: asked of CUDA once, and known from then on, also when the node is gone."""
        if self._remembered is None:
            self._require_valid()
            self._remembered = self._read()
        return self._remembered

    def _read(self) -> Any:
        """What a class has parameters for."""
        return ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphNode):
            return NotImplemented
        return (self._node, self._entered) == (other._node, other._entered)

    def __hash__(self) -> int:
        return hash((self._node, self._entered))

    def __repr__(self) -> str:
        name = type(self).__name__
        if self._node is None:
            return f"<{name} entry>"
        return f"<{name} handle={self._node.raw:#x}>" if self._node.is_valid else f"<{name} destroyed>"


def _checked(node: Any) -> GraphNode:
    if not isinstance(node, GraphNode):
        raise TypeError(f"expected a GraphNode, got {type(node).__name__}")
    return node
