"""GraphBuilder: a graph out of what is enqueued on a stream."""

from __future__ import annotations

import os
from typing import Any

from holdfast import _core
from holdfast._callback import callback_of
from holdfast._condition import GraphCondition, condition_of
from holdfast._numbers import count as count_argument
from holdfast._stream import Stream, StreamSource, stream_of
from holdfast.graph._definition import GraphDefinition, default_of
from holdfast.graph._executable import Graph, instantiated, require_ended
from holdfast.graph._options import GraphCompleteOptions, GraphDebugPrintOptions, debug_flags

__all__ = ["GraphBuilder"]

# CUstreamCaptureMode.
_MODES = {"global": 0, "thread_local": 1, "relaxed": 2}


class GraphBuilder(StreamSource):
    """Captures what is enqueued on its stream into a graph.

    Made by Device.create_graph_builder, Stream.create_graph_builder or GraphBuilder.from_stream; forks by split, and
    builders of the bodies of conditional nodes by if_then and its like, each with a stream of its own. A builder is
    started, captures, and has ended; it does so once. What its state does not allow is a RuntimeError that says so, and
    changes nothing; so is everything once it is closed. A capture that goes wrong (the wrong call on its stream, forks
    that are not joined) is found out when it is ended: DriverError, and there is no graph.

    The graph keeps its callbacks, and what comes with embedded graphs. Of other captured work, kernels and copies, the
    caller keeps what it refers to. A builder that is collected while it captures ends the capture.

    Thread safety: one thread at a time for a builder, its forks and its bodies, the caller synchronises.
    """

    __slots__ = ("__weakref__", "_builder", "_stream")

    _builder: _core.GraphBuilder
    _stream: Stream | None

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(
            "a GraphBuilder is made by Device.create_graph_builder, Stream.create_graph_builder or from_stream"
        )

    @classmethod
    def _wrap(cls, builder: _core.GraphBuilder, stream: Stream | None = None) -> GraphBuilder:
        wrapper = cls.__new__(cls)
        wrapper._builder = builder
        wrapper._stream = stream
        return wrapper

    @classmethod
    def from_stream(cls, stream: Any) -> GraphBuilder:
        """A builder on a stream of any library, which it keeps. TypeError, RuntimeError for a closed one."""
        return cls._wrap(_core.GraphBuilder(stream_of(stream)), stream if isinstance(stream, Stream) else None)

    # ---- the capture as a whole ----

    @property
    def stream(self) -> Stream:
        """The stream to enqueue on."""
        resource = self._builder.stream
        if self._stream is None or self._stream.is_closed:
            self._stream = Stream._wrap(resource)
        return self._stream

    @property
    def is_closed(self) -> bool:
        """Whether the builder was closed, by close() or by being joined."""
        return self._builder.state == "closed"

    @property
    def is_join_required(self) -> bool:
        """Whether it is a fork, to be joined before the capture ends."""
        return self._builder.kind == "forked"

    @property
    def is_building(self) -> bool:
        """Whether the capture goes on. RuntimeError if it has gone wrong: end it."""
        return self._builder.is_building()

    def begin_building(self, mode: str | None = "relaxed") -> GraphBuilder:
        """Begins the capture, and returns the builder.

        mode: what is forbidden meanwhile, to whom. "global": calls that CUDA thinks unsafe in a capture, to all
            threads; "thread_local": the same, to this thread; "relaxed": nothing. ValueError for another.
        """
        if mode is not None and not isinstance(mode, str):
            raise TypeError(f"mode must be a string, not {type(mode).__name__}")
        if mode not in _MODES:
            raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r}")
        self._builder.begin(_MODES[mode])
        return self

    def end_building(self) -> GraphBuilder:
        """Ends the capture, and returns the builder. A fork is joined instead. DriverError if there is no graph."""
        self._builder.end()
        return self

    def complete(self, options: GraphCompleteOptions | None = None) -> Graph:
        """An executable of the graph, once the capture has ended. TypeError, DriverError."""
        return instantiated(self._builder.complete, options)

    @property
    def graph_definition(self) -> GraphDefinition:
        """The graph, to look at and to change: complete() makes it as it is then. It outlives the builder.

        Of a builder that has ended, and of that of a body also before it begins; never of a fork.
        """
        return GraphDefinition._wrap(self._builder.definition())

    def debug_dot_print(self, path: str | os.PathLike[str], options: GraphDebugPrintOptions | None = None) -> None:
        """As GraphDefinition.debug_dot_print, once the capture has ended."""
        self._builder.write_dot(os.fspath(path), debug_flags(options))

    def close(self) -> None:
        """Ends the capture if it goes on, and lets go of graph and stream. A second call does nothing.

        The builder is closed even if ending the capture fails (DriverError).
        """
        self._stream = None
        self._builder.close()

    # ---- forks ----

    def split(self, count: int) -> tuple[GraphBuilder, ...]:
        """`count` builders that go on from here side by side: this one first. ValueError for fewer than two."""
        number = count_argument(count, "count")
        _, *forks = self._builder.split(number)
        return (self, *map(GraphBuilder._wrap, forks))

    @staticmethod
    def join(*graph_builders: GraphBuilder) -> GraphBuilder:
        """Has one of the builders wait for the others, closes those, and returns it: the first that is no fork, else
        the first. TypeError for what is no builder, ValueError for fewer than two, or builders of different captures.
        """
        if not all(isinstance(builder, GraphBuilder) for builder in graph_builders):
            raise TypeError("only GraphBuilders can be joined")
        joined = _core.GraphBuilder.join([builder._builder for builder in graph_builders])
        return next(builder for builder in graph_builders if builder._builder == joined)

    # ---- what is added by hand ----

    def embed(self, child: GraphBuilder | GraphDefinition) -> None:
        """Embeds a copy of the graph of another builder, or of a definition, with what it keeps.

        TypeError for anything else, ValueError for a builder that has not ended, for a graph of this hierarchy, and if
        this builder is not building.
        """
        if not isinstance(child, (GraphBuilder, GraphDefinition)):
            raise TypeError(f"child must be a GraphBuilder or a GraphDefinition, not {type(child).__name__}")
        if self._builder.state in ("not started", "ended"):
            raise ValueError("the builder is not building")
        if isinstance(child, GraphDefinition):
            self._builder.embed(child._graph)
        else:
            require_ended(child._builder)
            self._builder.embed_builder(child._builder)

    def callback(self, fn: Any, *, user_data: Any = None) -> None:
        """Calls a function on the host at this place of each launch; as GraphNode.callback."""
        self._builder.add_callback(callback_of(fn, user_data))

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """A condition for one of the four methods below; as GraphDefinition.create_condition."""
        return GraphCondition._wrap(self._builder.make_condition(default_of(default_value)))

    def if_then(self, condition: GraphCondition) -> GraphBuilder:
        """A conditional node; the builder of its body, which runs if the condition is not zero.

        For this and the other three: TypeError for what is no condition, ValueError for one of another graph.
        """
        return GraphBuilder._wrap(self._builder.add_if(condition_of(condition)))

    def if_else(self, condition: GraphCondition) -> tuple[GraphBuilder, GraphBuilder]:
        """The same with two bodies: for a condition that is not zero, and for zero."""
        then, otherwise = self._builder.add_if_else(condition_of(condition))
        return GraphBuilder._wrap(then), GraphBuilder._wrap(otherwise)

    def while_loop(self, condition: GraphCondition) -> GraphBuilder:
        """The same with a body that runs again and again while the condition is not zero."""
        return GraphBuilder._wrap(self._builder.add_while(condition_of(condition)))

    def switch(self, condition: GraphCondition, count: int) -> tuple[GraphBuilder, ...]:
        """The same with `count` bodies, of which the one runs whose index the condition is, if any."""
        bodies = count_argument(count, "count")
        return tuple(map(GraphBuilder._wrap, self._builder.add_switch(condition_of(condition), bodies)))

    def __cuda_stream__(self) -> tuple[int, int]:
        """Version of the protocol, and the raw stream."""
        return 0, self._stream_resource().raw

    def _stream_resource(self) -> _core.Stream:
        return self._builder.stream

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphBuilder):
            return NotImplemented
        return self._builder == other._builder

    def __hash__(self) -> int:
        return hash(self._builder)

    def __repr__(self) -> str:
        return f"<GraphBuilder {self._builder.kind}, {self._builder.state}>"
