"""Plain text for people: columns, colour, and the end of a run."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from reports import record
from reports.finding_text import minimised_line

_CODES = {"red": "31", "green": "32", "yellow": "33", "bold": "1"}
_VERDICT_COLORS = {"passed": "green", "failed": "red", "error": "red", "skipped": "yellow", "inconclusive": "yellow"}
_MOST_FRAMES = 16  # of a thread
_MOST_THREADS = 8


class Paint:
    """Wraps words in colour, or leaves them alone."""

    def __init__(self, choice: str, stream: TextIO, environment: Mapping[str, str]) -> None:
        """`choice` is auto, yes or no. Automatic colour needs a terminal, and NO_COLOR turns it off."""
        self._on = choice == "yes" or (choice == "auto" and not environment.get("NO_COLOR") and stream.isatty())

    def __call__(self, color: str, text: str) -> str:
        return f"\x1b[{_CODES[color]}m{text}\x1b[0m" if self._on else text

    def verdict(self, word: str, padded: str) -> str:
        return self(_VERDICT_COLORS[word], padded)


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Left-aligned columns with the head on top; no line ends in spaces."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
    ]


def case_table(cases: Sequence[record.Case], paint: Paint) -> list[str]:
    """One line a case: scenario, variant, verdict, faults fired, findings, milliseconds."""
    head = ("scenario", "variant", "verdict", "faults", "findings", "ms")
    rows = []
    for case in cases:
        variant = f"{case.variant} #{case.run}" if case.run else case.variant
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in case.findings)) or "-"
        rows.append((case.scenario, variant, case.verdict, str(len(case.faults)), kinds, f"{case.duration_ms:.0f}"))
    lines = columns(head, rows)
    for number, case in enumerate(cases, start=1):
        place = lines[number].index(f"  {case.verdict}", len(case.scenario)) + 2
        end = place + len(case.verdict)
        lines[number] = lines[number][:place] + paint.verdict(case.verdict, case.verdict) + lines[number][end:]
    return lines


def details(
    cases: Sequence[record.Case], paint: Paint, advice: Callable[[record.Case], str] = lambda case: ""
) -> list[str]:
    """Each finding with its stack, the commands that reproduce it and what else can be done; each other open end with
    its reason.
    """
    lines = []
    for case in cases:
        name = f"{case.scenario}/{case.variant}" + (f" (run {case.run})" if case.run else "")
        for finding in case.findings:
            lines += ["", f"{paint('red', finding.kind)} in {paint('bold', name)}: {finding.message}"]
            lines += [f"  at {finding.place}"] if finding.place else []
            lines += [f"    {frame}" for frame in _cut(finding.stack)]
            lines += [f"  {minimised_line(case.minimised)}"] if case.minimised else []
            lines += [f"  {command}" for command in finding.reproduce]
            lines += [f"  {advice(case)}"] if advice(case) else []
        if case.reason:
            lines += ["", f"{paint.verdict(case.verdict, case.verdict)} {paint('bold', name)}: {case.reason}"]
    return lines


def _cut(stack: Sequence[str]) -> list[str]:
    """The first frames of each of the first threads, the main thread before all others."""
    threads: list[list[str]] = [[]]
    for frame in stack:
        if re.match(r"Thread \d", frame):
            threads.append([])
        threads[-1].append(frame)
    threads.sort(key=lambda thread: not any(re.match(r"Thread 1\b", frame) for frame in thread[:1]))
    kept = [thread[:_MOST_FRAMES] for thread in threads if thread][:_MOST_THREADS]
    return list(itertools.chain.from_iterable(kept))


def closing_lines(summary: Mapping[str, int], not_run: int) -> list[str]:
    """The last lines. The very last has a form that generic readers of logs know."""
    others = [f"{summary[word]} {word}" for word in ("errors", "inconclusive") if summary[word]]
    others += [f"{not_run} not run"] if not_run else []
    lines = [", ".join(others)] if others else []
    return [*lines, f"{summary['passed']} passed, {summary['failed']} failed, {summary['skipped']} skipped"]
