"""Reads the reports and policies that a command line names. What cannot be used is a usage error."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from harness.cli.problems import UsageError
from reports.merge import MergeError, merge
from reports.read_json_lines import are_json_lines, read_json_lines
from reports.read_report import ReportError, read_report
from reports.record import Record

STANDARD_INPUT = "-"
_MOST_BYTES = 2 << 30


def read_file(path: str, what: str) -> bytes:
    """The bytes of a file, or of the standard input for `-`."""
    try:
        if path == STANDARD_INPUT:
            data = sys.stdin.buffer.read(_MOST_BYTES + 1) if sys.stdin else b""
        else:
            with open(path, "rb") as file:
                data = file.read(_MOST_BYTES + 1)
    except OSError as problem:
        raise UsageError(f"{what} {path} cannot be read: {problem.strerror}") from None
    if len(data) > _MOST_BYTES:  # and what was read is only its beginning
        raise UsageError(f"{what} {path} is larger than {_MOST_BYTES >> 30} GiB")
    return data


def read_record(path: str, what: str = "the report") -> Record:
    """The record of one report, in one piece or as JSON lines. A run that was cut off has no exit code in it."""
    return record_in(read_file(path, what), path, what)


def record_in(data: bytes, path: str, what: str = "the report") -> Record:
    """The record of a report that was read from `path`."""
    try:
        record = read_json_lines(data).record if are_json_lines(data) else read_report(data)
    except ReportError as problem:
        raise UsageError(f"{what} {path} cannot be used: {problem}") from None
    # What was read stays until the end, and the collector need not look through it again and again.
    gc.freeze()
    return record


def refuse_one_input_twice(paths: Sequence[str | None]) -> None:
    """Of all the files that a command line names; None is one that was not given."""
    if paths.count(STANDARD_INPUT) > 1:
        raise UsageError("- stands for the standard input, which can be read once only")


def read_merged(paths: Sequence[str]) -> Record:
    """The record of all these shards together."""
    refuse_one_input_twice(paths)
    records = [read_record(path) for path in paths]
    try:
        return merge(records)
    except MergeError as problem:
        raise UsageError(f"the reports {', '.join(paths)} do not belong together: {problem}") from None
