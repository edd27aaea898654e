"""What ends the command before or beside its verdicts. Each problem knows its exit code."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator

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


def nearest(word: str, known: Iterable[str]) -> str:
    """A clause that names the known word closest to `word`; empty when none is close."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else ""
