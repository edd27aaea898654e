"""The device of a scenario: its context, made current on each thread that calls the driver, and a stream."""

from __future__ import annotations

from holdfast import _core

NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING


def make_current() -> None:
    """Makes the first device's primary context the calling thread's."""
    _core.set_current_context(_core.retain_primary_context(0))


def make_stream() -> _core.Stream:
    """A stream of the current context."""
    return _core.Stream.create(NON_BLOCKING, 0)
