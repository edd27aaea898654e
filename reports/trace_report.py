"""A trace that Perfetto and Chrome's viewer open: the JSON object format, with times in microseconds.

One process a case that has a timeline, named as everywhere; one track a thread.

| of a case | in the trace |
|---|---|
| calls, callbacks, pending calls, drains, contexts | slices (`X`), which nest on each thread |
| faults, findings, steps, releases | instants (`i`) |
| a fault and the first finding behind it | a flow (`s`, `f`) |
| references of each user object, lengths of queues, live user objects | counters (`C`) |

Readers bind a flow to the slice around it. Where there is none, a short one stands for the fault or the finding.
Cases without a timeline are counted in `otherData`, and so is what was left out to bound the size. A finding that the
process itself could not note, a crash say, stands at the end of its case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from reports.case_name import case_name
from reports.record import NOT_OVER, Case, Moment, Record
from reports.visible import inert_json

MOST_EVENTS = 500_000
MOST_TEXT = 512  # letters of a name

_STRETCHES = ("call", "destructor", "host-function", "pending-call", "drain", "context")
_FLOW_US = 1.0  # the most that a slice takes which is there for the end of a flow
_MOST_US = 1e15  # some thirty years
_PENDING_CALL = "Py_AddPendingCall"

Event = dict[str, Any]


def render(record: Record) -> bytes:
    """The timelines of the record's cases, pure ASCII. Once a case does not fit, no later one is shown."""
    cases = [case for case in record.cases if case.timeline]
    lines: list[bytes] = []
    shown = 0
    for case in cases:
        if len(lines) + len(_timeline(case)) > MOST_EVENTS:
            break
        written = [_line(event) for event in _CaseTrace(case, shown + 1).events()]
        if len(lines) + len(written) > MOST_EVENTS:
            break
        shown += 1
        lines += written
    other = {
        "version": _text(record.version),
        "command": _text(record.command),
        "seed": _text(record.seed),
        "driver": _text(record.driver),
        "cases": len(record.cases),
        "cases_shown": shown,
        "cases_left_out": len(cases) - shown,
        "cases_without_timeline": len(record.cases) - len(cases),
        "moments_left_out": sum(case.timeline.left_out for case in cases if case.timeline)
        + sum(len(_timeline(case)) for case in cases[shown:]),
    }
    head = b'{"displayTimeUnit":"ns","otherData":' + _line(other) + b',"traceEvents":[\n'
    return head + b",\n".join(lines) + b"\n]}\n"


# Made once: json.dumps would make one a line.
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def _line(value: Event) -> bytes:
    return inert_json(_ENCODER.encode(value)).encode("ascii")


def _text(text: str) -> str:
    """Some readers refuse a lone surrogate, even an escaped one, and nobody wants a page of a name."""
    cut = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}... ({len(text)} letters)"
    return cut.encode("utf-8", errors="backslashreplace").decode()


def _timeline(case: Case) -> Sequence[Moment]:
    return case.timeline.moments if case.timeline else ()


class _CaseTrace:
    """One case as the process of that number."""

    def __init__(self, case: Case, process: int) -> None:
        self._case = case
        self._process = process
        self._end = max((_end_of(moment) for moment in _timeline(case)), default=0.0)
        moments = _with_unnoted(case, self._end)
        # What is around something comes before it, also where both begin at one time.
        self._moments = sorted(moments, key=lambda moment: (moment.at_us, -self._stop_of(moment)))
        self._tracks = {name: number for number, name in enumerate(self._threads(), start=1)}
        self._flows = _flows(self._moments)

    def events(self) -> Iterator[Event]:
        yield from self._names()
        open_ends: dict[str, list[float]] = {thread: [] for thread in self._tracks}
        following = _next_on_thread(self._moments)
        for index, moment in enumerate(self._moments):
            ends = open_ends[moment.thread]
            while ends and ends[-1] <= _rounded(moment.at_us):
                ends.pop()
            if _is_stretch(moment):
                stop = min([_rounded(self._stop_of(moment)), *ends[-1:]])
                ends.append(stop)
                yield self._slice(moment, stop)
            else:
                yield {**self._base(moment, "i"), "s": "t", "args": _arguments(moment)}
            yield from self._flow_events(index, inside=bool(ends), room=following[index])
        yield from self._counters()

    def _threads(self) -> dict[str, None]:
        return dict.fromkeys(moment.thread for moment in self._moments)

    def _stop_of(self, moment: Moment) -> float:
        return self._end if _is_open(moment) else _end_of(moment)

    def _names(self) -> Iterator[Event]:
        case = self._case
        yield self._meta(0, "process_name", {"name": _text(case_name(case))})
        yield self._meta(0, "process_labels", {"labels": _text(f"{case.verdict}, seed {case.seed}")})
        yield self._meta(0, "process_sort_index", {"sort_index": self._process})
        for thread, number in self._tracks.items():
            yield self._meta(number, "thread_name", {"name": _text(thread)})
            yield self._meta(number, "thread_sort_index", {"sort_index": number})

    def _meta(self, thread: int, name: str, arguments: Event) -> Event:
        return {"ph": "M", "pid": self._process, "tid": thread, "name": name, "args": arguments}

    def _base(self, moment: Moment, phase: str) -> Event:
        return {
            "ph": phase,
            "pid": self._process,
            "tid": self._tracks[moment.thread],
            "ts": _rounded(moment.at_us),
            "cat": _text(moment.kind),
            "name": _text(moment.name),
        }

    def _slice(self, moment: Moment, stop: float) -> Event:
        base = self._base(moment, "X")
        return {**base, "dur": _rounded(stop - base["ts"]), "args": _arguments(moment)}

    def _flow_events(self, index: int, inside: bool, room: float) -> Iterator[Event]:
        moment = self._moments[index]
        for number, (phase, flow) in enumerate(self._flows.get(index, ())):
            if number == 0 and not inside:
                yield {**self._base(moment, "X"), "dur": _rounded(min(_FLOW_US, room)), "args": {}}
            ends = {"bp": "e"} if phase == "f" else {}
            at = self._base(moment, phase)
            yield {**at, "cat": "flow", "name": "fault to finding", "id": (self._process << 20) + flow, **ends}

    def _counters(self) -> Iterator[Event]:
        for at, name, what, value in sorted(_counts(self._moments), key=lambda count: count[0]):
            yield {
                "ph": "C",
                "pid": self._process,
                "tid": 0,
                "ts": _rounded(at),
                "name": _text(name),
                "args": {what: value},
            }


def _rounded(microseconds: float) -> float:
    """To nanoseconds, as readers do: slices that nest before nest afterwards. A hostile report may have any number."""
    return round(min(max(microseconds, -_MOST_US), _MOST_US), 3)


def _is_open(moment: Moment) -> bool:
    """Whether it is a stretch that had no end when the process ended."""
    return moment.kind in _STRETCHES and moment.duration_us is None and moment.result == NOT_OVER


def _is_stretch(moment: Moment) -> bool:
    return moment.duration_us is not None or _is_open(moment)


def _end_of(moment: Moment) -> float:
    return moment.at_us + (moment.duration_us or 0.0)


def _with_unnoted(case: Case, end: float) -> list[Moment]:
    """With the first finding of a case at its end, if the case did not come to note any."""
    moments = list(_timeline(case))
    if not case.findings or not moments or any(moment.kind == "finding" for moment in moments):
        return moments
    last = max(moments, key=_end_of)
    return [*moments, Moment(end, last.thread, "finding", case.findings[0].kind)]


def _arguments(moment: Moment) -> Event:
    fields = {name: getattr(moment, name) for name in ("result", "object", "references", "queue")}
    said = {name: _text(value) if isinstance(value, str) else value for name, value in fields.items()}
    return {"kind": _text(moment.kind)} | {name: value for name, value in said.items() if value not in ("", None)}


def _flows(moments: Sequence[Moment]) -> dict[int, list[tuple[str, int]]]:
    """By moment, the flows that begin or end at it, each with its number: that of its fault among the moments."""
    waiting: list[int] = []
    flows: dict[int, list[tuple[str, int]]] = {}
    for index, moment in enumerate(moments):
        if moment.kind == "fault":
            waiting.append(index)
        elif moment.kind == "finding":
            for fault in waiting:
                flows.setdefault(fault, []).append(("s", fault))
                flows.setdefault(index, []).append(("f", fault))
            waiting = []
    return flows


def _next_on_thread(moments: Sequence[Moment]) -> list[float]:
    """How long after each moment the next stretch of its thread begins."""
    following: dict[str, float] = {}
    room = [0.0] * len(moments)
    for index in range(len(moments) - 1, -1, -1):
        moment = moments[index]
        room[index] = following.get(moment.thread, float("inf")) - moment.at_us
        if _is_stretch(moment):
            following[moment.thread] = moment.at_us
    return room


# The time, the thing, what of it is counted, and the new value. Readers name a counter by the two in the middle.
Count = tuple[float, str, str, int]


def _counts(moments: Sequence[Moment]) -> Iterator[Count]:
    """Each change of something that is counted."""
    for moment in moments:
        if moment.object and moment.references is not None:
            yield _end_of(moment), moment.object, "references", moment.references
        if moment.queue is not None:
            of_host = moment.kind == "pending-call" or moment.name == _PENDING_CALL
            yield _end_of(moment), "host queue" if of_host else "cleanup queue", "length", moment.queue
    yield from _live_objects(moments)


def _live_objects(moments: Sequence[Moment]) -> Iterator[Count]:
    """User objects with a destructor to come. Those that were there before the first moment are known once one is about
    them.
    """
    changes: list[tuple[float, int]] = []
    seen: set[str] = set()
    live = 0
    for moment in moments:
        if not moment.object:
            continue
        created = moment.name == "cuUserObjectCreate" and not moment.result
        live += moment.object not in seen and not created
        seen.add(moment.object)
        if created:
            changes.append((_end_of(moment), 1))
        elif moment.kind == "destructor":
            changes.append((moment.at_us, -1))
    for at, change in sorted(changes):
        live += change
        yield at, "user objects", "live", live
