"""Comparing two records: what is new, gone, still there and changed, and what makes no difference."""

from __future__ import annotations

import dataclasses
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from reports.compare import Change, Difference, compare
from reports.record import Case, Finding
from tests.reports.sample_record import sample_record

SAMPLE = sample_record()


def changed(index: int, **fields: object) -> Difference:
    """From the sample to one with a case changed."""
    cases = list(SAMPLE.cases)
    cases[index] = dataclasses.replace(cases[index], **fields)  # type: ignore[arg-type]
    return compare(SAMPLE, dataclasses.replace(SAMPLE, cases=tuple(cases)))


class CompareTest(unittest.TestCase):
    def test_a_record_is_equal_to_itself_and_to_one_of_another_time(self) -> None:
        other = dataclasses.replace(SAMPLE, started="2026-01-01T00:00:00Z", duration_ms=1.0, seed="0x1")
        difference = compare(SAMPLE, other)
        self.assertFalse(difference)
        self.assertEqual(2, len(difference.still))

    def test_findings_are_new_gone_or_still_there(self) -> None:
        kept = SAMPLE.cases[1].findings[0]
        difference = changed(1, findings=(kept, kept, Finding("race", "two threads")))
        self.assertTrue(difference)
        self.assertEqual(["race"], [one.finding.kind for one in difference.new.values()])
        self.assertEqual(["leak"], [one.finding.kind for one in difference.gone.values()])
        self.assertEqual([("contract", 1)], [(one.finding.kind, one.cases) for one in difference.still.values()])

    def test_verdicts(self) -> None:
        difference = changed(3, verdict="passed")
        self.assertTrue(difference)
        self.assertEqual((Change("A6.many-owners/only", "", "skipped", "passed"),), difference.verdicts)

    def test_counters_that_changed_came_or_went(self) -> None:
        difference = changed(0, counters={"callbacks": 4, "drains": 1})
        self.assertTrue(difference)
        name = "A2.exec-outlives-node/inline"
        self.assertEqual(
            (
                Change(name, "callbacks", 3, 4),
                Change(name, "drains", None, 1),
                Change(name, "peak queue length", 2, None),
            ),
            difference.counters,
        )

    def test_cases_that_appeared_and_vanished(self) -> None:
        difference = changed(2, run=7, point=("alloc:nth=1,fail",))
        self.assertTrue(difference)
        self.assertEqual(("A2.exec-outlives-node/thread (run 7) at alloc:nth=1,fail",), difference.appeared)
        self.assertEqual(("A2.exec-outlives-node/thread (run 1)",), difference.vanished)

    def test_durations_are_told_beyond_noise_and_make_no_difference(self) -> None:
        for milliseconds, told in ((12.5, 0), (60.0, 0), (63.0, 1), (0.0, 0)):
            difference = changed(0, duration_ms=milliseconds)
            self.assertEqual(told, len(difference.durations), milliseconds)
            self.assertFalse(difference)

    def test_nothing_against_nothing(self) -> None:
        empty = dataclasses.replace(SAMPLE, cases=())
        self.assertFalse(compare(empty, empty))
        cases: tuple[Case, ...] = SAMPLE.cases
        self.assertEqual(len(cases), len(compare(empty, SAMPLE).appeared))


if __name__ == "__main__":
    unittest.main()
