"""Runs the `holdfast` command in tests: the real command, over fake programs in a layout of its own."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).absolute().parent
TREE = TESTS.parents[1]
SPECIMEN_RUNNER = TESTS / "specimens" / "runner.py"

_AWAIT_SECONDS = 60

# What a test runner around this test has set must not reach the command under test.
_FOREIGN = (
    "TEST_",
    "TESTBRIDGE_",
    "XML_OUTPUT_FILE",
    "HOLDFAST_",
    "RUNFILES_",
    "BUILD_WORKSPACE_DIRECTORY",
    "NO_COLOR",
)


@dataclasses.dataclass(frozen=True)
class Answer:
    """What one run of the command gave."""

    code: int
    out: str
    err: str

    @property
    def closing_line(self) -> str:
        return self.out.splitlines()[-1]


def scenario(name: str, does: str = "passes", **fields: Any) -> dict[str, Any]:
    """One scenario for a scripted runner."""
    defaults = {
        "suites": ["default"],
        "variants": [{"name": "only", "plan": []}],
        "file": f"scenarios/{name}.cc",
        "line": 3,
    }
    return {"scenario": name, "summary": f"about {name}", "does": does, **defaults, **fields}


def await_condition(condition: Callable[[], bool], what: str) -> None:
    """Looks again and again until the condition holds. Raises AssertionError once that takes far too long."""
    deadline = time.monotonic() + _AWAIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {_AWAIT_SECONDS} s and it is still not so: {what}")
        os.sched_yield()


class FakeTree:
    """A folder with the programs that the command needs, each a script."""

    def __init__(self, root: Path, scenarios: Sequence[dict[str, Any]] | None = None) -> None:
        """With `scenarios` the runner does what they say; without it has the specimens."""
        self.root = root
        if scenarios is None:
            self.program("scenarios/scenario_runner", [sys.executable, str(SPECIMEN_RUNNER)])
        else:
            self.scripted_runner("scenarios/scenario_runner", scenarios)
        self.program("fault/plan/holdfast_plan", [sys.executable, str(TESTS / "fake_plan_tool.py")])
        self.file("fault/shim/libcuda.so.1", b"the shim")
        self.file("fault/model/libcuda.so.1", b"exports holdfast_model_control")

    def file(self, relative: str, content: bytes) -> Path:
        path = self.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def program(self, relative: str, command: Sequence[str]) -> Path:
        """A program that becomes `command`."""
        words = " ".join(f"'{word}'" for word in command)
        path = self.file(relative, f'#!/bin/sh\nexec {words} "$@"\n'.encode())
        path.chmod(0o755)
        return path

    def scripted_runner(self, relative: str, scenarios: Sequence[dict[str, Any]]) -> None:
        """A scenario program, or the build of a seeded bug, that does what `scenarios` say."""
        script = self.file(f"{relative}.json", json.dumps(scenarios).encode())
        self.program(relative, [sys.executable, str(TESTS / "scripted_runner.py"), str(script)])

    def interpreter(self, relative: str, **said: Any) -> Path:
        """An interpreter that answers harness/cli/interpreters.py with this, and does nothing else."""
        answer = {
            "implementation": "cpython",
            "path": str(self.root / relative),
            "include": "",
            "suffix": ".so",
            "free_threaded": False,
            "shared_libpython": True,
            "thread_sanitizer": False,
            "library_folder": "",
            "library": "",
            **said,
        }
        path = self.file(relative, f"#!/bin/sh\n/bin/cat << 'END'\n{json.dumps(answer)}\nEND\n".encode())
        path.chmod(0o755)
        return path

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        return {**kept, "PYTHONPATH": str(TREE), "HOLDFAST_ROOT": str(self.root), **variables}

    def command_line(self, *arguments: str) -> list[str]:
        return [sys.executable, str(TREE / "harness" / "cli" / "__main__.py"), *arguments]

    def holdfast(self, *arguments: str, **variables: str) -> Answer:
        """Runs the command to its end, with these variables on top of a bare environment."""
        done = subprocess.run(
            self.command_line(*arguments),
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def report(self, *arguments: str, **variables: str) -> tuple[Answer, dict[str, Any]]:
        """Like holdfast, with the report that it wrote."""
        path = self.root / "out" / "report.json"
        answer = self.holdfast(*arguments, f"--report=json:{path}", **variables)
        return answer, json.loads(path.read_text())


class CommandTest(unittest.TestCase):
    """What tests of the command share: a folder of their own, a tree in it, and how a run ended."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def tree(self, *scenarios: dict[str, Any]) -> FakeTree:
        return FakeTree(self.root, scenarios)

    def assert_ended(self, answer: Answer, code: int, *words: str) -> None:
        self.assertEqual(code, answer.code, answer)
        for word in words:
            self.assertIn(word, answer.err + answer.out)
