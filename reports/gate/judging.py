"""Applies a policy: what cannot be judged is refused, and every rule says its opinion."""

from __future__ import annotations

import dataclasses

from reports.counted import count_of
from reports.gate.canary import bug_of
from reports.gate.conditions import JUDGED
from reports.gate.policy import Policy
from reports.gate.rule import Evidence, GateError
from reports.merge import case_key
from reports.record import Record


@dataclasses.dataclass(frozen=True)
class Judgement:
    """Of one rule. `problems` is empty if it is met; `met` then says why."""

    rule: str
    problems: tuple[str, ...]
    met: str
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.problems


def judge(policy: Policy, evidence: Evidence) -> list[Judgement]:
    """One judgement for each rule of the policy, in the order of the table. Raises GateError.

    ENSURES: what one rule says does not depend on which other rules there are, so that adding one never lets a report
    pass that did not.
    """
    _refuse_unusable(policy, evidence)
    judgements = []
    for rule, parameters in policy.in_force():
        opinion = rule.judge(parameters, evidence)
        judgements.append(Judgement(rule.name, opinion.problems, opinion.met, opinion.notes))
    return judgements


def _refuse_unusable(policy: Policy, evidence: Evidence) -> None:
    record = evidence.record
    if not (record.cases or record.detection or record.operations):
        raise GateError("the report has no case, operation or claim, so there is nothing to judge")
    if record.exit_code is None and "complete" not in policy.rules:
        raise GateError("the report was written while the run went on, and the run never came to its end")
    if policy.command and record.command != policy.command:
        raise GateError(f"the report is of holdfast {record.command}, and the policy is for holdfast {policy.command}")
    if policy.plan and record.plan_digest != policy.plan:
        raise GateError(f"the report is from the plan {_plan(record)}, and the policy states {policy.plan}")
    _refuse_baseline(policy, evidence)
    if evidence.canaries and "canary-failed" not in policy.rules:
        raise GateError("there is a canary, and the policy has no rule canary-failed to look at it")
    for one in evidence.canaries:
        if _is_part(one, record):
            raise GateError("the canary is the report itself or one of its shards: what is judged is no proof")
        for name in ("version", "driver", "plan_digest"):
            if getattr(one, name) != getattr(record, name):
                raise GateError(f"the canary is not like the report: {_difference(name, one, record)}")


def _is_part(other: Record, record: Record) -> bool:
    """Whether it is the same report, or a shard that was merged into it: with its times, a case is like no other."""
    if other == record:
        return True
    cases = {case_key(case): case for case in record.cases}
    return (
        bool(other.cases)
        and bug_of(other) == bug_of(record)
        and all(cases.get(case_key(case)) == case for case in other.cases)
    )


def _refuse_baseline(policy: Policy, evidence: Evidence) -> None:
    record, baseline = evidence.record, evidence.baseline
    if baseline is None:
        for rule, parameters in policy.in_force():
            if rule.needs_baseline(parameters):
                raise GateError(f"the rule {rule.name} compares with a baseline; give one with --baseline=REPORT")
        return
    if not any(rule.looks_at_baseline(parameters) for rule, parameters in policy.in_force()):
        raise GateError("there is a baseline, and no rule of the policy looks at it")
    if baseline == record:
        raise GateError("the baseline is the report itself, which it could only equal")
    if baseline.exit_code is None or baseline.interrupted:
        raise GateError("the baseline is of a run that did not come to its end")
    if baseline.exit_code not in JUDGED:
        raise GateError(f"the baseline is of a run with exit code {baseline.exit_code}, which is no good one")
    if baseline.not_run:
        raise GateError(f"the baseline is of a run that left {count_of(baseline.not_run, 'case')} out")
    for name in ("command", "driver", "plan_digest"):
        if getattr(baseline, name) != getattr(record, name):
            raise GateError(f"the baseline cannot be compared with: {_difference(name, baseline, record)}")
    if baseline.subject.sanitizers != record.subject.sanitizers:
        raise GateError("the baseline cannot be compared with: its subject was built with other sanitizers")


def _difference(name: str, other: Record, record: Record) -> str:
    what = name.replace("plan_digest", "plan")
    return f"its {what} is {getattr(other, name) or 'none'}, and the report's {getattr(record, name) or 'none'}"


def _plan(record: Record) -> str:
    return record.plan_digest or "none"
