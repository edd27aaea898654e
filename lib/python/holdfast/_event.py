"""Event, and events out of whatever there is that is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast import _core
from holdfast._foreign import handle_of
from holdfast._numbers import unsigned
from holdfast._options import options_of

__all__ = ["Event", "EventOptions", "event_of", "wrap_event"]

_CU_EVENT_BLOCKING_SYNC = 1
_CU_EVENT_DISABLE_TIMING = 2

_FOREIGN_EVENTS = (("cuda.core", "Event", "handle"), ("cupy", "Event", "ptr"), ("torch", "Event", "cuda_event"))


@dataclass
class EventOptions:
    """How an event is made.

    timing_enabled: the time between two such events can be asked.
    blocking_sync: sync() lets other threads have the processor meanwhile.
    """

    timing_enabled: bool = False
    blocking_sync: bool = False


class Event:
    """A place in a stream or a graph that others wait for.

    Made by Device.create_event, Stream.record or Event.from_handle. An event that was made here is destroyed with its
    last user, graphs included. Equal events are the same event of CUDA; a closed
    one equals itself alone, and its hash stays.

    Thread safety: an event may be used from any thread.
    """

    __slots__ = ("__weakref__", "_raw", "_resource")

    _raw: int  # also once closed
    _resource: _core.Event | None

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("an Event is made by Device.create_event, Stream.record or Event.from_handle")

    @classmethod
    def _wrap(cls, resource: _core.Event) -> Event:
        event = cls.__new__(cls)
        event._resource = resource
        event._raw = resource.raw
        return event

    @classmethod
    def _create(cls, options: EventOptions | Mapping[str, Any] | None) -> Event:
        return cls._wrap(_core.Event.create(cls._flags(options_of(EventOptions, options))))

    @staticmethod
    def _flags(options: EventOptions) -> int:
        flags = 0 if options.timing_enabled else _CU_EVENT_DISABLE_TIMING
        return flags | (_CU_EVENT_BLOCKING_SYNC if options.blocking_sync else 0)

    @staticmethod
    def from_handle(handle: int, *, owner: object = None) -> Event:
        """An event that something else made and destroys. `owner` is kept for as long as this event is used here."""
        raw = unsigned(handle, "handle", 64)
        if raw == 0:
            raise ValueError("handle must not be 0")
        return Event._wrap(_core.Event.borrow(raw, owner))

    @property
    def handle(self) -> int:
        """The raw event (CUevent); 0 once closed."""
        return 0 if self._resource is None else self._resource.raw

    @property
    def is_closed(self) -> bool:
        """Whether close() was called."""
        return self._resource is None

    def close(self) -> None:
        """Lets go of the event; what else uses it goes on. A second call does nothing."""
        self._resource = None

    @property
    def is_timing_enabled(self) -> bool | None:
        """Whether the event takes the time; None for an event that was made elsewhere. RuntimeError once closed."""
        flags = self._event_resource().flags
        return None if flags is None else not flags & _CU_EVENT_DISABLE_TIMING

    @property
    def is_blocking_sync(self) -> bool | None:
        """Whether sync() blocks; None for an event that was made elsewhere. RuntimeError once closed."""
        flags = self._event_resource().flags
        return None if flags is None else bool(flags & _CU_EVENT_BLOCKING_SYNC)

    @property
    def is_done(self) -> bool:
        """Whether all that was in front of the last record is done. RuntimeError once closed, DriverError."""
        return self._event_resource().query()

    def sync(self) -> None:
        """Waits until is_done. RuntimeError once closed, DriverError."""
        self._event_resource().synchronize()

    def __sub__(self, start: object) -> float:
        """Milliseconds from `start` to this event. RuntimeError if either is closed, DriverError."""
        if not isinstance(start, Event):
            return NotImplemented
        return self._event_resource().elapsed_since_ms(start._event_resource())

    def _event_resource(self) -> _core.Event:
        if self._resource is None:
            raise RuntimeError("the event has been closed")
        return self._resource

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return self is other or (self.handle == other.handle != 0)

    def __hash__(self) -> int:
        return hash((Event, self._raw))

    def __repr__(self) -> str:
        return f"<Event handle={self.handle:#x}>"


def event_of(value: Any) -> _core.Event:
    """The event of an Event, or of one of cuda.core, CuPy or PyTorch, which is then kept for as long as it is used.

    TypeError for anything else, RuntimeError for what is closed, or not made yet: PyTorch makes an event when it is
    first recorded.
    """
    if isinstance(value, Event):
        return value._event_resource()
    raw = handle_of(value, _FOREIGN_EVENTS)
    if raw is None:
        raise TypeError(f"expected an event, got {type(value).__name__}")
    if raw == 0:
        raise RuntimeError(f"the event of {type(value).__module__} has been closed, or was never recorded")
    return _core.Event.borrow(raw, value)


def wrap_event(resource: _core.Event) -> Any:
    """The event as it was given: a foreign one is that very object."""
    owner = resource.owner
    if owner is not None and handle_of(owner, _FOREIGN_EVENTS) == resource.raw:
        return owner
    return Event._wrap(resource)
