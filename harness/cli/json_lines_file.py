"""The JSON lines of a run, written while it goes on: each line is in the file, or with whoever reads the pipe, as soon
as it is known.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import BinaryIO

from harness.cli.problems import writing
from reports.json_lines_report import case_line, end_line, head_line
from reports.record import Case, Record

STANDARD_OUTPUT = "-"


class JsonLinesFile:
    """The lines of one run. The head is written first, and no line ever changes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._title = "the standard output" if path == STANDARD_OUTPUT else f"the report {path}"
        self._file: BinaryIO | None = None
        self._numbers: dict[bytes, int] = {}  # of the case lines, by the digests of what stands in them

    def begin(self, record: Record) -> None:
        """Writes the head, once. Raises HarnessError, as all of these do."""
        if self._file is None:
            self._file = self._open()
            self._append(head_line(record))

    def case_ended(self, case: Case) -> None:
        """REQUIRES: the run has begun."""
        self._number_of(case)

    def end(self, record: Record) -> None:
        """Writes the end, after those cases of the record that are not there, or were different, until now."""
        self.begin(record)
        self._append(end_line(record, [self._number_of(case) for case in record.cases]))
        if self._file is not sys.stdout.buffer and self._file:
            self._file.close()

    def _number_of(self, case: Case) -> int:
        """The number of the case's line, which is written if it is not there."""
        line = case_line(case)
        digest = hashlib.sha256(line).digest()
        if digest not in self._numbers:
            self._numbers[digest] = len(self._numbers)
            self._append(line)
        return self._numbers[digest]

    def _open(self) -> BinaryIO:
        if self._path == STANDARD_OUTPUT:
            return sys.stdout.buffer
        with writing(self._title):
            path = Path(os.path.realpath(self._path))
            path.parent.mkdir(parents=True, exist_ok=True)
            return path.open("wb")

    def _append(self, line: bytes) -> None:
        assert self._file is not None
        with writing(self._title):
            self._file.write(line)
            self._file.flush()
