"""The order of a case's threads: what `--schedule` asks for, whom it can be asked of, whether a replay was one, and how
to get along with fewer switches of threads.

The library fault/schedule, preloaded into the case, runs the threads one at a time. It writes the schedule, which
thread went on at each step, into a file that is whole however the case ends.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

from harness.cli.cases import Case
from harness.cli.problems import UsageError
from harness.cli.values import REPLAYED_SCHEDULE, SCHEDULE_TEXT
from reports.counted import count_of

_RECORD_FILE = "schedule.txt"
_TAKEN_FILE = "taken_schedule.txt"
_FOLLOWED_SCHEDULE = "follow:"
_RUN = re.compile(r"([a-zA-Z])(\d*)")


@dataclasses.dataclass(frozen=True)
class ThreadOrder:
    """The value of --schedule, with the library that does it; or `follow:` and a schedule, of which each step that its
    thread cannot take is passed over. What is behind the end of a schedule is done with as few switches as can be.
    """

    value: str
    library: Path

    @property
    def replayed(self) -> str:
        """The schedule to take again, or an empty string."""
        return self.value.removeprefix(REPLAYED_SCHEDULE) if self.value.startswith(REPLAYED_SCHEDULE) else ""

    def prepare(self, folder: Path, environment: dict[str, str]) -> None:
        """Puts into a case's scratch folder and environment what the library reads. Raises OSError."""
        word, _, taken = self.value.partition(":")
        if taken:
            (folder / _TAKEN_FILE).write_text(taken)
            environment["HOLDFAST_SCHEDULE_TAKE"] = str(folder / _TAKEN_FILE)
        environment["HOLDFAST_SCHEDULE"] = word
        environment["HOLDFAST_SCHEDULE_RECORD"] = str(folder / _RECORD_FILE)
        others = environment.get("LD_PRELOAD", "")
        environment["LD_PRELOAD"] = f"{self.library}:{others}" if others else str(self.library)

    def recorded(self, folder: Path) -> str:
        """The schedule that a case took; empty if it wrote none, or was killed in the middle of writing."""
        try:
            text = (folder / _RECORD_FILE).read_bytes().partition(b"\0")[0].decode("ascii")
        except (OSError, UnicodeDecodeError):
            return ""
        return text if re.fullmatch(SCHEDULE_TEXT, text) else ""

    def divergence(self, recorded: str, was_stopped: bool) -> str:
        """Where a replay left the schedule, in words; empty if it did not, or if nothing was replayed. A case that the
        harness stopped may have been anywhere."""
        if not self.replayed or was_stopped or recorded == self.replayed:
            return ""
        if not recorded:
            return "diverged: it took no step of the schedule"
        wanted, taken = runs_of(self.replayed), runs_of(recorded)
        step = _first_difference(wanted, taken)
        if step:
            lengths = f"the schedule has {count_of(_length(wanted), 'step')}, and the case took {_length(taken)}"
            return f"diverged at step {step}: {lengths}"
        return (
            "diverged: each step was taken, but not at the points at which it was when the schedule was made; the "
            "program was changed, or it depends on addresses or chance"
        )


def refuse_unorderable(cases: Sequence[Case], value: str, driver: str, sanitizers: Sequence[str]) -> None:
    """Raises UsageError if the order of these cases' threads cannot be controlled."""
    option = f"--schedule={value.partition(':')[0]}"
    if driver != "model":
        raise UsageError(f"{option}: the real driver has threads that nothing can hold; take --driver=model")
    if sanitizers:
        raise UsageError(
            f"{option}: this build has the {' and '.join(sanitizers)} sanitizer, which stands in the same place, "
            "between the threads and the C library; take a build without"
        )
    python = [case.name for case in cases if case.variant.interpreter]
    if python:
        raise UsageError(
            f"{option}: {python[0]} is in Python, whose interpreter waits in ways that the order does not see; "
            "select scenarios in C++"
        )
    if value.startswith(REPLAYED_SCHEDULE) and len(cases) > 1:
        raise UsageError(f"{option} takes one case again, and {len(cases)} are selected; --filter=SCENARIO/VARIANT")


def reproducing_options(options: Sequence[str], recorded: str) -> tuple[str, ...]:
    """The options of the run, with the schedule that a case took in the place of the strategy that drew it."""
    if not recorded:
        return tuple(options)
    return tuple(
        f"--schedule={replaying(recorded)}" if option.startswith("--schedule=") else option for option in options
    )


def replaying(schedule: str) -> str:
    """The value that takes each step of it."""
    return f"{REPLAYED_SCHEDULE}{schedule}"


def following(schedule: str) -> str:
    """The value that takes those steps of it that can be taken."""
    return f"{_FOLLOWED_SCHEDULE}{schedule}"


def switches_of(schedule: str) -> int:
    """How often another thread goes on."""
    return max(0, len(runs_of(schedule)) - 1)


def with_runs(runs: Sequence[tuple[str, int]], kept: Sequence[int]) -> str:
    """A schedule, to follow, with these of the runs of a schedule. The steps of a run that is left out come in the
    thread's next run, so that it has come as far there as it had.
    """
    chosen = set(kept)
    owed: dict[str, int] = {}
    text = ""
    for index, (letter, count) in enumerate(runs):
        owed[letter] = owed.get(letter, 0) + count
        if index in chosen:
            text += f"{letter}{owed.pop(letter)}"
    return f"x1:{text or runs[0][0]}#0"


def runs_of(text: str) -> list[tuple[str, int]]:
    """The runs of a schedule: which thread, and how many steps it took before another one did."""
    steps = text.partition(":")[2].partition("#")[0]
    return [(letter, int(count or 1)) for letter, count in _RUN.findall(steps)]


def _length(runs: Sequence[tuple[str, int]]) -> int:
    return sum(count for _, count in runs)


def _first_difference(wanted: Sequence[tuple[str, int]], taken: Sequence[tuple[str, int]]) -> int:
    """The number, from 1, of the first step that is not the same in both; 0 if all are."""
    step = 0
    for (letter, count), (other_letter, other_count) in zip(wanted, taken, strict=False):
        if letter != other_letter:
            return step + 1
        if count != other_count:
            return step + min(count, other_count) + 1
        step += count
    return 0 if len(wanted) == len(taken) else step + 1
