"""Programs that a scenario starts and judges by how they end."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
from collections.abc import Sequence

from harness.python.events import read_events

_MOST_TEXT = 4000

# How Python begins to tell of an exception that nothing caught, on any thread.
_TRACEBACK = "Traceback (most recent call last):"


class RanTooLong(Exception):
    """The program did not end in time and was ended; the text is what it left on stderr, its stacks among it. It
    `raised` an exception that nothing caught, if one is told of there.
    """

    def __init__(self, errors: str) -> None:
        super().__init__(_end_of(errors))
        self.raised = raised_in(errors)


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a program ended. `status` is negative for a signal; `counters` are those that the shim wrote in it. It
    `raised` an exception that nothing caught, if one is told of on stderr.
    """

    status: int
    said: list[str]
    errors: str
    counters: dict[str, int]
    raised: str = ""


def raised_in(errors: str) -> str:
    """The last exception that Python tells of, in its own words; empty if there is none."""
    _, found, told = errors.rpartition(_TRACEBACK)
    lines = [line for line in told.splitlines() if line and not line[0].isspace()] if found else []
    return lines[0] if lines else "an exception" if found else ""


def _end_of(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"...{text[-_MOST_TEXT:]}"


def run_process(command: Sequence[str], seconds: float) -> Ended:
    """Runs a program to its end. Raises RanTooLong."""
    _, start = read_events()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # With -X faulthandler an interpreter tells its stacks on the way.
        process.send_signal(signal.SIGABRT)
        raise RanTooLong(process.communicate()[1]) from None
    events, _ = read_events(start)
    counters = {str(event["name"]): int(str(event["value"])) for event in events if event["event"] == "counter"}
    return Ended(process.returncode, output.splitlines(), _end_of(errors), counters, raised_in(errors))
