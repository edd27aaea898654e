"""The end of a run: its reports are written, it is told on the terminal, and all of them agree on the exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TextIO

from harness.cli.bazel_environment import BazelEnvironment
from harness.cli.problems import HarnessError
from harness.cli.report_files import ReportFiles, with_problems
from harness.cli.session import Console
from reports.record import Record

# The lines that tell the end of a run on a stream.
Told = Callable[[Record, TextIO], Sequence[str]]


def conclude(final: Record, files: ReportFiles, console: Console, bazel: BazelEnvironment, told: Told) -> int:
    """Reports the run that `final` is the record of. Returns the exit code.

    Raises HarnessError once all is written that can be, if something cannot.
    """
    stream = console.err if files.take_standard_output else console.out
    problems = _problem_of(lambda: bazel.warn(list(final.notes)))
    final, unwritten = files.finish(with_problems(final, problems))
    untold = _problem_of(lambda: _print(told(final, stream), stream))
    if untold:
        files.amend(with_problems(final, untold))
    problems += [*unwritten, *untold]
    if problems:
        raise HarnessError("; ".join(problems))
    assert final.exit_code is not None
    return final.exit_code


def _problem_of(action: Callable[[], None]) -> list[str]:
    try:
        action()
    except HarnessError as problem:
        return [str(problem)]
    return []


def _print(lines: Sequence[str], stream: TextIO) -> None:
    stream.writelines(f"{line}\n" for line in (lines if lines[0] else lines[1:]))
    stream.flush()
