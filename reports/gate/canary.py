"""Rule canary-failed: what had to fail has failed. A gate that has never seen a failure proves nothing by a pass."""

from __future__ import annotations

import dataclasses

from reports.counted import count_of
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
    problems = [f"{_title(one)} {why}" for one in evidence.canaries if (why := _fault(parameters, one))]
    canaries = [one for one in evidence.canaries if not _fault(parameters, one)]
    for bug in parameters.bugs:
        if not any(matches_name(bug, bug_of(one)) for one in canaries if bug_of(one)):
            problems.append(f"no canary ran with the seeded bug {bug}; add --canary=REPORT with one")
    reports = (evidence.record, *canaries)
    for glob in parameters.scenarios:
        if not any(matches_glob(glob, *name) for one in reports for name in _failed(one)):
            problems.append(f"no case of {glob} failed")
    if not evidence.canaries and not parameters.scenarios and not parameters.bugs:
        problems.append("there is no canary; add --canary=REPORT, of a run with a seeded bug")
    count = len(evidence.canaries) + len(parameters.scenarios)
    return Opinion(
        tuple(problems),
        f"{count} of {count_of(count, 'canary', 'canaries')} failed, as {'it' if count == 1 else 'they'} must",
    )


def _fault(parameters: CanaryFailed, one: Record) -> str:
    """Why a canary does not count; empty for one that does."""
    if one.exit_code is None:
        return "does not count: its run never came to its end"
    if one.interrupted:
        return f"does not count: its run was interrupted by {one.interrupted}"
    failed = _failed(one)
    if not failed:
        return "has no case that failed"
    # It failed by chance, unless it was made to: by a bug, or by a scenario that is there to fail.
    if not bug_of(one) and not any(matches_glob(glob, *name) for glob in parameters.scenarios for name in failed):
        return "does not count: it had no seeded bug, and none of the scenarios named failed in it"
    return ""


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
    "each report given by --canary came to its end and has a failed case, by its seeded bug or of a scenario named, "
    "and so do the seeded bugs and scenarios named: it proves that the gate can see",
    CanaryFailed,
    judge,
)
