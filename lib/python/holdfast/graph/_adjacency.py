"""The neighbours of a node in one direction, as a set that changes the graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, MutableSet, Set
from typing import TYPE_CHECKING, Any

from holdfast.graph import _identity

if TYPE_CHECKING:
    from holdfast import _core
    from holdfast.graph._node import GraphNode

__all__ = ["AdjacencySetProxy"]


class AdjacencySetProxy(MutableSet["GraphNode"]):
    """The predecessors or the successors of a node: a mutable set, asked of CUDA at each use.

    Changes raise TypeError for what is no node, ValueError for an entry node, RuntimeError for a node that is gone or
    of another graph, DriverError. One that fails midway is taken back as far as CUDA lets it. What `|` and the like
    return is a plain set.
    """

    __slots__ = ("_is_forward", "_node")

    def __init__(self, node: GraphNode, is_fwd: bool) -> None:
        self._node = node
        self._is_forward = is_fwd

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)

    def __contains__(self, x: object) -> bool:
        return x in self._neighbours()

    def __iter__(self) -> Iterator[GraphNode]:
        return iter(self._neighbours())

    def __len__(self) -> int:
        return len(self._neighbours())

    def add(self, value: GraphNode) -> None:
        """Adds an edge, unless it is there."""
        self.update((value,))

    def discard(self, value: GraphNode) -> None:
        """Removes an edge, if it is there."""
        self._change((), {self._checked(value)})

    def clear(self) -> None:
        """Removes all edges."""
        self._change((), self._neighbours())

    def update(self, *others: GraphNode | Iterable[GraphNode]) -> None:
        """Adds edges with nodes, or with all nodes of what holds some. Nothing is changed if one is no node."""
        wanted: dict[GraphNode, None] = {}
        for other in others:
            nodes: Any = (other,) if self._is_node(other) else other
            wanted.update(dict.fromkeys(map(self._checked, nodes)))
        self._change(wanted, ())

    def __ior__(self, it: Set[Any]) -> AdjacencySetProxy:  # type: ignore[misc]
        self.update(it)
        return self

    def __isub__(self, it: Set[Any]) -> AdjacencySetProxy:
        self._change((), {self._checked(node) for node in it})
        return self

    def __iand__(self, it: Set[Any]) -> AdjacencySetProxy:
        kept = set(it)
        self._change((), [node for node in self._neighbours() if node not in kept])
        return self

    def _replace(self, nodes: Iterable[GraphNode]) -> None:
        """Has the node have these neighbours and no others."""
        wanted = dict.fromkeys(map(self._checked, nodes))
        self._change(wanted, [node for node in self._neighbours() if node not in wanted])

    def _neighbours(self) -> list[GraphNode]:
        node = self._node._node
        if node is None:
            return []
        return _identity.wrap_nodes(node.successors() if self._is_forward else node.predecessors())

    def _change(self, additions: Iterable[GraphNode], removals: Iterable[GraphNode]) -> None:
        present = set(self._neighbours())
        graph = self._node._graph
        steps = [(graph.add_edge, graph.remove_edge, node) for node in additions if node not in present]
        steps += [(graph.remove_edge, graph.add_edge, node) for node in removals if node in present]
        if steps and self._node._node is None:
            raise ValueError("an entry node has no edges")
        undo: list[tuple[Callable[..., None], tuple[_core.GraphNode, _core.GraphNode]]] = []
        try:
            for do, back, node in steps:
                edge = self._edge(node)
                do(*edge)
                undo.append((back, edge))
        except Exception:
            for back, edge in reversed(undo):
                with contextlib.suppress(RuntimeError):
                    back(*edge)
            raise

    def _edge(self, node: GraphNode) -> tuple[Any, Any]:
        return (self._node._node, node._node) if self._is_forward else (node._node, self._node._node)

    def _is_node(self, value: object) -> bool:
        return isinstance(value, _identity.node_class())

    def _checked(self, value: Any) -> GraphNode:
        if not self._is_node(value):
            raise TypeError(f"expected a GraphNode, got {type(value).__name__}")
        if value._node is None:
            raise ValueError("an entry node has no edges")
        return value

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self._neighbours()))}}}"
