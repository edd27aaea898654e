"""What the scripts of the page work on: the cases in columns, the timelines, and what is drawn from a sweep. Bounded,
whatever the record holds: the page has to open in a browser.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

from reports.case_name import case_name
from reports.distinct_findings import DistinctFinding
from reports.html_focus import focus_of
from reports.html_text import Budget, anchor_of
from reports.record import SUMMARY_WORDS, Case, Moment, Operation, Record, Timeline

MOST_ROWS = 200_000
MOST_TIMELINES = 200
MOST_MOMENTS = 5_000  # of one timeline
MOST_FOCUSES = 20  # findings of one timeline
_TIMELINE_ROOM = 6_000_000  # characters, of all timelines
_NAME_ROOM = 5_000_000
_NOTE_ROOM = 3_000_000
_NUMBER_SIZE = 40  # about what a moment's numbers take, written down
_MOST = 1e15

VERDICTS = tuple(SUMMARY_WORDS)


class Names:
    """Each text once, and its index."""

    def __init__(self, room: Budget, most: int = 200) -> None:
        self.texts: list[str] = []
        self._known: dict[str, int] = {}
        self._room = room
        self._most = most

    def index(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = len(self.texts)
            self.texts.append(self._room.data(text, self._most))
        return self._known[text]


def cases_data(record: Record, groups: Sequence[DistinctFinding], most_linked: int) -> dict[str, Any]:
    """The rows of the table of cases. Of passing ones no more than the table shows."""
    names = Budget(_NAME_ROOM)
    scenarios, variants = Names(names), Names(names)
    order = _rows(record, scenarios, variants, names)
    row_of = {index: row for row, index in enumerate(order)}
    cases = [record.cases[index] for index in order]
    linked: dict[int, int] = {}
    for number, group in enumerate(groups[:most_linked]):
        for index in group.indices:
            if index in row_of:
                linked.setdefault(row_of[index], number)
    return {
        "scenario": [scenarios.index(case.scenario) for case in cases],
        "variant": [variants.index(case.variant) for case in cases],
        "scenarios": scenarios.texts,
        "variants": variants.texts,
        "run": [case.run for case in cases],
        "verdict": [VERDICTS.index(case.verdict) for case in cases],
        "ms": [_short(case.duration_ms) for case in cases],
        "mb": [round(case.peak_rss_mb or 0.0, 1) for case in cases],
        "note": _notes(cases),
        "finding": linked,
        "anchors": [anchor_of(group.fingerprint) for group in groups[:most_linked]],
        "verdicts": VERDICTS,
        "more": len(record.cases) - len(order),
        "points": record.passed_points,
    }


def _rows(record: Record, scenarios: Names, variants: Names, room: Budget) -> list[int]:
    """The indices of the cases that the table has: those that did not pass before those that did, if not all fit."""
    by_interest = sorted(range(len(record.cases)), key=lambda index: record.cases[index].verdict == "passed")
    rows = []
    for index in by_interest[:MOST_ROWS]:
        if room.used_up:
            break
        scenarios.index(record.cases[index].scenario)
        variants.index(record.cases[index].variant)
        rows.append(index)
    return sorted(rows)


def _notes(cases: Sequence[Case]) -> dict[int, str]:
    """By row."""
    room = Budget(_NOTE_ROOM)
    notes = {}
    for row, case in enumerate(cases):
        note = _note(case)
        if note and not room.used_up:
            notes[row] = room.data(note, 160)
    return notes


def _note(case: Case) -> str:
    if not case.findings:
        return case.reason
    first = case.findings[0]
    others = f" (and {len(case.findings) - 1} more)" if len(case.findings) > 1 else ""
    return f"{first.kind}: {first.message[:200]}{others}"


def timelines_data(record: Record) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """The timelines, and the number of each by the index of its case. Those with a finding come first."""
    with_timeline = [index for index, case in enumerate(record.cases) if case.timeline and case.timeline.moments]
    with_timeline.sort(key=lambda index: record.cases[index].verdict != "failed")
    room = Budget(_TIMELINE_ROOM)
    written: list[dict[str, Any]] = []
    numbers: dict[int, int] = {}
    for index in with_timeline[:MOST_TIMELINES]:
        case = record.cases[index]
        if room.used_up or case.timeline is None:
            break
        numbers[index] = len(written)
        written.append(_timeline(case, case.timeline, room, drawn=record.fuzz is not None))
    return written, numbers


def count_timelines(record: Record) -> int:
    return sum(1 for case in record.cases if case.timeline and case.timeline.moments)


# A fuzzer's child keeps one timeline, and the sequence is made short only when it has ended.
DRAWN = "This is the run in which the fuzzer drew it: the last sequence here is the one before it was made short."


def _timeline(case: Case, timeline: Timeline, room: Budget, drawn: bool) -> dict[str, Any]:
    # The last moments are those in which the contract broke.
    moments = timeline.moments[-MOST_MOMENTS:]
    names = Names(room)
    room.spend(" " * (_NUMBER_SIZE * len(moments)))
    return {
        "case": room.data(case_name(case), 200),
        "verdict": case.verdict,
        "finding": room.data(_note(case), 200),
        "note": DRAWN if drawn and case.findings else "",
        "findings": [_focus(case, number, moments, names) for number in range(len(case.findings[:MOST_FOCUSES]))],
        "at": [_short(moment.at_us) for moment in moments],
        "us": [None if moment.duration_us is None else _short(moment.duration_us) for moment in moments],
        "thread": [names.index(moment.thread) for moment in moments],
        "kind": [names.index(moment.kind) for moment in moments],
        "name": [names.index(moment.name) for moment in moments],
        "result": [names.index(moment.result) for moment in moments],
        "object": [names.index(moment.object) for moment in moments],
        "references": [moment.references for moment in moments],
        "queue": [moment.queue for moment in moments],
        "latencies": {
            name: [[_short(at), _short(us)] for at, us in pairs[:MOST_MOMENTS]]
            for name, pairs in latencies(moments).items()
        },
        "names": names.texts,
        "left_out": timeline.left_out + len(timeline.moments) - len(moments),
    }


def _focus(case: Case, number: int, moments: Sequence[Moment], names: Names) -> dict[str, Any]:
    focus = focus_of(case, number, moments)
    finding = case.findings[number]
    return {
        "text": names.index(f"{finding.kind}: {finding.message[:200]}"),
        "moment": focus.moment,
        "first": focus.first,
        "objects": [names.index(each) for each in focus.objects[:100]],
        "how": focus.how,
    }


def latencies(moments: Sequence[Moment]) -> dict[str, list[tuple[float, float]]]:
    """When each wait began, and for how many microseconds: how long callbacks took, how long a wakeup waited for the
    next drain, and a destructor for the next release that no earlier destructor waited for. What is queued first is
    released first.
    """
    drains = sorted(moment.at_us for moment in moments if moment.kind == "drain")
    releases = sorted(moment.at_us for moment in moments if moment.kind == "release")
    found: dict[str, list[tuple[float, float]]] = {"callback": [], "wakeup": [], "release": []}
    for moment in sorted(moments, key=_end_of):
        if moment.kind == "destructor":
            if moment.duration_us is not None:
                found["callback"].append((moment.at_us, moment.duration_us))
            position = _add(found["release"], moment.at_us, _end_of(moment), releases)
            releases = releases[position + 1 :]
        elif moment.kind == "pending-call" and not moment.result:
            _add(found["wakeup"], moment.at_us, _end_of(moment), drains)
    return found


def _end_of(moment: Moment) -> float:
    return moment.at_us + (moment.duration_us or 0.0)


def _add(pairs: list[tuple[float, float]], at: float, end: float, ends: Sequence[float]) -> int:
    """Adds the wait until the first of `ends`, which are in order, that is not before `end`. Returns its position."""
    position = bisect.bisect_left(ends, end)
    if position < len(ends):
        pairs.append((at, ends[position] - end))
    return position


def operations_data(operations: Sequence[Operation]) -> dict[str, Any]:
    """For the plot: those with the most points."""
    shown = sorted(operations, key=lambda operation: -operation.points)[:30]
    room = Budget(10_000)
    return {
        "scenario": [room.data(operation.scenario, 80) for operation in shown],
        "before": [operation.before for operation in shown],
        "after": [operation.after for operation in shown],
        "more": len(operations) - len(shown),
    }


def _short(number: float) -> float | int:
    """Two digits after the point are what can be seen, and no page needs a time beyond thirty years."""
    rounded = round(min(max(number, -_MOST), _MOST), 2)
    return int(rounded) if rounded == int(rounded) else rounded
