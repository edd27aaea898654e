"""What a rule of a policy is, what it looks at, and what it says."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from typing import Any, TypeVar

from reports.name_glob import matches_glob
from reports.record import Case, Record


class GateError(Exception):
    """The policy or a report cannot be used, so nothing is judged. The text is a sentence for the user."""


@dataclasses.dataclass(frozen=True)
class Listed:
    """A variant of a scenario that there is, and the suites that it is in."""

    scenario: str
    variant: str
    suites: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What a policy is applied to. `catalogue` is empty unless the policy names suites."""

    record: Record
    baseline: Record | None = None
    canaries: tuple[Record, ...] = ()
    catalogue: tuple[Listed, ...] = ()

    @property
    def day(self) -> str:
        """The day of the run, by which exceptions expire: the same reports have the same verdict on any day."""
        return self.record.started[:10]


@dataclasses.dataclass(frozen=True)
class Opinion:
    """What a rule came to: it is met if it has no problem. `met` then says why, in some words."""

    problems: tuple[str, ...]
    met: str
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Rule:
    """One row of the table. `judge` takes the parameters, which are of the type `parameters`, and the evidence."""

    name: str
    summary: str
    parameters: Any
    judge: Callable[[Any, Evidence], Opinion]
    looks_at_baseline: Callable[[Any], bool] = lambda parameters: False
    needs_baseline: Callable[[Any], bool] = lambda parameters: False


def parameter(text: str, default: Any = dataclasses.MISSING, **bounds: Any) -> Any:
    """A field of a rule's parameters, with what the documentation says of it and what its values must be like."""
    return dataclasses.field(default=default, metadata={"help": text, **bounds})


def reason() -> Any:
    """Why an exception is one: there is none without."""
    return parameter("why", pattern=r".*\S.*", form="a sentence")


def glob(text: str, default: Any = dataclasses.MISSING) -> Any:
    """A glob over names."""
    return parameter(text, default, pattern=r".+", form="a glob such as A1.*")


@dataclasses.dataclass(frozen=True)
class Excuse:
    """Cases of which something is not expected."""

    case: str = glob("glob of SCENARIO or SCENARIO/VARIANT")
    reason: str = reason()


def is_day(text: str) -> bool:
    """Whether it is a day of the calendar, as 2027-01-31."""
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def by_name(record: Record) -> dict[tuple[str, str], list[Case]]:
    """All runs of each scenario and variant, by name."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in record.cases:
        groups.setdefault((case.scenario, case.variant), []).append(case)
    return dict(sorted(groups.items()))


def excused(excuses: tuple[Excuse, ...], scenario: str, variant: str) -> list[Excuse]:
    return [excuse for excuse in excuses if matches_glob(excuse.case, scenario, variant)]


T = TypeVar("T")


def unused(excuses: tuple[T, ...], used: list[T], text: Callable[[T], str]) -> tuple[str, ...]:
    """A note for each exception that nothing needed, so that lists of them do not only grow."""
    return tuple(
        f"nothing needs the exception for {text(excuse)}; take it out" for excuse in excuses if excuse not in used
    )
