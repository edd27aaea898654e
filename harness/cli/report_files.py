"""Writes the reports that a run was asked for: atomically, now and then while it runs, and at the end. What is appended
to a file of others is written once, at the end: nothing that is there already could be taken back.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.cli.json_lines_file import STANDARD_OUTPUT, JsonLinesFile
from harness.cli.problems import HarnessError
from harness.cli.values import ReportTarget
from reports import (
    html_report,
    json_lines_report,
    json_report,
    junit_report,
    markdown_report,
    sarif_report,
    tap_report,
    trace_report,
)
from reports.record import Case, Record

_INTERVAL_SECONDS = 1.0

# A report grows with the run. Between two writings passes at least so many times as long as one takes.
_REST = 20

RENDERERS: dict[str, Callable[..., bytes]] = {
    "html": html_report.render,
    "json": json_report.render,
    "jsonl": json_lines_report.render,
    "junit": junit_report.render,
    "markdown": markdown_report.render,
    "sarif": sarif_report.render,
    "tap": tap_report.render,
    "trace": trace_report.render,
}

# Those that can show a run beside an earlier one. They take it as `baseline`, which may be None.
COMPARING = ("html",)

# What GitHub takes of a step's summary, which is what reports are appended to, less a little.
MOST_APPENDED_BYTES = (1 << 20) - 1024

# Written a line at a time as the run goes on, rather than as a whole now and then.
_GROWING = "jsonl"


class ReportFiles:
    """The reports of one run."""

    def __init__(self, targets: Sequence[ReportTarget], baseline: Record | None = None) -> None:
        self._targets = [target for target in targets if target.format != _GROWING]
        self._growing = [JsonLinesFile(target.path) for target in targets if target.format == _GROWING]
        self._all_targets = targets
        self._baseline = baseline
        self._last = 0.0
        self._write_seconds = 0.0

    @property
    def take_standard_output(self) -> bool:
        return any(target.path == STANDARD_OUTPUT for target in self._all_targets)

    def case_ended(self, case: Case) -> None:
        """Appends a case that ended to the reports that grow. Raises HarnessError."""
        for file in self._growing:
            file.case_ended(case)

    def write_sometimes(self, make: Callable[[], Record]) -> None:
        """Writes if the last time is long enough ago, so that a kill loses little and long runs stay fast."""
        if time.monotonic() - self._last >= max(_INTERVAL_SECONDS, _REST * self._write_seconds):
            self.write(make(), final=False)

    def write(self, record: Record, final: bool) -> None:
        """Writes every report; the standard output, devices and pipes get the final one only. Raises HarnessError."""
        began = time.monotonic()
        for file in self._growing:
            if final:
                file.end(record)
            else:
                file.begin(record)
        for target in self._targets:
            if target.appends and _is_file_or_new(target):
                _append(Path(target.path), record, final)
                continue
            content = self._render(target.format, record)
            if target.path == STANDARD_OUTPUT:
                if final:
                    sys.stdout.buffer.write(content)
                    sys.stdout.buffer.flush()
            elif not _is_special(Path(target.path)):
                _replace(Path(target.path), content)
            elif final:
                _write_through(Path(target.path), content)
        self._last = time.monotonic()
        self._write_seconds = self._last - began

    def _render(self, name: str, record: Record) -> bytes:
        if name in COMPARING:
            return RENDERERS[name](record, baseline=self._baseline)
        return RENDERERS[name](record)


def _is_special(path: Path) -> bool:
    """Whether something is there that must not be replaced by a file: a device, a pipe, a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _is_file_or_new(target: ReportTarget) -> bool:
    return target.path != STANDARD_OUTPUT and not _is_special(Path(target.path))


def _append(path: Path, record: Record, final: bool) -> None:
    """Adds Markdown to the end of a file, as much as there is room for. Before the run's end it only sees whether that
    can be done. Raises HarnessError.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            there = os.fstat(file.fileno()).st_size
            between = b"\n\n" if there else b""
            room = MOST_APPENDED_BYTES - there - len(between)
            content = markdown_report.render(record, room)
            if not content:
                raise HarnessError(f"the report {path} was not written: {there} bytes are in it, which leave no room")
            if final:
                file.write(between + content)
    except OSError as problem:
        raise HarnessError(f"the report {path} was not written: {problem.strerror}") from None


def _write_through(path: Path, content: bytes) -> None:
    try:
        with path.open("wb") as file:
            file.write(content)
    except OSError as problem:
        raise HarnessError(f"the report {path} was not written: {problem.strerror}") from None


def _replace(path: Path, content: bytes) -> None:
    # A link stays a link: what it points to is replaced.
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise HarnessError(f"the report {path} was not written: {problem.strerror}") from None
