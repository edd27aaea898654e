"""Nodes as an executable has them: views, `graph[node]`.

An update changes this executable alone, for later launches; the definition and other executables stay as they are. The
parameters are given whole. What is given is kept until the executable is through, what it replaces as well.

Every method raises RuntimeError once the executable is closed or the node is gone, DriverError for what CUDA refuses, a
node of another graph for one; then the executable is as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast import _core
from holdfast._arguments import arguments_of, checked_sequence
from holdfast._callback import callback_of
from holdfast._event import event_of
from holdfast._launch_config import configuration_of
from holdfast._module import kernel_of
from holdfast.graph import _identity
from holdfast.graph._copy import copy_of
from holdfast.graph._fill import fill_of
from holdfast.typing import GraphNodeType

if TYPE_CHECKING:
    from holdfast.graph._definition import GraphDefinition
    from holdfast.graph._executable import Graph
    from holdfast.graph._node import GraphNode

__all__ = [
    "ExecutableChildGraphNode",
    "ExecutableEventRecordNode",
    "ExecutableEventWaitNode",
    "ExecutableGraphNode",
    "ExecutableHostCallbackNode",
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
]


class ExecutableGraphNode:
    """A view of a node in an executable. It keeps both, and the node's graph, alive for as long as it is held.

    Thread safety: as the executable's.
    """

    __slots__ = ("__weakref__", "_executable", "_node", "_view")

    _executable: Graph
    _node: GraphNode
    _view: _core.ExecNode

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("views of an executable's nodes are made by graph[node]")

    @classmethod
    def _wrap(cls, view: _core.ExecNode, executable: Graph, node: GraphNode) -> ExecutableGraphNode:
        wrapper = cls.__new__(cls)
        wrapper._view = view
        wrapper._executable = executable
        wrapper._node = node
        return wrapper

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._node!r} in {self._executable!r}>"


class _CanBeDisabled(ExecutableGraphNode):
    """A node that is disabled does nothing, and others do not wait for it longer than for what it waits for."""

    __slots__ = ()

    @property
    def is_enabled(self) -> bool:
        """Whether the node does anything at a launch."""
        return self._view.is_enabled

    def enable(self) -> None:
        """Has the node do what it does, again."""
        self._view.set_enabled(True)

    def disable(self) -> None:
        """Has the node do nothing."""
        self._view.set_enabled(False)


class ExecutableKernelNode(_CanBeDisabled):
    """A kernel in an executable."""

    __slots__ = ()

    def update(self, *, config: Any, kernel: Any, args: Sequence[Any]) -> None:
        """Launches another kernel, or the same in another way; as GraphNode.launch, with `args` a tuple or a list.

        ValueError for clusters or a cooperative launch other than the definition's node has: those stay.
        """
        configuration = configuration_of(config)
        function = kernel_of(kernel)
        self._view.update_kernel(function, configuration, arguments_of(function, checked_sequence(args)))


class ExecutableMemsetNode(_CanBeDisabled):
    """A fill in an executable."""

    __slots__ = ()

    def update(self, *, dst: Any, value: Any, width: int, height: int = 1, pitch: int = 0) -> None:
        """As GraphNode.memset; Buffer.from_handle gives an address an owner."""
        self._view.update_memset(*fill_of(dst, value, width, height, pitch, None))


class ExecutableMemcpyNode(_CanBeDisabled):
    """A copy in an executable."""

    __slots__ = ()

    def update(self, *, dst: Any, src: Any, size: int) -> None:
        """As GraphNode.memcpy; Buffer.from_handle gives an address an owner."""
        self._view.update_memcpy(*copy_of(dst, src, size, None, None))


class ExecutableChildGraphNode(ExecutableGraphNode):
    """An embedded graph in an executable."""

    __slots__ = ()

    def update(self, child: GraphDefinition) -> None:
        """Takes over the parameters, and what they keep, of a graph of the same shape."""
        self._view.update_child(_identity.graph_of(child, "child"))


class ExecutableEventRecordNode(ExecutableGraphNode):
    """The recording of an event in an executable."""

    __slots__ = ()

    def update(self, event: Any) -> None:
        """Records another event."""
        self._view.update_event_record(event_of(event))


class ExecutableEventWaitNode(ExecutableGraphNode):
    """The wait for an event in an executable."""

    __slots__ = ()

    def update(self, event: Any) -> None:
        """Waits for another event."""
        self._view.update_event_wait(event_of(event))


class ExecutableHostCallbackNode(ExecutableGraphNode):
    """A callback in an executable."""

    __slots__ = ()

    def update(self, fn: Any, *, user_data: Any = None) -> None:
        """Calls another function; as GraphNode.callback."""
        self._view.update_host(callback_of(fn, user_data))


_VIEWS: dict[int, type[ExecutableGraphNode]] = {
    GraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL: ExecutableKernelNode,
    GraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET: ExecutableMemsetNode,
    GraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY: ExecutableMemcpyNode,
    GraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH: ExecutableChildGraphNode,
    GraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD: ExecutableEventRecordNode,
    GraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT: ExecutableEventWaitNode,
    GraphNodeType.CU_GRAPH_NODE_TYPE_HOST: ExecutableHostCallbackNode,
}


def view_class(node: GraphNode) -> type[ExecutableGraphNode]:
    """The class of views of such a node. TypeError for a kind that CUDA does not change in an executable."""
    view = _VIEWS.get(node.type) if node.type is not None else None
    if view is None:
        raise TypeError(f"a {type(node).__name__} cannot be changed in an executable")
    return view
