"""Every specimen, in one run of the command: each gets the verdict that its own head promises, with a finding of its
own kind, and none of them keeps the rest of the suite from running.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).absolute().parent))

from command import Answer, FakeTree
from specimens.runner import expected, specimens

LIMITS = ("--timeout=5s", "--rss-limit-mb=150")


class SpecimensTest(unittest.TestCase):
    folder: ClassVar[tempfile.TemporaryDirectory[str]]
    answer: ClassVar[Answer]
    report: ClassVar[dict[str, Any]]
    cases: ClassVar[dict[str, dict[str, Any]]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        tree = FakeTree(Path(cls.folder.name))
        scratch = Path(cls.folder.name) / "scratch"
        scratch.mkdir()
        arguments = ("run", "--driver=model", "--seed=7", "--jobs=4", *LIMITS)
        kept = f"--artifact-dir={cls.folder.name}/kept"
        cls.answer, cls.report = tree.report(*arguments, kept, TEST_TMPDIR=str(scratch))
        cls.cases = {case["scenario"].removeprefix("specimen."): case for case in cls.report["cases"]}

    def test_each_specimen_gets_its_verdict_and_its_kind_of_finding(self) -> None:
        for name, docstring in specimens().items():
            with self.subTest(specimen=name):
                verdict, kinds = expected(docstring)
                case = self.cases[name.replace("_", "-")]
                self.assertEqual(verdict, case["verdict"], case)
                self.assertEqual(kinds, [finding["kind"] for finding in case["findings"]], case)

    def test_the_exit_code_tells_of_the_findings(self) -> None:
        self.assertEqual(1, self.answer.code)

    def test_the_summary_counts_every_specimen(self) -> None:
        verdicts = [expected(docstring)[0] for docstring in specimens().values()]
        summary = self.report["summary"]
        self.assertEqual(verdicts.count("passed"), summary["passed"])
        self.assertEqual(verdicts.count("failed"), summary["failed"])
        self.assertEqual(verdicts.count("error"), summary["errors"])
        self.assertEqual(verdicts.count("skipped"), summary["skipped"])
        self.assertEqual(verdicts.count("inconclusive"), summary["inconclusive"])
        self.assertEqual(0, summary["not_run"])

    def test_the_closing_line_stands_alone(self) -> None:
        summary = self.report["summary"]
        self.assertEqual(
            f"{summary['passed']} passed, {summary['failed']} failed, {summary['skipped']} skipped",
            self.answer.closing_line,
        )

    def test_each_finding_ends_with_two_commands(self) -> None:
        name = "specimen.crash/only"
        seed = "0x0000000000000007"
        ours, bazel = self.cases["crash"]["findings"][0]["reproduce"]
        self.assertEqual(
            ["holdfast", "run", "--driver=model", f"--seed={seed}", f"--filter={name}", *LIMITS], shlex.split(ours)
        )
        self.assertEqual(
            [
                "bazel",
                "test",
                "//scenarios:default_suite_test",
                f"--test_filter={name}",
                f"--test_env=HOLDFAST_SEED={seed}",
                *(f"--test_arg={limit}" for limit in LIMITS),
            ],
            shlex.split(bazel),
        )
        self.assertIn(ours, self.answer.out)
        self.assertIn(bazel, self.answer.out)

    def test_a_crash_names_its_signal_and_keeps_the_last_words(self) -> None:
        finding = self.cases["crash"]["findings"][0]
        self.assertIn("SIGSEGV", finding["message"])
        self.assertEqual(["about to touch what is not mine"], finding["stack"])

    def test_a_hang_comes_with_a_view_of_its_threads(self) -> None:
        finding = self.cases["hang"]["findings"][0]
        self.assertIn("5s", finding["message"])
        self.assertRegex("\n".join(finding["stack"]), "(?i)thread")

    def test_a_sanitizer_report_has_its_place_and_stack(self) -> None:
        finding = self.cases["sanitizer-report"]["findings"][0]
        self.assertEqual("lib/cleanup/queue.cc:40", finding["place"])
        self.assertIn("data race", finding["message"])
        self.assertIn("Queue::Push()", finding["stack"][0])

    def test_a_broken_sanitizer_comes_with_advice(self) -> None:
        self.assertIn("setarch -R", self.cases["sanitizer-broken"]["reason"])

    def test_a_rule_that_did_not_fire_is_named(self) -> None:
        self.assertEqual("the fault alloc:nth=2,fail had to fire and did not", self.cases["fault-missing"]["reason"])
        fired = [(rule["text"], rule["fired"]) for rule in self.cases["fault-missing"]["rules"]]
        self.assertEqual([("alloc:nth=1,fail", 1), ("alloc:nth=2,fail", 0)], fired)

    def test_faults_are_sorted_by_thread_and_then_by_their_order_there(self) -> None:
        faults = [(fault["thread"], fault["ordinal"]) for fault in self.cases["fault-fired"]["faults"]]
        self.assertEqual([("main", 1), ("main", 2), ("subject-1", 4), ("subject-1", 5)], faults)

    def test_no_process_of_a_specimen_is_left(self) -> None:
        mark = f"{self.folder.name}/scratch".encode()  # stands in the environment of every process of a case
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    self.assertNotIn(mark, (entry / "environ").read_bytes())
                except OSError:
                    continue

    def test_no_scratch_file_is_left(self) -> None:
        self.assertEqual([], list((Path(self.folder.name) / "scratch").iterdir()))

    def test_a_crash_keeps_its_last_moments(self) -> None:
        timeline = self.cases["crash"]["timeline"]
        calls = [(moment["name"], moment["duration_us"], moment["result"]) for moment in timeline["moments"]]
        self.assertEqual([("cuGraphCreate", 0.5, ""), ("cuGraphLaunch", None, "not over")], calls)
        self.assertIsNone(self.cases["leak"]["timeline"], "it left none")

    def test_what_did_not_pass_leaves_its_story_behind(self) -> None:
        kept = Path(self.folder.name) / "kept" / self.cases["leak"]["artifacts"]
        self.assertIn('"kind": "leak"', (kept / "events.jsonl").read_text())
        self.assertEqual("", self.cases["passes"]["artifacts"])


if __name__ == "__main__":
    unittest.main()
