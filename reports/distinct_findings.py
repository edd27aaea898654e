"""The findings of a run without repetition: many cases with one fault are one finding, by its fingerprint."""

from __future__ import annotations

import dataclasses
import functools

from reports.fingerprint import fingerprint
from reports.record import Case, Finding, Record

# Thousands of cases tend to have few findings, each many times over.
_cached_fingerprint = functools.lru_cache(maxsize=65_536)(fingerprint)


@dataclasses.dataclass
class DistinctFinding:
    """A finding as the first case had it; `indices` says in which of the record's cases it was."""

    case: Case
    finding: Finding
    fingerprint: str
    indices: list[int] = dataclasses.field(default_factory=list)

    @property
    def cases(self) -> int:
        return len(self.indices)


def distinct_findings(record: Record) -> list[DistinctFinding]:
    """In the order in which the record has them first."""
    found: dict[str, DistinctFinding] = {}
    for index, case in enumerate(record.cases):
        for finding in case.findings:
            key = _cached_fingerprint(case.scenario, finding)
            one = found.setdefault(key, DistinctFinding(case, finding, key))
            if one.indices[-1:] != [index]:
                one.indices.append(index)
    return list(found.values())


def by_fingerprint(record: Record) -> dict[str, DistinctFinding]:
    """The same, to look one up."""
    return {one.fingerprint: one for one in distinct_findings(record)}
