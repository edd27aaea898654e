"""`holdfast gate`: what it reads, what it prints, how it ends. The rules themselves are tested in tests/reports."""

from __future__ import annotations

import dataclasses
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

from command import TREE, Answer, FakeTree, scenario

from harness.cli.cli import main
from harness.cli.options import command_help
from harness.cli.session import Console
from harness.cli.verdict import Verdict, exit_code_of
from reports import json_lines_report, json_report
from reports.commented_json import without_comments
from reports.merge import merge
from reports.record import Finding, Option, Record
from tests.reports.sample_record import sample_record

SAMPLE = sample_record()
CLEAN = dataclasses.replace(SAMPLE, cases=SAMPLE.cases[:1], detection=(), exit_code=0, not_run=0)
MEETS: dict[str, Any] = {"complete": {}, "no-new-findings": {}}


class GateTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def file(self, name: str, content: bytes) -> str:
        path = self.root / name
        path.write_bytes(content)
        return str(path)

    def report(self, name: str, record: Record) -> str:
        return self.file(name, json_report.render(record))

    def policy(self, rules: dict[str, Any] | None = None, **members: Any) -> str:
        document = {"version": 1, "rules": MEETS if rules is None else rules, **members}
        return "--policy=" + self.file("policy.json", f"// ours\n{json.dumps(document)}".encode())

    def gate(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """In this process, which is fast; what a terminal or a shell makes of it is tested with other commands."""
        out, err = io.StringIO(), io.StringIO()
        with mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin))):
            code = main(["gate", "--color=no", *arguments], {"HOLDFAST_ROOT": str(self.root)}, Console(out, err))
        return Answer(code, out.getvalue(), err.getvalue())

    def assert_refused(self, answer: Answer, *words: str) -> None:
        self.assertEqual((2, ""), (answer.code, answer.out), answer)
        self.assertEqual(1, answer.err.count("\n"), answer.err)
        for word in words:
            self.assertIn(word, answer.err)


class OutcomeTest(GateTest):
    def test_a_line_for_each_rule_in_the_order_of_the_table_and_the_verdict(self) -> None:
        rules = {"driver": {"kind": "model"}, "no-new-findings": {}, "complete": {}}
        answer = self.gate(self.report("r.json", CLEAN), self.policy(rules))
        self.assertEqual(
            "pass complete: the run ended by itself with exit code 0, and left nothing out\n"
            "pass driver: the driver was model\n"
            "pass no-new-findings: no finding\n"
            "gate passed: 3 rules are met\n",
            answer.out,
        )
        self.assertEqual((0, ""), (answer.code, answer.err))

    def test_a_broken_rule_is_exit_1_and_says_all_that_broke_it(self) -> None:
        answer = self.gate(self.report("r.json", SAMPLE), self.policy())
        self.assertEqual(1, answer.code)
        self.assertRegex(answer.out, r"(?m)^fail no-new-findings: contract in A2\..* \(and 1 more\)$")
        self.assertRegex(answer.out, r"(?m)^     leak in A2\..*: 1 graph$")
        self.assertEqual("gate failed: 2 of 2 rules are broken", answer.closing_line)

    def test_what_a_report_says_cannot_act_on_the_terminal(self) -> None:
        answer = self.gate(self.report("r.json", SAMPLE), self.policy())
        self.assertIn(r"gone\x1b[31m", answer.out)
        self.assertNotIn("\x1b", answer.out)

    def test_many_problems_are_cut(self) -> None:
        findings = tuple(Finding("leak", "x" * (number + 1)) for number in range(30))
        many = dataclasses.replace(SAMPLE.cases[1], findings=findings)
        record = dataclasses.replace(SAMPLE, cases=(many,))
        answer = self.gate(self.report("r.json", record), self.policy({"no-new-findings": {}}))
        self.assertIn("(and 29 more)", answer.out)
        self.assertRegex(answer.out, r"(?m)^     and 10 more$")

    def test_a_note_changes_nothing(self) -> None:
        known = [{"fingerprint": "0" * 16, "reason": "issue 1", "expires": "2030-01-01"}]
        answer = self.gate(self.report("r.json", CLEAN), self.policy({"no-new-findings": {"known": known}}))
        self.assertEqual(0, answer.code)
        self.assertRegex(answer.out, r"(?m)^     note: the known finding 0+ no longer occurs \(issue 1\)")

    def test_the_baseline_and_the_standard_input(self) -> None:
        old = self.report("old.json", dataclasses.replace(SAMPLE, started="2025-01-01T00:00:00Z", not_run=0))
        answer = self.gate(
            "-", f"--baseline={old}", self.policy({"no-new-findings": {}}), stdin=json_report.render(SAMPLE)
        )
        self.assertEqual(0, answer.code, answer)
        self.assertIn("2 findings, all of them known or in the baseline", answer.out)

    def test_shards_are_merged_first(self) -> None:
        rules = {"all-scenarios-ran": {"scenarios": ["A2*/inline", "A2*/thread"]}}
        first = self.report("1.json", CLEAN)
        second = self.report("2.json", dataclasses.replace(CLEAN, cases=SAMPLE.cases[2:3]))
        self.assertEqual(1, self.gate(first, self.policy(rules)).code)
        self.assertEqual(0, self.gate(first, second, self.policy(rules)).code)

    def test_a_canary_has_to_fail(self) -> None:
        rules = {**MEETS, "canary-failed": {}}
        bug = {"bug": Option("early", "command line")}
        report, canary = self.report("r.json", CLEAN), self.report("c.json", dataclasses.replace(SAMPLE, options=bug))
        self.assertEqual(0, self.gate(report, f"--canary={canary}", self.policy(rules)).code)
        calm = self.report("calm.json", dataclasses.replace(CLEAN, options=bug))
        self.assertEqual(1, self.gate(report, f"--canary={calm}", self.policy(rules)).code)
        by_chance = self.report("by_chance.json", SAMPLE)
        self.assertEqual(1, self.gate(report, f"--canary={by_chance}", self.policy(rules)).code)
        self.assert_refused(self.gate(report, f"--canary={report}", self.policy(rules)), "the report itself")
        self.assertEqual(1, self.gate(report, self.policy(rules)).code)

    def test_suites_are_asked_of_the_programs(self) -> None:
        tree = FakeTree(self.root, [scenario("A1.a"), scenario("A2.b"), scenario("S1.c", suites=["stress"])])
        _, full = tree.report("run", "--driver=model", "--seed=1")
        report = str(self.root / "out" / "report.json")
        self.assertEqual(2, len(full["cases"]))
        policy = self.policy({"all-scenarios-ran": {"suites": ["default"]}})
        answer = tree.holdfast("gate", report, policy)
        self.assertEqual((0, "gate passed: 1 rule is met"), (answer.code, answer.closing_line), answer)
        tree.report("run", "--driver=model", "--seed=1", "A1*")
        answer = tree.holdfast("gate", report, policy)
        self.assertIn("fail all-scenarios-ran: A2.b/only: it is not among the cases", answer.out)
        answer = tree.holdfast("gate", report, self.policy({"all-scenarios-ran": {"suites": ["defualt"]}}))
        self.assertEqual(2, answer.code, answer)

    def test_a_run_with_a_seeded_bug_fails_the_example_policy_and_is_its_canary(self) -> None:
        tree = FakeTree(self.root, [scenario("A1.a", catches=["early"])])
        tree.scripted_runner("scenarios/bugs/early_runner", [scenario("A1.a", "finds")])
        clean, bad = str(self.root / "clean.json"), str(self.root / "bad.json")
        self.assertEqual(0, tree.holdfast("run", "--driver=model", f"--report=json:{clean}").code)
        self.assertEqual(1, tree.holdfast("run", "--driver=model", "--bug=early", f"--report=json:{bad}").code)
        rules = {**MEETS, "canary-failed": {"bugs": ["early"]}, "all-scenarios-ran": {"suites": ["default"]}}
        policy = self.policy(rules)
        self.assertEqual(0, tree.holdfast("gate", clean, f"--canary={bad}", policy).code)
        self.assertEqual(2, tree.holdfast("gate", bad, f"--canary={bad}", policy).code)
        again = str(self.root / "again.json")
        self.assertEqual(1, tree.holdfast("run", "--driver=model", "--bug=early", f"--report=json:{again}").code)
        answer = tree.holdfast("gate", again, f"--canary={bad}", policy)
        self.assertEqual(1, answer.code)
        self.assertIn("fail no-new-findings: contract in A1.a/only", answer.out)


class ExamplePolicyTest(GateTest):
    """The policies for nights that the examples for forges do not apply, on reports that the command wrote."""

    def example(self, tree: FakeTree, policy: str, *arguments: str) -> Answer:
        return tree.holdfast("gate", *arguments, f"--policy={TREE}/docs/policies/{policy}")

    def test_a_sweep_is_compared_with_that_of_the_last_good_night(self) -> None:
        calls = [["cuCreate", "creation"]] * 2
        tree = FakeTree(self.root, [scenario("sweep.a", suites=["sweep"], operation=calls)])
        reports = [f"{self.root}/{night}.json" for night in ("old", "new", "less")]
        for report in reports[:2]:
            self.assertEqual(0, tree.holdfast("sweep", "--driver=model", f"--report=json:{report}").code)
        answer = self.example(tree, "nightly-sweep.json", reports[1], f"--baseline={reports[0]}")
        self.assertEqual(0, answer.code, answer)
        tree.scripted_runner("scenarios/scenario_runner", [scenario("sweep.a", suites=["sweep"], operation=calls[:1])])
        self.assertEqual(0, tree.holdfast("sweep", "--driver=model", f"--report=json:{reports[2]}").code)
        answer = self.example(tree, "nightly-sweep.json", reports[2], f"--baseline={reports[0]}")
        self.assertEqual(1, answer.code, answer)
        self.assertIn("fail fault-coverage: sweep.a: ", answer.out)

    def test_a_selftest_has_to_try_every_seeded_bug(self) -> None:
        policy = json.loads(without_comments((TREE / "docs/policies/nightly-selftest.json").read_text()))
        bugs = [f"bug-{number}" for number in range(policy["rules"]["seeded-bugs-caught"]["least-bugs"])]
        tree = FakeTree(self.root, [scenario("A1.a", catches=bugs)])
        for bug in bugs:
            tree.scripted_runner(f"scenarios/bugs/{bug}_runner", [scenario("A1.a", "finds")])
        for words, code, says in (
            ((), 0, "pass seeded-bugs-caught: "),
            (bugs[1:], 1, f"the claims are about {len(bugs) - 1} seeded bugs, and {len(bugs)} are the least"),
        ):
            report = f"{self.root}/selftest.json"
            tree.holdfast("selftest", "--driver=model", f"--report=json:{report}", *words)
            answer = self.example(tree, "nightly-selftest.json", report)
            self.assertEqual(code, answer.code, answer)
            self.assertIn(says, answer.out)


class RefusalTest(GateTest):
    def test_a_command_line_that_lacks_something(self) -> None:
        report = self.report("r.json", CLEAN)
        self.assert_refused(self.gate(report), "needs a policy: --policy=FILE")
        self.assert_refused(self.gate(self.policy()), "needs a report")
        self.assert_refused(self.gate("-", "--policy=-"), "can be read once only")
        self.assert_refused(self.gate("-", "-", self.policy()), "can be read once only")

    def test_policies_that_cannot_be_used(self) -> None:
        report = self.report("r.json", CLEAN)
        for content, says in (
            (b"", "it is empty"),
            (b'{"version": 1, "rules": {"compleet": {}}}', "did you mean complete?"),
            (b'{"version": 1, "rules": {}}', "no rule"),
            (b'{"version": 1', "Expecting"),
            (b'{"version": 1, "rules": {"\x1b[2J": {}}}', "Invalid control character"),
            (b'{"version": 1, "rules": {"\\u001b[2J": {}}}', "\\x1b[2J"),
        ):
            with self.subTest(content=content):
                answer = self.gate(report, f"--policy={self.file('bad.json', content)}")
                self.assert_refused(answer, "bad.json cannot be used", says)
        self.assert_refused(self.gate(report, "--policy=/nope"), "the policy /nope cannot be read: No such file")
        self.assert_refused(self.gate(report, f"--policy={self.root}"), "Is a directory")

    def test_reports_that_cannot_be_used_in_any_place(self) -> None:
        whole = json_report.render(CLEAN)
        good = self.report("good.json", CLEAN)
        policy = self.policy({**MEETS, "canary-failed": {}})
        for content, says in (
            (b"", "empty"),
            (b"   \n", "empty"),
            (whole[: len(whole) // 2], "cut off"),
            (whole[:-3], "cut off"),
            (whole.replace(b"holdfast-report/1", b"holdfast-report/2"), "another version"),
            (whole.replace(b'"passed": 1', b'"passed": 0'), "/summary"),
            (whole.replace(b'"duration_ms": 12.5', b'"duration_ms": 1e999'), "too large a number"),
            (whole.replace(b'"line": 14', b'"line": ' + b"9" * 5000), "too large"),
            (b"{}", "no report"),
            (b"[" * 200_000, "no JSON"),
            (b"<xml/>", "no JSON"),
            (b"\xef\xbb\xbf" + whole, "byte order mark"),
            (whole.decode().encode("utf-16"), "no UTF-8"),
            (json_lines_report.render(CLEAN) + b"x", "something behind the end"),
            (whole.replace(b'"duration_ms": 12.5', b'"duration_ms": -1'), "/cases/0/duration_ms: it is -1"),
            (whole.replace(b'"duration_ms": 12.5', b'"duration_ms": NaN'), "NaN is no JSON number"),
            (whole.replace(b'"run": 0', b'"run": -1'), "/cases/0/run: it is -1"),
            (whole.replace(b'"seed": "0x', b'"seed": "', 1), "/seed: it is "),
            (whole.replace(b'"line": 14', b'"line": 14, "line": 14'), "twice"),
            (whole.replace(CLEAN.started.encode(), b"2025-02-30T00:00:00Z"), "/started"),
            (b"\x00\xff\xfe", "no JSON"),
        ):
            bad = self.file("bad.json", content)
            for arguments in ((bad,), (good, bad), (good, f"--baseline={bad}"), (good, f"--canary={bad}")):
                with self.subTest(says=says, arguments=arguments):
                    self.assert_refused(self.gate(*arguments, policy), "bad.json", says)

    def test_every_place_at_which_a_report_can_be_cut_off(self) -> None:
        whole = json_report.render(CLEAN)
        policy = self.policy()
        for length in range(0, len(whole) - 2, 97):
            self.assertEqual(2, self.gate("-", policy, stdin=whole[:length]).code, length)

    def test_reports_of_another_plan(self) -> None:
        report = self.report("r.json", CLEAN)
        other = dataclasses.replace(CLEAN, plan_digest="f" * 16, started="2025-01-01T00:00:00Z")
        shard = self.report("o.json", dataclasses.replace(other, cases=SAMPLE.cases[2:3]))
        self.assert_refused(self.gate(report, shard, self.policy()), "do not belong together: the plan differs")
        self.assert_refused(
            self.gate(report, f"--baseline={self.report('b.json', other)}", self.policy()),
            "its plan is ffffffffffffffff",
        )
        self.assert_refused(self.gate(report, self.policy(plan="f" * 16)), "the policy states ffffffffffffffff")

    def test_the_same_report_twice(self) -> None:
        report = self.report("r.json", CLEAN)
        self.assert_refused(self.gate(report, report, self.policy()), "two of them have A2.exec-outlives-node/inline")

    def test_a_report_without_a_case(self) -> None:
        report = self.report("r.json", dataclasses.replace(CLEAN, cases=()))
        self.assert_refused(self.gate(report, self.policy()), "no case")

    def test_a_report_of_a_run_that_still_goes_on_never_passes(self) -> None:
        report = self.report("r.json", dataclasses.replace(CLEAN, exit_code=None))
        self.assertEqual(1, self.gate(report, self.policy()).code)
        self.assert_refused(self.gate(report, self.policy({"no-errors": {}})), "never came to its end")


class AgreementTest(unittest.TestCase):
    def test_merging_orders_exit_codes_as_verdicts_do(self) -> None:
        for one in Verdict:
            for other in Verdict:
                with self.subTest(one=one, other=other):
                    codes = [int(exit_code_of([verdict])) for verdict in (one, other)]
                    shards = [
                        dataclasses.replace(CLEAN, exit_code=code, cases=(SAMPLE.cases[index],))
                        for index, code in zip((0, 3), codes, strict=True)
                    ]
                    self.assertEqual(int(exit_code_of([one, other])), merge(shards).exit_code)

    def test_the_help_names_the_guide(self) -> None:
        self.assertIn("docs/gate.md", command_help("gate"))


if __name__ == "__main__":
    unittest.main()
