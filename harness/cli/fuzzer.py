"""Runs the fuzz program in child processes: to draw sequences, to take sequences again, to shrink what was found."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.cli.case_task import Setting
from harness.cli.delta_debugging import TimeIsUp
from harness.cli.engine import Engine, Searching
from harness.cli.fuzz_sequence import FuzzSequence, parse_sequence
from harness.cli.fuzz_task import DrawingTask, FuzzTask, Repeats, fingerprint, fuzz_case
from harness.cli.interrupt import Interrupt
from harness.cli.seed import mix
from harness.cli.shrink import shrink
from harness.cli.verdict import Verdict
from reports import record
from reports.counted import count_of

SHRINK_SECONDS = 60.0
_REPLAY_SECONDS = 5.0  # of one candidate; a sequence takes milliseconds
_FIRST_REPLAYS = 8  # of the sequence as it was found, to see how often it happens again
_FIRST_REPLAYS_OF_A_HANG = 3  # each of them takes seconds
_MOST_DRAWINGS = 8  # for a finding that always happens again
_MOST_ATTEMPTS = 8  # at one candidate, for a finding that does not
_OVERTIME_SECONDS = 60.0  # how much longer than told a child may draw

Look = Callable[[Sequence[FuzzTask]], None]


@dataclasses.dataclass(frozen=True)
class Reduction:
    """What became of a finding: the record of it, and the sequence that is left."""

    summary: record.Shrunk
    sequence: FuzzSequence


class Fuzzer:
    """One fuzz program and the seed that all its children's seeds come from."""

    def __init__(self, program: Path, setting: Setting, seed: int, width: int, interrupt: Interrupt) -> None:
        self._program = program
        self._setting = setting
        self._seed = seed
        self._width = width
        self._interrupt = interrupt
        self._numbers = itertools.count()

    def draw(
        self,
        seconds: float,
        runs: int = 1,
        keep_going: bool = False,
        reproduction: tuple[str, ...] = (),
        look: Look = lambda running: None,
        hard_stop: Callable[[], bool] = lambda: False,
    ) -> list[FuzzTask]:
        """Draws sequences for so long, in one child a job and run. Returns the children that have ended; a finding ends
        the others, unless it is to keep going. A finding that does not always happen again when its sequence is taken
        again, since it is a matter of timing between threads, can hardly be shrunk: it is drawn on for a better one.
        """
        end = time.monotonic() + seconds
        ended: list[FuzzTask] = []
        for _ in range(_MOST_DRAWINGS):
            left = end - time.monotonic()
            first_run = 1 + max((task.case.run for task in ended), default=-1)
            watcher = _Drawing(self, left, keep_going, reproduction, look, hard_stop)
            tasks = [
                watcher.task(job, first_run + run, left / runs) for run in range(runs) for job in range(self._width)
            ]
            Engine[FuzzTask](self._width, self._interrupt, watcher).run(tasks)
            ended += watcher.ended
            found = [task for task in watcher.ended if task.finding]
            if keep_going or not found or self._repeats(self.steadiest(found)).always:
                break
            if end - time.monotonic() < 1 or hard_stop() or self._interrupt.signal:
                break
        return ended

    def steadiest(self, tasks: Sequence[FuzzTask]) -> FuzzTask:
        """The first whose finding always happens again, else the first of those with which it happens most often.

        REQUIRES: each has a finding; there is one at least.
        """
        for task in tasks:
            if self._repeats(task).always:
                return task
        return max(tasks, key=lambda task: self._repeats(task).count)

    def _repeats(self, task: FuzzTask) -> Repeats:
        if task.repeats is None:
            task.repeats = self._count_repeats(task)
        return task.repeats

    def _count_repeats(self, task: FuzzTask) -> Repeats:
        finding = task.finding
        assert finding is not None
        try:
            sequence = parse_sequence(task.sequence)
        except ValueError:
            return Repeats(0, 0)
        wanted = fingerprint(finding)
        count = _FIRST_REPLAYS_OF_A_HANG if finding.kind == "hang" else _FIRST_REPLAYS
        replays = self._candidates([sequence] * count)
        Engine[FuzzTask](self._width, self._interrupt, Searching[FuzzTask]()).run(replays)
        ended = [replay for replay in replays if replay.result]
        return Repeats(sum(_has(replay, wanted) for replay in ended), len(ended))

    def replay(self, files: Mapping[Path, FuzzSequence], runs: int) -> list[FuzzTask]:
        """Takes each file's sequence again, `runs` times. Returns the children that have ended."""
        reproducer = self._setting.reproducer
        tasks = [
            FuzzTask(
                fuzz_case(self._program, file.stem, run, mix(self._seed, "replay", file.stem, run)),
                self._setting,
                next(self._numbers),
                [f"--replay={file.absolute()}"],
                reproducer.sequence_commands(file.stem, sequence, file),
                sequence.text(),
            )
            for run in range(runs)
            for file, sequence in files.items()
        ]
        Engine[FuzzTask](self._width, self._interrupt, Searching[FuzzTask]()).run(tasks)
        return [task for task in tasks if task.result]

    def reduce(self, task: FuzzTask, seconds: float = SHRINK_SECONDS) -> Reduction | None:
        """The shortest sequence with the finding of `task`; None if the child left no sequence behind.

        REQUIRES: the task has a finding.
        """
        finding = task.finding
        assert finding is not None
        try:
            sequence = parse_sequence(task.sequence)
        except ValueError:
            return None
        end = time.monotonic() + seconds
        first = self._repeats(task)
        replays = _Replays(self, fingerprint(finding), end, first)
        notes, complete, left = [], False, sequence
        if self._interrupt.signal or time.monotonic() > end:
            notes = ["the time for shrinking was up before it had begun"]
        elif first.count == 0:
            notes = [f"it did not happen again in {count_of(first.replays, 'replay')}"]
        else:
            result = shrink(sequence, replays.ask)
            left, complete = result.sequence, result.complete and first.always
            notes += [] if result.complete else ["the time for shrinking was up"]
            notes += (
                [] if first.always else [f"it happened again in {first.count} of {count_of(first.replays, 'replay')}"]
            )
        summary = record.Shrunk(
            fingerprint=fingerprint(finding),
            kind=finding.kind,
            message=finding.message,
            operations=left.operations,
            faults=left.faults,
            operations_before=sequence.operations,
            faults_before=sequence.faults,
            replays=replays.count,
            complete=complete,
            note="; ".join(notes),
            file="",
            sequence=tuple(left.lines()),
        )
        return Reduction(summary, left)

    def drawing_task(self, job: int, run: int, seconds: float, reproduction: tuple[str, ...]) -> DrawingTask:
        seed = mix(self._seed, "fuzz", job, run)
        case = fuzz_case(self._program, f"job-{job}", run, seed)
        return DrawingTask(case, self._setting, next(self._numbers), seconds, reproduction)

    def first_with(self, sequences: Sequence[FuzzSequence], wanted: str) -> tuple[int | None, int]:
        """The index of the first sequence whose replay has the finding with this fingerprint, or None; and how many
        replays there were. Raises TimeIsUp when a signal came.
        """
        tasks = self._candidates(sequences)
        searching = Searching[FuzzTask](lambda task: _has(task, wanted))
        Engine[FuzzTask](self._width, self._interrupt, searching).run(tasks)
        if self._interrupt.signal:
            raise TimeIsUp
        # All before the first that has it were started before it, and have ended: the answer is no matter of timing.
        found = next((index for index, task in enumerate(tasks) if _has(task, wanted)), None)
        return found, sum(task.result is not None for task in tasks)

    def _candidates(self, sequences: Sequence[FuzzSequence]) -> list[FuzzTask]:
        setting = dataclasses.replace(
            self._setting,
            artifacts=None,
            timelines=None,
            timeout_seconds=self._setting.timeout_seconds or self._replay_seconds(),
        )
        tasks = []
        for sequence in sequences:
            number = next(self._numbers)
            file = self._setting.scratch / f"candidate-{number}.fuzz"
            file.write_text(sequence.text())
            case = fuzz_case(self._program, "candidate", 0, self._seed)
            tasks.append(FuzzTask(case, setting, number, [f"--replay={file}"]))
        return tasks

    def _replay_seconds(self) -> float:
        usual = self._setting.limits(fuzz_case(self._program, "candidate", 0, 0)).seconds
        return usual * _REPLAY_SECONDS / fuzz_case(self._program, "candidate", 0, 0).scenario.timeout_seconds


class _Drawing:
    """Watches the engine while sequences are drawn."""

    def __init__(
        self,
        fuzzer: Fuzzer,
        seconds: float,
        keep_going: bool,
        reproduction: tuple[str, ...],
        look: Look,
        hard_stop: Callable[[], bool],
    ) -> None:
        self.ended: list[FuzzTask] = []
        self._fuzzer = fuzzer
        self._seconds = seconds
        self._keep_going = keep_going
        self._reproduction = reproduction
        self._look = look
        self._hard_stop = hard_stop
        self._started = time.monotonic()
        self._found = False
        self._runs: dict[int, int] = {}

    def task(self, job: int, run: int, seconds: float) -> FuzzTask:
        self._runs[job] = max(run, self._runs.get(job, 0))
        return self._fuzzer.drawing_task(job, run, seconds, self._reproduction)

    def may_start(self) -> bool:
        return self._keep_going or not self._found

    def must_stop(self) -> bool:
        late = time.monotonic() - self._started > self._seconds + _OVERTIME_SECONDS
        return late or not self.may_start() or self._hard_stop()

    def after_each(self, task: FuzzTask) -> Sequence[FuzzTask]:
        assert task.result is not None
        self.ended.append(task)
        self._found = self._found or task.finding is not None
        left = self._seconds - (time.monotonic() - self._started)
        if not (self._keep_going and task.finding) or left < 1:
            return ()
        job = int(task.case.variant.name.rpartition("-")[2])
        return [self.task(job, self._runs[job] + 1, left)]

    def look(self, running: Sequence[FuzzTask]) -> None:
        for task in running:
            task.look_for_life()
        self._look(running)


class _Replays:
    """Answers the questions of the shrinker until the time is up. A candidate of a finding that does not always happen
    again is taken several times, so that it would show with a probability of 95 % if it were as frequent as before.
    """

    def __init__(self, fuzzer: Fuzzer, wanted: str, deadline: float, first: Repeats) -> None:
        self.count = first.replays
        often = math.ceil(3 * first.replays / first.count) if first.count else 1
        self._attempts = 1 if first.always else min(often, _MOST_ATTEMPTS)
        self._fuzzer = fuzzer
        self._wanted = wanted
        self._deadline = deadline

    def ask(self, candidates: Sequence[FuzzSequence]) -> int | None:
        if time.monotonic() > self._deadline:
            raise TimeIsUp
        attempts = [candidate for candidate in candidates for _ in range(self._attempts)]
        found, replays = self._fuzzer.first_with(attempts, self._wanted)
        self.count += replays
        return None if found is None else found // self._attempts


def _has(task: FuzzTask, wanted: str) -> bool:
    failed = task.result is not None and task.result.verdict == Verdict.FAILED.value
    return failed and any(fingerprint(finding) == wanted for finding in (task.result.findings if task.result else ()))
