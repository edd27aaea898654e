"""What the command makes of --schedule: values, whom it refuses, what a case is given, and whether a replay was one."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parent))

from command import FakeTree, scenario

from harness.cli.schedule import ThreadOrder, reproducing_options
from harness.cli.values import parse_schedule

RUN = ("run", "--driver=model", "--color=no")
TEXT = "x1:a3b2a#5f3a9c01"


def _divergence(wanted: str, taken: str, was_stopped: bool = False) -> str:
    return ThreadOrder(f"replay:{wanted}", Path("library")).divergence(taken, was_stopped)


class ValueTest(unittest.TestCase):
    def test_a_strategy_or_a_schedule(self) -> None:
        for value in ("random", "pct", "bursts", "starvation", f"replay:{TEXT}", "replay:x1:zA3#0"):
            self.assertEqual(value, parse_schedule(value))

    def test_what_is_neither(self) -> None:
        for value, word in (
            ("best", "none of random, pct, bursts, starvation, replay:STRING"),
            ("pct:1", "none of"),
            ("replay", "'' is no schedule"),
            ("replay:x1:a3b2", "its end is missing"),
            ("replay:x1:a3.1b#0", "is no schedule, which looks like x1:a3b2a#5f3a9c01"),
            (f"replay:{TEXT};rm", "is no schedule"),
        ):
            with self.assertRaisesRegex(ValueError, word.replace(".", r"\.")):
                parse_schedule(value)


class DivergenceTest(unittest.TestCase):
    def test_none_if_the_same_was_taken_or_nothing_was_replayed(self) -> None:
        self.assertEqual("", _divergence(TEXT, TEXT))
        self.assertEqual("", ThreadOrder("pct", Path("library")).divergence("", False))

    def test_a_case_that_the_harness_stopped_may_have_been_anywhere(self) -> None:
        self.assertEqual("", _divergence(TEXT, "x1:a3b#1", was_stopped=True))

    def test_the_first_step_that_is_another(self) -> None:
        for taken, step in (
            ("x1:a3c2a#0", 4),
            ("x1:a2b3a#0", 3),
            ("x1:a4b#0", 4),
            ("x1:a3b2#0", 6),
            ("x1:a3b2ab#0", 7),
            ("x1:b#0", 1),
        ):
            self.assertIn(f"diverged at step {step}: the schedule has 6 steps", _divergence(TEXT, taken), taken)

    def test_the_same_steps_at_other_points(self) -> None:
        self.assertIn("but not at the points", _divergence(TEXT, "x1:a3b2a#5f3a9c02"))

    def test_no_step_at_all(self) -> None:
        self.assertIn("no step", _divergence(TEXT, ""))


class CaseTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_the_library_comes_before_what_else_is_preloaded(self) -> None:
        environment = {"LD_PRELOAD": "other.so"}
        ThreadOrder("pct", Path("/lib.so")).prepare(self.folder, environment)
        self.assertEqual("/lib.so:other.so", environment["LD_PRELOAD"])
        self.assertEqual("pct", environment["HOLDFAST_SCHEDULE"])
        self.assertNotIn("HOLDFAST_SCHEDULE_TAKE", environment)

    def test_a_schedule_to_take_is_in_a_file(self) -> None:
        environment: dict[str, str] = {}
        ThreadOrder(f"replay:{TEXT}", Path("/lib.so")).prepare(self.folder, environment)
        self.assertEqual("replay", environment["HOLDFAST_SCHEDULE"])
        self.assertEqual(TEXT, Path(environment["HOLDFAST_SCHEDULE_TAKE"]).read_text())

    def test_only_a_whole_schedule_was_recorded(self) -> None:
        order = ThreadOrder("pct", Path("/lib.so"))
        self.assertEqual("", order.recorded(self.folder))
        for content, recorded in (
            (f"{TEXT}\0\0", TEXT),
            ("x1:a3\0", ""),
            ("x1:\0", ""),
            ("\0\0", ""),
            ("\udcff\0", ""),
        ):
            (self.folder / "schedule.txt").write_bytes(content.encode(errors="surrogateescape"))
            self.assertEqual(recorded, order.recorded(self.folder), content)

    def test_commands_have_the_schedule_in_the_place_of_the_strategy(self) -> None:
        options = ("--timeout=3s", "--schedule=pct")
        self.assertEqual(("--timeout=3s", f"--schedule=replay:{TEXT}"), reproducing_options(options, TEXT))
        self.assertEqual(options, reproducing_options(options, ""))


class RefusalTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def assert_refused(self, tree: FakeTree, words: str, *arguments: str) -> None:
        answer = tree.holdfast(*RUN, *arguments)
        self.assertEqual(2, answer.code, answer)
        self.assertIn(words, answer.err)

    def test_a_replay_of_more_than_one_case(self) -> None:
        tree = FakeTree(self.root, [scenario("A1.a"), scenario("A2.b")])
        self.assert_refused(tree, "takes one case again, and 2 are selected", f"--schedule=replay:{TEXT}")
        self.assert_refused(
            tree, "takes one case again, and 2 are selected", f"--schedule=replay:{TEXT}", "--filter=A1*", "--runs=2"
        )

    def test_scenarios_in_python(self) -> None:
        tree = FakeTree(self.root, [scenario("A1.a", interpreter="cp312")])
        self.assert_refused(tree, "A1.a/only is in Python", "--schedule=pct")

    def test_a_build_with_a_sanitizer(self) -> None:
        tree = FakeTree(self.root, [scenario("A1.a")])
        program = self.root / "scenarios/scenario_runner"
        program.write_bytes(program.read_bytes() + b"# __tsan_init\n")
        self.assert_refused(tree, "this build has the thread sanitizer", "--schedule=pct")

    def test_no_library(self) -> None:
        answer = FakeTree(self.root, [scenario("A1.a")]).holdfast(*RUN, "--schedule=pct")
        self.assertEqual(3, answer.code, answer)
        self.assertIn("there is no fault/schedule/libholdfast_schedule.so", answer.err)


if __name__ == "__main__":
    unittest.main()
