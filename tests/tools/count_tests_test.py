"""The closing line of tools/test, from events and results as Bazel and pytest write them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

COUNT_TESTS = Path(__file__).absolute().parents[2] / "tools" / "count_tests.py"

PASSED = '<testcase name="passes"/>'
FAILED = '<testcase name="fails"><failure message="no"/></testcase>'
BROKEN = '<testcase name="breaks"><error message="no"/></testcase>'
SKIPPED = '<testcase name="skips"><skipped message="no"/></testcase>'


class CountTestsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # A blank in the path, as in a URI of Bazel's.
        self.root = Path(folder.name) / "a folder"
        self.root.mkdir()
        self.events: list[dict[str, Any]] = []

    def result(self, label: str, xml: str | None, **identity: int) -> None:
        outputs = [{"name": "test.log", "uri": "file:///log"}]
        if xml is not None:
            path = self.root / f"{len(self.events)}.xml"
            path.write_text(xml)
            outputs.append({"name": "test.xml", "uri": path.as_uri()})
        self.events.append(
            {"id": {"testResult": {"label": label, **identity}}, "testResult": {"testActionOutput": outputs}}
        )

    def summary(self, label: str, status: str) -> None:
        self.events.append({"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}})

    def target(self, label: str, status: str, xml: str | None = None) -> None:
        self.result(label, xml)
        self.summary(label, status)

    def count(self, **exit_codes: int) -> tuple[int, list[str]]:
        """Exit code and lines. Each step but those without tests has the same events."""
        codes = exit_codes or {"default": 0}
        (self.root / "exit_codes").write_text("".join(f"{step} {code}\n" for step, code in codes.items()))
        for step in codes:
            (self.root / f"{step}.json").write_text("".join(json.dumps(event) + "\n" for event in self.events))
        command = [sys.executable, str(COUNT_TESTS), str(self.root)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual("", done.stderr)
        return done.returncode, done.stdout.splitlines()

    def test_a_target_counts_once(self) -> None:
        self.target(
            "//a:a", "PASSED", "<testsuites><testsuite name='a'><testcase/><testcase/></testsuite></testsuites>"
        )
        self.target("//a:b", "FLAKY")
        self.target("//a:c", "TIMEOUT")
        self.assertEqual(
            (
                1,
                [
                    "default: 2 test targets passed, 1 failed",
                    "  FAILED //a:c (TIMEOUT)",
                    "2 passed, 1 failed, 0 skipped",
                ],
            ),
            self.count(default=3),
        )

    def test_the_cases_of_pytest_count_by_interpreter(self) -> None:
        self.target("//a:a", "PASSED")
        self.target("//p:x_cp310", "PASSED", pytest("cp310", PASSED, PASSED, SKIPPED))
        self.target("//p:x_cp313t", "FAILED", pytest("cp313t", PASSED, FAILED, BROKEN))
        self.target("//p:y_cp310", "PASSED", pytest("cp310", PASSED))
        expected = [
            "default: 1 test targets passed",
            "default, cp310: 3 pytest cases passed, 1 skipped",
            "default, cp313t: 1 pytest cases passed, 2 failed",
            "  FAILED //p:x_cp313t fails",
            "  FAILED //p:x_cp313t breaks",
            "5 passed, 2 failed, 1 skipped",
        ]
        self.assertEqual((1, expected), self.count(default=3))

    def test_an_interpreter_that_crashes_after_its_last_case_has_failed(self) -> None:
        self.target("//p:x_cp312", "FAILED", pytest("cp312", PASSED))
        self.assertEqual((1, "1 passed, 1 failed, 0 skipped"), self.closing_line(default=3))

    def test_a_run_of_pytest_without_results_is_one_failure(self) -> None:
        self.target("//p:x_cp311", "FAILED", "<testsuites><testsuite name='p/x_cp311'><testcase name='p/x_cp311'/>")
        self.target("//p:x_cp312", "TIMEOUT")
        self.assertEqual((1, "0 passed, 2 failed, 0 skipped"), self.closing_line(default=3))

    def test_the_last_attempt_counts_and_every_run_does(self) -> None:
        self.result("//p:x_cp312", pytest("cp312", FAILED), attempt=1, run=1)
        self.result("//p:x_cp312", pytest("cp312", PASSED), attempt=2, run=1)
        self.result("//p:x_cp312", pytest("cp312", PASSED), attempt=1, run=2)
        self.summary("//p:x_cp312", "FLAKY")
        self.assertEqual((0, "2 passed, 0 failed, 0 skipped"), self.closing_line())

    def test_steps_add_up(self) -> None:
        self.target("//a:a", "PASSED")
        self.assertEqual((0, "3 passed, 0 failed, 0 skipped"), self.closing_line(default=0, asan=0, lint=0))
        self.assertEqual((1, "1 passed, 2 failed, 0 skipped"), self.closing_line(default=1, clang=1))

    def test_nothing_that_ran_is_no_success(self) -> None:
        self.assertEqual((1, "0 passed, 0 failed, 0 skipped"), self.closing_line())

    def closing_line(self, **exit_codes: int) -> tuple[int, str]:
        code, lines = self.count(**exit_codes)
        return code, lines[-1]


def pytest(interpreter: str, *cases: str) -> str:
    """Results as pytest writes them."""
    suite = f'<testsuite name="{interpreter}">{"".join(cases)}</testsuite>'
    return f'<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">{suite}</testsuites>'


if __name__ == "__main__":
    unittest.main()
