"""From scenarios to cases: suites and globs, variants, runs, shards and order."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.cli.catalogue import Scenario, Variant
from harness.cli.name_filter import has_positive_part, parse_filter
from harness.cli.problems import NothingSelected, UsageError
from harness.cli.seed import mix
from reports.name_glob import matches_glob
from reports.nearest import nearest

DEFAULT_SUITE = "default"
MOST_CASES = 1_000_000


@dataclasses.dataclass(frozen=True)
class Case:
    """One run of one variant of one scenario."""

    scenario: Scenario
    variant: Variant
    run: int
    seed: int

    @property
    def name(self) -> str:
        return f"{self.scenario.name}/{self.variant.name}"

    @property
    def program(self) -> Path:
        """What runs it."""
        return self.variant.program

    @property
    def plan(self) -> tuple[str, ...]:
        """The rules that the scenario and its variant bring."""
        return self.scenario.plan + self.variant.plan

    @property
    def label(self) -> str:
        """The name, with the run's number where that is not the first."""
        return f"{self.name} (run {self.run})" if self.run else self.name


Pair = tuple[Scenario, Variant]


def select(
    scenarios: Sequence[Scenario],
    positionals: Sequence[str],
    filter_text: str | None,
    default_suite: str = DEFAULT_SUITE,
) -> list[Pair]:
    """The (scenario, variant) pairs that the command line asks for. Raises NothingSelected.

    Each positional is a suite's name or a glob. Without any, a filter that names what it wants selects from all
    scenarios, and everything else from `default_suite`.
    """
    pairs = [(scenario, variant) for scenario in scenarios for variant in scenario.variants]
    if positionals:
        chosen = [pair for pair in pairs if any(_asks_for(word, pair, scenarios) for word in positionals)]
        for word in positionals:
            if not any(_asks_for(word, pair, scenarios) for pair in pairs):
                raise NothingSelected(f"{word!r} is no suite and matches no scenario{_near(word, scenarios)}")
    elif filter_text and has_positive_part(filter_text):
        chosen = pairs
    else:
        chosen = [pair for pair in pairs if default_suite in pair[0].suites]
    if filter_text:
        selects = parse_filter(filter_text, [(scenario.name, variant.name) for scenario, variant in pairs])
        chosen = [(scenario, variant) for scenario, variant in chosen if selects(scenario.name, variant.name)]
    if not chosen:
        if filter_text:
            raise NothingSelected(f"--filter={filter_text} leaves nothing{_near(filter_text, scenarios)}")
        raise NothingSelected(f"no scenario is in the {default_suite} suite")
    return chosen


def _asks_for(word: str, pair: Pair, scenarios: Sequence[Scenario]) -> bool:
    scenario, variant = pair
    if any(word in other.suites for other in scenarios):
        return word in scenario.suites
    return matches_glob(word, scenario.name, variant.name)


def _near(word: str, scenarios: Sequence[Scenario]) -> str:
    suites = {suite for scenario in scenarios for suite in scenario.suites}
    return nearest(word.partition("/")[0], [scenario.name for scenario in scenarios] + sorted(suites))


def shard(pairs: Iterable[Pair], index: int, count: int) -> list[Pair]:
    """This shard's part. It goes by a hash of the name, so adding a scenario moves no other."""

    def place(pair: Pair) -> int:
        name = f"{pair[0].name}/{pair[1].name}".encode()
        return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big") % count

    return [pair for pair in pairs if place(pair) == index]


def refuse_too_many(count: int) -> None:
    """Raises UsageError where merely making the cases would take minutes in which nothing is said."""
    if count > MOST_CASES:
        raise UsageError(f"--runs makes {count} cases, and {MOST_CASES} are the most; --first-run takes up later ones")


def expand(pairs: Sequence[Pair], seed: int, first_run: int, runs: int) -> list[Case]:
    """Every run of every pair; all first runs come before any second run."""
    return [
        Case(scenario, variant, run, mix(seed, scenario.name, variant.name, run))
        for run in range(first_run, first_run + runs)
        for scenario, variant in pairs
    ]


def shuffled(cases: Sequence[Case]) -> list[Case]:
    """The cases in an order that depends on their seeds alone."""
    return sorted(cases, key=lambda case: mix(case.seed, "order"))
