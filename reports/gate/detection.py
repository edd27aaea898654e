"""Rule seeded-bugs-caught: a selftest's matrix has no miss."""

from __future__ import annotations

import dataclasses

from reports.counted import count_of
from reports.gate.rule import Evidence, Opinion, Rule, glob, parameter, reason, unused
from reports.name_glob import matches_name


@dataclasses.dataclass(frozen=True)
class AllowedMiss:
    """A bug that may be missed."""

    bug: str = glob("glob of seeded bugs")
    reason: str = reason()
    scenario: str = glob("glob of the scenarios that may miss it", "*")


@dataclasses.dataclass(frozen=True)
class SeededBugsCaught:
    least_bugs: int = parameter(
        "how many seeded bugs there have to be at least, so that none is left out", 1, minimum=1
    )
    bugs: tuple[str, ...] = parameter("globs of seeded bugs; each has to name at least one of the report", ())
    baseline: bool = parameter("whether each claim of the baseline has to be there", False)
    allowed_misses: tuple[AllowedMiss, ...] = parameter("what may be missed", ())


def judge(parameters: SeededBugsCaught, evidence: Evidence) -> Opinion:
    cells = evidence.record.detection
    problems = [] if cells else ["the report has no claim about a seeded bug: it is not of a selftest"]
    problems += [
        f"{bug}: no claim is about this bug"
        for bug in parameters.bugs
        if not any(matches_name(bug, cell.bug) for cell in cells)
    ]
    there_are = len({cell.bug for cell in cells})
    if cells and there_are < parameters.least_bugs:
        problems.append(
            f"the claims are about {count_of(there_are, 'seeded bug')}, and {parameters.least_bugs} are the least"
        )
    if parameters.baseline and evidence.baseline:
        problems += [] if evidence.baseline.detection else ["the baseline has no claim: it is not of a selftest"]
        there = {(cell.bug, cell.scenario) for cell in cells}
        problems += [
            f"{cell.bug} by {cell.scenario}: the baseline has this claim, and the report does not"
            for cell in evidence.baseline.detection
            if (cell.bug, cell.scenario) not in there
        ]
    used: list[AllowedMiss] = []
    for cell in cells:
        if cell.caught:
            continue
        allowed = [
            miss
            for miss in parameters.allowed_misses
            if matches_name(miss.bug, cell.bug) and matches_name(miss.scenario, cell.scenario)
        ]
        used += allowed
        if not allowed:
            problems.append(f"{cell.bug} was missed by {cell.scenario}" + (f": {cell.reason}" if cell.reason else ""))
    notes = unused(parameters.allowed_misses, used, lambda miss: f"{miss.bug} by {miss.scenario}")
    return Opinion(
        tuple(problems),
        f"{sum(cell.caught for cell in cells)} of {count_of(len(cells), 'claim holds', 'claims hold')}",
        notes,
    )


RULE = Rule(
    "seeded-bugs-caught",
    "of a selftest: every seeded bug was caught by every scenario that claims to",
    SeededBugsCaught,
    judge,
    looks_at_baseline=lambda parameters: parameters.baseline,
    needs_baseline=lambda parameters: parameters.baseline,
)
