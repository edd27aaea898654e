"""The reader of a case's timeline: a whole file, and what becomes of one that is torn, cut off or made up."""

from __future__ import annotations

import dataclasses
import random
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from harness.cli.timeline import MOST_MOMENTS, TimelineShare, parse_timeline, read_timeline
from reports.record import Moment, Timeline

_SLOTS = 64
_POINT = (1 << 64) - 1
_NOT_OVER = (1 << 64) - 2
_NOT_COUNTED = (1 << 32) - 1
_CALL, _DESTRUCTOR, _FAULT, _RELEASE = 1, 2, 8, 10


@dataclasses.dataclass(frozen=True)
class Slot:
    """A record as the shim writes it."""

    ticket: int
    begin: int
    name: bytes = b"cuGraphCreate"
    duration: int = 500
    kind: int = _CALL
    result: bytes = b""
    object: int = 0
    references: int = _NOT_COUNTED
    queue: int = _NOT_COUNTED
    process: int = 77
    thread: int = 0
    role: int = 0
    sequence: int | None = None

    def packed(self) -> bytes:
        sequence = 2 * self.ticket + 2 if self.sequence is None else self.sequence
        return struct.pack(
            "=QQQQIIIIBB6x56s80s",
            sequence,
            self.begin,
            self.duration,
            self.object,
            self.references,
            self.queue,
            self.process,
            self.thread,
            self.kind,
            self.role,
            self.result,
            self.name,
        )


def _header(following: int, magic: bytes = b"HFTIME01", size: int = 192, count: int = _SLOTS) -> bytes:
    return struct.pack("=8sIII44xQ56x", magic, size, count, 77, following)


def _file(*slots: Slot, following: int | None = None, count: int = _SLOTS) -> bytes:
    records = [bytes(192)] * count
    for slot in slots:
        records[slot.ticket % count] = slot.packed()
    end = max((slot.ticket for slot in slots), default=-1) + 1 if following is None else following
    return _header(end, count=count) + b"".join(records)


def _moments(data: bytes) -> tuple[Moment, ...]:
    timeline = parse_timeline(data)
    assert timeline is not None
    return timeline.moments


def _names(data: bytes) -> list[str]:
    return [moment.name for moment in _moments(data)]


class ReadingTest(unittest.TestCase):
    def test_what_a_record_says(self) -> None:
        data = _file(
            Slot(0, 5_000_000, b"cuUserObjectCreate", 2250, object=3, references=2),
            Slot(1, 5_004_000, b"cuGraphAddNode", 1000, result=b"CUDA_ERROR_INVALID_VALUE", role=1, thread=2),
            Slot(2, 5_004_500, b"cuGraphAddNode", _POINT, _FAULT, b"return CUDA_ERROR_INVALID_VALUE", role=1, thread=2),
            Slot(3, 5_009_000, b"object 3", 3000, _DESTRUCTOR, object=3, references=0, role=2, thread=0),
            Slot(4, 5_010_000, b"owner 1", _POINT, _RELEASE, queue=4, role=255, thread=1),
            Slot(5, 5_020_000, b"cuGraphLaunch", _NOT_OVER),
        )
        expected = (
            Moment(0.0, "main", "call", "cuUserObjectCreate", 2.25, object="object 3", references=2),
            Moment(4.0, "subject-2", "call", "cuGraphAddNode", 1.0, "CUDA_ERROR_INVALID_VALUE"),
            Moment(4.5, "subject-2", "fault", "cuGraphAddNode", None, "return CUDA_ERROR_INVALID_VALUE"),
            Moment(9.0, "callback-0", "destructor", "object 3", 3.0, object="object 3", references=0),
            Moment(10.0, "thread-1", "release", "owner 1", queue=4),
            Moment(20.0, "main", "call", "cuGraphLaunch", None, "not over"),
        )
        self.assertEqual(Timeline(expected), parse_timeline(data))

    def test_moments_come_by_their_beginnings_and_then_as_they_were_recorded(self) -> None:
        data = _file(Slot(0, 9000, b"c"), Slot(1, 8000, b"a"), Slot(2, 9000, b"d"), Slot(3, 8500, b"b"))
        self.assertEqual(["a", "b", "c", "d"], _names(data))

    def test_other_processes_have_names_of_their_own(self) -> None:
        data = _file(
            Slot(0, 1000, process=900, object=1), Slot(1, 2000, process=77), Slot(2, 3000, process=901, object=1)
        )
        seen = [(moment.thread, moment.object) for moment in _moments(data)]
        self.assertEqual(
            [
                ("main of process 2", "object 1 of process 2"),
                ("main", ""),
                ("main of process 3", "object 1 of process 3"),
            ],
            seen,
        )

    def test_a_ring_that_came_round_has_the_last_and_counts_the_others(self) -> None:
        slots = [Slot(ticket, 1000 * ticket, str(ticket).encode()) for ticket in range(100, 100 + _SLOTS)]
        timeline = parse_timeline(_file(*slots))
        assert timeline is not None
        self.assertEqual((_SLOTS, 100), (len(timeline.moments), timeline.left_out))

    def test_no_case_has_more_than_the_limit(self) -> None:
        slots = [Slot(ticket, 1000 * ticket, str(ticket).encode()) for ticket in range(2048)]
        timeline = parse_timeline(_file(*slots, count=2048))
        assert timeline is not None
        self.assertEqual((MOST_MOMENTS, 48), (len(timeline.moments), timeline.left_out))
        self.assertEqual("48", timeline.moments[0].name)


class HostileFileTest(unittest.TestCase):
    def test_what_is_torn_or_impossible_is_left_out(self) -> None:
        good = (Slot(0, 1000, b"first"), Slot(2, 3000, b"last"))
        for what, bad in {
            "being written": Slot(1, 2000, sequence=3),
            "of another place": Slot(1, 2000, sequence=2 * 5 + 2),
            "of a moment that was never begun": Slot(1, 2000, sequence=2 * (1 + _SLOTS) + 2),
            "of no kind": Slot(1, 2000, kind=0),
            "of a kind to come": Slot(1, 2000, kind=200),
            "of no time": Slot(1, 1 << 63),
            "without end": Slot(1, 2000, duration=1 << 63),
        }.items():
            with self.subTest(record=what):
                timeline = parse_timeline(_file(*good, bad, following=3))
                assert timeline is not None
                self.assertEqual(["first", "last"], [moment.name for moment in timeline.moments])
                self.assertEqual(1, timeline.left_out)

    def test_a_record_of_an_earlier_round_is_old(self) -> None:
        self.assertEqual(["new"], _names(_file(Slot(0, 1000, b"old"), Slot(_SLOTS + 3, 5000, b"new"))))

    def test_what_is_no_timeline_is_none(self) -> None:
        whole = _file(Slot(0, 1000))
        for what, data in {
            "nothing": b"",
            "a text": b"x" * len(whole),
            "cut off": whole[:-1],
            "another version": whole.replace(b"HFTIME01", b"HFTIME02"),
            "records of another size": _header(1, size=8) + whole[128:],
            "no record": _header(1, count=0),
            "more records than anybody writes": _header(1, count=1 << 31) + whole[128:],
            "empty": _file(),
        }.items():
            with self.subTest(file=what):
                self.assertIsNone(parse_timeline(data))

    def test_a_number_of_moments_beyond_belief_stays_a_number(self) -> None:
        ticket = (1 << 62) - (1 << 62) % _SLOTS
        timeline = parse_timeline(_file(Slot(ticket, 1000)))
        assert timeline is not None
        self.assertEqual(1 << 53, timeline.left_out)

    def test_names_that_are_no_text_are_shown(self) -> None:
        data = _file(Slot(0, 1000, b"\xff\x01"), Slot(1, 2000, b"\xc3\xa4" * 44), Slot(2, 3000, b"x" * 88))
        self.assertEqual(["\ufffd\x01", "\u00e4" * 40, "x" * 80], _names(data))

    def test_any_bytes_are_read_without_complaint(self) -> None:
        draw = random.Random(7)
        for _ in range(300):
            data = bytearray(_file(*(Slot(ticket, 1000 * ticket) for ticket in range(40))))
            for _ in range(60):
                data[draw.randrange(64, len(data))] = draw.randrange(256)
            timeline = parse_timeline(bytes(data))
            self.assertLessEqual(len(timeline.moments) if timeline else 0, _SLOTS)

    def test_a_folder_in_its_place_is_no_timeline(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(read_timeline(Path(folder)))
            self.assertIsNone(read_timeline(Path(folder) / "missing"))


class ShareTest(unittest.TestCase):
    def test_a_case_that_passed_has_none_unless_all_were_asked_for(self) -> None:
        self.assertFalse(TimelineShare().take(in_trouble=False))
        self.assertTrue(TimelineShare().take(in_trouble=True))
        self.assertTrue(TimelineShare(of_all=True).take(in_trouble=False))

    def test_the_number_is_bounded_and_half_is_for_those_that_did_not_pass(self) -> None:
        share = TimelineShare(of_all=True, most=4)
        self.assertEqual([True, True, False], [share.take(in_trouble=False) for _ in range(3)])
        self.assertEqual([True, True, False], [share.take(in_trouble=True) for _ in range(3)])


if __name__ == "__main__":
    unittest.main()
