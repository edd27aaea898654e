"""Progress on the standard error: one line that is rewritten on a terminal, elsewhere plain lines, seldom."""

from __future__ import annotations

import time
from typing import TextIO

from reports import record
from reports.case_name import case_name
from reports.counted import count_of
from reports.visible import for_log

_FIRST_INTERVALS = (10.0, 30.0)
_LATER_INTERVAL = 60.0
_REWRITE_SECONDS = 0.1


class Progress:
    """Tells how far a run is. `level` is quiet, normal or verbose."""

    def __init__(self, stream: TextIO, total: int, level: str) -> None:
        self._stream = stream
        self._total = total
        self._level = level
        self._rewrites = stream.isatty()
        self._started = time.monotonic()
        self._done = 0
        self._faults = 0
        self._findings = 0
        self._intervals = iter(_FIRST_INTERVALS)
        self._next = _REWRITE_SECONDS if self._rewrites else next(self._intervals)
        self._line_is_open = False

    def expect_more(self, count: int) -> None:
        """As many cases have been added to the run."""
        self._total += count

    def case_ended(self, case: record.Case) -> None:
        self._done += 1
        self._faults += len(case.faults)
        self._findings += len(case.findings)
        if self._level == "quiet":
            return
        name = case_name(case)
        for finding in case.findings:
            self._plain(f"finding: {finding.kind} in {name}: {finding.message}")
        if self._level == "verbose":
            self._plain(f"{case.verdict}: {name}, {case.duration_ms:.0f} ms")

    def look(self, running: list[str]) -> None:
        """Writes a line if one is due. `running` are the cases that run, the longest first."""
        elapsed = time.monotonic() - self._started
        rate = self._done / elapsed if elapsed else 0.0
        slowest = f", in {running[0]}" if running else ""
        self.tell(
            f"{self._done} of {self._total} cases, {rate:.1f} a second, "
            f"{count_of(self._faults, 'fault')} fired, {count_of(self._findings, 'finding')}{slowest}"
        )

    def tell(self, how_far: str) -> None:
        """Writes a line if one is due."""
        elapsed = time.monotonic() - self._started
        if self._level == "quiet" or elapsed < self._next:
            return
        line = f"{elapsed:.0f} s, {how_far}"
        if self._rewrites:
            self._stream.write(f"\r\x1b[K{for_log(line)}")
            self._stream.flush()
            self._line_is_open = True
            self._next = elapsed + _REWRITE_SECONDS
        else:
            self._plain(line)
            self._next = next(self._intervals, self._next + _LATER_INTERVAL)

    def close(self) -> None:
        """Takes the rewritten line away."""
        if self._line_is_open:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._line_is_open = False

    def _plain(self, line: str) -> None:
        self.close()
        self._stream.write(for_log(line) + "\n")
        self._stream.flush()
