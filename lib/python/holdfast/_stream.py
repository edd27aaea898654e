"""Stream, and streams out of whatever there is that is one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast import _core
from holdfast._event import Event, EventOptions, event_of
from holdfast._foreign import handle_of
from holdfast._numbers import integer, unsigned
from holdfast._options import options_of

if TYPE_CHECKING:
    from holdfast.graph import GraphBuilder

__all__ = ["LEGACY_DEFAULT_STREAM", "Stream", "StreamOptions", "StreamSource", "stream_of"]

_CU_STREAM_NON_BLOCKING = 1

# The legacy default stream by its name. Other libraries give it as 0, which the C++ library takes for no stream.
_CU_STREAM_LEGACY = 1

_FOREIGN_STREAMS = (("cupy", "Stream", "ptr"), ("cupy", "ExternalStream", "ptr"))


@dataclass
class StreamOptions:
    """How a stream is made.

    nonblocking: it does not wait for the legacy default stream, nor that for it.
    priority: lower numbers go first; None is the driver's default, 0.
    """

    nonblocking: bool = True
    priority: int | None = None


class StreamSource:
    """What has a stream of this library's own: a stream, or a graph builder."""

    __slots__ = ()

    @abstractmethod
    def _stream_resource(self) -> _core.Stream:
        """RuntimeError once closed."""


class Stream(StreamSource):
    """A queue of work on a device, done in the order in which it was enqueued.

    Made by Device.create_stream or Stream.from_handle. A stream that was made here is destroyed with its last user,
    graph builders included. Equal streams are the same stream of CUDA; a closed
    one equals itself alone, and its hash stays.

    Thread safety: a stream may be used from any thread; who enqueues first is the caller's affair.
    """

    __slots__ = ("__weakref__", "_raw", "_resource")

    _raw: int  # also once closed
    _resource: _core.Stream | None

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("a Stream is made by Device.create_stream or Stream.from_handle")

    @classmethod
    def _wrap(cls, resource: _core.Stream) -> Stream:
        stream = cls.__new__(cls)
        stream._resource = resource
        stream._raw = resource.raw
        return stream

    @staticmethod
    def from_handle(handle: int, *, owner: object = None) -> Stream:
        """A stream that something else made and destroys. `owner` is kept for as long as this stream is used here."""
        raw = unsigned(handle, "handle", 64)
        return Stream._wrap(_core.Stream.borrow(raw or _CU_STREAM_LEGACY, owner))

    @property
    def handle(self) -> int:
        """The raw stream (CUstream); 0 once closed."""
        return 0 if self._resource is None else self._resource.raw

    @property
    def is_closed(self) -> bool:
        """Whether close() was called."""
        return self._resource is None

    def close(self) -> None:
        """Lets go of the stream; what else uses it goes on. A second call does nothing."""
        self._resource = None

    def sync(self) -> None:
        """Waits for all work on the stream (cuStreamSynchronize). RuntimeError once closed, DriverError."""
        self._stream_resource().synchronize()

    def record(self, event: Any = None, options: EventOptions | Mapping[str, Any] | None = None) -> Event:
        """Records `event`, or a new one made with `options`, behind the work that is on the stream, and returns it.

        TypeError for what is no event, RuntimeError for a closed stream or event, DriverError.
        """
        resource = self._stream_resource()
        if event is None:
            event = Event._create(options)
        event_of(event).record(resource)
        return event

    def wait(self, event_or_stream: Any) -> None:
        """Has later work on this stream wait for an event, or for the work that another stream has by now.

        TypeError for what is neither, RuntimeError if either is closed, DriverError.
        """
        resource = self._stream_resource()
        if isinstance(event_or_stream, StreamSource) or is_stream(event_or_stream):
            event = _core.Event.create(Event._flags(EventOptions()))
            event.record(stream_of(event_or_stream))
        else:
            event = event_of(event_or_stream)
        resource.wait(event)

    def create_graph_builder(self) -> GraphBuilder:
        """A builder that captures what is enqueued on this stream, which it keeps. RuntimeError once closed."""
        from holdfast.graph import GraphBuilder  # noqa: PLC0415 - that package is made with streams

        return GraphBuilder.from_stream(self)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Version of the protocol, and the raw stream. RuntimeError once closed."""
        return 0, self._stream_resource().raw

    def _stream_resource(self) -> _core.Stream:
        if self._resource is None:
            raise RuntimeError("the stream has been closed")
        return self._resource

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return self is other or (self.handle == other.handle != 0)

    def __hash__(self) -> int:
        return hash((Stream, self._raw))

    def __repr__(self) -> str:
        return f"<Stream handle={self.handle:#x}>"


def create_stream(options: StreamOptions | Mapping[str, Any] | None) -> Stream:
    """A new stream of the current context. TypeError for other options, DriverError."""
    chosen = options_of(StreamOptions, options)
    priority = 0 if chosen.priority is None else integer(chosen.priority, "priority")
    return Stream._wrap(_core.Stream.create(_CU_STREAM_NON_BLOCKING if chosen.nonblocking else 0, priority))


def is_stream(value: Any) -> bool:
    """Whether stream_of takes it for a stream."""
    return (
        isinstance(value, StreamSource)
        or hasattr(value, "__cuda_stream__")
        or hasattr(value, "cuda_stream")
        or handle_of(value, _FOREIGN_STREAMS) is not None
    )


def stream_of(value: Any) -> _core.Stream:
    """The stream of a Stream or GraphBuilder, of anything with `__cuda_stream__`, of PyTorch or of CuPy.

    Foreign objects are kept for as long as their stream is used here. TypeError for anything else, plain integers
    among them (see Stream.from_handle), RuntimeError for what is closed.
    """
    if isinstance(value, StreamSource):
        return value._stream_resource()
    if hasattr(value, "__cuda_stream__"):
        return _core.Stream.borrow(_raw_by_protocol(value), value)
    raw = value.cuda_stream if hasattr(value, "cuda_stream") else handle_of(value, _FOREIGN_STREAMS)
    if raw is None:
        raise TypeError(f"expected a stream, got {type(value).__name__}")
    return _core.Stream.borrow(integer(raw, "the stream's handle") or _CU_STREAM_LEGACY, value)


def _raw_by_protocol(value: Any) -> int:
    protocol = value.__cuda_stream__
    # Early adopters have a property.
    answer = protocol() if callable(protocol) else protocol
    try:
        version, raw = answer
    except (TypeError, ValueError):
        raise TypeError(f"__cuda_stream__ of {type(value).__name__} is not (version, handle)") from None
    if version != 0:
        raise ValueError(f"__cuda_stream__ of {type(value).__name__} has version {version}; 0 is known")
    return unsigned(raw, "the stream's handle", 64) or _CU_STREAM_LEGACY


LEGACY_DEFAULT_STREAM = Stream.from_handle(_CU_STREAM_LEGACY)
