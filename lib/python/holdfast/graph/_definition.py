"""GraphDefinition: a graph, node by node."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from holdfast import _core
from holdfast._condition import GraphCondition
from holdfast._numbers import count as count_argument
from holdfast.graph import _identity
from holdfast.graph._executable import Graph, instantiated
from holdfast.graph._node import GraphNode
from holdfast.graph._options import GraphCompleteOptions, GraphDebugPrintOptions, debug_flags
from holdfast.typing import GraphMemoryType

if TYPE_CHECKING:
    from holdfast.graph._conditional_nodes import IfElseNode, IfNode, SwitchNode, WhileNode
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

__all__ = ["GraphDefinition"]


@_identity.wraps_graphs
class GraphDefinition:
    """A graph: one made here, the copy inside a ChildGraphNode, a body of a conditional node, or what was captured.

    All views of one graph are equal, and stay so when it is gone. A graph is destroyed with the last view of it, of a
    graph in it, or of a node of either; a graph in a node goes with the node, and every use of it but `is_valid`,
    `handle`, comparison and hash is a RuntimeError then.

    What adds a node here makes one that depends on nothing; GraphNode has the same methods, and says what they do.

    Thread safety: one thread at a time for all graphs of one hierarchy, the caller synchronises; different hierarchies
    are independent.
    """

    __slots__ = ("__weakref__", "_graph")

    _graph: _core.GraphDefinition

    def __init__(self) -> None:
        """An empty graph. DriverError."""
        self._graph = _core.GraphDefinition()

    @classmethod
    def _wrap(cls, graph: _core.GraphDefinition) -> GraphDefinition:
        definition = cls.__new__(cls)
        definition._graph = graph
        return definition

    @property
    def is_valid(self) -> bool:
        """Whether the graph exists."""
        return self._graph.is_valid

    @property
    def handle(self) -> int:
        """The raw graph (CUgraph); 0 once it is gone."""
        return self._graph.raw

    @property
    def _entry(self) -> GraphNode:
        """What stands in front of all nodes, and is none: nodes that are added behind it depend on nothing."""
        if not self._graph.is_valid:
            raise RuntimeError("the graph is gone, with the node that it was in")
        return GraphNode._entry_of(self._graph)

    # ---- nodes without dependencies ----

    def allocate(
        self,
        size: int,
        *,
        device: Any = None,
        memory_type: GraphMemoryType | str = GraphMemoryType.DEVICE,
        peer_access: Iterable[Any] | None = None,
    ) -> AllocNode:
        """See GraphNode.allocate."""
        return self._entry.allocate(size, device=device, memory_type=memory_type, peer_access=peer_access)

    def deallocate(self, dptr: int) -> FreeNode:
        """See GraphNode.deallocate."""
        return self._entry.deallocate(dptr)

    def memset(
        self, dst: Any, value: Any, width: int, height: int = 1, pitch: int = 0, *, dst_owner: Any = None
    ) -> MemsetNode:
        """See GraphNode.memset."""
        return self._entry.memset(dst, value, width, height, pitch, dst_owner=dst_owner)

    def launch(self, config: Any, kernel: Any, *args: Any) -> KernelNode:
        """See GraphNode.launch."""
        return self._entry.launch(config, kernel, *args)

    def empty(self) -> EmptyNode:
        """A node that does nothing."""
        return self._entry.join()

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """A node that does nothing, and depends on `nodes`."""
        return self._entry.join(*nodes)

    def memcpy(self, dst: Any, src: Any, size: int, *, dst_owner: Any = None, src_owner: Any = None) -> MemcpyNode:
        """See GraphNode.memcpy."""
        return self._entry.memcpy(dst, src, size, dst_owner=dst_owner, src_owner=src_owner)

    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """See GraphNode.embed."""
        return self._entry.embed(child)

    def record(self, event: Any) -> EventRecordNode:
        """See GraphNode.record."""
        return self._entry.record(event)

    def wait(self, event: Any) -> EventWaitNode:
        """See GraphNode.wait."""
        return self._entry.wait(event)

    def callback(self, fn: Any, *, user_data: Any = None) -> HostCallbackNode:
        """See GraphNode.callback."""
        return self._entry.callback(fn, user_data=user_data)

    def if_then(self, condition: GraphCondition) -> IfNode:
        """See GraphNode.if_then."""
        return self._entry.if_then(condition)

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """See GraphNode.if_else."""
        return self._entry.if_else(condition)

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """See GraphNode.while_loop."""
        return self._entry.while_loop(condition)

    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """See GraphNode.switch."""
        return self._entry.switch(condition, count)

    # ---- the graph as a whole ----

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """A condition for one conditional node of this graph, or of a body in it.

        With a default it has that value at the beginning of each launch. OverflowError beyond 32 bits, DriverError.
        CUDA makes no executable of a graph with a condition that no node has.
        """
        return GraphCondition._wrap(self._graph.make_condition(default_of(default_value)))

    def nodes(self) -> set[GraphNode]:
        """All nodes of this graph; those of graphs in it are theirs."""
        return set(_identity.wrap_nodes(self._graph.nodes()))

    def edges(self) -> set[tuple[GraphNode, GraphNode]]:
        """All edges: (from, to), where `to` depends on `from`."""
        return {(_identity.wrap_node(start), _identity.wrap_node(end)) for start, end in self._graph.edges()}

    def instantiate(self, options: GraphCompleteOptions | None = None) -> Graph:
        """An executable, which is independent of this graph from then on. TypeError, DriverError."""
        return instantiated(self._graph.instantiate, options)

    def debug_dot_print(self, path: str | os.PathLike[str], options: GraphDebugPrintOptions | None = None) -> None:
        """Writes the graph to a file for GraphViz. TypeError, DriverError if CUDA cannot write there."""
        self._graph.write_dot(os.fspath(path), debug_flags(options))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphDefinition):
            return NotImplemented
        return self._graph == other._graph

    def __hash__(self) -> int:
        return hash(self._graph)

    def __repr__(self) -> str:
        return f"<GraphDefinition handle={self.handle:#x}>" if self.is_valid else "<GraphDefinition destroyed>"


def default_of(value: int | None) -> int | None:
    """A default of a condition. TypeError, OverflowError."""
    return None if value is None else count_argument(value, "default_value")
