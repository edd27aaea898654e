"""Plain text for people: columns, colour, and the end of a run."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from reports import record
from reports.case_name import case_name, name_in_scenario
from reports.counted import count_of
from reports.finding_text import minimised_line
from reports.visible import for_log, lines_for_log

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
    """Left-aligned columns with the head on top; no line ends in spaces. The cells may be a subject's texts."""
    table = [[for_log(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def case_table(cases: Sequence[record.Case], paint: Paint) -> list[str]:
    """One line a case: scenario, variant, verdict, faults fired, findings, milliseconds."""
    head = ("scenario", "variant", "verdict", "faults", "findings", "ms")
    rows = []
    for case in cases:
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in case.findings)) or "-"
        name, duration = name_in_scenario(case), f"{case.duration_ms:.0f}"
        rows.append((case.scenario, name, case.verdict, str(len(case.faults)), kinds, duration))
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
        name = paint("bold", for_log(case_name(case)))
        for finding in case.findings:
            first, *others = lines_for_log(finding.message)
            lines += ["", f"{paint('red', for_log(finding.kind))} in {name}: {first}"]
            lines += [f"    {line}" for line in others]
            lines += [f"  at {for_log(finding.place)}"] if finding.place else []
            lines += [f"    {for_log(frame)}" for frame in _cut(finding.stack)]
            lines += [f"  {for_log(minimised_line(case.minimised))}"] if case.minimised else []
            lines += [f"  {for_log(command)}" for command in finding.reproduce]
            lines += [f"  {advice(case)}"] if advice(case) else []
        if case.reason:
            lines += ["", f"{paint.verdict(case.verdict, case.verdict)} {name}: {for_log(case.reason)}"]
    return lines


def note_lines(notes: Sequence[str]) -> list[str]:
    """What concerns the run as a whole, as a block of its own; nothing if there is nothing."""
    return ["", *map(for_log, notes)] if notes else []


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
    others = [count_of(summary["errors"], "error")] if summary["errors"] else []
    others += [f"{summary['inconclusive']} inconclusive"] if summary["inconclusive"] else []
    others += [f"{not_run} not run"] if not_run else []
    lines = [", ".join(others)] if others else []
    return [*lines, f"{summary['passed']} passed, {summary['failed']} failed, {summary['skipped']} skipped"]
