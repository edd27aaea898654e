"""Rule fault-coverage: a sweep put faults at enough points of each operation."""

from __future__ import annotations

import dataclasses

from reports.counted import count_of
from reports.gate.rule import Evidence, Opinion, Rule, glob, parameter
from reports.name_glob import matches_name
from reports.record import Operation
from reports.structure import StructureError

FORMS = ("points", "before", "after", "transient", "persistent", "alloc", "double")


def _least(text: str) -> int:
    number: int = parameter(f"the least number of {text}", 0, minimum=0)
    return number


@dataclasses.dataclass(frozen=True)
class Minimum:
    """At how many points an operation has to have been made to fail, by form."""

    scenario: str = glob("glob of the operations' scenarios; it has to name at least one")
    points: int = _least("points")
    before: int = _least("points before the call takes effect")
    after: int = _least("points after the call took effect")
    transient: int = _least("points at which one call fails")
    persistent: int = _least("points from which on every call fails")
    alloc: int = _least("points at which an allocation fails")
    double: int = _least("points with a second fault behind the first")


@dataclasses.dataclass(frozen=True)
class FaultCoverage:
    minimums: tuple[Minimum, ...] = parameter("how many points there have to be", ())
    baseline: bool = parameter(
        "whether each operation of the baseline has to be there, with no point of any form fewer and no site less",
        False,
    )

    def __post_init__(self) -> None:
        if not (self.minimums or self.baseline):
            raise StructureError("asks for nothing: name minimums or the baseline")


def judge(parameters: FaultCoverage, evidence: Evidence) -> Opinion:
    operations = evidence.record.operations
    problems = [] if operations else ["the report has no operation: it is not of a sweep"]
    for minimum in parameters.minimums:
        named = [operation for operation in operations if matches_name(minimum.scenario, operation.scenario)]
        problems += [] if named else [f"{minimum.scenario}: no operation has this name"]
        for operation in named:
            problems += _too_few(operation, {form: getattr(minimum, form) for form in FORMS}, "the policy asks for")
    if parameters.baseline and evidence.baseline:
        problems += _less_than(operations, evidence.baseline.operations)
    points = sum(operation.points for operation in operations)
    if operations and not points:
        problems.append("no operation was made to fail at any point")
    return Opinion(tuple(problems), f"{count_of(points, 'point')} in {count_of(len(operations), 'operation')}")


def _less_than(operations: tuple[Operation, ...], before: tuple[Operation, ...]) -> list[str]:
    now = {operation.scenario: operation for operation in operations}
    problems = [] if before else ["the baseline has no operation: it is not of a sweep"]
    for old in before:
        operation = now.get(old.scenario)
        if operation is None:
            problems.append(f"{old.scenario}: the baseline has this operation, and the report does not")
            continue
        problems += _too_few(operation, {form: getattr(old, form) for form in FORMS}, "the baseline has")
        gone = sorted(set(old.sites) - set(operation.sites))
        problems += [f"{old.scenario}: no longer fails at {', '.join(gone)}"] if gone else []
    return problems


def _too_few(operation: Operation, least: dict[str, int], says: str) -> list[str]:
    return [
        f"{operation.scenario}: {getattr(operation, form)} {'points' if form == 'points' else f'{form} points'}, and "
        f"{says} {number}"
        for form, number in least.items()
        if getattr(operation, form) < number
    ]


RULE = Rule(
    "fault-coverage",
    "of a sweep: each operation was made to fail at enough points, before and after calls took effect, in allocations, "
    "and twice",
    FaultCoverage,
    judge,
    looks_at_baseline=lambda parameters: parameters.baseline,
    needs_baseline=lambda parameters: parameters.baseline,
)
