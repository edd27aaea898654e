"""The events file of a case: one JSON object a line, written by the shim, the ledger and the scenario.

The file was in the hands of a program under test, so nothing in it is trusted: a line that is no event becomes a
problem to report. Only the last line of a child that died may be cut off. Events with an unknown name are ignored.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable
from typing import Any

from reports.record import FINDING_KIND, Fault, Finding

_MOST_PROBLEMS = 3
_MOST = 2**64
_MOST_FINDINGS = 50


@dataclasses.dataclass(frozen=True)
class Visits:
    """How often a thread visited a site within a step, and what a plan can do there: `kind` says what the call does,
    `reason` why it can fail before it takes effect, after it, or both.
    """

    step: str
    thread: str
    site: str
    count: int
    kind: str
    before: bool
    after: bool
    reason: str


@dataclasses.dataclass
class Events:
    """What the events say. `faults` is sorted by thread, then by order on that thread, so equal runs compare equal."""

    started: bool = False
    finished: bool = False
    oracles: list[str] = dataclasses.field(default_factory=list)
    counters: dict[str, int | float] = dataclasses.field(default_factory=dict)
    findings: list[Finding] = dataclasses.field(default_factory=list)
    faults: list[Fault] = dataclasses.field(default_factory=list)
    skips: list[str] = dataclasses.field(default_factory=list)
    inconclusive: list[str] = dataclasses.field(default_factory=list)
    unsupported: list[str] = dataclasses.field(default_factory=list)
    visits: list[Visits] = dataclasses.field(default_factory=list)
    driver_version: int | None = None
    device: str | None = None
    out_of_order: str = ""  # why the order of the threads could not be kept
    problems: list[str] = dataclasses.field(default_factory=list)


def parse_events(data: bytes, died: bool) -> Events:
    """Reads an events file. `died` says that the child was cut off, and may have been in the middle of a line."""
    events = Events()
    lines = data.split(b"\n")
    last = len(lines) if lines[-1] else len(lines) - 1
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            _take(events, _object(line))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as problem:
            if died and number == last:
                continue
            shown = line[:80].decode(errors="backslashreplace")
            what = f"lacks {problem}" if isinstance(problem, KeyError) else str(problem)
            events.problems.append(f"line {number} of the events file is no event ({what}): {shown}")
    del events.problems[_MOST_PROBLEMS:]
    del events.findings[_MOST_FINDINGS:]
    events.faults.sort(key=lambda fault: fault.thread)  # stable: the order on each thread stays
    return events


def _object(line: bytes) -> dict[str, Any]:
    def refuse(name: str) -> float:
        raise ValueError(f"{name} is no JSON number")

    value = json.loads(line, parse_constant=refuse)
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value


def _take(events: Events, entry: dict[str, Any]) -> None:
    handler = _HANDLERS.get(_text(entry["event"]))
    if handler:
        handler(events, entry)


def _start(events: Events, entry: dict[str, Any]) -> None:
    events.started = True


def _finish(events: Events, entry: dict[str, Any]) -> None:
    events.finished = True


def _oracle(events: Events, entry: dict[str, Any]) -> None:
    events.oracles.append(_text(entry["name"]))


def _counter(events: Events, entry: dict[str, Any]) -> None:
    value = entry["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"the counter {value!r} is no number")
    if not math.isfinite(value) or abs(value) > _MOST:
        raise ValueError("the counter is beyond what 64 bits hold")
    events.counters[_text(entry["name"])] = value


def _finding(events: Events, entry: dict[str, Any]) -> None:
    if not re.fullmatch(FINDING_KIND, _text(entry["kind"])):
        raise ValueError(f"the kind {entry['kind']!r:.40} is no word in small letters")
    stack = entry.get("stack") or []
    if not isinstance(stack, list):
        raise TypeError("the stack is no list")
    events.findings.append(
        Finding(
            _text(entry["kind"]), _text(entry["message"]), _text(entry.get("place") or ""), tuple(map(_text, stack))
        )
    )


def _fault(events: Events, entry: dict[str, Any]) -> None:
    result = entry.get("result")
    if result is not None and not isinstance(result, (str, int)):
        raise TypeError(f"the result {result!r} is neither a name nor a number")
    events.faults.append(
        Fault(
            site=_text(entry["site"]),
            ordinal=_integer(entry["ordinal"]),
            thread=_text(entry["thread"]),
            rule=_integer(entry["rule"]),
            action=_text(entry["action"]),
            result=result,
        )
    )


def _skip(events: Events, entry: dict[str, Any]) -> None:
    events.skips.append(_text(entry["reason"]))


def _inconclusive(events: Events, entry: dict[str, Any]) -> None:
    events.inconclusive.append(_text(entry["reason"]))


def _out_of_order(events: Events, entry: dict[str, Any]) -> None:
    events.out_of_order = f"at step {_integer(entry['step'])}: {_text(entry['reason'])}"


def _unsupported(events: Events, entry: dict[str, Any]) -> None:
    events.unsupported.append(_text(entry["site"]))


def _visits(events: Events, entry: dict[str, Any]) -> None:
    events.visits.append(
        Visits(
            step=_text(entry["step"]),
            thread=_text(entry["thread"]),
            site=_text(entry["site"]),
            count=_integer(entry["count"]),
            kind=_text(entry["kind"]),
            before=_boolean(entry["before"]),
            after=_boolean(entry["after"]),
            reason=_text(entry["reason"]),
        )
    )


def _subject(events: Events, entry: dict[str, Any]) -> None:
    events.driver_version = _integer(entry["driver_version"])
    events.device = _text(entry["device"]) if entry.get("device") else None


_HANDLERS: dict[str, Callable[[Events, dict[str, Any]], None]] = {
    "start": _start,
    "finish": _finish,
    "oracle": _oracle,
    "counter": _counter,
    "finding": _finding,
    "fault": _fault,
    "skip": _skip,
    "inconclusive": _inconclusive,
    "out-of-order": _out_of_order,
    "unsupported": _unsupported,
    "visits": _visits,
    "subject": _subject,
}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no string")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value
