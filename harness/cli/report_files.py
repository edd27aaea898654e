"""Writes the reports that a run was asked for: atomically, now and then while it runs, and at the end. What is appended
to a file of others is written once, at the end: nothing that is there already could be taken back.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from harness.cli.json_lines_file import STANDARD_OUTPUT, JsonLinesFile
from harness.cli.output_places import followed, is_special, refuse_unwritable_file, temporary_in
from harness.cli.problems import HarnessError, writing
from harness.cli.values import ReportTarget
from harness.cli.verdict import ExitCode
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
        """Raises UsageError for a place at which nothing can be written."""
        for target in targets:
            if target.path != STANDARD_OUTPUT:
                refuse_unwritable_file(f"the report {target}", target.path, target.appends)
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
            self._write_one(target, record, final)
        self._last = time.monotonic()
        self._write_seconds = self._last - began

    def finish(self, record: Record) -> tuple[Record, list[str]]:
        """Writes the end of a run into every report. Whatever could not be written is told in those that could, with
        the exit code that the run has because of it. Returns the record as it stands in them, and those problems.
        """
        problems: list[str] = []

        def attempt(writes: Iterable[Callable[[Record], None]]) -> None:
            for write in writes:
                try:
                    write(with_problems(record, problems))
                except HarnessError as problem:
                    problems.append(str(problem))

        # What can be written once only comes last, when it is known what became of the others.
        attempt(self._writer(target) for target in self._targets if self._can_be_replaced(target))
        attempt(self._writer(target) for target in self._targets if not self._can_be_replaced(target))
        attempt(file.end for file in self._growing)
        ended = with_problems(record, problems)
        if problems:
            self.amend(ended)
        return ended, problems

    def amend(self, record: Record) -> None:
        """Replaces those reports that can be replaced, by those of a run that ended in another way after all."""
        for target in self._targets:
            if self._can_be_replaced(target):
                with contextlib.suppress(HarnessError):  # which has been told
                    self._write_one(target, record, final=True)

    def _writer(self, target: ReportTarget) -> Callable[[Record], None]:
        return lambda record: self._write_one(target, record, final=True)

    def _can_be_replaced(self, target: ReportTarget) -> bool:
        return not target.appends and _is_file_or_new(target)

    def _write_one(self, target: ReportTarget, record: Record, final: bool) -> None:
        if target.appends and _is_file_or_new(target):
            _append(target.path, record, final)
        elif self._can_be_replaced(target):
            _replace(target.path, self._render(target.format, record))
        elif final and target.path == STANDARD_OUTPUT:
            with writing("the standard output"):
                sys.stdout.buffer.write(self._render(target.format, record))
                sys.stdout.buffer.flush()
        elif final:
            with writing(f"the report {target.path}"):
                Path(target.path).write_bytes(self._render(target.format, record))

    def _render(self, name: str, record: Record) -> bytes:
        if name in COMPARING:
            return RENDERERS[name](record, baseline=self._baseline)
        return RENDERERS[name](record)


def with_problems(record: Record, problems: Sequence[str]) -> Record:
    """The record of a run that ended with these problems of the harness, if there are any."""
    if not problems:
        return record
    return dataclasses.replace(record, exit_code=int(ExitCode.HARNESS_FAILED), notes=(*record.notes, *problems))


def _is_file_or_new(target: ReportTarget) -> bool:
    return target.path != STANDARD_OUTPUT and not is_special(Path(target.path))


def _append(path: str, record: Record, final: bool) -> None:
    """Adds Markdown to the end of a file, as much as there is room for. Before the run's end it only sees whether that
    can be done. Raises HarnessError.
    """
    with writing(f"the report {path}"):
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("ab") as file:
            there = os.fstat(file.fileno()).st_size
            between = b"\n\n" if there else b""
            room = MOST_APPENDED_BYTES - there - len(between)
            content = markdown_report.render(record, room)
            if not content:
                raise HarnessError(f"the report {path} was not written: {there} bytes are in it, which leave no room")
            if final:
                file.write(between + content)


def _replace(path: str, content: bytes) -> None:
    place = followed(path)
    temporary = temporary_in(place.parent)
    with writing(f"the report {path}"):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(content)
            temporary.replace(place)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
