"""What a running scenario has at hand: its variant, the shim, checks, waits, threads, and interpreters of its own."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

from harness.python.events import read_events, write_event
from harness.python.processes import Ended, RanTooLong, run_process
from harness.python.scenario import Scenario, is_watched
from harness.python.shim import LiveObjects, Shim

EXIT_CLEAN = 0
EXIT_FINDING = 1

# The longest that any wait for something that must happen takes, on a busy machine.
DEADLINE_SECONDS = 20.0

# How much longer an interpreter of its own may take where ThreadSanitizer watches, as in cli/case_task.py.
_SLOWDOWN = 5.0

# Of the resources a payload may own. They are alive as long as a user object that a failed release keeps.
_RESOURCES = ("events", "allocations", "libraries")
_OWN = ("user_objects", "graphs", "executables", "streams")


class Context:
    """`variant` is the scenario's own, empty where it has none."""

    def __init__(self, scenario: Scenario, interpreter: str, variant: str, shim: Shim) -> None:
        self.interpreter = interpreter
        self.variant = variant
        self.shim = shim
        self._scenario = scenario

    # ---- what was seen ----

    def oracle(self, name: str) -> None:
        """Records that a contract was checked. A scenario that never does is inconclusive."""
        write_event("oracle", name=name)

    def count(self, name: str, value: int | float) -> None:
        """Goes into the report."""
        write_event("counter", name=name, value=value)

    def find(self, kind: str, message: str) -> NoReturn:
        """Records a finding and ends the case with its process: nothing can be learnt from it any more."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        self.shim.note_moment("finding", kind)
        write_event("finding", kind=kind, message=message, place=f"{frame.f_code.co_filename}:{frame.f_lineno}")
        self._end_process(EXIT_FINDING)

    def check(self, holds: bool, contract: str) -> None:
        """A finding of kind "contract" unless `holds`."""
        if not holds:
            self.find("contract", contract)

    def check_equal(self, actual: object, expected: object, contract: str) -> None:
        """A check that says what was there instead."""
        if actual != expected:
            self.find("contract", f"{contract}: {actual!r} instead of {expected!r}")

    def skip(self, reason: str) -> NoReturn:
        """Ends the case as skipped."""
        write_event("skip", reason=reason)
        self._end_process(EXIT_CLEAN)

    def require_faults(self, site: str, count: int = 1) -> None:
        """Ends the case as inconclusive unless so many faults fired there: it tested nothing."""
        fired = self.shim.faults(site)
        if fired < count:
            write_event("inconclusive", reason=f"{site}: {count} faults had to fire, {fired} did")
            self._end_process(EXIT_CLEAN)

    def end_by_exception(self, error: Exception) -> NoReturn:
        """For an exception that nothing in the scenario expected."""
        traceback.print_exception(type(error), error, error.__traceback__)
        if self.is_disturbed():
            self._end_by_fault(repr(error))
        self.find("contract", f"an exception left the scenario: {error!r}")

    def is_disturbed(self) -> bool:
        """Whether a rule of the user's, which the scenario does not know of, has fired, here or in a program it ran."""
        given = int(os.environ.get("HOLDFAST_USER_FAULTS", "0"))
        events, _ = read_events()
        return any(event["event"] == "fault" and int(str(event["rule"])) < given for event in events)

    def _end_by_fault(self, what: str, errors: str = "") -> NoReturn:
        """Ends the case as inconclusive: what came of the user's fault is no more than an exception."""
        sys.stderr.write(errors)
        write_event("inconclusive", reason=f"a fault of the user's ended the scenario: {what}")
        self._end_process(EXIT_CLEAN)

    # ---- waiting ----

    def wait_for(self, condition: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> bool:
        """Looks again and again, evaluating meanwhile; false if the time passes first."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return condition()
        return True

    def check_eventually(self, condition: Callable[[], bool], contract: str) -> None:
        """A wait that is itself a check."""
        self.check(self.wait_for(condition), f"{contract} (waited {DEADLINE_SECONDS:g} s)")

    # ---- threads and processes ----

    def start_thread(self, ordinal: int, body: Callable[[], None]) -> threading.Thread:
        """A thread with a name of its own for plans and logs. An exception that leaves `body` ends the case."""

        def run() -> None:
            self.shim.name_thread("subject", ordinal)
            try:
                body()
            except Exception as error:
                self.end_by_exception(error)

        thread = threading.Thread(target=run, name=f"subject-{ordinal}", daemon=True)
        thread.start()
        return thread

    def join(self, threads: Sequence[threading.Thread]) -> None:
        """Waits for threads, evaluating meanwhile."""
        for thread in threads:
            self.check_eventually(lambda thread=thread: not thread.is_alive(), f"{thread.name} ends")
            thread.join()

    def run_subject(self, function: Callable[..., None], *arguments: str, seconds: float = DEADLINE_SECONDS) -> Ended:
        """Calls a function of a scenario's file in an interpreter of its own, and sees it to its end: status 0, nothing
        on stderr. What the function may do is said in harness/python/subject.py.
        """
        name = f"{function.__module__}:{function.__name__}"
        command = [sys.executable, "-X", "faulthandler", "-m", "harness.python.subject", name, *arguments]
        return self.run_to_its_end(command, f"{function.__name__}({', '.join(arguments)})", seconds)

    def run_to_its_end(self, command: Sequence[str], what: str, seconds: float = DEADLINE_SECONDS) -> Ended:
        """Runs a program. A signal, a hang, a status other than 0 and anything on stderr are findings. Where a fault of
        the user's led to an exception that nothing caught, only a signal still is one.
        """
        if is_watched(self.interpreter):
            seconds *= _SLOWDOWN
        try:
            ended = run_process(command, seconds)
        except RanTooLong as problem:
            if problem.raised and self.is_disturbed():
                self._end_by_fault(f"{what} did not end after {problem.raised}", str(problem))
            self.find("hang", f"{what}: did not end within {seconds:g} s\n{problem}")
        if ended.status < 0:
            self.find("crash", f"{what}: was ended by signal {-ended.status}\n{ended.errors}")
        if ended.raised and self.is_disturbed():
            self._end_by_fault(f"{what} ended with {ended.status} after {ended.raised}", ended.errors)
        self.check(ended.status == 0 and not ended.errors, f"{what}: ended with {ended.status}\n{ended.errors}")
        return ended

    # ---- the end ----

    def check_nothing_leaked(self) -> None:
        """Run by the program after the scenario: nothing that the driver made may be left."""

        def nothing_left() -> bool:
            gc.collect()
            self.shim.release_held()
            return not _describe(self.shim.live())

        if not self.wait_for(nothing_left):
            self.find("leak", f"still alive at the end of {self._scenario.name}: {_describe(self.shim.live())}")

    def _end_process(self, code: int) -> NoReturn:
        write_event("finish")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _describe(live: LiveObjects) -> str:
    """What is alive that ought not to be: "2 graphs, 1 streams"."""
    kinds = [*_OWN, *(() if live.kept_user_objects else _RESOURCES)]
    return ", ".join(f"{getattr(live, kind)} {kind}" for kind in kinds if getattr(live, kind))
