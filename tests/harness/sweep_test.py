"""`holdfast sweep` over a scripted runner: which points it makes, when it stops, what it counts and says.

Method: the runner's operations are lists of calls, so the points of a sweep can be counted by hand.
"""

from __future__ import annotations

import io
import json
import shlex
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

import jsonschema
from command import TREE, Answer, FakeTree, scenario

from harness.cli.cli import main
from harness.cli.session import Console

SCHEMA = json.loads((TREE / "reports" / "report.schema.json").read_text())
CREATE = ["cuCreate", "creation"]
RELEASE = ["cuRelease", "release"]
ALLOC = ["alloc", "own"]


def sweep_scenario(name: str, *calls: list[str], **fields: Any) -> dict[str, Any]:
    return scenario(name, operation=list(calls), suites=["sweep"], **fields)


class SweepTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def sweep(self, *scenarios: dict[str, Any], arguments: tuple[str, ...] = ()) -> tuple[Answer, dict[str, Any]]:
        tree = FakeTree(self.root, scenarios)
        answer, report = tree.report("sweep", "--driver=model", "--seed=1", "--color=no", *arguments)
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        return answer, report

    def operation(self, report: dict[str, Any]) -> dict[str, Any]:
        (operation,) = report["operations"]
        return dict(operation)

    def counts(self, report: dict[str, Any], *names: str) -> tuple[int, ...]:
        return tuple(self.operation(report)[name] for name in names)

    def test_each_call_is_failed_before_and_after_once_and_for_good(self) -> None:
        answer, report = self.sweep(sweep_scenario("sweep.a", CREATE, CREATE, RELEASE))
        self.assertEqual(0, answer.code, answer)
        # Two creations, before: 2 transient and 1 persistent, since that stops the operation at its first call; with
        # the second one, 2. The release: 1 transient and 1 persistent, before and after.
        self.assertEqual((8, 6, 2), self.counts(report, "points", "before", "after"))
        self.assertEqual((4, 4, 2), self.counts(report, "transient", "persistent", "not_after"))
        self.assertEqual({"the reason of creation": ["cuCreate"]}, self.operation(report)["not_after_reasons"])
        self.assertEqual(["cuCreate", "cuRelease"], sorted(self.operation(report)["sites"]))
        # Each of the six ways to fail a site ends with a run in which nothing fired, and the clean run came first.
        self.assertEqual(8 + 6 + 1, self.operation(report)["runs"])
        self.assertEqual("15 passed, 0 failed, 0 skipped", answer.closing_line)

    def test_allocations_are_failed_too(self) -> None:
        _, report = self.sweep(sweep_scenario("sweep.a", ALLOC, CREATE, ALLOC))
        self.assertEqual((4, 6, 3), self.counts(report, "alloc", "points", "not_after"))
        self.assertEqual(
            ["alloc"], self.operation(report)["not_after_reasons"]["an allocation that failed has allocated nothing"]
        )

    def test_sites_that_only_a_fault_leads_to_are_failed_behind_it(self) -> None:
        _, report = self.sweep(sweep_scenario("sweep.a", CREATE, rollback={"cuCreate": [RELEASE, RELEASE]}))
        # Behind the one transient fault: two releases, before and after, transient and persistent.
        self.assertEqual((8, 10), self.counts(report, "double", "points"))

    def test_the_table_has_a_line_an_operation(self) -> None:
        variants = [{"name": name, "plan": []} for name in ("inline", "held")]
        answer, report = self.sweep(
            sweep_scenario("sweep.b", CREATE, variants=variants), sweep_scenario("sweep.a", ALLOC)
        )
        self.assertRegex(answer.out, r"(?m)^sweep\.a +2 +2 +0 +1 +1 +1 +2 +0 +1$")
        self.assertRegex(answer.out, r"(?m)^sweep\.b +4 +4 +0 +2 +2 +2 +0 +0 +1$")
        self.assertIn("  the reason of creation: cuCreate\n", answer.out)
        self.assertEqual(["sweep.a", "sweep.b"], [operation["scenario"] for operation in report["operations"]])

    def test_a_finding_names_its_point_and_is_taken_again_by_its_command(self) -> None:
        broken = sweep_scenario("sweep.a", CREATE, CREATE, RELEASE, breaks=["cuCreate before 2", "cuRelease after 1"])
        answer, report = self.sweep(broken)
        self.assertEqual(1, answer.code, answer)
        failed = [case for case in report["cases"] if case["verdict"] == "failed"]
        self.assertEqual(4, len(failed))
        rule = "cuCreate:nth=2,step=operation,count=step,thread=main,return=CUDA_ERROR_OUT_OF_MEMORY"
        self.assertEqual(
            [
                ["cuCreate:after=1,step=operation,count=step,thread=main,return=CUDA_ERROR_OUT_OF_MEMORY"],
                [rule],
                ["cuRelease:nth=1,step=operation,count=step,thread=main,return=CUDA_ERROR_LAUNCH_FAILED,after"],
                ["cuRelease:step=operation,thread=main,return=CUDA_ERROR_LAUNCH_FAILED,after"],
            ],
            [case["point"] for case in failed],
        )
        self.assertEqual([("sweep", 1)], [(one["origin"], one["fired"]) for one in failed[1]["rules"]])
        ours, bazel = failed[1]["findings"][0]["reproduce"]
        seed = "0x0000000000000001"
        self.assertEqual(f"holdfast sweep --driver=model --seed={seed} --filter=sweep.a/only --fault={rule}", ours)
        self.assertEqual(
            f"bazel test //scenarios:sweep_test --test_filter=sweep.a/only --test_env=HOLDFAST_SEED={seed} "
            f"--test_arg=--fault={rule}",
            bazel,
        )
        again, replayed = self.sweep(broken, arguments=tuple(shlex.split(ours)[3:]))
        self.assertEqual(1, again.code)
        self.assertEqual([[rule]], [case["point"] for case in replayed["cases"]])
        self.assertEqual([], replayed["operations"])

    def test_two_faults_are_taken_again_together(self) -> None:
        broken = sweep_scenario("sweep.a", CREATE, rollback={"cuCreate": [RELEASE]}, breaks=["cuRelease before 1"])
        _, report = self.sweep(broken)
        failed = [case for case in report["cases"] if case["verdict"] == "failed"]
        self.assertEqual({2}, {len(case["point"]) for case in failed})
        words = shlex.split(failed[0]["findings"][0]["reproduce"][0])[3:]
        self.assertEqual(1, self.sweep(broken, arguments=tuple(words))[0].code)

    def test_no_call_is_failed_behind_a_finding_of_its_kind(self) -> None:
        broken = sweep_scenario("sweep.a", *[CREATE] * 5, breaks=[f"cuCreate before {nth}" for nth in range(1, 6)])
        self.assertEqual((2, 2), self.counts(self.sweep(broken)[1], "points", "failed"))

    def test_where_there_is_trouble_without_faults_none_is_tried(self) -> None:
        answer, report = self.sweep(
            sweep_scenario("sweep.a", CREATE, does="finds"), arguments=("--annotations=github",)
        )
        self.assertEqual((1, 0, 1), (answer.code, *self.counts(report, "points", "runs")))
        self.assertRegex(answer.out, "(?m)^::error file=.*%0Aholdfast sweep ")
        bazel = report["cases"][0]["findings"][0]["reproduce"][1]
        self.assertNotIn("--fault", bazel)

    def test_a_scenario_without_an_operation_is_no_pass(self) -> None:
        answer, report = self.sweep(scenario("sweep.a", suites=["sweep"]))
        self.assertEqual((3, "error"), (answer.code, report["cases"][0]["verdict"]))
        self.assertIn("opened no OperationWindow", answer.out)

    def test_an_operation_that_never_ends_its_calls_is_no_pass(self) -> None:
        tree = FakeTree(self.root, [sweep_scenario("sweep.a", *[CREATE] * 5)])
        out = io.StringIO()
        with mock.patch("harness.cli.sweep.MOST_POINTS", 3):
            code = main(["sweep", "--driver=model"], tree.environment(), Console(out, io.StringIO()))
        self.assertEqual(3, code)
        self.assertIn("after 3 faults at cuCreate the operation still makes that call", out.getvalue())

    def test_only_the_suite_is_swept_unless_scenarios_are_named(self) -> None:
        other = sweep_scenario("A1.a", CREATE) | {"suites": ["default"]}
        self.assertEqual("sweep.b", self.operation(self.sweep(other, sweep_scenario("sweep.b", ALLOC))[1])["scenario"])
        _, report = self.sweep(other, sweep_scenario("sweep.b", ALLOC), arguments=("A1*",))
        self.assertEqual("A1.a", self.operation(report)["scenario"])

    def test_a_scenarios_own_rules_need_not_fire_behind_a_fault(self) -> None:
        own = [{"name": "held", "plan": ["destructor:deliver=held"]}]
        answer, _ = self.sweep(sweep_scenario("sweep.a", CREATE, variants=own, sites=["destructor"]))
        self.assertEqual(0, answer.code, answer)
        answer, _ = self.sweep(sweep_scenario("sweep.a", CREATE, variants=own))
        self.assertEqual(5, answer.code, "in the clean run they have to")

    def test_faults_that_name_no_point_are_refused(self) -> None:
        scenarios = (sweep_scenario("sweep.a", CREATE), sweep_scenario("sweep.b", CREATE))
        tree = FakeTree(self.root, scenarios)
        for words, code, sentence in (
            (("--fault=cuCreate:fail",), 2, "2 are selected; add --filter"),
            (("--fault=nowhere:fail", "--filter=sweep.a"), 2, "no site 'nowhere'"),
            (("--fault=cuOther:step=operation,fail", "--filter=sweep.a"), 5, "a fault had to fire and none did"),
            (("--plan=x",), 2, "has no option --plan; it belongs to run"),
        ):
            answer = tree.holdfast("sweep", "--driver=model", *words)
            self.assertEqual(code, answer.code, answer)
            self.assertIn(sentence, answer.err + answer.out)

    def test_a_seeded_bug_without_a_scenario_to_sweep_says_who_claims_it(self) -> None:
        tree = FakeTree(self.root, [sweep_scenario("sweep.a", CREATE)])
        claiming = [sweep_scenario("A1.a", CREATE) | {"suites": ["default"]}]
        tree.scripted_runner("scenarios/bugs/early_runner", claiming)
        answer = tree.holdfast("sweep", "--driver=model", "--bug=early")
        self.assertEqual(4, answer.code, answer)
        self.assertIn("no scenario is in the sweep suite: the build of the seeded bug early has those", answer.err)
        self.assertIn("which are A1.a; take holdfast run --bug=early", answer.err)

    def test_the_time_limit_leaves_points_and_says_so(self) -> None:
        answer, report = self.sweep(sweep_scenario("sweep.a", *[CREATE] * 900), arguments=("--max-total-time=300ms",))
        self.assertEqual(5, answer.code)
        self.assertIn("the time was up", answer.out)
        self.assertGreater(report["summary"]["not_run"], 0)

    def test_it_stops_after_as_many_failures_as_it_is_told(self) -> None:
        broken = sweep_scenario("sweep.a", CREATE, RELEASE, breaks=["cuCreate before 1", "cuRelease before 1"])
        _, report = self.sweep(broken, arguments=("--fail-fast", "--jobs=1"))
        self.assertEqual(1, report["summary"]["failed"])


if __name__ == "__main__":
    unittest.main()
