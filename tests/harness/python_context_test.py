"""How a scenario in Python judges a program that it starts (harness/python/context.py), when a fault of the user's may
have come in the way.

Method: run a scenario's process over a shim that does nothing, and read what it wrote for the harness.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

from harness.python.processes import raised_in

_RAISES = "raise ValueError('no graph')"
_CASE = """
import sys
from types import SimpleNamespace
from harness.python.context import Context
shim = SimpleNamespace(note_moment=lambda kind, name: None)
context = Context(SimpleNamespace(name="A1.a"), "cp311", "", shim)
program = [sys.executable, "-X", "faulthandler", "-c", sys.argv[1]]
if sys.argv[2] == "start":
    context.run_to_its_end(program, "it", seconds=float(sys.argv[3]))
else:
    try:
        exec(sys.argv[1])
    except Exception as error:
        context.end_by_exception(error)
"""
_WAITS = "import threading\nthreading.Event().wait()"
_WAITS_FOR_A_THREAD = f"""
import threading
thread = threading.Thread(target=lambda: exec({_RAISES!r}))
thread.start()
thread.join()
{_WAITS}
"""


class ContextTest(unittest.TestCase):
    def judged(self, program: str, fired: int | None, how: str = "start", seconds: int = 60) -> tuple[int, list[str]]:
        """The exit code of a scenario that starts `program`, or does it itself, and the words that it wrote. `fired` is
        the rule that fired before; the first of the plan is the user's.
        """
        with tempfile.TemporaryDirectory() as folder:
            events = Path(folder) / "events.jsonl"
            events.write_text("" if fired is None else json.dumps({"event": "fault", "rule": fired}) + "\n")
            environment = {"PYTHONPATH": str(TREE), "HOLDFAST_EVENTS": str(events), "HOLDFAST_USER_FAULTS": "1"}
            command = [sys.executable, "-c", _CASE, program, how, str(seconds)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            written = [json.loads(line) for line in events.read_text().splitlines()]
            self.assertEqual("no graph" in program, "no graph" in done.stderr + events.read_text(), done.stderr)
            return done.returncode, [
                event.get("kind", event["event"]) for event in written if event["event"] != "fault"
            ]

    def test_an_exception_proves_nothing_once_a_fault_of_the_user_has_fired(self) -> None:
        for how in ("start", "itself"):
            self.assertEqual((0, ["inconclusive", "finish"]), self.judged(_RAISES, fired=0, how=how))

    def test_the_exception_is_told_in_its_own_words(self) -> None:
        told = """Exception in thread job:
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    raise KeyError(1)
ValueError: one line
and another
"""
        self.assertEqual("ValueError: one line", raised_in(told))
        self.assertEqual("an exception", raised_in("Traceback (most recent call last):\n  File"))
        self.assertEqual("", raised_in("nothing"))

    def test_it_is_a_finding_if_none_or_only_a_rule_of_the_scenario_has_fired(self) -> None:
        for how in ("start", "itself"):
            for fired in (None, 1):
                self.assertEqual((1, ["contract", "finish"]), self.judged(_RAISES, fired, how))

    def test_a_thread_that_an_exception_ended_is_not_waited_for_in_vain(self) -> None:
        self.assertEqual((0, ["inconclusive", "finish"]), self.judged(_WAITS_FOR_A_THREAD, fired=0, seconds=10))

    def test_what_is_no_exception_stays_a_finding(self) -> None:
        crash = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
        for program, kind in (("import os\nos._exit(3)", "contract"), (crash, "crash")):
            self.assertEqual((1, [kind, "finish"]), self.judged(program, fired=0))
        self.assertEqual((1, ["hang", "finish"]), self.judged(_WAITS, fired=0, seconds=1))


if __name__ == "__main__":
    unittest.main()
