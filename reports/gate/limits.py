"""Rules counter-limits and duration-limits: numbers of each case against the baseline's.

The noise rule. What is compared is the median over those runs of a case that passed: up to half of the runs may be
disturbed, by whatever else the machine does, without moving it, and runs that did not pass end early or late for
reasons of their own. A ratio says little about small numbers, since three is half as many again as two; so a limit is
broken only by a median that is past the ratio and further from the baseline's than `noise`. With fewer runs than
`runs` on either side there is no median to speak of, and the case is not judged; a limit that judges no case is broken.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence

from reports.counted import count_of
from reports.gate.rule import Evidence, Opinion, Rule, by_name, glob, parameter
from reports.name_glob import matches_glob, matches_name
from reports.record import Case, Record
from reports.structure import StructureError

_RUNS_HELP = "how many runs of a case have to have passed, in the report and in the baseline, for it to be judged"
_NOT_JUDGED_HELP = (
    "what a case with fewer is: a reason to fail, or a note; a limit by which no case at all is judged is a reason to "
    "fail in any case"
)
_MOST_HELP = "the greatest ratio to the baseline's median that is no problem"


@dataclasses.dataclass(frozen=True)
class CounterLimit:
    """A limit on a counter. At least one of `most` and `least` has to be there."""

    counter: str = glob("glob of the counters' names")
    noise: float = parameter("how far from the baseline's median a median may be in any case", minimum=0)
    case: str = glob("glob of SCENARIO or SCENARIO/VARIANT", "*")
    most: float | None = parameter(_MOST_HELP, None, minimum=1)
    least: float | None = parameter("the smallest ratio that is no problem, at most 1", None, minimum=0)

    def __post_init__(self) -> None:
        if self.most is None and self.least is None:
            raise StructureError("limits nothing: give most or least")
        if self.least is not None and self.least > 1:
            raise StructureError("is above 1, so the baseline itself would break it").inside("least")


@dataclasses.dataclass(frozen=True)
class DurationLimit:
    """A limit on the duration of cases."""

    most: float = parameter(_MOST_HELP, minimum=1)
    noise_ms: float = parameter("how much longer than the baseline's a median may be in any case", minimum=0)
    case: str = glob("glob of SCENARIO or SCENARIO/VARIANT", "*")


@dataclasses.dataclass(frozen=True)
class CounterLimits:
    limits: tuple[CounterLimit, ...] = parameter("each has to find something to judge", least=1)
    runs: int = parameter(_RUNS_HELP, 5, minimum=1)
    not_judged: str = parameter(_NOT_JUDGED_HELP, "fail", words=("fail", "note"))


@dataclasses.dataclass(frozen=True)
class DurationLimits:
    limits: tuple[DurationLimit, ...] = parameter("each has to find something to judge", least=1)
    runs: int = parameter(_RUNS_HELP, 5, minimum=1)
    not_judged: str = parameter(_NOT_JUDGED_HELP, "fail", words=("fail", "note"))


@dataclasses.dataclass(frozen=True)
class _Bound:
    """A limit of either rule, for one kind of number. `values` has those of a case's runs, by the number's name."""

    case: str
    title: str
    most: float | None
    least: float | None
    noise: float
    unit: str
    values: Callable[[Sequence[Case]], dict[str, list[float]]]


def judge_counters(parameters: CounterLimits, evidence: Evidence) -> Opinion:
    bounds = [
        _Bound(one.case, one.counter, one.most, one.least, one.noise, "", _counters(one.counter))
        for one in parameters.limits
    ]
    return _judge(bounds, parameters.runs, parameters.not_judged, evidence)


def judge_durations(parameters: DurationLimits, evidence: Evidence) -> Opinion:
    bounds = [
        _Bound(one.case, "the duration", one.most, None, one.noise_ms, " ms", _durations) for one in parameters.limits
    ]
    return _judge(bounds, parameters.runs, parameters.not_judged, evidence)


def _counters(counter: str) -> Callable[[Sequence[Case]], dict[str, list[float]]]:
    def values(runs: Sequence[Case]) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for case in runs:
            for name, value in case.counters.items():
                if matches_name(counter, name):
                    found.setdefault(name, []).append(value)
        return found

    return values


def _durations(runs: Sequence[Case]) -> dict[str, list[float]]:
    return {"duration": [case.duration_ms for case in runs]} if runs else {}


@dataclasses.dataclass(frozen=True)
class _Pair:
    """A number of a case, from those runs of the report and of the baseline that passed."""

    label: str
    mine: list[float]
    theirs: list[float]


def _judge(bounds: Sequence[_Bound], runs: int, not_judged: str, evidence: Evidence) -> Opinion:
    assert evidence.baseline is not None
    now, before = _passed(evidence.record), _passed(evidence.baseline)
    problems: list[str] = []
    open_ones: list[str] = []
    judged = 0
    for bound in bounds:
        pairs = _pairs(bound, now, before)
        if not pairs:
            problems.append(f"{bound.title} of {bound.case}: no run that passed has this, here or in the baseline")
        so_far = judged
        for pair in pairs:
            if min(len(pair.mine), len(pair.theirs)) < runs:
                counts = f"{count_of(len(pair.mine), 'run')} in the report and {len(pair.theirs)} in the baseline"
                open_ones.append(f"not judged: {pair.label}: {counts}, {runs} are needed")
            else:
                judged += 1
                problems += _broken(bound, pair)
        if pairs and judged == so_far:
            needed = count_of(runs, "run that passed is", "runs that passed are")
            why = f"{needed} needed, in the report and in the baseline"
            problems.append(f"{bound.title} of {bound.case}: nothing was judged, since {why}")
    if not_judged == "fail":
        problems, open_ones = problems + open_ones, []
    return Opinion(
        tuple(problems), f"{count_of(judged, 'median is', 'medians are')} within the limits", tuple(open_ones)
    )


_Runs = dict[tuple[str, str], list[Case]]


def _pairs(bound: _Bound, now: _Runs, before: _Runs) -> list[_Pair]:
    """What a limit is about: all cases that it names, of either side."""
    pairs = []
    for name in sorted(now.keys() | before.keys()):
        if matches_glob(bound.case, *name):
            new, old = bound.values(now.get(name, [])), bound.values(before.get(name, []))
            for number in sorted(new.keys() | old.keys()):
                pairs.append(_Pair(f"{number} of {'/'.join(name)}", new.get(number, []), old.get(number, [])))
    return pairs


def _passed(record: Record) -> _Runs:
    return {name: [case for case in runs if case.verdict == "passed"] for name, runs in by_name(record).items()}


def _broken(bound: _Bound, pair: _Pair) -> list[str]:
    new, old = statistics.median(pair.mine), statistics.median(pair.theirs)
    far = abs(new - old) > bound.noise
    said = f"{pair.label}: the median is {new:g}{bound.unit}, the baseline's {old:g}{bound.unit}"
    if far and bound.most is not None and new > bound.most * old:
        return [f"{said}, and {bound.most:g} times that is the most"]
    if far and bound.least is not None and new < bound.least * old:
        return [f"{said}, and {bound.least:g} times that is the least"]
    return []


COUNTER_RULE = Rule(
    "counter-limits",
    "counters of each case against the baseline's, as ratios of medians",
    CounterLimits,
    judge_counters,
    looks_at_baseline=lambda parameters: True,
    needs_baseline=lambda parameters: True,
)
DURATION_RULE = Rule(
    "duration-limits",
    "durations of each case against the baseline's, as ratios of medians",
    DurationLimits,
    judge_durations,
    looks_at_baseline=lambda parameters: True,
    needs_baseline=lambda parameters: True,
)
