"""The door at Py_AddPendingCall in real interpreters, with an extension module that imports the symbol.

Each interpreter that is found takes all tests: the system's, which may carry the symbol in its executable, and those of
pyenv, which have it in a shared libpython. Each program is a process with the shim preloaded.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

RUNFILES = Path(os.environ.get("TEST_SRCDIR", ".")) / os.environ.get("TEST_WORKSPACE", "")
SHIM = Path(os.environ.get("HOLDFAST_SHIM", RUNFILES / "fault/shim/libcuda.so.1")).absolute()
DRIVER = Path(os.environ.get("HOLDFAST_FAKE_DRIVER", RUNFILES / "tests/fault/shim/fake_driver.so")).absolute()
WITHOUT_PYTHON = Path(
    os.environ.get("HOLDFAST_WITHOUT_PYTHON", RUNFILES / "tests/fault/shim/without_python")
).absolute()
SOURCES = Path(__file__).parent.absolute()
OLDEST = (3, 10)

ABOUT = """
import json, sys, sysconfig
print(json.dumps([sys.version_info[:2], sysconfig.get_paths()["include"], sysconfig.get_config_var("LDLIBRARY"),
                  sysconfig.get_config_var("LIBDIR"), "/libpython" in open("/proc/self/maps").read()]))
"""
IMPORTS = """
from door_subject import *
import pending_extension as calls
"""
EMBEDDING = """
#include <Python.h>
PyMODINIT_FUNC PyInit_pending_extension(void);
int main(int argc, char** argv) {
  (void)argc;
  PyImport_AppendInittab("pending_extension", &PyInit_pending_extension);
  Py_Initialize();
  const int failed = PyRun_SimpleString(argv[1]);
  return Py_FinalizeEx() != 0 || failed != 0;
}
"""


class Interpreter:
    """One interpreter of this machine, and what is built against it."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self.folder = folder
        about = run([str(path), "-c", ABOUT]).stdout
        version, include, self.library, self.library_folder, self.shared = json.loads(about)
        self.version = tuple(version)
        self.include = Path(include)

    def __str__(self) -> str:
        where = "shared library" if self.shared else "executable"
        return f"Python {self.version[0]}.{self.version[1]} at {self.path}, symbol in the {where}"

    def build_extension(self) -> None:
        """Compiles the extension module into the interpreter's folder."""
        source = SOURCES / "pending_extension.c"
        self.compile(["-shared", "-fPIC", str(source), "-o", str(self.folder / "pending_extension.so")])

    def build_embedding(self) -> Path:
        """Compiles a program that embeds the interpreter, linked against its shared library."""
        source = self.folder / "embedding.c"
        source.write_text(EMBEDDING)
        program = self.folder / "embedding"
        library = f"{self.library_folder}/{self.library}"
        self.compile([str(source), str(SOURCES / "pending_extension.c"), library, "-o", str(program)])
        return program

    def compile(self, arguments: list[str]) -> None:
        """Raises CalledProcessError, with what the compiler said on stderr."""
        subprocess.run(
            ["cc", "-O1", f"-I{self.include}", *arguments, "-lpthread", f"-Wl,-rpath,{self.library_folder}"], check=True
        )


def run(command: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end."""
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def find_interpreters(folder: Path) -> list[Interpreter]:
    """Those that are new enough and have headers to compile against; one a version and way to keep the symbol."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    paths = [Path("/usr/bin/python3"), *sorted(home.glob(".pyenv/versions/3.*/bin/python3"))]
    if given := os.environ.get("HOLDFAST_PYTHONS"):
        paths = [Path(path) for path in given.split(":")]
    found: dict[tuple[Any, ...], Interpreter] = {}
    for number, path in enumerate(path for path in paths if path.exists()):
        own = folder / str(number)
        own.mkdir()
        interpreter = Interpreter(path, own)
        if interpreter.version >= OLDEST and (interpreter.include / "Python.h").exists():
            found.setdefault((interpreter.version, interpreter.shared), interpreter)
    return list(found.values())


class Run:
    """What a program under the shim did."""

    def __init__(self, process: subprocess.CompletedProcess[str], events: str) -> None:
        self.process = process
        self.events = [json.loads(line) for line in events.splitlines()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind."""
        return [event for event in self.events if event["event"] == kind]

    @property
    def counters(self) -> dict[str, int]:
        """The counters of the report."""
        return {event["name"]: event["value"] for event in self.of("counter")}


class DoorTest(unittest.TestCase):
    """Runs programs under the shim."""

    folder: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def run_command(self, command: list[str], rules: list[dict[str, Any]], modules: Path | None = None) -> Run:
        """Fails the test unless the program ends with 0."""
        plan, events = self.folder / "plan.json", self.folder / "events.jsonl"
        plan.write_text(json.dumps({"version": 1, "rules": rules}))
        events.write_text("")
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "PYTHON"))},
            "LD_PRELOAD": str(SHIM),
            "HOLDFAST_DRIVER": str(DRIVER),
            "HOLDFAST_PLAN": str(plan),
            "HOLDFAST_EVENTS": str(events),
            "PYTHONPATH": f"{modules}:{SOURCES}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        process = run(command, environment)
        self.assertEqual(process.returncode, 0, f"{command[0]}: {process.stdout}{process.stderr}")
        return Run(process, events.read_text())


class InInterpreters(DoorTest):
    """What a rule does to the calls of an extension module."""

    interpreters: ClassVar[list[Interpreter]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.interpreters = find_interpreters(cls.folder)
        if not cls.interpreters:
            raise unittest.SkipTest("no interpreter has headers: install python3-dev")
        for interpreter in cls.interpreters:
            interpreter.build_extension()

    def run_everywhere(self, program: str, *rules: dict[str, Any]) -> list[tuple[Interpreter, Run]]:
        """Runs the program in each interpreter; the rules are for Py_AddPendingCall."""
        runs = []
        for interpreter in self.interpreters:
            with self.subTest(str(interpreter)):
                command = [str(interpreter.path), "-c", IMPORTS + program]
                sited = [{"site": "Py_AddPendingCall", **rule} for rule in rules]
                runs.append((interpreter, self.run_command(command, sited, interpreter.folder)))
        return runs

    def test_counts_without_a_rule(self) -> None:
        runs = self.run_everywhere("""
assert calls.add() == 0
wait_for(lambda: calls.ran() == 1)
assert calls.add_looked_up() == 0
wait_for(lambda: calls.ran() == 2)
function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda argument: 0)
assert ctypes.pythonapi.Py_AddPendingCall(function, None) == 0
wait_for(lambda: pending_calls().run == 3)
counts = pending_calls()
assert (counts.calls, control.calls(b"Py_AddPendingCall")) == (3, 3), counts.calls
assert (counts.accepted, counts.peak_outstanding) == (3, 1), (counts.accepted, counts.peak_outstanding)
""")
        for _, run in runs:
            self.assertEqual(run.of("fault"), [])

    def test_the_counters_tell_how_many_fit(self) -> None:
        runs = self.run_everywhere("""
refused = calls.add_on_thread(50)
wait_for(lambda: pending_calls().outstanding == 0)
counts = pending_calls()
assert (counts.calls, counts.accepted, counts.refused) == (50, 50 - refused, refused)
assert counts.run == counts.peak_outstanding == 50 - refused == calls.ran()
""")
        for interpreter, run in runs:
            fitting = 32 if interpreter.version >= (3, 13) else 31  # facts P1, P2
            self.assertEqual(run.counters["pending_calls"], 50)
            self.assertEqual(run.counters["pending_calls_refused"], 50 - fitting)
            self.assertEqual(run.counters["pending_calls_outstanding_peak"], fitting)

    def test_refuses(self) -> None:
        runs = self.run_everywhere(
            """
assert [calls.add(), calls.add(), calls.add()] == [-1, -1, 0]
wait_for(lambda: calls.ran() == 1)
assert pending_calls().refused == 2 and control.faults(b"Py_AddPendingCall") == 2
""",
            {"when": {"first": 2}, "do": {"return": -1}},
        )
        for _, run in runs:
            faults = [(event["ordinal"], event["action"], event["result"]) for event in run.of("fault")]
            self.assertEqual(faults, [(1, "return", -1), (2, "return", -1)])

    def test_loses(self) -> None:
        self.run_everywhere(
            """
assert [calls.add(1), calls.add(2)] == [0, 0]
wait_for(lambda: calls.ran() == 1)
assert calls.order() == [2]
counts = pending_calls()
assert (counts.accepted, counts.lost, counts.outstanding) == (2, 1, 0)
""",
            {"when": {"nth": 1}, "do": {"drop": True}},
        )

    def test_hands_over_after_a_delay(self) -> None:
        self.run_everywhere(
            """
began = time.monotonic()
assert calls.add(1) == 0
late = pending_calls().not_handed_over
assert late == 1 or time.monotonic() - began > 0.2, late
assert calls.add(2) == 0
wait_for(lambda: calls.ran() == 2)
assert time.monotonic() - began >= 0.2
assert pending_calls().not_handed_over == pending_calls().outstanding == 0
""",
            {"when": {"nth": 1}, "do": {"delay": "200ms"}},
        )

    def test_holds_until_a_step(self) -> None:
        runs = self.run_everywhere(
            """
assert [calls.add(1), calls.add(2)] == [0, 0]
wait_for(lambda: calls.ran() == 1)
counts = pending_calls()
assert (counts.outstanding, counts.not_handed_over) == (1, 1)
control.announce_step(b"go")
wait_for(lambda: calls.ran() == 2)
assert calls.order() == [2, 1]
assert pending_calls().not_handed_over == 0
""",
            {"when": {"nth": 1}, "do": {"hold": {"step": "go"}}},
        )
        for _, run in runs:
            self.assertEqual([event["action"] for event in run.of("fault")], ["hold"])

    def test_holds_until_it_is_told(self) -> None:
        self.run_everywhere(
            """
assert [calls.add(number) for number in range(5)] == [0] * 5
assert pending_calls().not_handed_over == 5 and calls.ran() == 0
control.release_pending_calls()
wait_for(lambda: calls.ran() == 5)
assert calls.order() == [4, 3, 2, 1, 0], calls.order()
assert pending_calls().peak_outstanding == 5
""",
            {"do": {"deliver": "held", "order": "lifo"}},
        )

    def test_hands_over_more_than_the_queue_holds(self) -> None:
        self.run_everywhere(
            """
assert calls.add_on_thread(1000) == 0
control.release_pending_calls()
wait_for(lambda: calls.ran() == 1000)
assert pending_calls().outstanding == 0
""",
            {"do": {"deliver": "held"}},
        )

    def test_keeps_the_queue_full_until_it_is_told(self) -> None:
        self.run_everywhere("""
fitted = control.saturate(1000)
assert fitted in (31, 32), fitted
for _ in range(1000):  # bytecode, between which the no-ops run
    assert calls.add() == -1
assert calls.add_on_thread(1000) == 1000
assert pending_calls().no_ops == fitted
control.release_saturation()
wait_for(lambda: pending_calls().no_ops == 0)
assert calls.add() == 0
wait_for(lambda: calls.ran() == 1)
""")

    def test_leaves_room_where_the_plan_does(self) -> None:
        self.run_everywhere("""
assert control.saturate(5) == 5
assert calls.add() == 0
wait_for(lambda: calls.ran() == 1)
assert pending_calls().no_ops == 5
control.release_saturation()
wait_for(lambda: pending_calls().no_ops == 0)
""")

    def test_keeps_the_queue_full_until_a_step(self) -> None:
        runs = self.run_everywhere(
            """
assert [calls.add() for _ in range(100)] == [-1] * 100
control.announce_step(b"room")
wait_for(lambda: pending_calls().no_ops == 0)
assert calls.add() == 0
wait_for(lambda: calls.ran() == 1)
""",
            {"when": {"nth": 1}, "do": {"saturate": 64, "until": {"step": "room"}}},
        )
        for _, run in runs:
            self.assertEqual([event["action"] for event in run.of("fault")], ["saturate"])

    def test_fills_the_queue_once(self) -> None:
        self.run_everywhere(
            """
assert calls.add() == -1
wait_for(lambda: pending_calls().no_ops == 0)
assert calls.add() == 0
wait_for(lambda: calls.ran() == 1)
""",
            {"when": {"nth": 1}, "do": {"saturate": 64}},
        )

    def test_records_each_call(self) -> None:
        runs = self.run_everywhere(
            """
control.name_thread(b"main", 0)
assert calls.add() == 0
assert calls.add() == -1
wait_for(lambda: calls.ran() == 1)
""",
            {"when": {"nth": 2}, "do": {"return": -1, "record": True}},
            {"do": {"record": True}},
        )
        for _, run in runs:
            recorded = [(event["ordinal"], event["outcome"], event["result"]) for event in run.of("pending-call")]
            self.assertEqual(recorded, [(1, "queued", 0), (2, "refused", -1)])
            self.assertEqual({event["thread"] for event in run.of("pending-call")}, {"main"})

    def test_names_the_thread_of_a_rule(self) -> None:
        self.run_everywhere(
            """
control.name_thread(b"main", 0)
assert calls.add_on_thread(3) == 1
assert calls.add() == calls.add() == 0
wait_for(lambda: calls.ran() == 4)
""",
            {"when": {"nth": 2, "thread": "subject"}, "do": {"return": -1}},
        )

    def test_survives_calls_during_and_after_the_end(self) -> None:
        for _ in range(5):
            runs = self.run_everywhere(
                "calls.add_until_the_process_ends()\nwait_for(lambda: pending_calls().calls > 100)\n",
                {"do": {"return": -1}},
            )
            for _, run in runs:
                self.assertGreater(run.counters["pending_calls_while_finalizing"], 0)

    def test_a_rule_can_mean_the_end(self) -> None:
        runs = self.run_everywhere(
            "assert calls.add() == 0\ncalls.add_after_the_end()\n",
            {"when": {"while": "finalization"}, "do": {"return": -1}},
        )
        for _, run in runs:
            self.assertEqual([event["ordinal"] for event in run.of("fault")], [2])
            self.assertEqual(run.counters["pending_calls_while_finalizing"], 1)

    def test_what_is_late_does_not_outlive_the_end(self) -> None:
        runs = self.run_everywhere(
            """
import atexit
assert calls.add_on_thread(100) == 0
atexit.register(control.release_pending_calls)
""",
            {"do": {"deliver": "held"}},
        )
        for _, run in runs:
            self.assertEqual(run.counters["pending_calls_accepted"], 100)
            self.assertLessEqual(run.counters["pending_calls_run"] + run.counters["pending_calls_lost"], 100)

    def test_a_full_queue_does_not_keep_the_interpreter_from_ending(self) -> None:
        self.run_everywhere("assert control.saturate(1000) in (31, 32)")

    def test_embedded(self) -> None:
        for interpreter in self.interpreters:
            if not Path(interpreter.library_folder, interpreter.library).exists():
                continue
            with self.subTest(str(interpreter)):
                program = """
assert [calls.add(1), calls.add(2), calls.add(3)] == [-1, 0, 0]
wait_for(lambda: calls.ran() == 2)
assert pending_calls().calls == 3
"""
                rules = [
                    {"site": "Py_AddPendingCall", "when": {"nth": 1}, "do": {"return": -1}},
                    {"site": "Py_AddPendingCall", "when": {"nth": 2}, "do": {"deliver": "thread"}},
                ]
                self.run_command([str(interpreter.build_embedding()), IMPORTS + program], rules)


class WithoutPython(DoorTest):
    """A program in which there is no interpreter."""

    def test_nothing_happens(self) -> None:
        rules = [{"site": "Py_AddPendingCall", "do": {"delay": "1ms"}}]
        run = self.run_command([str(WITHOUT_PYTHON)], rules)
        self.assertEqual(run.events, [])


if __name__ == "__main__":
    unittest.main()
