"""The two commands that take a finding again, and the replay string of a case.

The commands name what shapes the case, for a reader. Where that is a file of this machine, or longer than a line ought
to be, they hand the replay string to `holdfast replay` instead, which works anywhere.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.cli.cases import DEFAULT_SUITE, Case
from harness.cli.fuzz_sequence import FuzzSequence
from harness.cli.replay_string import Replay, encode
from harness.cli.schedule import reproducing_options
from harness.cli.seed import format_seed

# The longest schedule that stands in a command as it is.
MOST_OF_A_SCHEDULE = 200

# The suites whose test is not //scenarios:SUITE_suite_test.
_TESTS = {"python": "//scenarios/python:suite_test"}


def command_pair(words: Sequence[str]) -> tuple[str, ...]:
    """The command with these words: ours, then run by Bazel."""
    return shlex.join(["holdfast", *words]), shlex.join(["bazel", "run", "//harness:holdfast", "--", *words])


def replay_pair(string: str, *options: str) -> tuple[str, ...]:
    """The two commands that take a replay string."""
    return command_pair(["replay", string, *options])


@dataclasses.dataclass(frozen=True)
class Reproducer:
    """What the commands need to know of the run. `driver` is the value of --driver, `driver_kind` what that came to;
    `extra` are options of the command line that shape a case, and `rules` what is in the file of its --plan.
    """

    seed: int
    driver: str
    driver_kind: str
    extra: tuple[str, ...] = ()
    rules: tuple[dict[str, Any], ...] = ()

    def with_faults(self, faults: Sequence[str]) -> Reproducer:
        """One for runs with these faults instead of those that the options and the plan name."""
        kept = [option for option in self.extra if not option.startswith(("--plan=", "--fault="))]
        return dataclasses.replace(self, extra=(*kept, *_faults(faults)), rules=())

    def without_schedule(self) -> Reproducer:
        """One for runs whose threads go on as the system lets them."""
        kept = [option for option in self.extra if not option.startswith("--schedule=")]
        return dataclasses.replace(self, extra=tuple(kept))

    def with_schedule(self, value: str) -> Reproducer:
        """One for runs with this value of --schedule."""
        extra = self.without_schedule().extra
        return dataclasses.replace(self, extra=(*extra, f"--schedule={value}"))

    def can_say(self, case: Case, schedule: str) -> bool:
        """Whether a schedule has room in the replay string of a case."""
        return bool(self._string("run", case, reproducing_options(self.extra, schedule)))

    def commands(self, case: Case, schedule: str = "") -> tuple[str, ...]:
        """Ours first, then Bazel's. Both derive the seed of the case from the seed of the run. `schedule` is the order
        that the case's threads took, if that was controlled.

        The suites' tests have no seeded bugs in them; a run on one is taken again by running the command.
        """
        is_long = len(schedule) > MOST_OF_A_SCHEDULE
        string = ""
        if self.rules:
            string = self.replay_string(case, schedule)
        elif is_long:
            string = self._string("run", case, reproducing_options(self.extra, schedule))
        if string:
            return self._replay(string)
        run = (f"--first-run={case.run}",) if case.run else ()
        suites = case.scenario.suites
        suite = DEFAULT_SUITE if DEFAULT_SUITE in suites or not suites else suites[0]
        test = _TESTS.get(suite, f"//scenarios:{suite}_suite_test")
        return self._pair("run", test, case, (*run, *reproducing_options(self.extra, "" if is_long else schedule)))

    def sweep_commands(self, case: Case, rules: tuple[str, ...]) -> tuple[str, ...]:
        """The same for one point of a sweep; without rules, for the whole sweep of the case."""
        return self._pair("sweep", "//scenarios:sweep_test", case, (*_faults(rules), *self.extra))

    def sequence_commands(self, name: str, sequence: FuzzSequence, file: Path) -> tuple[str, ...]:
        """The same for the sequence of a fuzzer that is in `file`."""
        string = self.sequence_string(name, sequence)
        if string:
            return self._replay(string)
        return command_pair(["fuzz", f"--driver={self.driver}", *self.extra, f"--replay={file}"])

    def replay_string(self, case: Case, schedule: str = "") -> str:
        """What takes the case again on any machine; empty if that is too much for a line. Where it is the schedule that
        is too long, its strategy and the seed draw it again.
        """
        for recorded in (schedule, ""):
            string = self._string("run", case, reproducing_options(self.extra, recorded))
            if string:
                return string
        return ""

    def sweep_string(self, case: Case, rules: tuple[str, ...]) -> str:
        """The same for one point of a sweep, or for all of it."""
        return self._string("sweep", case, (*_faults(rules), *self.extra))

    def sequence_string(self, name: str, sequence: FuzzSequence) -> str:
        """The same for the sequence of a fuzzer."""
        fields = ("fuzz", "fuzz", name, self.driver_kind, self.seed)
        return encode(Replay(*fields, options=self.extra, sequence=sequence.text()))

    def _string(self, command: str, case: Case, options: tuple[str, ...]) -> str:
        portable = tuple(option for option in options if not option.startswith("--plan="))
        fields = (command, case.scenario.name, case.variant.name, self.driver_kind, self.seed, case.run)
        return encode(Replay(*fields, options=portable, rules=self.rules))

    def _replay(self, string: str) -> tuple[str, ...]:
        # A driver that was named by its path is not what its kind would choose.
        driver = () if self.driver == self.driver_kind else (f"--driver={self.driver}",)
        return replay_pair(string, *driver)

    def _pair(self, command: str, test: str, case: Case, options: tuple[str, ...]) -> tuple[str, ...]:
        seed = format_seed(self.seed)
        own = ["holdfast", command, f"--driver={self.driver}", f"--seed={seed}", f"--filter={case.name}", *options]
        if any(option.startswith("--bug=") for option in options):
            return command_pair(own[1:])
        driver = (f"--driver={self.driver}",) if self.driver != "model" else ()
        bazel = ["bazel", "test", test, f"--test_filter={case.name}", f"--test_env=HOLDFAST_SEED={seed}"]
        bazel += [f"--test_arg={argument}" for argument in (*driver, *options)]
        return shlex.join(own), shlex.join(bazel)


def _faults(rules: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"--fault={rule}" for rule in rules)
