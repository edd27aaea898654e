"""One wrapper a node: while one is alive, the same object comes back by whatever way the node is reached.

Wrappers are found by the C++ library's handle, which stands for one node for good: when CUDA gives the raw value of a
destroyed node out again, that is another handle. A table entry goes with its wrapper, or when its node is destroyed
through the wrapper.

Thread safety: from any thread. The lock is re-entrant, since the release of an owner may run at any bytecode, and use
graphs; no driver call is made while it is held.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast import _core

if TYPE_CHECKING:
    from holdfast.graph._definition import GraphDefinition
    from holdfast.graph._node import GraphNode

Class = TypeVar("Class", bound=type)

_wrappers: weakref.WeakValueDictionary[_core.GraphNode, GraphNode] = weakref.WeakValueDictionary()
_lock = threading.RLock()

# The kind of all nodes that have no class of their own.
OTHER_NODES = -1

# Filled by the modules that define the classes, which could not be imported here: they are made with this one.
_node_classes: dict[int, type[GraphNode]] = {}
_graph_classes: list[type[GraphDefinition]] = []
_conditional_classes: dict[str, type[GraphNode]] = {}


def wraps_nodes_of(node_type: int) -> Callable[[Class], Class]:
    """Of a class: it is the one for nodes of that kind."""

    def register(node_class: Class) -> Class:
        _node_classes[node_type] = node_class
        return node_class

    return register


def wraps_graphs(graph_class: Class) -> Class:
    """Of the class of graphs."""
    _graph_classes.append(graph_class)
    return graph_class


def wrap_node(node: _core.GraphNode) -> GraphNode:
    """The wrapper of a node."""
    with _lock:
        found = _wrappers.get(node)
    if found is not None:
        return found
    node_class = _node_classes.get(node.type) or _node_classes[OTHER_NODES]
    return register_node(node, node_class._wrap(node))


def register_node(node: _core.GraphNode, fresh: GraphNode) -> GraphNode:
    """Makes `fresh` the wrapper of a node, unless it has one. Returns the one that it has then."""
    with _lock:
        return _wrappers.setdefault(node, fresh)


def wrap_nodes(nodes: Iterable[_core.GraphNode]) -> list[GraphNode]:
    """In the same order."""
    return [wrap_node(node) for node in nodes]


def forget_node(node: _core.GraphNode) -> None:
    """The node is gone; its wrapper needs to be found no more."""
    with _lock:
        _wrappers.pop(node, None)


def wrap_graph(graph: _core.GraphDefinition) -> GraphDefinition:
    """A view of a graph; all views of one are equal."""
    return _graph_classes[0]._wrap(graph)


def graph_of(value: Any, name: str) -> _core.GraphDefinition:
    """The graph of a GraphDefinition. TypeError for anything else."""
    if not isinstance(value, _graph_classes[0]):
        raise TypeError(f"{name} must be a GraphDefinition, not {type(value).__name__}")
    return value._graph


def node_class() -> type[GraphNode]:
    """The class of all nodes."""
    return _node_classes[OTHER_NODES]


def is_conditional_class(conditional_class: Class) -> Class:
    """Of a class: it is found by its name, since CUDA's kind of node is one for all conditional nodes."""
    _conditional_classes[conditional_class.__name__] = conditional_class
    return conditional_class


def conditional_class(name: str) -> Any:
    """The class of conditional nodes of that name."""
    return _conditional_classes[name]
