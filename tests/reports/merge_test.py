"""Merging shards: everything is kept, in an order that is not theirs, and what was never one run is refused."""

from __future__ import annotations

import dataclasses
import itertools
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from reports import json_report
from reports.merge import MergeError, merge
from reports.read_report import read_report
from reports.record import Case, Detection, Fuzz, Operation, Option, Record, Shrunk, Subject, summarize
from tests.reports.sample_record import sample_record

SAMPLE = sample_record()


def shard(*cases: Case, **fields: Any) -> Record:
    defaults: dict[str, Any] = {"detection": (), "notes": (), "not_run": 0, "exit_code": 0}
    return dataclasses.replace(SAMPLE, cases=cases, **{**defaults, **fields})


def operation(scenario: str, **fields: Any) -> Operation:
    values: dict[str, Any] = dict.fromkeys(
        ("points", "before", "after", "transient", "persistent", "alloc", "double", "not_after", "runs", "failed"), 1
    )
    return Operation(**{**values, "scenario": scenario, "sites": ("cuB",), "not_after_reasons": {}, **fields})


class MergeTest(unittest.TestCase):
    def test_one_report_stays_as_it_is(self) -> None:
        self.assertIs(SAMPLE, merge([SAMPLE]))

    def test_the_shards_of_a_run_make_the_run_again(self) -> None:
        first = shard(*SAMPLE.cases[::2], detection=SAMPLE.detection[:1], notes=SAMPLE.notes, exit_code=0, not_run=1)
        second = shard(*SAMPLE.cases[1::2], detection=SAMPLE.detection[1:], exit_code=1)
        merged = merge([first, second])
        self.assertEqual(dataclasses.replace(SAMPLE, exit_code=1), merged)
        self.assertEqual(summarize(SAMPLE), summarize(merged))
        self.assertEqual(merged, read_report(json_report.render(merged)))

    def test_the_order_of_the_shards_makes_no_difference(self) -> None:
        shards = [
            shard(SAMPLE.cases[number], started=f"2025-01-0{number + 1}T00:00:00Z", notes=(f"note {number}",))
            for number in range(3)
        ]
        shards[1] = dataclasses.replace(shards[1], options={"jobs": Option(4, "default")}, device="B")
        merged = {json_report.render(merge(order)) for order in itertools.permutations(shards)}
        self.assertEqual(1, len(merged))

    def test_what_is_of_the_run_as_a_whole(self) -> None:
        first = shard(
            SAMPLE.cases[0],
            started="2025-01-02T00:00:00.5Z",
            duration_ms=5.0,
            notes=("b",),
            not_run=1,
            passed_points=2,
            driver_version=None,
        )
        second = shard(
            SAMPLE.cases[3],
            started="2025-01-01T00:00:00Z",
            duration_ms=7.0,
            notes=("a", "b"),
            not_run=2,
            passed_points=3,
            interrupted="SIGTERM",
            exit_code=143,
        )
        merged = merge([first, second])
        self.assertEqual(
            ("2025-01-01T00:00:00Z", 7.0, ("a", "b"), 3, 5, "SIGTERM", 143, 13000),
            (
                merged.started,
                merged.duration_ms,
                merged.notes,
                merged.not_run,
                merged.passed_points,
                merged.interrupted,
                merged.exit_code,
                merged.driver_version,
            ),
        )

    def test_the_exit_code_is_the_worst(self) -> None:
        order = (0, 77, 4, 5, 130, 2, 3, 1, None)
        for better, worse in itertools.pairwise(order):
            merged = merge([shard(SAMPLE.cases[0], exit_code=worse), shard(SAMPLE.cases[3], exit_code=better)])
            self.assertEqual(worse, merged.exit_code)

    def test_shards_that_sort_alike_are_the_same_in_any_order(self) -> None:
        """Shards without a case, as of a fuzzer that was stopped, differ in nothing that they are sorted by."""
        ends = ((143, "SIGTERM", 0.1), (130, "SIGINT", 0.2), (0, "", 0.3), (5, "", 0.7))
        shards = [
            shard(exit_code=code, interrupted=signal, fuzz=Fuzz(1, 1, seconds, 1.0), options={"jobs": Option(code, "")})
            for code, signal, seconds in ends
        ]
        orders = [merge(order) for order in itertools.permutations(shards)]
        self.assertEqual(1, len({json_report.render(merged) for merged in orders}))
        self.assertEqual((130, "SIGINT"), (orders[0].exit_code, orders[0].interrupted))

    def test_a_shard_that_was_interrupted_is_told_though_another_exit_code_won(self) -> None:
        merged = merge([shard(SAMPLE.cases[1], exit_code=1), shard(exit_code=143, interrupted="SIGTERM")])
        self.assertEqual((1, "SIGTERM"), (merged.exit_code, merged.interrupted))

    def test_options_are_equal_or_listed(self) -> None:
        same, one, other = Option("auto", "default"), Option(2, "command line"), Option(4, "default")
        merged = merge(
            [
                shard(SAMPLE.cases[0], options={"driver": same, "jobs": one}),
                shard(SAMPLE.cases[3], options={"driver": same, "jobs": other, "quiet": same}),
            ]
        )
        self.assertEqual(same, merged.options["driver"])
        self.assertEqual(Option((2, 4), "differing shards"), merged.options["jobs"])
        self.assertIn("options that differ among the shards: jobs, quiet", merged.notes)

    def test_machines_that_differ_are_all_named(self) -> None:
        merged = merge([shard(SAMPLE.cases[0], device="GPU B"), shard(SAMPLE.cases[3], device="GPU A")])
        self.assertEqual("GPU A; GPU B", merged.device)
        self.assertIn("the device differs among the shards", merged.notes)

    def test_variants_of_an_operation_are_added_up(self) -> None:
        merged = merge(
            [
                shard(operations=(operation("s.b", points=3, not_after_reasons={"why": ("cuB",)}), operation("s.c"))),
                shard(
                    operations=(operation("s.b", sites=("cuA",), not_after_reasons={"why": ("cuA",)}), operation("s.a"))
                ),
            ]
        )
        self.assertEqual(["s.a", "s.b", "s.c"], [one.scenario for one in merged.operations])
        self.assertEqual(
            operation(
                "s.b",
                **dict.fromkeys(("before", "after", "transient", "persistent", "alloc", "double", "runs", "failed"), 2),
                points=4,
                not_after=2,
                sites=("cuA", "cuB"),
                not_after_reasons={"why": ("cuA", "cuB")},
            ),
            merged.operations[1],
        )

    def test_what_fuzzers_did_is_added_up(self) -> None:
        shrunk = [Shrunk(letter * 12, "leak", "", 1, 1, 2, 2, 3, True, "", letter) for letter in "ba"]
        parts = [Fuzz(10, 1, 2.0, 5.0, (shrunk[0],)), Fuzz(20, 2, 3.0, 6.7, (shrunk[1],))]
        merged = merge([shard(SAMPLE.cases[index], fuzz=fuzz) for index, fuzz in enumerate(parts)])
        self.assertEqual(Fuzz(30, 3, 5.0, 6.0, (shrunk[1], shrunk[0])), merged.fuzz)


class RefusalTest(unittest.TestCase):
    def refused(self, *shards: Record) -> str:
        with self.assertRaises(MergeError) as caught:
            merge(shards)
        return str(caught.exception)

    def test_shards_that_do_not_belong_together(self) -> None:
        for fields, says in (
            ({"version": "9"}, "version differs: 0.1.0 and 9"),
            ({"command": "sweep"}, "the command differs"),
            ({"seed": "0x1"}, "give all shards one --seed"),
            ({"plan_digest": "f" * 16}, "the plan differs"),
            ({"plan_digest": ""}, "and none"),
            ({"subject": Subject("scenario_runner", "f" * 16, ("address",))}, "the subject differs"),
            ({"subject": dataclasses.replace(SAMPLE.subject, sanitizers=())}, "the subject differs"),
            ({"driver": "real"}, "the driver differs"),
            ({"options": {"bug": Option("early", "command line")}}, "the seeded bug differs: none and early"),
            ({"driver_version": 12000}, "the driver's version differs: 12000 and 13000"),
        ):
            with self.subTest(says=says):
                later = {"started": "2025-01-03T00:00:00Z", **fields}
                self.assertIn(says, self.refused(shard(SAMPLE.cases[0]), shard(SAMPLE.cases[3], **later)))

    def test_the_same_case_twice(self) -> None:
        self.assertIn("two of them have A2.exec-outlives-node/inline: shards", self.refused(SAMPLE, SAMPLE))

    def test_the_same_report_twice_though_no_case_shows_it(self) -> None:
        fuzzed = shard(command="fuzz", fuzz=Fuzz(10, 1, 2.0, 5.0), exit_code=5)
        self.assertIn("two of them are the same report", self.refused(fuzzed, dataclasses.replace(fuzzed)))
        swept = shard(command="sweep", operations=(operation("s.a"),))
        other = dataclasses.replace(swept, started="2025-01-03T00:00:00Z")
        self.assertIn("two of them are the same report", self.refused(swept, other, dataclasses.replace(swept)))

    def test_a_bug_that_no_shard_had_is_none_however_it_is_written(self) -> None:
        unset = shard(SAMPLE.cases[0], options={"bug": Option(None, "default")})
        self.assertEqual(2, len(merge([unset, shard(SAMPLE.cases[3], options={})]).cases))

    def test_another_run_or_another_point_is_another_case(self) -> None:
        one = SAMPLE.cases[0]
        for fields in ({"run": 5}, {"point": ("cuA:nth=1,return=-1",)}, {"variant": "x"}):
            self.assertEqual(2, len(merge([shard(one), shard(dataclasses.replace(one, **fields))]).cases))

    def test_the_same_claim_twice(self) -> None:
        cell = Detection("early", "A1", True, ())
        self.assertIn("two of them have early by A1", self.refused(shard(detection=(cell,)), shard(detection=(cell,))))


if __name__ == "__main__":
    unittest.main()
