"""The gate's truth table: each rule met and broken, alone and beside all others; and every refusal.

Method: one set of evidence meets every rule. A row of the table changes one thing in it and names the one rule that
this breaks, so that it can be judged alone, with all others, and in every policy that lacks it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from reports.fingerprint import fingerprint
from reports.gate.judging import Judgement, judge
from reports.gate.policy import RULES
from reports.gate.rule import Evidence, GateError, Listed
from reports.record import Case, Detection, Finding, Operation, Option, Record, Subject
from tests.reports.gate_policy_test import policy_of

PLAIN = Subject("runner", "0" * 16, ())
LEAK = Finding("leak", "1 graph")
LEAK_PRINT = fingerprint("A1.a", LEAK)
SWEPT = Operation("A1.a", ("cuCreate", "alloc"), 10, 5, 2, 5, 5, 3, 1, 0, {}, 12, 0)


def case(scenario: str, variant: str = "inline", verdict: str = "passed", run: int = 0, **fields: Any) -> Case:
    findings = fields.pop("findings", (LEAK,) if verdict == "failed" else ())
    values = {"counters": {"callbacks": 10}, "duration_ms": 100.0, **fields}
    return Case(scenario, variant, run, "0x0", verdict, "", "", findings=findings, **values)


def runs(scenario: str, count: int = 5, **fields: Any) -> tuple[Case, ...]:
    return tuple(case(scenario, run=run, **fields) for run in range(count))


def base(**fields: Any) -> Record:
    values: dict[str, Any] = {
        "version": "1",
        "command": "run",
        "seed": "0x0",
        "driver": "model",
        "driver_library": "",
        "interpreter": "",
        "subject": Subject("runner", "0" * 16, ("address",)),
        "plan_digest": "a" * 16,
        "started": "2026-06-15T00:00:00.000Z",
        "exit_code": 0,
        "driver_version": 13000,
        "device": "Model",
        "cases": (*runs("A1.a"), *runs("A2.b")),
        "detection": (Detection("early", "A1.a", True, ("leak",)),),
        "operations": (SWEPT,),
        **fields,
    }
    return Record(**values)


BASELINE = base(started="2026-06-14T00:00:00.000Z")
CANARY = base(options={"bug": Option("early", "command line")}, cases=(case("A1.a", verdict="failed"),))
CATALOGUE = (Listed("A1.a", "inline", ("default",)), Listed("A2.b", "inline", ("default", "stress")))
MET = Evidence(base(), BASELINE, (CANARY,), CATALOGUE)

ALL_RULES: dict[str, Any] = {
    "complete": {},
    "driver": {"kind": "model", "device": "Mod*", "version": 12000},
    "sanitizers": {"on": ["address"]},
    "no-errors": {},
    "no-inconclusive": {},
    "all-scenarios-ran": {"scenarios": ["A1.a/inline"], "suites": ["default"], "baseline": True},
    "no-new-findings": {},
    "canary-failed": {"bugs": ["early"], "scenarios": ["A1.a"]},
    "fault-coverage": {"minimums": [{"scenario": "A*", "points": 10, "before": 5}], "baseline": True},
    "seeded-bugs-caught": {"bugs": ["ear*"], "baseline": True},
    "counter-limits": {"limits": [{"counter": "call*", "most": 1.5, "least": 0.5, "noise": 1}]},
    "duration-limits": {"limits": [{"most": 1.5, "noise-ms": 10}]},
}

Change = Callable[[Evidence], Evidence]


def with_record(**fields: Any) -> Change:
    return lambda evidence: dataclasses.replace(evidence, record=dataclasses.replace(evidence.record, **fields))


def with_cases(*more: Case) -> Change:
    """Further runs, which leave the medians alone."""
    return with_record(cases=(*MET.record.cases, *more))


def with_operation(**fields: Any) -> Change:
    return with_record(operations=(dataclasses.replace(SWEPT, **fields),))


def counting(value: float, scenario: str = "A2.b") -> Change:
    return with_record(cases=(*runs("A1.a"), *runs(scenario, counters={"callbacks": value})))


def lasting(milliseconds: float) -> Change:
    return with_record(cases=(*runs("A1.a"), *runs("A2.b", duration_ms=milliseconds)))


# (the one rule that breaks, words of what it says, what is changed)
BROKEN: tuple[tuple[str, str, Change], ...] = (
    ("complete", "never came to its end", with_record(exit_code=None)),
    ("complete", "interrupted by SIGTERM", with_record(interrupted="SIGTERM", exit_code=143)),
    ("complete", "3 cases were not run", with_record(not_run=3)),
    ("complete", "exit code 4: nothing ran; no GPU", with_record(exit_code=4, notes=("no GPU",))),
    ("complete", "exit code 77: its own", with_record(exit_code=77)),
    ("driver", "the device was none", with_record(device=None)),
    ("driver", "12000 is the least", with_record(driver_version=11000)),
    ("driver", "12000 is the least", with_record(driver_version=None)),
    (
        "sanitizers",
        "without the address sanitizer",
        lambda evidence: dataclasses.replace(
            with_record(subject=PLAIN)(evidence), baseline=dataclasses.replace(BASELINE, subject=PLAIN)
        ),
    ),
    (
        "no-errors",
        "A1.a/inline (run 9): error: broke",
        with_cases(case("A1.a", verdict="error", run=9, reason="broke")),
    ),
    ("no-inconclusive", "A1.a/inline (run 9): inc", with_cases(case("A1.a", verdict="inconclusive", run=9))),
    (
        "all-scenarios-ran",
        "A3.c/inline: it is not among the cases",
        lambda evidence: dataclasses.replace(evidence, catalogue=(*CATALOGUE, Listed("A3.c", "inline", ("default",)))),
    ),
    (
        "all-scenarios-ran",
        "A4.d/only: skipped: no GPU",
        lambda evidence: dataclasses.replace(
            with_cases(case("A4.d", "only", "skipped", reason="no GPU"))(evidence),
            baseline=dataclasses.replace(BASELINE, cases=(*BASELINE.cases, case("A4.d", "only", "failed"))),
        ),
    ),
    (
        "canary-failed",
        "does not count: its run never came to its end",
        lambda evidence: dataclasses.replace(evidence, canaries=(CANARY, dataclasses.replace(CANARY, exit_code=None))),
    ),
    (
        "canary-failed",
        "does not count: its run was interrupted by SIGINT",
        lambda evidence: dataclasses.replace(
            evidence, canaries=(CANARY, dataclasses.replace(CANARY, exit_code=130, interrupted="SIGINT"))
        ),
    ),
    (
        "canary-failed",
        "does not count: it had no seeded bug",
        lambda evidence: dataclasses.replace(
            evidence, canaries=(CANARY, base(exit_code=1, cases=(case("A2.b", verdict="failed"),)))
        ),
    ),
    (
        "fault-coverage",
        "the baseline has no operation",
        lambda evidence: dataclasses.replace(evidence, baseline=dataclasses.replace(BASELINE, operations=())),
    ),
    (
        "seeded-bugs-caught",
        "the baseline has no claim",
        lambda evidence: dataclasses.replace(evidence, baseline=dataclasses.replace(BASELINE, detection=())),
    ),
    (
        "no-new-findings",
        f"leak in A1.a/inline (run 9) [{LEAK_PRINT}]: 1 graph",
        with_cases(case("A1.a", verdict="failed", run=9)),
    ),
    (
        "canary-failed",
        "with the seeded bug early has no case that failed",
        lambda evidence: dataclasses.replace(
            evidence, canaries=(CANARY, dataclasses.replace(CANARY, cases=(case("A1.a"),)))
        ),
    ),
    ("canary-failed", "no canary ran with the seeded bug early", lambda one: dataclasses.replace(one, canaries=())),
    ("fault-coverage", "9 points, and the policy asks for 10", with_operation(points=9)),
    ("fault-coverage", "1 after points, and the baseline has 2", with_operation(after=1)),
    ("fault-coverage", "0 double points, and the baseline has 1", with_operation(double=0)),
    ("fault-coverage", "no longer fails at cuCreate", with_operation(sites=("alloc",))),
    ("fault-coverage", "it is not of a sweep", with_record(operations=())),
    (
        "seeded-bugs-caught",
        "early was missed by A1.a: hm",
        with_record(detection=(Detection("early", "A1.a", False, (), "hm"),)),
    ),
    (
        "seeded-bugs-caught",
        "early by A1.a: the baseline has",
        with_record(detection=(Detection("early", "B", True, ()),)),
    ),
    ("seeded-bugs-caught", "it is not of a selftest", with_record(detection=())),
    ("counter-limits", "the median is 16, the baseline's 10, and 1.5 times that is the most", counting(16)),
    ("counter-limits", "the median is 4, the baseline's 10, and 0.5 times that is the least", counting(4)),
    (
        "counter-limits",
        "not judged: callbacks of A2.b/inline: 4 runs in the report and 5 in the baseline, 5 are needed",
        with_record(cases=(*runs("A1.a"), *runs("A2.b", 4), case("A2.b", run=4, counters={}))),
    ),
    ("duration-limits", "the median is 151 ms, the baseline's 100 ms", lasting(151)),
)

# What breaks several: (what each of them says, what is changed). A run is taken at its word by each that it concerns.
CALLED = (
    (5, "no-inconclusive", "exit code 5: it called itself inconclusive; the fault cuA had to fire and did not"),
    (3, "no-errors", "exit code 3: the harness failed; the fault cuA had to fire and did not"),
    (2, "no-errors", "exit code 2: it could not be used; the fault cuA had to fire and did not"),
)


def names(judgements: list[Judgement], passed: bool) -> list[str]:
    return [one.rule for one in judgements if one.passed is passed]


class TruthTableTest(unittest.TestCase):
    def test_every_rule_is_in_the_table(self) -> None:
        self.assertEqual([rule.name for rule in RULES], list(ALL_RULES))
        self.assertEqual(set(ALL_RULES), {rule for rule, _, _ in BROKEN})

    def test_all_are_met_together_and_each_alone(self) -> None:
        self.assertEqual(list(ALL_RULES), names(judge(policy_of(ALL_RULES), MET), passed=True))
        for name, parameters in ALL_RULES.items():
            with self.subTest(rule=name):
                (judgement,) = judge(policy_of({name: parameters}), self.fit(name, parameters, MET))
                self.assertTrue(judgement.passed, judgement)
                self.assertTrue(judgement.met)

    def test_each_is_broken_alone(self) -> None:
        for name, says, change in BROKEN:
            with self.subTest(rule=name, says=says):
                policy = policy_of({name: ALL_RULES[name]})
                (judgement,) = judge(policy, self.fit(name, ALL_RULES[name], change(MET)))
                self.assertFalse(judgement.passed)
                self.assertIn(says, "\n".join(judgement.problems))

    def test_each_is_broken_beside_all_others_and_no_other_is(self) -> None:
        for name, says, change in BROKEN:
            with self.subTest(rule=name, says=says):
                self.assertEqual([name], names(judge(policy_of(ALL_RULES), change(MET)), passed=False))

    def test_a_run_that_called_itself_inconclusive_or_failed(self) -> None:
        for code, rule, says in CALLED:
            change = with_record(exit_code=code, notes=("the fault cuA had to fire and did not",))
            with self.subTest(code=code):
                broken = [one for one in judge(policy_of(ALL_RULES), change(MET)) if not one.passed]
                self.assertEqual(["complete", rule], [one.rule for one in broken])
                for one in broken:
                    self.assertEqual((f"the run ended with {says}",), one.problems)

    def test_without_the_one_that_is_broken_all_others_pass(self) -> None:
        for name, says, change in BROKEN:
            if says == "never came to its end":
                continue  # refused, as below
            with self.subTest(rule=name, says=says):
                others = {other: parameters for other, parameters in ALL_RULES.items() if other != name}
                evidence = change(MET)
                if name == "canary-failed":
                    evidence = dataclasses.replace(evidence, canaries=())
                self.assertEqual([], names(judge(policy_of(others), evidence), passed=False))

    def test_adding_a_rule_never_lets_pass_what_failed(self) -> None:
        for name, says, change in BROKEN:
            for added, parameters in ALL_RULES.items():
                with self.subTest(rule=name, says=says, added=added):
                    evidence = self.fit(name, ALL_RULES[name], change(MET))
                    rules = {name: ALL_RULES[name], added: parameters}
                    with contextlib.suppress(GateError):  # to refuse is not to pass
                        self.assertIn(name, names(judge(policy_of(rules), evidence), passed=False))

    def fit(self, name: str, parameters: Any, evidence: Evidence) -> Evidence:
        """Without a baseline or canary that no rule would look at, which would be refused."""
        rule = next(rule for rule in RULES if rule.name == name)
        ((_, read),) = policy_of({name: parameters}).in_force()
        baseline = evidence.baseline if rule.looks_at_baseline(read) else None
        canaries = evidence.canaries if name == "canary-failed" else ()
        return dataclasses.replace(evidence, baseline=baseline, canaries=canaries)


class RuleTest(unittest.TestCase):
    def judge(self, rules: dict[str, Any], evidence: Evidence) -> Judgement:
        (judgement,) = judge(policy_of(rules), evidence)
        return judgement

    def known(self, expires: str) -> dict[str, Any]:
        return {"no-new-findings": {"known": [{"fingerprint": LEAK_PRINT, "reason": "issue 1", "expires": expires}]}}

    def test_a_known_finding_is_not_new_until_the_end_of_its_last_day(self) -> None:
        failed = Evidence(base(cases=(case("A1.a", verdict="failed"),)))
        self.assertTrue(self.judge(self.known("2026-06-15"), failed).passed)
        expired = self.judge(self.known("2026-06-14"), failed)
        self.assertIn("known until 2026-06-14 (issue 1), so new: leak in A1.a/inline", expired.problems[0])

    def test_an_expired_finding_is_new_even_if_the_baseline_has_it(self) -> None:
        cases = (case("A1.a", verdict="failed"),)
        evidence = Evidence(base(cases=cases), dataclasses.replace(BASELINE, cases=cases))
        self.assertFalse(self.judge(self.known("2026-06-14"), evidence).passed)
        self.assertTrue(self.judge({"no-new-findings": {}}, evidence).passed)

    def test_what_no_longer_occurs_is_a_note(self) -> None:
        baseline = dataclasses.replace(BASELINE, cases=(case("A9.z", verdict="failed"),))
        judgement = self.judge(self.known("2030-01-01"), Evidence(base(), baseline))
        self.assertTrue(judgement.passed)
        self.assertIn(f"the known finding {LEAK_PRINT} no longer occurs (issue 1)", "\n".join(judgement.notes))
        self.assertIn("the baseline's finding is gone: leak in A9.z/inline", "\n".join(judgement.notes))

    def test_a_finding_of_another_scenario_is_another(self) -> None:
        evidence = Evidence(base(cases=(case("A2.b", verdict="failed"),)))
        self.assertFalse(self.judge(self.known("2030-01-01"), evidence).passed)

    def test_allowed_skips_excuse_skips_and_nothing_else(self) -> None:
        excuse = [{"case": "A4*", "reason": "no GPU here"}]
        rules = {"all-scenarios-ran": {"scenarios": ["A*"], "allowed-skips": excuse}}
        for verdict, passes in (("skipped", True), ("error", False), ("inconclusive", False), ("passed", True)):
            evidence = Evidence(base(cases=(case("A1.a"), case("A4.d", verdict=verdict))))
            judgement = self.judge(rules, evidence)
            self.assertIs(passes, judgement.passed, verdict)
            self.assertEqual(verdict != "skipped", bool(judgement.notes), "an excuse that nothing needs is told")

    def test_skips_alone_are_no_run_however_well_excused(self) -> None:
        rules = {"all-scenarios-ran": {"scenarios": ["A*"], "allowed-skips": [{"case": "*", "reason": "no GPU here"}]}}
        skipped = tuple(case(name, verdict="skipped") for name in ("A1.a", "A4.d"))
        self.assertEqual(
            ("nothing ran: all that had to was skipped",), self.judge(rules, Evidence(base(cases=skipped))).problems
        )
        self.assertTrue(self.judge(rules, Evidence(base(cases=(*skipped, case("A5.e"))))).passed)

    def test_one_run_that_ran_is_enough(self) -> None:
        evidence = Evidence(base(cases=(case("A1.a", verdict="skipped"), case("A1.a", run=1))))
        self.assertTrue(self.judge({"all-scenarios-ran": {"scenarios": ["A1.a"]}}, evidence).passed)

    def test_a_glob_has_to_name_a_case(self) -> None:
        judgement = self.judge({"all-scenarios-ran": {"scenarios": ["A1*", "Z*"]}}, Evidence(base()))
        self.assertEqual(("Z*: no case has this name",), judgement.problems)
        self.assertIn(
            "Z*: no operation",
            self.judge({"fault-coverage": {"minimums": [{"scenario": "Z*"}]}}, MET_ALONE).problems[0],
        )
        self.assertIn("Z*: no claim", self.judge({"seeded-bugs-caught": {"bugs": ["Z*"]}}, MET_ALONE).problems[0])

    def test_a_suite_that_is_not_there_is_refused(self) -> None:
        with self.assertRaisesRegex(GateError, "names the suite 'nope'"):
            judge(policy_of({"all-scenarios-ran": {"suites": ["nope"]}}), Evidence(base(), catalogue=CATALOGUE))

    def test_a_canary_is_needed_and_a_named_scenario_may_fail_in_the_report_itself(self) -> None:
        self.assertIn("there is no canary", self.judge({"canary-failed": {}}, MET_ALONE).problems[0])
        failed = Evidence(base(cases=(case("canary.a", verdict="failed"),)))
        self.assertTrue(self.judge({"canary-failed": {"scenarios": ["canary.*"]}}, failed).passed)
        self.assertIn("no case of Z", self.judge({"canary-failed": {"scenarios": ["Z"]}}, failed).problems[0])

    def test_the_bug_of_a_canary_is_that_of_its_command_line(self) -> None:
        other = dataclasses.replace(CANARY, options={"bug": Option("late", "command line")})
        judgement = self.judge({"canary-failed": {"bugs": ["early"]}}, Evidence(base(), canaries=(other,)))
        self.assertIn("no canary ran with the seeded bug early", judgement.problems[0])

    def test_an_allowed_miss_is_that_of_its_bug_and_scenario(self) -> None:
        missed = Evidence(base(detection=(Detection("early", "A1.a", False, ()),)))
        for scenario, passes in (("A1*", True), ("A2*", False)):
            allowed = [{"bug": "early", "scenario": scenario, "reason": "needs a GPU"}]
            self.assertIs(passes, self.judge({"seeded-bugs-caught": {"allowed-misses": allowed}}, missed).passed)

    def test_sanitizers_and_drivers(self) -> None:
        self.assertEqual(
            ("the subject was built without the thread sanitizer",),
            self.judge({"sanitizers": {"on": ["address", "thread"]}}, MET_ALONE).problems,
        )
        self.assertIn("the driver was model", self.judge({"driver": {"kind": "real"}}, MET_ALONE).problems[0])

    def test_an_allowed_inconclusive_case(self) -> None:
        rules = {"no-inconclusive": {"allowed": [{"case": "A7*", "reason": "budget"}]}}
        for scenario, passes in (("A7.x", True), ("A8.x", False)):
            record = base(cases=(case(scenario, verdict="inconclusive"),), exit_code=5)
            self.assertIs(passes, self.judge(rules, Evidence(record)).passed)
            noted = dataclasses.replace(record, notes=("the time was up with 3 cases not run",))
            self.assertFalse(self.judge(rules, Evidence(noted)).passed, "an exception is for cases only")

    def test_nothing_that_had_to_run_is_a_problem(self) -> None:
        nothing = dataclasses.replace(BASELINE, cases=runs("A1.a", verdict="skipped"))
        (judgement,) = judge(policy_of({"all-scenarios-ran": {"baseline": True}}), Evidence(base(), nothing))
        self.assertEqual(("nothing had to run: no case of the baseline passed or failed",), judgement.problems)

    def test_a_sweep_without_a_point_is_a_problem(self) -> None:
        none = dataclasses.replace(SWEPT, **dict.fromkeys(("points", "before", "after", "transient"), 0))
        none = dataclasses.replace(none, persistent=0, alloc=0, double=0)
        rules = {"fault-coverage": {"minimums": [{"scenario": "*"}], "baseline": True}}
        evidence = Evidence(base(operations=(none,)), dataclasses.replace(BASELINE, operations=(none,)))
        self.assertEqual(("no operation was made to fail at any point",), judge(policy_of(rules), evidence)[0].problems)

    def test_a_selftest_of_some_bugs_is_none_of_all(self) -> None:
        cells = tuple(Detection(bug, scenario, True, ()) for bug, scenario in (("a", "A1"), ("a", "A2"), ("b", "A1")))
        for least, passes in ((2, True), (3, False)):
            rules = {"seeded-bugs-caught": {"least-bugs": least}}
            (judgement,) = judge(policy_of(rules), Evidence(base(detection=cells)))
            self.assertIs(passes, judgement.passed)
        self.assertEqual(("the claims are about 2 seeded bugs, and 3 are the least",), judgement.problems)


class NoiseTest(unittest.TestCase):
    def durations(self, mine: list[float], theirs: list[float], **parameters: Any) -> Judgement:
        def cases(values: list[float]) -> tuple[Case, ...]:
            return tuple(case("A1.a", run=run, duration_ms=value) for run, value in enumerate(values))

        evidence = Evidence(base(cases=cases(mine)), dataclasses.replace(BASELINE, cases=cases(theirs)))
        rules = {"duration-limits": {"limits": [{"most": 1.5, "noise-ms": 50}], "runs": 3, **parameters}}
        (judgement,) = judge(policy_of(rules), evidence)
        return judgement

    def test_one_slow_run_of_three_is_noise_and_two_are_not(self) -> None:
        self.assertTrue(self.durations([100, 100, 9000], [100, 100, 100]).passed)
        self.assertFalse(self.durations([100, 9000, 9000], [100, 100, 100]).passed)

    def test_a_great_ratio_of_small_numbers_is_noise(self) -> None:
        self.assertTrue(self.durations([52] * 3, [2] * 3).passed)
        self.assertFalse(self.durations([52.5] * 3, [2] * 3).passed)

    def test_a_great_change_within_the_ratio_is_none(self) -> None:
        self.assertTrue(self.durations([1500] * 3, [1000] * 3).passed)

    def test_with_too_few_runs_on_either_side_the_policy_says_what_it_means(self) -> None:
        for mine, theirs in ((2, 3), (3, 2), (0, 3), (3, 0)):
            with self.subTest(mine=mine, theirs=theirs):
                evidence = Evidence(
                    base(cases=(*runs("A1.a", mine), *runs("A2.b", 3))),
                    dataclasses.replace(BASELINE, cases=(*runs("A1.a", theirs), *runs("A2.b", 3))),
                )
                limits = {"limits": [{"most": 1.5, "noise-ms": 50}], "runs": 3}
                (failed,) = judge(policy_of({"duration-limits": limits}), evidence)
                self.assertIn("not judged: duration of A1.a/inline", failed.problems[0])
                (noted,) = judge(policy_of({"duration-limits": {**limits, "not-judged": "note"}}), evidence)
                self.assertTrue(noted.passed)
                self.assertIn("not judged: duration of A1.a/inline", noted.notes[0])

    def test_a_limit_that_judges_no_case_is_no_note(self) -> None:
        for mine, theirs in ((2, 3), (3, 2), (0, 3), (3, 0)):
            with self.subTest(mine=mine, theirs=theirs):
                judgement = self.durations([100.0] * mine, [100.0] * theirs, **{"not-judged": "note"})
                self.assertIn("the duration of *: nothing was judged, since 3 runs", judgement.problems[0])

    def test_each_limit_has_to_judge_something_of_its_own(self) -> None:
        few = runs("A2.b", 2, counters={"other": 1})
        evidence = Evidence(
            base(cases=(*runs("A1.a"), *few)), dataclasses.replace(BASELINE, cases=(*runs("A1.a"), *few))
        )
        limits = [{"counter": counter, "most": 2, "noise": 0} for counter in ("callbacks", "other")]
        (judgement,) = judge(policy_of({"counter-limits": {"limits": limits, "not-judged": "note"}}), evidence)
        self.assertEqual(1, len(judgement.problems), judgement)
        self.assertIn("other of *: nothing was judged", judgement.problems[0])

    def test_runs_that_did_not_pass_are_not_counted(self) -> None:
        slow = tuple(case("A1.a", verdict="inconclusive", run=run, duration_ms=9000) for run in range(5, 15))
        evidence = Evidence(base(cases=(*runs("A1.a"), *slow)), BASELINE)
        rules = {"duration-limits": {"limits": [{"case": "A1.a", "most": 1.5, "noise-ms": 1}]}}
        self.assertTrue(judge(policy_of(rules), evidence)[0].passed)

    def test_a_counter_that_was_zero_has_a_limit_too(self) -> None:
        evidence = Evidence(
            base(cases=runs("A1.a", counters={"leaked": 1})),
            dataclasses.replace(BASELINE, cases=runs("A1.a", counters={"leaked": 0})),
        )
        limit = {"counter": "leaked", "most": 1, "noise": 0}
        self.assertFalse(judge(policy_of({"counter-limits": {"limits": [limit]}}), evidence)[0].passed)

    def test_a_limit_on_nothing_fails(self) -> None:
        rules = {"counter-limits": {"limits": [{"counter": "zzz", "most": 2, "noise": 0}], "not-judged": "note"}}
        (judgement,) = judge(policy_of(rules), Evidence(base(), BASELINE))
        self.assertIn("zzz of *: no run that passed has this", judgement.problems[0])


MET_ALONE = Evidence(base())


class RefusalTest(unittest.TestCase):
    def refused(self, evidence: Evidence, rules: dict[str, Any] | None = None, **members: Any) -> str:
        with self.assertRaises(GateError) as caught:
            judge(policy_of(rules or {"no-new-findings": {}}, **members), evidence)
        return str(caught.exception)

    def test_a_report_with_nothing_in_it(self) -> None:
        self.assertIn("no case", self.refused(Evidence(base(cases=(), detection=(), operations=()))))

    def test_a_report_of_a_run_that_never_ended_is_broken_or_refused_but_never_passed(self) -> None:
        self.assertIn("never came to its end", self.refused(Evidence(base(exit_code=None))))

    def test_a_report_of_another_command_or_plan(self) -> None:
        self.assertIn("the policy is for holdfast sweep", self.refused(MET_ALONE, command="sweep"))
        self.assertIn(f"the policy states {'b' * 16}", self.refused(MET_ALONE, plan="b" * 16))
        judge(policy_of({"complete": {}}, command="run", plan="a" * 16), MET_ALONE)

    def test_a_baseline_that_cannot_be_compared_with(self) -> None:
        for fields, says in (
            ({"plan_digest": "b" * 16}, "its plan is"),
            ({"command": "sweep"}, "its command is sweep, and the report's run"),
            ({"driver": "real"}, "its driver is real"),
            ({"subject": Subject("runner", "0" * 16, ())}, "other sanitizers"),
            ({"exit_code": None}, "did not come to its end"),
            ({"interrupted": "SIGINT"}, "did not come to its end"),
            ({"exit_code": 5}, "a run with exit code 5"),
            ({"exit_code": 3}, "a run with exit code 3"),
            ({"exit_code": 143}, "a run with exit code 143"),
            ({"not_run": 2}, "left 2 cases out"),
        ):
            with self.subTest(says=says):
                self.assertIn(says, self.refused(Evidence(base(), dataclasses.replace(BASELINE, **fields))))
        self.assertIn("the baseline is the report itself", self.refused(Evidence(base(), base())))

    def test_a_baseline_may_be_of_another_version_seed_and_build(self) -> None:
        baseline = dataclasses.replace(
            BASELINE, version="0", seed="0x9", subject=Subject("runner", "f" * 16, ("address",))
        )
        self.assertTrue(judge(policy_of({"no-new-findings": {}}), Evidence(base(), baseline))[0].passed)

    def test_a_baseline_that_is_missing_or_that_no_rule_looks_at(self) -> None:
        for name in ("all-scenarios-ran", "fault-coverage", "seeded-bugs-caught", "counter-limits", "duration-limits"):
            self.assertIn("--baseline=REPORT", self.refused(MET_ALONE, {name: ALL_RULES[name]}))
        self.assertIn("no rule of the policy looks at it", self.refused(Evidence(base(), BASELINE), {"complete": {}}))

    def test_a_baseline_with_findings_may_be_compared_with(self) -> None:
        baseline = dataclasses.replace(BASELINE, exit_code=1)
        self.assertTrue(judge(policy_of({"no-new-findings": {}}), Evidence(base(), baseline))[0].passed)

    def test_a_report_or_a_shard_of_it_is_not_its_own_canary(self) -> None:
        bug = {"bug": Option("early", "command line")}
        failed, other = case("A1.a", verdict="failed"), case("A2.b", verdict="failed")
        record = base(options=bug, cases=(failed, other), exit_code=1)
        for canary in (record, dataclasses.replace(record, cases=(other,), duration_ms=3.0)):
            said = self.refused(Evidence(record, canaries=(canary,)), {"canary-failed": {}})
            self.assertIn("the canary is the report itself or one of its shards", said)
        again = dataclasses.replace(record, cases=(dataclasses.replace(failed, duration_ms=101.0), other))
        self.assertTrue(judge(policy_of({"canary-failed": {}}), Evidence(record, canaries=(again,)))[0].passed)

    def test_a_canary_that_no_rule_looks_at_or_that_is_not_like_the_report(self) -> None:
        self.assertIn("no rule canary-failed", self.refused(Evidence(base(), canaries=(CANARY,))))
        for fields in ({"version": "0"}, {"driver": "real"}, {"plan_digest": "b" * 16}):
            canary = dataclasses.replace(CANARY, **fields)
            said = self.refused(Evidence(base(), canaries=(canary,)), {"canary-failed": {}})
            self.assertIn("the canary is not like the report", said)


if __name__ == "__main__":
    unittest.main()
