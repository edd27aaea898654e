"""How a scenario in Python is written down: what it is about, what it needs, what it proves, the function that runs it.

A scenario is one file in scenarios/python that defines SCENARIO. Its docstring states what is tested and how.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.python.context import Context


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to run a scenario on each interpreter. The rules of its plan have to fire, like the scenario's own."""

    name: str
    plan: Sequence[str] = ()  # one-line rules, as for --fault


@dataclasses.dataclass(frozen=True)
class Scenario:
    """One scenario. `interpreters` leaves out those that it cannot run on; its plan has to fire in every case."""

    name: str
    summary: str
    covers: Sequence[str]
    run: Callable[[Context], None]
    catches: Sequence[str] = ()
    variants: Sequence[Variant] = ()
    plan: Sequence[str] = ()
    drivers: Sequence[str] = ("model", "real")
    timeout_s: int = 60
    suites: Sequence[str] = ("python",)
    runs_on: Callable[[str], bool] = lambda interpreter: True
    file: str = ""


def is_free_threaded(interpreter: str) -> bool:
    """Whether the interpreter of this name has no GIL: cp313t, cp313t_tsan."""
    return interpreter.split("_", maxsplit=1)[0].endswith("t")


def is_watched(interpreter: str) -> bool:
    """Whether ThreadSanitizer watches the interpreter of this name: cp313t_tsan. Times mean nothing there."""
    return interpreter.endswith("_tsan")


def variants_on(scenario: Scenario, interpreter: str) -> list[Variant]:
    """The variants as the harness knows them: `cp312`, or `cp312-NAME` where the scenario has some of its own."""
    if not scenario.runs_on(interpreter):
        return []
    if not scenario.variants:
        return [Variant(interpreter)]
    return [Variant(f"{interpreter}-{own.name}", own.plan) for own in scenario.variants]
