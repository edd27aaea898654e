"""A main thread that evaluates nothing, so that no pending call runs, for as long as a scenario needs that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from harness.python.context import Context

_LOOK_SECONDS = 0.02


def _switches(native_id: int) -> tuple[str, str]:
    """The state of a thread, and how often it has given up its processor."""
    lines = Path(f"/proc/self/task/{native_id}/status").read_text().splitlines()
    fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return fields["State"][0], fields["voluntary_ctxt_switches"]


def wait_until_asleep(context: Context, thread: threading.Thread) -> None:
    """Until the thread sleeps and has not woken up between two looks. One that waits for the interpreter's lock wakes
    up all the time.
    """
    native_id = thread.native_id or 0
    before = ("", "")

    def is_asleep() -> bool:
        nonlocal before
        last, before = before, _switches(native_id)
        if last == before and before[0] == "S":
            return True
        time.sleep(_LOOK_SECONDS)  # the time between two looks
        return False

    context.check(context.wait_for(is_asleep), f"{thread.name} falls asleep")


def keep_asleep(context: Context, block: Callable[[], object], work: Callable[[], None], ordinal: int = 1) -> None:
    """Calls `block` on the main thread, and `work` on another one once `block` evaluates nothing any more. `work` has
    to bring `block` to its end.
    """
    entering = threading.Event()

    def run() -> None:
        entering.wait()
        wait_until_asleep(context, threading.main_thread())
        work()

    worker = context.start_thread(ordinal, run)
    entering.set()
    block()
    context.join([worker])
