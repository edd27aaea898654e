"""Rule canary-failed: what had to fail has failed. A gate that has never seen a failure proves nothing by a pass."""

from __future__ import annotations

import dataclasses

from reports.gate.rule import Evidence, Opinion, Rule, parameter
from reports.name_glob import matches_glob, matches_name
from reports.record import Record


@dataclasses.dataclass(frozen=True)
class CanaryFailed:
    bugs: tuple[str, ...] = parameter("globs of seeded bugs; for each there has to be a canary that ran with it", ())
    scenarios: tuple[str, ...] = parameter(
        "globs of SCENARIO or SCENARIO/VARIANT; of each a case has to have failed, in a canary or in the report itself",
        (),
    )


def judge(parameters: CanaryFailed, evidence: Evidence) -> Opinion:
    problems = [f"{_title(one)} has no case that failed" for one in evidence.canaries if not _failed(one)]
    for bug in parameters.bugs:
        if not any(matches_name(bug, bug_of(one)) for one in evidence.canaries if bug_of(one)):
            problems.append(f"no canary ran with the seeded bug {bug}; add --canary=REPORT with one")
    reports = (evidence.record, *evidence.canaries)
    for glob in parameters.scenarios:
        if not any(matches_glob(glob, *name) for one in reports for name in _failed(one)):
            problems.append(f"no case of {glob} failed")
    if not evidence.canaries and not parameters.scenarios and not parameters.bugs:
        problems.append("there is no canary; add --canary=REPORT, of a run with a seeded bug")
    count = len(evidence.canaries) + len(parameters.scenarios)
    return Opinion(tuple(problems), f"{count} of {count} canaries failed, as they must")


def bug_of(record: Record) -> str:
    """The seeded bug that a run had; empty for the library as it is."""
    option = record.options.get("bug")
    return option.value if option and isinstance(option.value, str) else ""


def _failed(record: Record) -> list[tuple[str, str]]:
    return [(case.scenario, case.variant) for case in record.cases if case.verdict == "failed"]


def _title(record: Record) -> str:
    bug = bug_of(record)
    return f"the canary of {record.started}" + (f" with the seeded bug {bug}" if bug else "")


RULE = Rule(
    "canary-failed",
    "each report given by --canary has a failed case, and so do the seeded bugs and scenarios named: it proves that "
    "the gate can see",
    CanaryFailed,
    judge,
)
