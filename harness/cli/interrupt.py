"""SIGINT and SIGTERM as a request: the loop ends its children, writes what there is, and leaves."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import Any

from harness.cli.verdict import ExitCode

_EXIT_CODES = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}


class Interrupt:
    """Catches the signals while it is entered. `descriptor` becomes readable when one has come.

    REQUIRES: used on the main thread, at most once at a time.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self.descriptor, self._writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in _EXIT_CODES:
            self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self.descriptor)
        os.close(self._writer)

    @property
    def exit_code(self) -> ExitCode:
        """REQUIRES: a signal has come."""
        assert self.signal is not None
        return _EXIT_CODES[self.signal]

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or signal.Signals(number)
