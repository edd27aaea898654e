"""Rule no-new-findings: each finding is the baseline's, or a known one whose time is not up."""

from __future__ import annotations

import dataclasses

from reports.case_name import case_name
from reports.counted import count_of
from reports.distinct_findings import DistinctFinding, by_fingerprint
from reports.gate.rule import Evidence, Opinion, Rule, is_day, parameter, reason
from reports.structure import StructureError


@dataclasses.dataclass(frozen=True)
class Known:
    """A finding that is not new."""

    fingerprint: str = parameter("as reports have it", pattern="[0-9a-f]{16}", form="sixteen hexadecimal digits")
    reason: str = reason()
    expires: str = parameter(
        "the last day on which it is known; by the day on which the run started, in UTC",
        pattern="[0-9]{4}-[0-9]{2}-[0-9]{2}",
        form="2027-01-31",
    )

    def __post_init__(self) -> None:
        if not is_day(self.expires):
            raise StructureError(f"is {self.expires!r}, and the calendar has no such day").inside("expires")


@dataclasses.dataclass(frozen=True)
class NoNewFindings:
    known: tuple[Known, ...] = parameter("findings that are no reason to fail", ())

    def __post_init__(self) -> None:
        prints = [known.fingerprint for known in self.known]
        for one in prints:
            if prints.count(one) > 1:
                raise StructureError(f"has the fingerprint {one} more than once").inside("known")


def judge(parameters: NoNewFindings, evidence: Evidence) -> Opinion:
    found = by_fingerprint(evidence.record)
    old = by_fingerprint(evidence.baseline) if evidence.baseline else {}
    known = {entry.fingerprint: entry for entry in parameters.known}
    expired = {entry.fingerprint for entry in parameters.known if entry.expires < evidence.day}
    problems = []
    for key, one in found.items():
        what = f"{_title(one)}: {one.finding.message}"
        if key in expired:
            problems.append(f"known until {known[key].expires} ({known[key].reason}), so new: {what}")
        elif key not in known and key not in old:
            problems.append(what)
    gone = [entry for entry in parameters.known if entry.fingerprint not in found]
    notes = [f"the known finding {entry.fingerprint} no longer occurs ({entry.reason}); take it out" for entry in gone]
    notes += [f"the baseline's finding is gone: {_title(old[key])}" for key in old.keys() - found]
    met = f"{count_of(len(found), 'finding')}, all of them known or in the baseline" if found else "no finding"
    return Opinion(tuple(problems), met, tuple(sorted(notes)))


def _title(one: DistinctFinding) -> str:
    return f"{one.finding.kind} in {case_name(one.case)} [{one.fingerprint}]"


RULE = Rule(
    "no-new-findings",
    "each finding is one of the baseline's, if there is one, or a known one; they are compared by fingerprint",
    NoNewFindings,
    judge,
    looks_at_baseline=lambda parameters: True,
)
