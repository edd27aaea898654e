"""The rules about the run as a whole: that it came to its end and to verdicts, and what it ran with."""

from __future__ import annotations

import dataclasses

from reports.gate.rule import Evidence, Excuse, Opinion, Rule, excused, name_of, parameter, unused
from reports.name_glob import matches_name
from reports.record import Case


@dataclasses.dataclass(frozen=True)
class Complete:
    pass


def judge_complete(parameters: Complete, evidence: Evidence) -> Opinion:
    record = evidence.record
    problems = []
    if record.exit_code is None:
        problems.append("the report was written while the run went on, and the run never came to its end")
    if record.interrupted:
        problems.append(f"the run was interrupted by {record.interrupted}")
    if record.not_run:
        problems.append(f"{record.not_run} cases were not run")
    return Opinion(tuple(problems), f"the run ended by itself with exit code {record.exit_code}, and left nothing out")


@dataclasses.dataclass(frozen=True)
class NoErrors:
    pass


def judge_errors(parameters: NoErrors, evidence: Evidence) -> Opinion:
    problems = [_told(case) for case in evidence.record.cases if case.verdict == "error"]
    return Opinion(tuple(problems), "the harness could judge each case")


@dataclasses.dataclass(frozen=True)
class NoInconclusive:
    allowed: tuple[Excuse, ...] = parameter("cases that may be inconclusive", ())


def judge_inconclusive(parameters: NoInconclusive, evidence: Evidence) -> Opinion:
    problems = []
    used: list[Excuse] = []
    for case in evidence.record.cases:
        if case.verdict == "inconclusive":
            excuses = excused(parameters.allowed, case.scenario, case.variant)
            used += excuses
            problems += [] if excuses else [_told(case)]
    notes = unused(parameters.allowed, used, lambda excuse: excuse.case)
    return Opinion(tuple(problems), "no case is inconclusive" if not used else "no other case is inconclusive", notes)


def _told(case: Case) -> str:
    run = f" (run {case.run})" if case.run else ""
    return f"{name_of(case)}{run}: {case.verdict}" + (f": {case.reason}" if case.reason else "")


@dataclasses.dataclass(frozen=True)
class Sanitizers:
    on: tuple[str, ...] = parameter(
        "those that the subject has to be built with", words=("address", "thread", "undefined"), least=1
    )


def judge_sanitizers(parameters: Sanitizers, evidence: Evidence) -> Opinion:
    built = evidence.record.subject.sanitizers
    problems = [f"the subject was built without the {name} sanitizer" for name in parameters.on if name not in built]
    return Opinion(tuple(problems), f"the subject was built with {' and '.join(built)} sanitizer")


@dataclasses.dataclass(frozen=True)
class Driver:
    kind: str = parameter("which driver was below the shim", words=("model", "real", "none"))
    device: str = parameter("glob of the device's name", "")
    version: int = parameter("the least version, as cuDriverGetVersion tells it", 0, minimum=0)


def judge_driver(parameters: Driver, evidence: Evidence) -> Opinion:
    record = evidence.record
    problems = []
    if record.driver != parameters.kind:
        problems.append(f"the driver was {record.driver}, and has to be {parameters.kind}")
    if parameters.device and not matches_name(parameters.device, record.device or ""):
        problems.append(f"the device was {record.device or 'none'}, and has to be {parameters.device}")
    if parameters.version > (record.driver_version or 0):
        problems.append(f"the driver's version was {record.driver_version}, and {parameters.version} is the least")
    return Opinion(
        tuple(problems), f"the driver was {record.driver}" + (f" on {record.device}" if record.device else "")
    )


COMPLETE_RULE = Rule(
    "complete", "the run ended by itself, was not interrupted, and left no case out", Complete, judge_complete
)
ERRORS_RULE = Rule("no-errors", "there was no case that the harness could not run or judge", NoErrors, judge_errors)
INCONCLUSIVE_RULE = Rule(
    "no-inconclusive",
    "there was no case in which a fault that had to fire did not, or no oracle ran",
    NoInconclusive,
    judge_inconclusive,
)
SANITIZERS_RULE = Rule("sanitizers", "the subject was built with these sanitizers", Sanitizers, judge_sanitizers)
DRIVER_RULE = Rule("driver", "this driver was used", Driver, judge_driver)
