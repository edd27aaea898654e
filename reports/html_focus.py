"""Where a timeline opens for a finding: at the moment where the contract broke, with what led to it, and which user
objects the finding is about.

The process notes the moments of findings of its own. Of what only the ledger or the harness saw the record has no
moment; then it is the last call that the message names, else the end of the record.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from reports.record import Case, Finding, Moment

# How a moment was found.
NOTED, NAMED, END = "noted", "named", "end"

_LEAST_MARKS = 6  # before the moment
_USUAL_MARKS = 24
_MOST_MARKS = 120  # of the life of an object
_MOST_MESSAGE = 2000  # characters
_WORD = re.compile(r"\w+")
_OBJECT = re.compile(r"\bobject \d+(?: of process \d+)?\b")


@dataclasses.dataclass(frozen=True)
class Focus:
    """Indices of moments: where the contract broke, and the first to be seen before it. `objects` are those that the
    finding is known to be about.
    """

    moment: int
    first: int
    objects: tuple[str, ...]
    how: str


def focus_of(case: Case, number: int, moments: Sequence[Moment]) -> Focus:
    """For the finding of that number among the case's. REQUIRES: there is a moment."""
    finding = case.findings[number]
    index, how = _moment_of(case, number, moments)
    objects = _objects_of(finding, moments, index, how)
    return Focus(index, _first_to_be_seen(moments, index, objects), objects, how)


def _moment_of(case: Case, number: int, moments: Sequence[Moment]) -> tuple[int, str]:
    kind = case.findings[number].kind
    place = sum(other.kind == kind for other in case.findings[:number])
    noted = [index for index, moment in enumerate(moments) if moment.kind == "finding" and moment.name == kind]
    # Of a timeline that was cut the first ones are missing.
    missing = max(sum(other.kind == kind for other in case.findings) - len(noted), 0)
    if noted and place >= missing:
        return noted[min(place - missing, len(noted) - 1)], NOTED
    words = set(_WORD.findall(case.findings[number].message[:_MOST_MESSAGE]))
    named = [index for index, moment in enumerate(moments) if moment.kind == "call" and moment.name in words]
    return (named[-1], NAMED) if named else (len(moments) - 1, END)


def _objects_of(finding: Finding, moments: Sequence[Moment], index: int, how: str) -> tuple[str, ...]:
    """Those that the message names; those of the call that it names, or of what went on around the moment on its
    thread; and of a leak all that are held at the end.
    """
    known = dict.fromkeys(moment.object for moment in moments if moment.object)
    found = set(_OBJECT.findall(finding.message[:_MOST_MESSAGE]))
    if how == NAMED:
        found.add(moments[index].object)
    if how == NOTED:
        found |= {moment.object for moment in moments[:index] if _is_around(moment, moments[index])}
    if finding.kind == "leak":
        found |= _held_at_the_end(moments)
    return tuple(each for each in known if each in found)


def _is_around(outer: Moment, inner: Moment) -> bool:
    end = outer.at_us + (outer.duration_us or 0.0)
    return outer.thread == inner.thread and outer.duration_us is not None and end >= inner.at_us


def _held_at_the_end(moments: Sequence[Moment]) -> set[str]:
    last = {moment.object: moment.references for moment in moments if moment.object and moment.references is not None}
    return {name for name, references in last.items() if references}


def _first_to_be_seen(moments: Sequence[Moment], index: int, objects: Sequence[str]) -> int:
    """Where the life of the objects begins, or of those that the moments before it are about; one that began too long
    before is left out.
    """
    marks = _marks(moments[: index + 1])
    ago = {mark: len(marks) - 1 - place for place, mark in enumerate(marks)}
    usual, least = marks[max(len(marks) - 1 - _USUAL_MARKS, 0)], marks[max(len(marks) - 1 - _LEAST_MARKS, 0)]
    about = set(objects) or {moment.object for moment in moments[usual : index + 1] if moment.object}
    births: dict[str, int] = {}
    for place, mark in enumerate(marks):
        births.setdefault(moments[mark].object, place)
    lives = [marks[births[each]] for each in about if each in births]
    near = [mark for mark in lives if ago[mark] <= _MOST_MARKS]
    return min([*near, least]) if near else usual


def _marks(moments: Sequence[Moment]) -> list[int]:
    """The indices of the moments without those that only repeat the one before on their thread."""
    last: dict[str, tuple[str, str, str, str]] = {}
    marks = []
    for index, moment in enumerate(moments):
        key = (moment.kind, moment.name, moment.result, moment.object)
        if last.get(moment.thread) != key:
            marks.append(index)
        last[moment.thread] = key
    return marks or [0]
