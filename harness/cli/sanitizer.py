"""Sanitizer reports, read from what a child wrote. An exit code alone never makes a sanitizer finding: every code
that a sanitizer uses is also used for something else.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from reports.record import Finding

_MOST_REPORTS = 10
_MOST_FRAMES = 60

_HEAD = re.compile(r"(?:ERROR|WARNING): (\w+Sanitizer): (.*)")
_SUMMARY = re.compile(r"SUMMARY: (\w+Sanitizer): (.*)")
_UNDEFINED = re.compile(r"^\S+:\d+:\d+: runtime error: ")
_FRAME = re.compile(r"^\s+#\d+ ")
_PLACE = re.compile(r"(\S+\.(?:cc|cpp|cxx|c|h|hpp|cu|py)):(\d+)")
_SIGNAL = re.compile(r"^(SEGV|ABRT|BUS|FPE|ILL|TRAP|stack-overflow)\b")

# A sanitizer that could not do its work: trouble of the machine, not of the subject. (marker, advice)
_BROKEN = (
    ("FATAL: ThreadSanitizer", "run under `setarch -R`, or set the sysctl vm.mmap_rnd_bits to 28"),
    ("ASan runtime does not come first", "build the subject with the same sanitizer as the libraries that it loads"),
    ("LeakSanitizer has encountered a fatal error", "leak checking does not work under a debugger or strace"),
)


@dataclasses.dataclass(frozen=True)
class SanitizerReports:
    """`broken` is a sentence when the sanitizer itself could not work; the findings then mean nothing."""

    findings: tuple[Finding, ...]
    broken: str = ""


def environment_options(log: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """The sanitizer variables of a child: reports go to files that start with `log`.

    The programs have their other options built in, and the user's own stay.
    """
    options = {}
    for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
        own = inherited.get(name, "")
        options[name] = f"{own}:log_path={log}" if own else f"log_path={log}"
    return options


def read_reports(text: str) -> SanitizerReports:
    """Finds every report in what a child wrote."""
    for marker, advice in _BROKEN:
        place = text.find(marker)
        if place >= 0:
            return SanitizerReports((), f"{text[place:].splitlines()[0].strip()}: {advice}")
    reader = _Reader()
    for line in text.splitlines():
        reader.take(line)
    reader.close()
    return SanitizerReports(tuple(reader.findings[:_MOST_REPORTS]))


class _Reader:
    """Goes through the lines. A report opens with its head, collects frames and closes with its summary."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._tool = ""
        self._head = ""
        self._frames: list[str] = []

    def take(self, line: str) -> None:
        head = _HEAD.search(line)
        summary = _SUMMARY.search(line)
        if summary:
            self._close(summary[1], summary[2])
        elif head:
            self._open(head[1], head[2])
        elif _UNDEFINED.match(line):
            self._open("UndefinedBehaviorSanitizer", line.strip())
        elif self._tool and _FRAME.match(line) and len(self._frames) < _MOST_FRAMES:
            self._frames.append(line.strip())

    def _open(self, tool: str, head: str) -> None:
        self.close()
        self._tool, self._head = tool, head

    def close(self) -> None:
        """Ends an open report that has no summary: the process died in it, or its tool writes none."""
        if self._tool:
            self._close(self._tool, self._head)

    def _close(self, tool: str, summary: str) -> None:
        if tool == "UndefinedBehaviorSanitizer" and self._tool:
            summary = self._head  # its summary says less than its first line
        elif tool == "UndefinedBehaviorSanitizer" and self.findings:
            return  # the summary of a report that was closed by the next one
        leak = self._tool == "LeakSanitizer" or "leaked in" in summary
        kind = "leak" if leak else "crash" if _SIGNAL.match(summary) else "sanitizer"
        place = _PLACE.search(summary) or next(filter(None, map(_PLACE.search, self._frames)), None)
        finding = Finding(
            kind, f"{tool}: {summary}", f"{_relative(place[1])}:{place[2]}" if place else "", tuple(self._frames)
        )
        if finding.message not in (other.message for other in self.findings):
            self.findings.append(finding)
        self._tool, self._head, self._frames = "", "", []


def _relative(path: str) -> str:
    return path.removeprefix("/proc/self/cwd/")
