"""Plans through the real holdfast_plan: how the user's rules and a scenario's are merged, and what is refused."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

from harness.cli.plans import PlanBuilder
from harness.cli.problems import HarnessError, UsageError
from reports.gate.policy import read_policy
from reports.record import NO_PLAN

TOOL = TREE / "fault" / "plan" / "holdfast_plan"
HOST_NODE = "cuGraphAddHostNode:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY"


class PlansTest(unittest.TestCase):
    def plan_file(self, *rules: dict[str, object], **fields: object) -> str:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "plan.json"
        path.write_text(json.dumps({"version": 1, "rules": rules, **fields}))
        return str(path)

    def test_the_user_comes_first_and_references_between_rules_still_hold(self) -> None:
        plan_file = self.plan_file(
            {"site": "alloc", "when": {"nth": 3}, "do": {"fail": True}},
            {"site": "cuGraphDestroy", "do": {"hold": {"rule": 0}}},
        )
        own = ("destructor:deliver=thread", "cuGraphNodeSetParams:nth=2,hold=rule:0")
        plan = PlanBuilder(TOOL, plan_file, [HOST_NODE]).for_rules(own)
        rules = plan.document["rules"]
        self.assertEqual(
            ["cuGraphAddHostNode", "alloc", "cuGraphDestroy", "destructor", "cuGraphNodeSetParams"],
            [rule["site"] for rule in rules],
        )
        self.assertEqual("alloc", rules[rules[2]["do"]["hold"]["rule"]]["site"])
        self.assertEqual("destructor", rules[rules[4]["do"]["hold"]["rule"]]["site"])
        self.assertEqual((3, HOST_NODE, own), (plan.of_user, plan.labels[0], plan.labels[3:]))

    def test_the_example_policies_state_the_digest_of_no_plan(self) -> None:
        digest = PlanBuilder(TOOL, None, []).user.digest
        self.assertEqual(NO_PLAN, digest)
        for name in ("pull-request.json", "nightly.json", "nightly-first.json"):
            self.assertEqual(digest, read_policy((TREE / "docs" / "policies" / name).read_bytes()).plan)

    def test_the_seed_of_the_case_is_in_the_text_and_not_in_the_digest(self) -> None:
        builder = PlanBuilder(TOOL, self.plan_file(seed="0x2a"), [HOST_NODE])
        self.assertEqual(42, builder.seed())
        self.assertEqual("0x0000000000000005", json.loads(builder.user.text(5))["seed"])
        self.assertEqual(PlanBuilder(TOOL, None, [HOST_NODE]).user.digest, builder.user.digest)

    def test_an_empty_plan_is_a_plan(self) -> None:
        plan = PlanBuilder(TOOL, None, []).user
        self.assertEqual(([], 16), (plan.document["rules"], len(plan.digest)))

    def test_what_the_user_gave_and_does_not_load_is_a_usage_error_with_its_place(self) -> None:
        with self.assertRaisesRegex(UsageError, r"^--fault\[1\]/site: 'nonsense'"):
            PlanBuilder(TOOL, None, [HOST_NODE, "nonsense:fail"])
        with self.assertRaisesRegex(UsageError, r"plan\.json: /rules/0"):
            PlanBuilder(TOOL, self.plan_file({"site": "nonsense", "do": {"fail": True}}), [])

    def test_the_rules_of_the_file_can_be_given_again_without_it(self) -> None:
        plan_file = self.plan_file(
            {"site": "alloc", "when": {"nth": 3}, "do": {"fail": True}},
            {"site": "cuGraphDestroy", "do": {"hold": {"rule": 0}}},
        )
        first = PlanBuilder(TOOL, plan_file, [HOST_NODE])
        self.assertEqual(0, first.file_rules[1]["do"]["hold"]["rule"], "it counts the rules of the file alone")
        again = PlanBuilder(TOOL, None, [HOST_NODE], first.file_rules)
        self.assertEqual((first.user, first.file_rules), (again.user, again.file_rules))

    def test_what_the_user_gave_of_a_merged_plan_is_a_plan_again(self) -> None:
        own = ("destructor:deliver=thread",)
        builder = PlanBuilder(TOOL, self.plan_file({"site": "alloc", "do": {"fail": True}}), [HOST_NODE])
        given = json.loads(builder.for_rules(own).text_of_given(7))
        self.assertEqual("0x0000000000000007", given["seed"])
        again = PlanBuilder(TOOL, self.plan_file(*given["rules"]), [])
        self.assertEqual(builder.for_rules(own).digest, again.for_rules(own).digest)
        point = PlanBuilder(TOOL, None, []).for_point((HOST_NODE,), own)
        self.assertEqual(["cuGraphAddHostNode"], [rule["site"] for rule in json.loads(point.text_of_given(7))["rules"]])

    def test_a_point_of_a_sweep_moves_references_once(self) -> None:
        own = ("destructor:deliver=thread", "cuGraphNodeSetParams:nth=2,hold=rule:0")
        rules = PlanBuilder(TOOL, None, []).for_point((HOST_NODE,), own).document["rules"]
        self.assertEqual("destructor", rules[rules[2]["do"]["hold"]["rule"]]["site"])

    def test_rules_that_do_not_go_together_are_named_by_who_brought_them(self) -> None:
        builder = PlanBuilder(TOOL, None, ["destructor:deliver=thread"])
        with self.assertRaises(HarnessError) as caught:
            builder.for_rules(("destructor:nth=3,deliver=held",))
        self.assertEqual(
            "the scenario's rule destructor:nth=3,deliver=held: can never match: the given rule "
            "destructor:deliver=thread fires at each of its calls; put this rule first, or narrow the other",
            str(caught.exception),
        )

    def test_what_a_scenario_brings_and_does_not_load_is_our_failure(self) -> None:
        with self.assertRaisesRegex(HarnessError, "nonsense"):
            PlanBuilder(TOOL, None, []).for_rules(("nonsense:fail",))


if __name__ == "__main__":
    unittest.main()
