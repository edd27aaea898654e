"""Makes one record of the shards of a run, and refuses what was never one run."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from reports.case_name import case_name
from reports.record import Case, Fuzz, Operation, Option, Record

# From the worst: a run that has not ended says nothing yet; then what is certain, a finding before trouble of the
# harness, as in harness/cli/verdict.py; then what came in between.
_EXIT_CODES = (None, 1, 3, 2, 130, 143, 5, 4)

# What shards of one run have in common, and what a shard that differs has to do with it.
_EQUAL = (
    ("version", "holdfast's version", "take all of them with one version"),
    ("command", "command", "merge the reports of each command by themselves"),
    ("seed", "seed", "give all shards one --seed"),
    ("plan_digest", "plan", "give all shards one plan"),
    ("subject", "subject", "run one build of one program"),
    ("driver", "driver", "give all shards one --driver"),
)


class MergeError(Exception):
    """The records are not the shards of one run."""


def merge(records: Sequence[Record]) -> Record:
    """One record with everything that is in the shards; the same in whichever order they come. Raises MergeError.

    REQUIRES: there is at least one.
    """
    if len(records) == 1:
        return records[0]
    shards = sorted(records, key=lambda one: (one.started, repr(one.cases[:1]), one.duration_ms))
    first = shards[0]
    _refuse_strangers(shards)
    merged = dataclasses.replace(
        first,
        driver_version=_driver_version(shards),
        device=_united(one.device for one in shards) or None,
        driver_library=_united(one.driver_library for one in shards),
        interpreter=_united(one.interpreter for one in shards),
        duration_ms=max(one.duration_ms for one in shards),
        exit_code=min((one.exit_code for one in shards), key=_badness),
        interrupted=_interrupted(shards),
        not_run=sum(one.not_run for one in shards),
        notes=_notes(shards),
        options=_options(shards),
        cases=_joined(shards, "cases", case_key, case_name),
        detection=_joined(
            shards, "detection", lambda cell: (cell.bug, cell.scenario), lambda cell: f"{cell.bug} by {cell.scenario}"
        ),
        operations=_operations(shards),
        passed_points=sum(one.passed_points for one in shards),
        fuzz=_fuzz([one.fuzz for one in shards if one.fuzz]),
    )
    _refuse_doubles(shards)
    return merged


def case_key(case: Case) -> tuple[str, str, int, tuple[str, ...]]:
    """What tells a case of a run from all others."""
    return (case.scenario, case.variant, case.run, case.point)


def _badness(code: int | None) -> int:
    if code == 0:
        return len(_EXIT_CODES) + 1
    return _EXIT_CODES.index(code) if code in _EXIT_CODES else len(_EXIT_CODES)


def _interrupted(shards: Sequence[Record]) -> str:
    """The signal of the shard whose exit code won. If that one ended by itself, of the worst that did not: what is
    missing from it is missing from the run, which must not look whole.
    """
    signals = [(_badness(one.exit_code), one.interrupted) for one in shards if one.interrupted]
    return min(signals)[1] if signals else ""


def _refuse_doubles(shards: Sequence[Record]) -> None:
    """What is added up, such as a fuzzer's operations, does not show that it was counted twice."""
    for one, other in itertools.combinations(shards, 2):
        if one.started == other.started and one == other:
            raise MergeError(f"two of them are the same report, of {one.started}")


def _bug(record: Record) -> Any:
    """The seeded bug that a run had."""
    option = record.options.get("bug")
    return (option.value if option else None) or ""


def _refuse_strangers(shards: Sequence[Record]) -> None:
    first = shards[0]
    for one in shards[1:]:
        for name, what, advice in _EQUAL:
            mine, other = getattr(first, name), getattr(one, name)
            if mine != other:
                raise MergeError(f"the {what} differs: {_told(mine)} and {_told(other)}; {advice}")
        if _bug(first) != _bug(one):
            bugs = f"{_told(_bug(first))} and {_told(_bug(one))}"
            raise MergeError(f"the seeded bug differs: {bugs}; give all shards one --bug, or none")


def _told(value: Any) -> str:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return " ".join(_told(entry) for entry in dataclasses.astuple(value) if entry)
    return " ".join(value) if isinstance(value, tuple) else str(value) or "none"


def _driver_version(shards: Sequence[Record]) -> int | None:
    """A shard that ran nothing may not have asked the driver for its version."""
    versions = sorted({one.driver_version for one in shards if one.driver_version is not None})
    if len(versions) > 1:
        raise MergeError(f"the driver's version differs: {versions[0]} and {versions[1]}; run on one kind of machine")
    return versions[0] if versions else None


def _united(values: Iterable[str | None]) -> str:
    return "; ".join(sorted({value for value in values if value}))


def _notes(shards: Sequence[Record]) -> tuple[str, ...]:
    notes = [note for one in shards for note in one.notes]
    for name in ("driver_library", "device", "interpreter"):
        values = sorted({str(getattr(one, name)) for one in shards if getattr(one, name)})
        if len(values) > 1:
            notes.append(f"the {name.replace('_', ' ')} differs among the shards")
    differing = [name for name, option in _options(shards).items() if option.source == _DIFFERING]
    notes += [f"options that differ among the shards: {', '.join(differing)}"] if differing else []
    return tuple(sorted(set(notes)))


_DIFFERING = "differing shards"


def _options(shards: Sequence[Record]) -> dict[str, Option]:
    """Equal options as they are; of others the values of all shards."""
    names = sorted({name for one in shards for name in one.options})
    merged = {}
    for name in names:
        given = [one.options.get(name) for one in shards]
        if given[0] is not None and all(option == given[0] for option in given):
            merged[name] = given[0]
        else:
            values = {repr(option.value if option else None): option.value if option else None for option in given}
            merged[name] = Option(tuple(values[key] for key in sorted(values)), _DIFFERING)
    return merged


T = TypeVar("T")


def _joined(shards: Sequence[Record], member: str, key: Callable[[T], Any], name: Callable[[T], str]) -> tuple[T, ...]:
    """The entries of all shards, sorted. Raises MergeError if two shards have the same one."""
    owners: dict[Hashable, int] = {}
    entries: list[T] = []
    for number, one in enumerate(shards):
        for entry in getattr(one, member):
            if owners.setdefault(key(entry), number) != number:
                raise MergeError(f"two of them have {name(entry)}: shards have no case in common")
            entries.append(entry)
    return tuple(sorted(entries, key=key))


def _operations(shards: Sequence[Record]) -> tuple[Operation, ...]:
    """Variants of an operation's scenario may be in several shards, so what was counted is added up."""
    merged: dict[str, Operation] = {}
    for operation in (operation for one in shards for operation in one.operations):
        before = merged.get(operation.scenario)
        merged[operation.scenario] = _added(before, operation) if before else operation
    return tuple(merged[scenario] for scenario in sorted(merged))


def _added(one: Operation, other: Operation) -> Operation:
    sums = {
        field.name: getattr(one, field.name) + getattr(other, field.name)
        for field in dataclasses.fields(Operation)
        if isinstance(getattr(one, field.name), int)
    }
    reasons = {
        reason: _union(one.not_after_reasons.get(reason, ()), other.not_after_reasons.get(reason, ()))
        for reason in sorted({*one.not_after_reasons, *other.not_after_reasons})
    }
    return dataclasses.replace(one, sites=_union(one.sites, other.sites), not_after_reasons=reasons, **sums)


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}))


def _fuzz(parts: Sequence[Fuzz]) -> Fuzz | None:
    if not parts:
        return None
    shrunk = [entry for one in parts for entry in one.shrunk]
    operations, seconds = sum(one.operations for one in parts), math.fsum(one.core_seconds for one in parts)
    return Fuzz(
        operations=operations,
        sequences=sum(one.sequences for one in parts),
        core_seconds=seconds,
        operations_per_core_second=round(operations / seconds, 3) if seconds else 0.0,
        shrunk=tuple(sorted(shrunk, key=lambda one: (one.fingerprint, one.file))),
    )
