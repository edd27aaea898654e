"""What ends the command before or beside its verdicts. Each problem knows its exit code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from harness.cli.verdict import ExitCode


class Problem(Exception):
    """A sentence for the user, and the exit code that goes with it."""

    exit_code = ExitCode.HARNESS_FAILED


class UsageError(Problem):
    """The command line, a test variable or a plan is wrong."""

    exit_code = ExitCode.USAGE


class HarnessError(Problem):
    """Something that the harness needs is missing or broken."""

    exit_code = ExitCode.HARNESS_FAILED


class NothingSelected(Problem):
    """The selection is well formed and matches no case."""

    exit_code = ExitCode.NOTHING_RAN


@contextlib.contextmanager
def writing(what: str) -> Iterator[None]:
    """Turns a failure to write `what` into a sentence that names it. That the reader of a pipe has gone is none."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise HarnessError(f"{what} was not written: {problem.strerror}") from None
