"""What changed from one record to another: findings by fingerprint, cases by scenario, variant, run and point."""

from __future__ import annotations

import dataclasses

from reports.case_name import case_name
from reports.distinct_findings import DistinctFinding, by_fingerprint
from reports.merge import case_key
from reports.record import Case, Record

# A duration has changed if it is so many times longer or shorter, and by so much: less is what the machine does.
_RATIO = 1.5
_LEAST_MS = 50.0


@dataclasses.dataclass(frozen=True)
class Change:
    """A value of a case that is another now. `name` is empty for its verdict."""

    case: str
    name: str
    old: str | float | None
    new: str | float | None


@dataclasses.dataclass(frozen=True)
class Difference:
    """What is new, gone and changed. Durations are told, and make no difference: no two runs have the same."""

    new: dict[str, DistinctFinding]
    gone: dict[str, DistinctFinding]
    still: dict[str, DistinctFinding]
    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    verdicts: tuple[Change, ...]
    counters: tuple[Change, ...]
    durations: tuple[Change, ...]

    def __bool__(self) -> bool:
        parts = (self.new, self.gone, self.appeared, self.vanished, self.verdicts, self.counters)
        return any(len(part) > 0 for part in parts)


def compare(old: Record, new: Record) -> Difference:
    """What changed from `old` to `new`."""
    before, now = by_fingerprint(old), by_fingerprint(new)
    old_cases = {case_key(case): case for case in old.cases}
    new_cases = {case_key(case): case for case in new.cases}
    both = [(old_cases[key], new_cases[key]) for key in sorted(old_cases.keys() & new_cases.keys())]
    return Difference(
        new={key: now[key] for key in now if key not in before},
        gone={key: before[key] for key in before if key not in now},
        still={key: now[key] for key in now if key in before},
        appeared=tuple(case_name(new_cases[key]) for key in sorted(new_cases.keys() - old_cases.keys())),
        vanished=tuple(case_name(old_cases[key]) for key in sorted(old_cases.keys() - new_cases.keys())),
        verdicts=tuple(
            Change(case_name(case), "", was.verdict, case.verdict) for was, case in both if was.verdict != case.verdict
        ),
        counters=tuple(change for was, case in both for change in _counters(was, case)),
        durations=tuple(
            Change(case_name(case), "duration", was.duration_ms, case.duration_ms)
            for was, case in both
            if _is_another_duration(was.duration_ms, case.duration_ms)
        ),
    )


def _counters(was: Case, case: Case) -> list[Change]:
    names = sorted({*was.counters, *case.counters})
    values = [(name, was.counters.get(name), case.counters.get(name)) for name in names]
    return [Change(case_name(case), name, old, new) for name, old, new in values if old != new]


def _is_another_duration(old: float, new: float) -> bool:
    return abs(new - old) > _LEAST_MS and max(new, old) > _RATIO * min(new, old)
