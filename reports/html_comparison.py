"""What changed between a run and its baseline, for the page. Cases are the same by scenario, variant and run; findings
by their fingerprint.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from reports.distinct_findings import DistinctFinding, distinct_findings
from reports.record import Case, Record

_Key = tuple[str, str, int]


@dataclasses.dataclass(frozen=True)
class Change:
    """A figure then and now."""

    name: str
    before: float
    after: float

    @property
    def ratio(self) -> float | None:
        return self.after / self.before if self.before else None

    @property
    def weight(self) -> float:
        """How far the ratio is from one, either way; more than any ratio if it cannot be told."""
        if self.ratio is None or self.ratio <= 0:
            return float("inf") if self.before != self.after else 0.0
        return max(self.ratio, 1 / self.ratio)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """`verdicts` has the cases whose verdict changed, with the two."""

    new: tuple[DistinctFinding, ...]
    gone: tuple[DistinctFinding, ...]
    still: tuple[DistinctFinding, ...]
    verdicts: tuple[tuple[Case, Case], ...]
    appeared: int
    disappeared: int
    common: int
    counters: tuple[Change, ...]
    durations: tuple[Change, ...]


def compare(baseline: Record, record: Record) -> Comparison:
    before, after = _by_key(baseline), _by_key(record)
    common = [key for key in after if key in before]
    then = {group.fingerprint: group for group in distinct_findings(baseline)}
    now = {group.fingerprint: group for group in distinct_findings(record)}
    return Comparison(
        new=tuple(group for name, group in now.items() if name not in then),
        gone=tuple(group for name, group in then.items() if name not in now),
        still=tuple(group for name, group in now.items() if name in then),
        verdicts=tuple((before[key], after[key]) for key in common if before[key].verdict != after[key].verdict),
        appeared=len(after) - len(common),
        disappeared=len(before) - len(common),
        common=len(common),
        counters=_changes(before, after, common, lambda case: case.counters.items()),
        durations=_changes(before, after, common, lambda case: ((case.scenario, case.duration_ms),)),
    )


def _by_key(record: Record) -> dict[_Key, Case]:
    return {(case.scenario, case.variant, case.run): case for case in record.cases if not case.point}


def _changes(
    before: dict[_Key, Case],
    after: dict[_Key, Case],
    keys: Iterable[_Key],
    figures: Callable[[Case], Iterable[tuple[str, float]]],
) -> tuple[Change, ...]:
    """Sums of figures over the cases that both have, the largest change first."""
    sums: dict[str, list[float]] = {}
    for key in keys:
        for position, case in enumerate((before[key], after[key])):
            for name, value in figures(case):
                sums.setdefault(name, [0.0, 0.0])[position] += value
    changes = [Change(name, *pair) for name, pair in sums.items()]
    return tuple(sorted(changes, key=lambda change: (-change.weight, change.name)))
