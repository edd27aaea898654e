"""`holdfast run --minimise` over a scripted scenario program: what it leaves out, says, and leaves alone.

Method: the program fails for a reason that is known rule by rule and step by step, so what has to be left is known too.
"""

from __future__ import annotations

import glob
import json
import shlex
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

import jsonschema
from command import TREE, Answer, CommandTest, FakeTree, await_condition, scenario

from harness.cli.replay_string import decode
from harness.cli.schedule import runs_of, switches_of, with_runs
from harness.cli.smaller_rules import one_line, select, simpler
from reports.record import Fault

SCHEMA = json.loads((TREE / "reports" / "report.schema.json").read_text())
RUN = ("run", "--driver=model", "--color=no", "--seed=5")
TWO_FAULTS = ("--fault=a:fail", "--fault=b:fail")


def _rule(site: str, when: dict[str, Any] | None = None, **does: Any) -> dict[str, Any]:
    return {"site": site, **({"when": when} if when else {}), "do": does or {"fail": True}}


class RulesTest(unittest.TestCase):
    def test_some_rules_refer_to_those_that_they_referred_to(self) -> None:
        rules = [_rule("a"), _rule("b"), _rule("c", hold={"rule": 1}), _rule("d", until={"step": "go"})]
        self.assertEqual((rules[1], _rule("c", hold={"rule": 0}), rules[3]), select(rules, [1, 2, 3]))
        self.assertIsNone(select(rules, [0, 2]), "what it waits for is left out")

    def test_a_call_that_had_a_fault_stands_for_what_is_counted_and_drawn(self) -> None:
        fault = Fault("alloc", 7, "subject-1", 0, "fail", None)
        rule = _rule("alloc", {"probability": "1/64", "thread": "subject"})
        self.assertEqual(
            [{"nth": 7}, {"nth": 7, "thread": "subject-1"}, {"probability": "1/64"}, {"thread": "subject"}],
            [one.get("when") for one in simpler(rule, [fault])],
        )

    def test_conditions_are_dropped_one_at_a_time_and_what_counts_in_a_step_with_it(self) -> None:
        rule = _rule("alloc", {"nth": 2, "step": "go", "count": "step", "while": "drain"})
        self.assertEqual(
            [{"nth": 2, "step": "go", "count": "step"}, {"nth": 2, "while": "drain"}],
            [one["when"] for one in simpler(rule, [])],
        )
        self.assertEqual([_rule("alloc")], list(simpler(_rule("alloc", {"while": "drain"}), [])))
        self.assertEqual([], list(simpler(_rule("alloc", {"nth": 1}), [])))

    def test_the_form_in_one_line(self) -> None:
        rule = _rule("a", {"nth": 2, "thread": "main"}, saturate=64, until={"step": "room"}, record=True)
        self.assertEqual("a:nth=2,thread=main,saturate=64,until=step:room,record", one_line(rule))


class ScheduleTest(unittest.TestCase):
    def test_what_a_left_out_run_did_comes_in_the_next_one_of_its_thread(self) -> None:
        runs = runs_of("x1:a3b2a5cb4#1")
        self.assertEqual("x1:a8b6#0", with_runs(runs, [2, 4]))
        self.assertEqual("x1:a3b2a5c1b4#0", with_runs(runs, range(5)))
        self.assertEqual("x1:a#0", with_runs(runs, []))

    def test_switches_are_counted(self) -> None:
        self.assertEqual([0, 0, 4], [switches_of(text) for text in ("", "x1:a5#1", "x1:a3b2a5cb4#1")])


class MinimiseTest(CommandTest):
    def tree(self, *scenarios: dict[str, Any]) -> FakeTree:
        tree = FakeTree(self.root, scenarios)
        tree.file("fault/schedule/libholdfast_schedule.so", b"the order")
        return tree

    def report(self, tree: FakeTree, *arguments: str) -> tuple[Answer, dict[str, Any]]:
        answer, report = tree.report(*RUN, *arguments)
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        return answer, report

    def assert_replays(self, tree: FakeTree, answer: Answer, finding: str) -> None:
        """The first command that the log prints shows the same finding."""
        command = next(line for line in answer.out.splitlines() if line.startswith("  holdfast run "))
        again = tree.holdfast(*shlex.split(command)[1:], "--color=no")
        self.assertEqual(1, again.code, again)
        self.assertIn(finding, again.out)


class RulesOfACaseTest(MinimiseTest):
    NEEDS_TWO = scenario("A1.a", "needs", needs=["b", "d"], sites=["a", "b", "c", "d", "e"], ordinals={"d": 7})
    FAULTS = tuple(f"--fault={rule}" for rule in ("a:fail", "b:fail", "c:fail", "d:every=7,while=drain,fail", "e:fail"))

    def test_the_rules_that_it_takes_are_left_as_simple_as_they_can_be(self) -> None:
        tree = self.tree(self.NEEDS_TWO)
        answer, report = self.report(tree, *self.FAULTS, "--minimise", f"--artifact-dir={self.root}/kept")
        self.assertEqual(1, answer.code, answer)
        (case,) = report["cases"]
        self.assertEqual(["b:fail", "d:nth=7,fail"], [rule["text"] for rule in case["rules"]])
        self.assertEqual(("--fault=b:fail", "--fault=d:nth=7,fail"), decode(case["replay"]).options)
        minimised = case["minimised"]
        self.assertEqual((5, 2, None, True), tuple(minimised[name] for name in (
            "rules_before", "rules_after", "switches_before", "complete")))  # fmt: skip
        self.assertIn(f"  minimised: 2 of 5 rules, in {minimised['runs']} runs\n", answer.out)
        self.assertIn("--fault=b:fail --fault=d:nth=7,fail", answer.out)
        self.assertNotIn("--fault=a:fail", answer.out)
        self.assertNotIn("had to fire", answer.out)
        kept = json.loads((self.root / "kept" / case["artifacts"] / "plan.json").read_text())
        self.assertEqual(["b", "d"], [rule["site"] for rule in kept["rules"]])
        self.assert_replays(tree, answer, "contract in A1.a/only: it broke")

    def test_rules_of_a_plan_go_into_the_command(self) -> None:
        tree = self.tree(self.NEEDS_TWO)
        rules = [{"site": site, "do": {"fail": True}} for site in "abcde"]
        plan = tree.file("plan.json", json.dumps({"version": 1, "rules": rules}).encode())
        answer, _ = self.report(tree, f"--plan={plan}", "--minimise")
        self.assertIn("--fault=b:fail --fault=d:fail", answer.out)
        self.assertNotIn("--plan", answer.out)
        self.assert_replays(tree, answer, "contract in A1.a/only: it broke")

    def test_how_many_run_at_a_time_makes_no_difference(self) -> None:
        tree = self.tree(self.NEEDS_TWO)
        left = []
        for jobs in (1, 3):
            _, report = self.report(tree, *self.FAULTS, "--minimise", f"--jobs={jobs}")
            (case,) = report["cases"]
            left.append((case["rules"], case["faults"], case["findings"]))
        self.assertEqual(left[0], left[1])

    def test_only_the_first_case_with_a_finding_is_made_smaller(self) -> None:
        _, report = self.report(self.tree(self.NEEDS_TWO), *self.FAULTS, "--minimise", "--runs=3")
        self.assertEqual([2, 5, 5], [len(case["rules"]) for case in report["cases"]])
        self.assertEqual([None, None], [case["minimised"] for case in report["cases"][1:]])

    def test_a_finding_of_no_fault_has_none_left(self) -> None:
        tree = self.tree(scenario("A1.a", "finds", sites=["a", "b"]))
        answer, _ = self.report(tree, *TWO_FAULTS, "--minimise")
        self.assertIn("minimised: 0 of 2 rules", answer.out)
        self.assertNotIn("--fault", answer.out)
        self.assert_replays(tree, answer, "contract in A1.a/only: it broke")

    def test_a_rule_that_did_not_fire_is_told_of_as_ever(self) -> None:
        answer, _ = self.report(self.tree(self.NEEDS_TWO), *self.FAULTS, "--fault=f:fail", "--minimise")
        self.assertIn("the fault f:fail had to fire in at least one case and did not", answer.out)

    def test_a_rule_without_a_form_in_one_line_stays_and_so_do_the_others(self) -> None:
        tree = self.tree(self.NEEDS_TWO)
        rules = [_rule(site) for site in "abde"] + [_rule("c", {"step": "one, two"})]
        plan = tree.file("plan.json", json.dumps({"version": 1, "rules": rules}).encode())
        answer, report = self.report(tree, f"--plan={plan}", "--minimise")
        self.assertIn("minimised: 5 of 5 rules, in 3 runs; its rules stay, since one of them has no form", answer.out)
        (case,) = report["cases"]
        self.assertFalse(case["minimised"]["complete"])
        self.assertIn(f"  holdfast replay '{case['replay']}'\n", answer.out)
        self.assertEqual(tuple(rules), decode(case["replay"]).rules)


class ScheduleOfACaseTest(MinimiseTest):
    RACES = scenario("A1.a", "races", sites=["a", "b"])

    def test_a_schedule_with_as_few_switches_as_it_takes(self) -> None:
        tree = self.tree(self.RACES)
        answer, report = self.report(tree, "--schedule=random", "--minimise")
        self.assertEqual(1, answer.code, answer)
        (case,) = report["cases"]
        self.assertRegex(case["schedule"], "^x1:a3b6a3#")
        self.assertEqual((11, 2), (case["minimised"]["switches_before"], case["minimised"]["switches_after"]))
        self.assertIn("  minimised: 2 of 11 switches of threads, in ", answer.out)
        self.assertIn(f"--schedule=replay:{case['schedule']}", answer.out)
        self.assert_replays(tree, answer, "contract in A1.a/only: it broke")
        self.assertEqual((f"--schedule=replay:{case['schedule']}",), decode(case["replay"]).options)

    def test_a_replay_string_made_smaller(self) -> None:
        tree = self.tree(self.RACES)
        _, report = self.report(tree, "--schedule=random", *TWO_FAULTS)
        path = self.root / "report.json"
        answer = tree.holdfast(
            "replay", report["cases"][0]["replay"], "--minimise", "--color=no", f"--report=json:{path}"
        )
        self.assertIn("  minimised: 0 of 2 rules, 2 of 11 switches of threads, in ", answer.out)
        (case,) = json.loads(path.read_text())["cases"]
        self.assertEqual((f"--schedule=replay:{case['schedule']}",), decode(case["replay"]).options)

    def test_rules_and_schedule_together(self) -> None:
        answer, _ = self.report(self.tree(self.RACES), "--schedule=pct", *TWO_FAULTS, "--minimise")
        self.assertIn("  minimised: 0 of 2 rules, 2 of 11 switches of threads, in ", answer.out)

    def test_no_schedule_where_none_is_needed(self) -> None:
        tree = self.tree(scenario("A1.a", "races"), scenario("A2.b", "races", always=True))
        answer, report = self.report(tree, "--schedule=random", "--filter=A2*", "--minimise")
        (case,) = report["cases"]
        self.assertEqual((None, ""), (case["minimised"]["switches_after"], case["schedule"]))
        self.assertIn("no schedule instead of one with 11 switches of threads", answer.out)
        self.assertNotIn("--schedule", answer.out)


class WhatIsLeftAloneTest(MinimiseTest):
    def test_a_finding_that_does_not_show_again(self) -> None:
        tree = self.tree(scenario("A1.a", "finds", passes_in=[2, 3, 4]))
        answer, report = self.report(tree, *TWO_FAULTS, "--minimise", "--jobs=1")
        self.assertEqual(1, answer.code)
        self.assertIn("minimised: 2 of 2 rules, in 3 runs; it did not show again in 3 runs as it was", answer.out)
        self.assertFalse(report["cases"][0]["minimised"]["complete"])
        self.assertIn("--fault=a:fail --fault=b:fail", answer.out)

    def test_a_finding_that_shows_now_and_then_is_tried_more_often_and_called_so(self) -> None:
        tree = self.tree(scenario("A1.a", "finds", sites=["a", "b"], passes_in=[2, 4, 6, 8]))
        answer, _ = self.report(tree, *TWO_FAULTS, "--minimise", "--jobs=1")
        self.assertRegex(answer.out, "minimised: 0 of 2 rules, in [0-9]+ runs; it showed again in 1 of 3 runs")

    def test_cases_without_rules_and_without_a_schedule(self) -> None:
        answer, report = self.report(self.tree(scenario("A1.a", "finds")), "--minimise")
        self.assertIsNone(report["cases"][0]["minimised"])
        self.assertNotIn("minimise", answer.out)

    def test_it_ends_with_the_time_of_the_whole_run(self) -> None:
        tree = self.tree(scenario("A1.a", "finds", waits_from=2))
        answer, _ = self.report(tree, *TWO_FAULTS, "--minimise", "--max-total-time=3s")
        self.assertEqual(1, answer.code)
        self.assertRegex(answer.out, r"minimised: 2 of 2 rules, in \d+ runs?; the time was up")

    def test_sweep_has_no_such_option(self) -> None:
        answer = self.tree(scenario("A1.a")).holdfast("sweep", "--minimise")
        self.assertEqual(2, answer.code)
        self.assertIn("holdfast sweep has no option --minimise; it belongs to run", answer.err)

    def test_an_interruption_ends_it_with_the_best_so_far(self) -> None:
        tree = self.tree(scenario("A1.a", "needs", needs=["b"], sites=["a", "b"], waits_from=7))
        path = self.root / "report.json"
        scratch = self.root / "scratch"
        scratch.mkdir()
        running = subprocess.Popen(
            tree.command_line(*RUN, *TWO_FAULTS, "--minimise", "--jobs=1", f"--report=json:{path}"),
            env=tree.environment(TEST_TMPDIR=str(scratch)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        await_condition(lambda: bool(glob.glob(f"{scratch}/*/minimise/*/*.waiting")), "a run that waits")
        running.send_signal(signal.SIGINT)
        out = running.communicate()[0].decode()
        self.assertEqual(130, running.returncode, out)
        self.assertRegex(out, "minimised: 1 of 2 rules, in 5 runs; it was interrupted")
        (case,) = json.loads(path.read_text())["cases"]
        self.assertEqual((["b:fail"], "failed"), ([rule["text"] for rule in case["rules"]], case["verdict"]))


class AdviceTest(MinimiseTest):
    ADVICE = "  to make it smaller: add --minimise\n"

    def test_it_stands_below_findings_that_have_something_to_leave_out(self) -> None:
        tree = self.tree(scenario("A1.a", "finds", sites=["a", "b"]), scenario("A2.b", "races"))
        for arguments, is_given in (
            (("--filter=A1*", *TWO_FAULTS), True),
            (("--filter=A1*", "--fault=a:fail"), False),
            (("--filter=A1*",), False),
            (("--filter=A2*", "--schedule=random"), True),
            (("--filter=A2*", "--schedule=random", "--minimise"), False),
        ):
            with self.subTest(arguments=arguments):
                answer = tree.holdfast(*RUN, *arguments)
                self.assertEqual(1, answer.code, answer)
                self.assertEqual(is_given, self.ADVICE in answer.out, answer.out)


if __name__ == "__main__":
    unittest.main()
