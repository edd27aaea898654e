"""`holdfast explore` over a scripted program: what it selects, what it passes on, how it judges, what it writes."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

import jsonschema
from command import TREE, Answer, FakeTree

SCHEMA = json.loads((TREE / "reports" / "report.schema.json").read_text())


class ExploreTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.tree = FakeTree(self.root, [])
        self.tree.program("scenarios/explore/explore_runner", [sys.executable, str(TESTS / "scripted_explorer.py")])

    def explore(self, *words: str) -> Answer:
        return self.tree.holdfast("explore", *words, SCRIPTED_EXPLORER=str(self.root))

    def given(self, program: str) -> list[str]:
        return (self.root / program).read_text().splitlines()

    def test_the_list_names_each_program_and_what_a_specimen_must_show(self) -> None:
        answer = self.explore("--list", "s*")
        self.assertEqual(0, answer.code)
        lines = answer.out.splitlines()[1:]
        self.assertEqual(["strands", "specimen.found", "specimen.missed"], [line.split()[0] for line in lines])
        self.assertIn("must be found: stranded-work", lines[1])

    def test_what_is_complete_and_finds_nothing_passes(self) -> None:
        answer = self.explore("passes")
        self.assertEqual((0, "1 passed, 0 failed, 0 skipped"), (answer.code, answer.closing_line))
        self.assertIn("complete: 12 distinct executions, 1 blocked", answer.out)

    def test_a_finding_has_its_table_and_the_command_that_takes_it_again(self) -> None:
        answer = self.explore("strands", "--memory-model=sc")
        self.assertEqual((1, "0 passed, 1 failed, 0 skipped"), (answer.code, answer.closing_line))
        self.assertIn("#2 x is 1", answer.out)
        self.assertIn("holdfast explore strands --memory-model=sc '--replay=x1:a2b.1#0000000a'", answer.out)

    def test_the_replay_string_of_a_case_takes_it_again(self) -> None:
        words = ("strands", "crashes", "--memory-model=sc", "--search=pct", "--seed=3", "--max-total-time=9s")
        _, report = self.tree.report("explore", *words, SCRIPTED_EXPLORER=str(self.root))
        strings = {case["scenario"]: case["replay"] for case in report["cases"]}
        self.assertEqual(1, self.tree.holdfast("replay", strings["strands"], SCRIPTED_EXPLORER=str(self.root)).code)
        self.assertLessEqual({"--replay=x1:a2b.1#0000000a", "--model=sc"}, set(self.given("strands")))
        (self.root / "crashes").unlink()
        answer = self.tree.holdfast("replay", strings["crashes"], SCRIPTED_EXPLORER=str(self.root))
        self.assertEqual(1, answer.code, answer)
        expected = {"--search=pct", "--model=sc", "--seed=3", "--milliseconds=9000"}
        self.assertLessEqual(expected, set(self.given("crashes")))
        self.assertIn("  holdfast explore crashes --search=pct --seed=0x0000000000000003 ", answer.out)

    def test_a_long_schedule_is_packed_into_a_short_line(self) -> None:
        answer = self.explore("winds")
        (line,) = [line.strip() for line in answer.out.splitlines() if line.startswith("  holdfast replay ")]
        self.assertLess(len(line), 250)
        (self.root / "winds").unlink()
        again = self.tree.holdfast(*shlex.split(line)[1:], SCRIPTED_EXPLORER=str(self.root))
        self.assertIn(line, again.out)
        self.assertIn(f"--replay=x1:{'ab' * 300}#0000000a", self.given("winds"))

    def test_a_finding_is_an_annotation_when_asked(self) -> None:
        answer = self.explore("strands", "--annotations=github")
        self.assertRegex(answer.out, r"(?m)^::error title=stranded-work in strands/exhaustive::.*%0Aholdfast explore ")

    def test_a_specimen_passes_when_it_is_found_and_fails_when_it_is_missed(self) -> None:
        self.assertEqual(0, self.explore("specimen.found").code)
        answer = self.explore("specimen.missed")
        self.assertEqual(1, answer.code)
        self.assertIn("missed: the specimen has stranded-work, and it was not found", answer.out)

    def test_an_exhaustive_search_that_ran_out_of_time_proves_nothing(self) -> None:
        answer = self.explore("too-long")
        self.assertEqual(5, answer.code)
        self.assertIn("not complete: 12 distinct executions", answer.out)

    def test_a_program_that_cannot_be_explored_is_no_finding(self) -> None:
        answer = self.explore("cannot")
        self.assertEqual(3, answer.code)
        self.assertIn("too-many-threads", answer.out)

    def test_a_crash_is_a_finding_and_the_others_go_on(self) -> None:
        answer = self.explore("crashes", "passes")
        self.assertEqual((1, "1 passed, 1 failed, 0 skipped"), (answer.code, answer.closing_line))
        self.assertIn("exit status -11, it was the pointer", answer.out)

    def test_a_process_that_says_nothing_readable_is_trouble_of_the_harness(self) -> None:
        self.assertEqual(3, self.explore("mumbles").code)

    def test_options_are_passed_on(self) -> None:
        self.explore("passes", "--search=bursts", "--seed=0x10", "--max-total-time=2s", "--max-executions=7")
        given = self.given("passes")
        for word in ("--search=bursts", "--seed=16", "--milliseconds=2000", "--executions=7", "--model=rc11"):
            self.assertIn(word, given)

    def test_a_replay_takes_one_program_and_a_schedule_that_fits_it(self) -> None:
        answer = self.explore("strands", "--replay=x1:a2b.1#0000000a")
        self.assertEqual(1, answer.code)
        self.assertIn("--replay=x1:a2b.1#0000000a", self.given("strands"))
        answer = self.explore("s*", "--replay=x1:a#1")
        self.assertEqual((2, ""), (answer.code, answer.out))
        self.assertIn("--replay takes one program again, and 3 are named", answer.err)
        answer = self.explore("strands", "--replay=x1:wrong#1")
        self.assertEqual((2, ""), (answer.code, answer.out))
        self.assertIn("the schedule is wrong", answer.err)

    def test_a_bound_on_preemptions_is_part_of_the_certificate(self) -> None:
        answer = self.explore("passes", "--max-preemptions=0")
        self.assertEqual(0, answer.code)
        self.assertIn("--preemptions=0", self.given("passes"))
        self.assertIn("complete within 0 preemptions: 12 distinct executions", answer.out)

    def test_what_names_no_program_runs_nothing(self) -> None:
        answer = self.explore("passe")
        self.assertEqual((4, ""), (answer.code, answer.out))
        self.assertIn("'passe' matches no program", answer.err)

    def test_reports_have_each_program_as_a_case(self) -> None:
        words = ("strands", "passes", "crashes", "too-long")
        _, report = self.tree.report("explore", *words, SCRIPTED_EXPLORER=str(self.root))
        jsonschema.validate(report, SCHEMA)
        cases = {case["scenario"]: case for case in report["cases"]}
        self.assertEqual("x1:a2b.1#0000000a", cases["strands"]["schedule"])
        self.assertEqual("stranded-work", cases["strands"]["findings"][0]["kind"])
        self.assertEqual("crash", cases["crashes"]["findings"][0]["kind"])
        self.assertEqual("inconclusive", cases["too-long"]["verdict"])
        self.assertEqual(12, cases["passes"]["counters"]["executions"])


if __name__ == "__main__":
    unittest.main()
