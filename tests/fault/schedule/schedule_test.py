"""The order control over small programs: each strategy finds what shows in few orders, the same seed gives the same
order, a schedule is taken again exactly, and a program that is another one is noticed.

The programs are those of subject.cc; each run is a process with the library preloaded.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

RUNFILES = Path(os.environ.get("TEST_SRCDIR", ".")) / os.environ.get("TEST_WORKSPACE", "")
LIBRARY = Path(
    os.environ.get("HOLDFAST_SCHEDULE_LIBRARY", RUNFILES / "fault/schedule/libholdfast_schedule.so")
).absolute()
SUBJECT = Path(os.environ.get("HOLDFAST_SUBJECT", RUNFILES / "tests/fault/schedule/subject")).absolute()

STRATEGIES = ("random", "pct", "bursts", "starvation")
MOST_SEEDS = 200


@dataclasses.dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str
    schedule: str
    events: list[dict[str, Any]]


class ScheduleTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_subject(self, schedule: str, *arguments: str, seed: int = 1, **variables: str) -> Run:
        """One run; `schedule` is a strategy, or the text of one to take again."""
        events, record, taken = (self.folder / name for name in ("events", "record", "taken"))
        events.write_text("")
        taken.write_text(schedule)
        environment = {
            "LD_PRELOAD": str(LIBRARY),
            "HOLDFAST_SCHEDULE": "replay" if schedule.startswith("x1:") else schedule,
            "HOLDFAST_SCHEDULE_RECORD": str(record),
            "HOLDFAST_SCHEDULE_TAKE": str(taken),
            "HOLDFAST_SEED": hex(seed),
            "HOLDFAST_EVENTS": str(events),
            **variables,
        }
        done = subprocess.run(
            [str(SUBJECT), *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        text = record.read_bytes().partition(b"\0")[0].decode() if record.is_file() else ""
        told = [json.loads(line) for line in events.read_text().splitlines()]
        return Run(done.returncode, done.stdout, done.stderr, text, told)

    def find(self, strategy: str, program: str) -> Run:
        """The first run that finds something."""
        for seed in range(MOST_SEEDS):
            found = self.run_subject(strategy, program, seed=seed)
            self.assertIn(found.code, (0, 1), found)
            if found.code == 1:
                return found
        raise AssertionError(f"{strategy} does not find {program} with {MOST_SEEDS} seeds")


class FindingTest(ScheduleTest):
    def test_each_strategy_finds_a_lost_update(self) -> None:
        for strategy in STRATEGIES:
            self.assertEqual([], self.find(strategy, "lost-update").events)

    def test_each_strategy_finds_a_deadlock_and_tells_who_waits_for_whom(self) -> None:
        for strategy in STRATEGIES:
            found = self.find(strategy, "two-locks")
            self.assertEqual(["deadlock"], [event["kind"] for event in found.events])
            message = found.events[0]["message"]
            self.assertIn("thread b waits for a mutex that thread c holds", message)
            self.assertIn("thread c waits for a mutex that thread b holds", message)
            self.assertIn("holdfast: deadlock: thread a waits for another thread's end", found.err)

    def test_each_strategy_finds_a_lost_wakeup(self) -> None:
        for strategy in STRATEGIES:
            found = self.find(strategy, "lost-wakeup")
            self.assertIn("thread b waits for a condition", found.events[0]["message"])


class ReplayTest(ScheduleTest):
    def test_the_same_seed_gives_the_same_schedule(self) -> None:
        for strategy in STRATEGIES:
            for program in ("lost-update", "everything"):
                schedules = {self.run_subject(strategy, program, seed=7).schedule for _ in range(3)}
                self.assertEqual(1, len(schedules), schedules)
                self.assertRegex(schedules.pop(), r"^x1:([a-z][0-9]*)+#[0-9a-f]{1,8}$")

    def test_other_seeds_give_other_schedules(self) -> None:
        for strategy in STRATEGIES:
            self.assertGreater(
                len({self.run_subject(strategy, "everything", seed=seed).schedule for seed in range(10)}), 3
            )

    def test_a_finding_is_found_again_every_time(self) -> None:
        for program in ("lost-update", "two-locks", "lost-wakeup"):
            found = self.find("random", program)
            for _ in range(20):
                again = self.run_subject(found.schedule, program)
                self.assertEqual((1, found.schedule, found.events), (again.code, again.schedule, again.events))

    def test_a_thread_that_cannot_go_on_is_out_of_order_at_its_step(self) -> None:
        again = self.run_subject("x1:ca5#0", "two-locks")
        self.assertEqual(3, again.code)
        self.assertEqual([{"event": "out-of-order", "step": 1, "reason": "thread c cannot go on"}], again.events)
        self.assertIn("the order of threads cannot be kept at step 1: thread c cannot go on", again.err)

    def test_a_schedule_that_is_followed_goes_on_with_what_can_be_taken_of_it(self) -> None:
        found = self.find("random", "two-locks")
        followed = self.run_subject(found.schedule, "two-locks", HOLDFAST_SCHEDULE="follow")
        self.assertEqual((1, found.schedule, found.events), (followed.code, followed.schedule, followed.events))
        # Thread c is not there yet, and b never takes as many steps.
        followed = self.run_subject("x1:c9a5b999ca2#0", "two-locks", HOLDFAST_SCHEDULE="follow")
        self.assertEqual((0, []), (followed.code, followed.events), followed)
        self.assertRegex(followed.schedule, "^x1:a[0-9]*b[0-9]+c")

    def test_behind_the_end_of_a_schedule_as_few_switches_as_can_be(self) -> None:
        followed = self.run_subject("x1:a#0", "two-locks", HOLDFAST_SCHEDULE="follow")
        self.assertRegex(followed.schedule, "^x1:a[0-9]+b[0-9]+(a[0-9]+)?c[0-9]+a[0-9]*#")

    def test_a_changed_program_leaves_another_schedule(self) -> None:
        # What the harness compares: the same steps at other points have another hash.
        found = self.find("random", "lost-update")
        again = self.run_subject(found.schedule, "lost-update", "3")
        self.assertNotEqual(found.schedule, again.schedule)


class ProgramTest(ScheduleTest):
    def test_all_ways_to_wait_work_and_time_passes_only_in_the_order(self) -> None:
        for strategy in STRATEGIES:
            for seed in range(5):
                done = self.run_subject(strategy, "everything", seed=seed)
                self.assertEqual((0, "1 1 1\n", ""), (done.code, done.out, done.err), f"{strategy} {seed}")

    def test_without_an_order_the_library_does_nothing(self) -> None:
        done = self.run_subject("random", "lost-update", HOLDFAST_SCHEDULE="")
        self.assertEqual((0, ""), (done.code, done.schedule))

    def test_what_makes_no_sense_is_refused(self) -> None:
        for variables, word in (
            ({"HOLDFAST_SCHEDULE": "best"}, "it is no strategy, and neither replay nor follow"),
            ({"HOLDFAST_SCHEDULE_RECORD": ""}, "HOLDFAST_SCHEDULE_RECORD: it is not set"),
            ({"HOLDFAST_SEED": ""}, "HOLDFAST_SEED: it is not set"),
        ):
            done = self.run_subject("random", "lost-update", **variables)
            self.assertEqual(2, done.code)
            self.assertIn(word, done.err)
        for text, word in (
            ("x1:a3b", "was it cut off?"),
            ("x1:a0#1", "a count is at least 1"),
            ("x1:?#1", "no thread"),
        ):
            done = self.run_subject(text, "lost-update")
            self.assertEqual(2, done.code)
            self.assertIn(word, done.err)


if __name__ == "__main__":
    unittest.main()
