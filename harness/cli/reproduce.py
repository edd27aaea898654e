"""The two commands that take a finding again, and the replay string of a case."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence

from harness.cli.cases import DEFAULT_SUITE, Case
from harness.cli.schedule import reproducing_options
from harness.cli.seed import format_seed

_REPLAY_FORMAT = "hf1"

# The suites whose test is not //scenarios:SUITE_suite_test.
_TESTS = {"python": "//scenarios/python:suite_test"}


def command_pair(words: Sequence[str]) -> tuple[str, ...]:
    """The command with these words: ours, then run by Bazel."""
    return shlex.join(["holdfast", *words]), shlex.join(["bazel", "run", "//harness:holdfast", "--", *words])


@dataclasses.dataclass(frozen=True)
class Reproducer:
    """What the commands need to know of the run. `extra` are options of the command line that shape a case."""

    seed: int
    driver: str
    extra: tuple[str, ...] = ()

    def with_faults(self, faults: Sequence[str]) -> Reproducer:
        """One for runs with these faults instead of those that the options name."""
        kept = [option for option in self.extra if not option.startswith(("--plan=", "--fault="))]
        return dataclasses.replace(self, extra=(*kept, *(f"--fault={fault}" for fault in faults)))

    def without_schedule(self) -> Reproducer:
        """One for runs whose threads go on as the system lets them."""
        kept = [option for option in self.extra if not option.startswith("--schedule=")]
        return dataclasses.replace(self, extra=tuple(kept))

    def commands(self, case: Case, schedule: str = "") -> tuple[str, ...]:
        """Ours first, then Bazel's. Both derive the seed of the case from the seed of the run. `schedule` is the order
        that the case's threads took, if that was controlled.

        The suites' tests have no seeded bugs in them; a run on one is taken again by running the command.
        """
        run = (f"--first-run={case.run}",) if case.run else ()
        suites = case.scenario.suites
        suite = DEFAULT_SUITE if DEFAULT_SUITE in suites or not suites else suites[0]
        test = _TESTS.get(suite, f"//scenarios:{suite}_suite_test")
        return self._pair("run", test, case, (*run, *reproducing_options(self.extra, schedule)))

    def sweep_commands(self, case: Case, rules: tuple[str, ...]) -> tuple[str, ...]:
        """The same for one point of a sweep; without rules, for the whole sweep of the case."""
        point = tuple(f"--fault={rule}" for rule in rules)
        return self._pair("sweep", "//scenarios:sweep_test", case, (*point, *self.extra))

    def _pair(self, command: str, test: str, case: Case, options: tuple[str, ...]) -> tuple[str, ...]:
        seed = format_seed(self.seed)
        own = ["holdfast", command, f"--driver={self.driver}", f"--seed={seed}", f"--filter={case.name}", *options]
        if any(option.startswith("--bug=") for option in options):
            return command_pair(own[1:])
        driver = (f"--driver={self.driver}",) if self.driver != "model" else ()
        bazel = ["bazel", "test", test, f"--test_filter={case.name}", f"--test_env=HOLDFAST_SEED={seed}"]
        bazel += [f"--test_arg={argument}" for argument in (*driver, *options)]
        return shlex.join(own), shlex.join(bazel)

    def replay_string(self, case: Case, driver_kind: str, plan_digest: str) -> str:
        """One line, safe in a shell and in a URL: format, scenario, variant, driver, seed of the case, plan digest."""
        parts = (_REPLAY_FORMAT, case.scenario.name, case.variant.name, driver_kind, f"{case.seed:016x}", plan_digest)
        return "~".join(parts)
