"""The standard output and the standard error. What cannot be written there is told as that, and ends the command."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TextIO

from harness.cli.problems import writing


class StandardStream(io.TextIOWrapper):
    """Raises HarnessError where it cannot write, and BrokenPipeError once nobody reads any more. A letter that its
    encoding does not have is written as an escape.
    """

    def __init__(self, stream: TextIO, title: str) -> None:
        """Takes the place of `stream`, which is not to be used any more; the title is for the sentence."""
        super().__init__(
            stream.buffer,
            encoding=stream.encoding,
            errors="backslashreplace",
            line_buffering=bool(stream.line_buffering),
        )
        self._title = title

    def write(self, text: str) -> int:
        with writing(self._title):
            return super().write(text)

    def writelines(self, lines: Iterable[str]) -> None:  # type: ignore[override]
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        with writing(self._title):
            super().flush()
