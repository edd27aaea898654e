"""Rule all-scenarios-ran: what was to run has passed or failed at least once."""

from __future__ import annotations

import dataclasses

from reports.counted import count_of
from reports.gate.rule import Evidence, Excuse, GateError, Opinion, Rule, by_name, excused, parameter, unused
from reports.name_glob import matches_glob
from reports.nearest import nearest
from reports.record import Case
from reports.structure import StructureError

RAN = ("passed", "failed")


@dataclasses.dataclass(frozen=True)
class AllScenariosRan:
    scenarios: tuple[str, ...] = parameter(
        "globs of SCENARIO or SCENARIO/VARIANT; each has to name at least one case, and all that it names have to have "
        "run",
        (),
    )
    suites: tuple[str, ...] = parameter(
        "suites, of which every variant of every scenario has to have run; the command asks the programs with the "
        "scenarios which those are",
        (),
    )
    baseline: bool = parameter("whether every case that ran in the baseline has to have run", False)
    allowed_skips: tuple[Excuse, ...] = parameter("cases that may be skipped; no more than that", ())

    def __post_init__(self) -> None:
        if not (self.scenarios or self.suites or self.baseline):
            raise StructureError("asks for nothing: name scenarios, suites or the baseline")


def judge(parameters: AllScenariosRan, evidence: Evidence) -> Opinion:
    there = by_name(evidence.record)
    problems = []
    expected: set[tuple[str, str]] = set()
    for glob in parameters.scenarios:
        named = [name for name in there if matches_glob(glob, *name)]
        problems += [] if named else [f"{glob}: no case has this name"]
        expected.update(named)
    for suite in parameters.suites:
        listed = [(one.scenario, one.variant) for one in evidence.catalogue if suite in one.suites]
        if not listed:
            hint = nearest(suite, {name for one in evidence.catalogue for name in one.suites})
            raise GateError(f"the rule {RULE.name} names the suite {suite!r}, and no scenario is in it{hint}")
        expected.update(listed)
    if parameters.baseline and evidence.baseline:
        expected.update(name for name, runs in by_name(evidence.baseline).items() if _ran(runs))
    if not (expected or problems):
        problems.append("nothing had to run: no case of the baseline passed or failed")
    used: list[Excuse] = []
    for name in sorted(expected):
        runs = there.get(name, [])
        verdicts = {case.verdict for case in runs}
        excuses = excused(parameters.allowed_skips, *name) if verdicts == {"skipped"} else []
        used += excuses
        if not _ran(runs) and not excuses:
            problems.append(f"{'/'.join(name)}: {_why(runs)}")
    if expected and not problems and not any(_ran(there.get(name, [])) for name in expected):
        problems.append("nothing ran: all that had to was skipped")
    notes = unused(parameters.allowed_skips, used, lambda excuse: excuse.case)
    met = f"{count_of(len(expected), 'variant')} of scenarios ran"
    return Opinion(tuple(problems), met + (", or may be skipped" if used else ""), notes)


def _ran(runs: list[Case]) -> bool:
    return any(case.verdict in RAN for case in runs)


def _why(runs: list[Case]) -> str:
    if not runs:
        return "it is not among the cases"
    return f"{runs[0].verdict}" + (f": {runs[0].reason}" if runs[0].reason else "")


RULE = Rule(
    "all-scenarios-ran",
    "each variant of the scenarios named has a case that passed or failed: what is missing, skipped, inconclusive or "
    "an error did not run",
    AllScenariosRan,
    judge,
    looks_at_baseline=lambda parameters: parameters.baseline,
    needs_baseline=lambda parameters: parameters.baseline,
)
