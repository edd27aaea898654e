"""Graph: an executable."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast import _core
from holdfast._stream import stream_of
from holdfast.graph import _identity
from holdfast.graph._executable_nodes import ExecutableGraphNode, view_class
from holdfast.graph._options import GraphCompleteOptions, complete_options, instantiate_flags

if TYPE_CHECKING:
    from holdfast.graph._builder import GraphBuilder
    from holdfast.graph._definition import GraphDefinition
    from holdfast.graph._node import GraphNode

__all__ = ["Graph"]


class Graph:
    """An executable made of a graph: by GraphDefinition.instantiate or GraphBuilder.complete.

    It keeps what the graph kept when it was made or last updated, and what updates of its nodes brought since, until it
    is through: closed or collected, and no launch of it goes on. Each method but close is a RuntimeError once closed.

    Thread safety: one thread at a time, the caller synchronises; making and updating use the source, too.
    """

    __slots__ = ("__weakref__", "_executable")

    _executable: _core.GraphExec

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("a Graph is made by GraphDefinition.instantiate or GraphBuilder.complete")

    @classmethod
    def _wrap(cls, executable: _core.GraphExec) -> Graph:
        graph = cls.__new__(cls)
        graph._executable = executable
        return graph

    @property
    def handle(self) -> int:
        """The raw executable (CUgraphExec); 0 once closed."""
        return self._executable.raw

    @property
    def is_closed(self) -> bool:
        """Whether close() was called."""
        return self._executable.raw == 0

    def close(self) -> None:
        """Destroys the executable; launches go on and keep what they need. A second call does nothing. DriverError."""
        self._executable.close()

    def launch(self, stream: Any) -> None:
        """Launches the graph on a stream of any library, and returns before it has run. TypeError, DriverError."""
        resource = stream_of(stream)
        self._require_open()
        self._executable.launch(resource)

    def upload(self, stream: Any) -> None:
        """Brings the graph to the device, ordered on the stream. TypeError, DriverError."""
        resource = stream_of(stream)
        self._require_open()
        self._executable.upload(resource)

    def update(self, source: GraphBuilder | GraphDefinition) -> None:
        """Takes over the parameters, and what they keep, of a graph of the same shape.

        TypeError for another source, ValueError for a builder that has not ended, RuntimeError for one that is closed
        or lost its graph, DriverError with CUDA's reason if the shape differs; then nothing has changed.
        """
        self._require_open()
        source_builder = getattr(source, "_builder", None)
        if isinstance(source_builder, _core.GraphBuilder):
            require_ended(source_builder)
            self._executable.update_from_builder(source_builder)
        else:
            self._executable.update(_identity.graph_of(source, "source"))

    def __getitem__(self, node: GraphNode) -> ExecutableGraphNode:
        """What the executable made of a node of its source, to change it for later launches.

        TypeError for what is no node, and for kinds of nodes that cannot be changed; RuntimeError for a node that is
        gone. That the node is of another graph is found out by CUDA when something is done with it (DriverError).
        """
        if not isinstance(node, _identity.node_class()):
            raise TypeError(f"expected a GraphNode, got {type(node).__name__}")
        self._require_open()
        node._require_valid()
        view = view_class(node)
        return view._wrap(self._executable.node(node._node), self, node)

    def _require_open(self) -> None:
        if self.is_closed:
            raise RuntimeError("the graph has been closed")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self._executable == other._executable

    def __hash__(self) -> int:
        return hash(self._executable)

    def __repr__(self) -> str:
        return "<Graph closed>" if self.is_closed else f"<Graph handle={self.handle:#x}>"


def require_ended(builder: _core.GraphBuilder) -> None:
    """ValueError for a builder that has not ended; other states are for the C++ library to refuse."""
    if builder.state in ("not started", "capturing"):
        raise ValueError("the builder has not finished building; call end_building() first")


def instantiated(instantiate: Callable[[int], _core.GraphExec], options: GraphCompleteOptions | None) -> Graph:
    """An executable, uploaded if that is asked for. TypeError, DriverError."""
    chosen = complete_options(options)
    stream = None if chosen.upload_stream is None else stream_of(chosen.upload_stream)
    executable = instantiate(instantiate_flags(chosen))
    if stream is not None:
        executable.upload(stream)
    return Graph._wrap(executable)
