"""`holdfast gate`: whether reports meet a policy. What is judged, and how, is in reports/gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.cli import layout
from harness.cli.catalogue import list_all_scenarios
from harness.cli.child_environment import loader_environment
from harness.cli.options import Invocation
from harness.cli.problems import UsageError
from harness.cli.report_input import read_file, read_merged, read_record, refuse_one_input_twice
from harness.cli.session import Console
from harness.cli.table import Paint
from harness.cli.verdict import ExitCode
from reports.counted import count_of
from reports.gate.judging import Judgement, judge
from reports.gate.policy import Policy, read_policy
from reports.gate.rule import Evidence, GateError, Listed
from reports.gate.scenarios import AllScenariosRan
from reports.visible import for_log

_MOST_PROBLEMS = 20  # of a rule that are told


def run(invocation: Invocation, environment: Mapping[str, str], console: Console) -> ExitCode:
    """Judges and prints. Raises UsageError for whatever cannot be judged."""
    if not invocation.positionals:
        raise UsageError("holdfast gate needs a report: holdfast gate REPORT ... --policy=FILE")
    refuse_one_input_twice(
        [*invocation.positionals, *invocation["--canary"], invocation["--policy"], invocation["--baseline"]]
    )
    policy = _policy(invocation["--policy"])
    record = read_merged(invocation.positionals)
    baseline = invocation["--baseline"]
    evidence = Evidence(
        record=record,
        baseline=read_record(baseline, "the baseline") if baseline else None,
        canaries=tuple(read_record(path, "the canary") for path in invocation["--canary"]),
        catalogue=_catalogue(policy, environment),
    )
    try:
        judgements = judge(policy, evidence)
    except GateError as problem:
        raise UsageError(str(problem)) from None
    paint = Paint(invocation["--color"], console.out, environment)
    console.out.writelines(f"{line}\n" for line in told(judgements, paint))
    return ExitCode.ALL_MET if all(one.passed for one in judgements) else ExitCode.FINDING


def _policy(path: str | None) -> Policy:
    if path is None:
        raise UsageError("holdfast gate needs a policy: --policy=FILE; docs/gate.md says what is in one")
    try:
        return read_policy(read_file(path, "the policy"))
    except GateError as problem:
        raise UsageError(f"the policy {path} cannot be used: {problem}") from None


def _catalogue(policy: Policy, environment: Mapping[str, str]) -> tuple[Listed, ...]:
    """The scenarios that there are. Only a policy that names suites has to know, and needs the programs for it."""
    ran = next((asked for asked in policy.rules.values() if isinstance(asked, AllScenariosRan)), None)
    if ran is None or not ran.suites:
        return ()
    places = layout.find_layout(environment)
    runner = places.need(layout.SCENARIO_RUNNER, "the program with the scenarios")
    shim = places.need(layout.SHIM, "the shim")
    scenarios = list_all_scenarios([runner, *places.python_runners()], loader_environment(environment, shim))
    return tuple(
        Listed(scenario.name, variant.name, tuple(scenario.suites))
        for scenario in scenarios
        for variant in scenario.variants
    )


def told(judgements: Sequence[Judgement], paint: Paint) -> list[str]:
    """A line for each rule, what else it has to say below, and the verdict."""
    lines = []
    for one in judgements:
        if one.passed:
            lines.append(f"{paint('green', 'pass')} {one.rule}: {for_log(one.met)}")
        else:
            more = f" (and {len(one.problems) - 1} more)" if len(one.problems) > 1 else ""
            lines.append(f"{paint('red', 'fail')} {one.rule}: {for_log(one.problems[0])}{more}")
            lines += [f"     {for_log(problem)}" for problem in one.problems[1:_MOST_PROBLEMS]]
            if len(one.problems) > _MOST_PROBLEMS:
                lines.append(f"     and {len(one.problems) - _MOST_PROBLEMS} more")
        lines += [f"     {paint('yellow', 'note')}: {for_log(note)}" for note in one.notes]
    broken = [one.rule for one in judgements if not one.passed]
    if broken:
        return [*lines, f"gate {paint('red', 'failed')}: {len(broken)} of {_rules(judgements)} broken"]
    return [*lines, f"gate {paint('green', 'passed')}: {_rules(judgements)} met"]


def _rules(judgements: Sequence[Judgement]) -> str:
    return count_of(len(judgements), "rule is", "rules are")
