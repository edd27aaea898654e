"""The rules about the run as a whole: that it came to its end and to verdicts, and what it ran with."""

from __future__ import annotations

import dataclasses

from reports.case_name import case_name
from reports.counted import count_of
from reports.gate.rule import Evidence, Excuse, Opinion, Rule, excused, parameter, unused
from reports.name_glob import matches_name
from reports.record import Case, Record

# The exit codes, which are those of harness/cli/verdict.py. Of the runs with these two, the findings say the rest.
JUDGED = (0, 1)
_FAILED = (2, 3)
_INCONCLUSIVE = 5
_MEANINGS: dict[int | None, str] = {
    2: "it could not be used",
    3: "the harness failed",
    4: "nothing ran",
    _INCONCLUSIVE: "it called itself inconclusive",
}


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
        problems.append(f"{count_of(record.not_run, 'case was', 'cases were')} not run")
    if record.exit_code not in (None, *JUDGED) and not record.interrupted:
        problems.append(_ended(record))
    return Opinion(tuple(problems), f"the run ended by itself with exit code {record.exit_code}, and left nothing out")


def _ended(record: Record) -> str:
    """How the run called its own end, and why."""
    return f"the run ended with exit code {record.exit_code}: {_MEANINGS.get(record.exit_code, 'its own')}" + "".join(
        f"; {note}" for note in record.notes
    )


@dataclasses.dataclass(frozen=True)
class NoErrors:
    pass


def judge_errors(parameters: NoErrors, evidence: Evidence) -> Opinion:
    problems = [_told(case) for case in evidence.record.cases if case.verdict == "error"]
    if evidence.record.exit_code in _FAILED:
        problems.append(_ended(evidence.record))
    return Opinion(tuple(problems), "the harness could judge each case")


@dataclasses.dataclass(frozen=True)
class NoInconclusive:
    allowed: tuple[Excuse, ...] = parameter(
        "cases that may be inconclusive; the exit code 5 that they cause still breaks the rule complete", ()
    )


def judge_inconclusive(parameters: NoInconclusive, evidence: Evidence) -> Opinion:
    problems = []
    used: list[Excuse] = []
    for case in evidence.record.cases:
        if case.verdict == "inconclusive":
            excuses = excused(parameters.allowed, case.scenario, case.variant)
            used += excuses
            problems += [] if excuses else [_told(case)]
    # A run calls itself inconclusive for its cases, or for what is in its notes, which no exception is for.
    explained = bool(used) and not evidence.record.notes
    if evidence.record.exit_code == _INCONCLUSIVE and not explained:
        problems.append(_ended(evidence.record))
    notes = unused(parameters.allowed, used, lambda excuse: excuse.case)
    return Opinion(tuple(problems), "no case is inconclusive" if not used else "no other case is inconclusive", notes)


def _told(case: Case) -> str:
    return f"{case_name(case)}: {case.verdict}" + (f": {case.reason}" if case.reason else "")


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
    "complete",
    "the run ended by itself with exit code 0 or 1, was not interrupted, and left no case out",
    Complete,
    judge_complete,
)
ERRORS_RULE = Rule(
    "no-errors",
    "there was no case that the harness could not run or judge, and the run did not end with exit code 2 or 3",
    NoErrors,
    judge_errors,
)
INCONCLUSIVE_RULE = Rule(
    "no-inconclusive",
    "there was no case in which a fault that had to fire did not, or no oracle ran, and the run did not call itself "
    "inconclusive, which is exit code 5",
    NoInconclusive,
    judge_inconclusive,
)
SANITIZERS_RULE = Rule("sanitizers", "the subject was built with these sanitizers", Sanitizers, judge_sanitizers)
DRIVER_RULE = Rule("driver", "this driver was used", Driver, judge_driver)
