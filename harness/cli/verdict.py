"""How a case can end, how the command can end, and which of the two follows from the other."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Verdict(enum.Enum):
    """The judgement over one case. The values are the words of the report."""

    PASSED = "passed"
    FAILED = "failed"  # at least one finding
    ERROR = "error"  # the harness could not run or judge the case
    SKIPPED = "skipped"  # the case said that it cannot run here
    INCONCLUSIVE = "inconclusive"  # it ran, but a fault that had to fire did not, or no oracle ran


class ExitCode(enum.IntEnum):
    """The exit codes of the command. No sanitizer's code is ever passed on."""

    ALL_MET = 0
    FINDING = 1
    USAGE = 2
    HARNESS_FAILED = 3
    NOTHING_RAN = 4
    INCONCLUSIVE = 5
    INTERRUPTED = 130  # SIGINT
    READER_GONE = 141  # SIGPIPE: whoever read the output has gone
    TERMINATED = 143  # SIGTERM


def exit_code_of(verdicts: Iterable[Verdict]) -> ExitCode:
    """The exit code of a run that ended by itself and left nothing out.

    A finding outweighs trouble of the harness, which outweighs an open question: whoever reads only the code
    learns the worst thing that is certain.
    """
    seen = set(verdicts)
    if Verdict.FAILED in seen:
        return ExitCode.FINDING
    if Verdict.ERROR in seen:
        return ExitCode.HARNESS_FAILED
    if Verdict.INCONCLUSIVE in seen:
        return ExitCode.INCONCLUSIVE
    return ExitCode.ALL_MET
