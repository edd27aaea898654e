"""Which scenario or test covers which behaviour: the table of behaviours, and what the GoogleTests say of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from harness.cli.catalogue import Scenario
from harness.cli.layout import BEHAVIOURS, TESTS_COVER, Layout
from harness.cli.problems import HarnessError

COVERED = "covered"


@dataclasses.dataclass(frozen=True)
class Behaviour:
    """One behaviour. With a reason it makes no sense here; without one something has to cover it."""

    name: str
    what: str
    reason: str


@dataclasses.dataclass(frozen=True)
class CoveringTest:
    """A test that names behaviours; `name` is `//PACKAGE:TARGET#SUITE.CASE`."""

    name: str
    covers: tuple[str, ...]


def read_behaviours(places: Layout) -> list[Behaviour]:
    """The table of behaviours. Raises HarnessError if it is missing or broken."""
    path = places.need(BEHAVIOURS, "the table of behaviours")
    behaviours = [
        Behaviour(name, what, "" if status == COVERED else status) for name, what, status in _rows(path, columns=3)
    ]
    names = [behaviour.name for behaviour in behaviours]
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise HarnessError(f"{path.name} has {', '.join(doubles)} more than once")
    return behaviours


def read_covering_tests(places: Layout) -> list[CoveringTest]:
    """The tests that name behaviours, as they were collected when the tree was built; none where that was not done."""
    path = places.find(TESTS_COVER)
    rows = _rows(path, columns=2) if path else []
    return [CoveringTest(name, tuple(covers.split())) for name, covers in rows]


def covering(name: str, scenarios: Sequence[Scenario], tests: Sequence[CoveringTest]) -> list[str]:
    """The names of what covers a behaviour, scenarios first."""
    return [one.name for one in (*scenarios, *tests) if name in one.covers]


def _rows(path: Path, columns: int) -> list[list[str]]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        row = line.split("\t")
        if len(row) != columns or not all(row):
            raise HarnessError(f"{path.name}, line {number}: not {columns} columns with something in each")
        rows.append(row)
    return rows
