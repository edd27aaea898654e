"""Reads the timeline that the shim left in a file (fault/shim/timeline.h), whatever became of the process.

The file was in the hands of a program under test, so nothing in it is trusted: a record that cannot be what the shim
writes is left out, and no number in it decides how much is read.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Sequence
from pathlib import Path

from reports.record import NOT_OVER, Moment, Timeline

TIMELINE_FILE = "timeline"
MOST_MOMENTS = 2000  # of a case
MOST_TIMELINES = 200  # of a report

_MAGIC = b"HFTIME01"
_HEADER = struct.Struct("=8sIII44xQ56x")  # magic, size of a record, number of records, first process, next ticket
_RECORD = struct.Struct("=QQQQIIIIBB6x56s80s")
_MOST_RECORDS = 1 << 14
_MOST_LEFT_OUT = 1 << 53

# As the shim numbers them.
_KINDS = {
    1: "call",
    2: "destructor",
    3: "host-function",
    4: "pending-call",
    5: "drain",
    6: "context",
    7: "step",
    8: "fault",
    9: "finding",
    10: "release",
}
_MAIN = 0
_ROLES = {1: "subject", 2: "callback", 255: "thread"}

_POINT = (1 << 64) - 1
_NOT_OVER = (1 << 64) - 2
_NOT_COUNTED = (1 << 32) - 1
_MOST_NANOSECONDS = 1 << 62


class TimelineShare:
    """Which cases of a report have timelines: the first ones with trouble, and with `of_all` the first that passed or
    were skipped; half the room is kept for those with trouble.
    """

    def __init__(self, of_all: bool = False, most: int = MOST_TIMELINES) -> None:
        self._of_all = of_all
        self._most = most
        self._taken = 0

    def take(self, in_trouble: bool) -> bool:
        """Whether a case gets one of the places."""
        if not in_trouble and not self._of_all:
            return False
        if self._taken >= (self._most if in_trouble else self._most // 2):
            return False
        self._taken += 1
        return True


def read_timeline(path: Path) -> Timeline | None:
    """What the file has; None if it is not there, is no such file, or nothing was recorded."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return parse_timeline(file.read(_HEADER.size + _RECORD.size * _MOST_RECORDS))
    except OSError:
        return None


@dataclasses.dataclass(frozen=True)
class _Raw:
    """A record that may be true."""

    ticket: int
    begin: int
    duration: int
    object: int
    references: int
    queue: int
    process: int
    thread: int
    kind: str
    role: int
    result: bytes
    name: bytes


def parse_timeline(data: bytes) -> Timeline | None:
    """The last moments, by their beginnings; None if the bytes are no timeline, or an empty one."""
    if len(data) < _HEADER.size:
        return None
    magic, record_bytes, count, first_process, following = _HEADER.unpack_from(data)
    if magic != _MAGIC or record_bytes != _RECORD.size or not 0 < count <= _MOST_RECORDS:
        return None
    if len(data) < _HEADER.size + count * _RECORD.size:
        return None
    raws = [raw for slot in range(count) if (raw := _read(data, slot, count, following))]
    if not raws:
        return None
    raws.sort(key=lambda raw: raw.ticket)  # so that what began at one time stays in the order of recording
    raws.sort(key=lambda raw: raw.begin)
    kept = raws[-MOST_MOMENTS:]
    left_out = min(max(following, len(raws)) - len(kept), _MOST_LEFT_OUT)
    return Timeline(tuple(_moments(kept, first_process)), left_out)


def _read(data: bytes, slot: int, count: int, following: int) -> _Raw | None:
    """The record in a slot; None if it is empty, torn, or not what the shim can have written."""
    sequence, begin, duration, item, references, queue, process, thread, kind, role, result, name = _RECORD.unpack_from(
        data, _HEADER.size + slot * _RECORD.size
    )
    if sequence == 0 or sequence % 2 == 1:
        return None
    ticket = sequence // 2 - 1
    if ticket % count != slot or ticket >= following or following - ticket > count:
        return None
    if kind not in _KINDS or begin > _MOST_NANOSECONDS:
        return None
    if duration not in (_POINT, _NOT_OVER) and duration > _MOST_NANOSECONDS:
        return None
    return _Raw(
        ticket, begin, duration, item, references, queue, process, thread, _KINDS[kind], role, _cut(result), _cut(name)
    )


def _moments(raws: Sequence[_Raw], first_process: int) -> list[Moment]:
    processes = {first_process: 1}  # numbered as they appear, since their own numbers differ from run to run
    start = raws[0].begin
    moments = []
    for raw in raws:
        number = processes.setdefault(raw.process, len(processes) + 1)
        elsewhere = f" of process {number}" if number > 1 else ""
        result = _text(raw.result)
        if raw.duration == _NOT_OVER:
            result = result or NOT_OVER
        moments.append(
            Moment(
                at_us=(raw.begin - start) / 1000,
                thread=_thread(raw) + elsewhere,
                kind=raw.kind,
                name=_text(raw.name),
                duration_us=None if raw.duration in (_POINT, _NOT_OVER) else raw.duration / 1000,
                result=result,
                object=f"object {raw.object}{elsewhere}" if raw.object else "",
                references=None if raw.references == _NOT_COUNTED else raw.references,
                queue=None if raw.queue == _NOT_COUNTED else raw.queue,
            )
        )
    return moments


def _thread(raw: _Raw) -> str:
    return "main" if raw.role == _MAIN else f"{_ROLES.get(raw.role, 'thread')}-{raw.thread}"


def _cut(text: bytes) -> bytes:
    return text.partition(b"\0")[0]


def _text(text: bytes) -> str:
    """A name may be cut in the middle of a letter, or be no text at all."""
    return text.decode("utf-8", errors="replace")
