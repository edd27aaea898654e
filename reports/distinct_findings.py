"""The findings of a run without repetition: many cases with one fault are one finding, by its fingerprint."""

from __future__ import annotations

import dataclasses

from reports.fingerprint import fingerprint
from reports.record import Case, Finding, Record


@dataclasses.dataclass
class DistinctFinding:
    """A finding as the first case had it, and in how many cases it was there."""

    case: Case
    finding: Finding
    fingerprint: str
    cases: int = 0


def distinct_findings(record: Record) -> list[DistinctFinding]:
    """In the order in which the record has them first."""
    found: dict[tuple[str, str], DistinctFinding] = {}
    for case in record.cases:
        of_case: dict[tuple[str, str], Finding] = {}
        for finding in case.findings:
            of_case.setdefault((finding.kind, fingerprint(case.scenario, finding)), finding)
        for key, finding in of_case.items():
            found.setdefault(key, DistinctFinding(case, finding, key[1])).cases += 1
    return list(found.values())
