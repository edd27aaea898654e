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
    `raised` if an exception that nothing caught is told of there.
    """

    def __init__(self, errors: str) -> None:
        super().__init__(errors[-_MOST_TEXT:])
        self.raised = _TRACEBACK in errors


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a program ended. `status` is negative for a signal; `counters` are those that the shim wrote in it. It
    `raised` if an exception that nothing caught is told of on stderr.
    """

    status: int
    said: list[str]
    errors: str
    counters: dict[str, int]
    raised: bool = False


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
    return Ended(process.returncode, output.splitlines(), errors[-_MOST_TEXT:], counters, _TRACEBACK in errors)
