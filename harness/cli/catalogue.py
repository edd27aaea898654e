"""The scenarios that runner programs have, as their `--list` tells them: one JSON object a line.

One program has the scenarios in C++. Of those in Python each interpreter's program has all that run there, and what it
calls a variant starts with the interpreter's name; here they are one scenario with all variants.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from harness.cli.problems import HarnessError

_LIST_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to run a scenario by one program, with rules of its own on top of the scenario's. `interpreter` is empty
    for a scenario in C++.
    """

    name: str
    plan: tuple[str, ...] = ()
    program: Path = Path()
    interpreter: str = ""


@dataclasses.dataclass(frozen=True)
class Scenario:
    """One scenario. `plan` are fault rules in their one-line form; they and a variant's have to fire in every run."""

    name: str
    summary: str
    covers: tuple[str, ...]
    catches: tuple[str, ...]
    suites: tuple[str, ...]
    variants: tuple[Variant, ...]
    plan: tuple[str, ...]
    drivers: tuple[str, ...]
    timeout_seconds: float
    file: str
    line: int


def list_all_scenarios(programs: Sequence[Path], environment: Mapping[str, str]) -> list[Scenario]:
    """The scenarios of all programs together. Raises HarnessError if one does not answer, or contradicts another."""
    scenarios: dict[str, Scenario] = {}
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda program: list_scenarios(program, environment), programs))
    for program, answer in zip(programs, answers, strict=True):
        for scenario in answer:
            first = scenarios.setdefault(scenario.name, scenario)
            if first is scenario:
                continue
            if dataclasses.replace(first, variants=scenario.variants) != scenario:
                raise HarnessError(f"{program.name} says otherwise of {scenario.name} than another program")
            scenarios[scenario.name] = dataclasses.replace(first, variants=first.variants + scenario.variants)
    for scenario in scenarios.values():
        names = [variant.name for variant in scenario.variants]
        if len(set(names)) < len(names):
            raise HarnessError(f"two programs have the same variant of {scenario.name}")
    return list(scenarios.values())


def list_scenarios(program: Path, environment: Mapping[str, str]) -> list[Scenario]:
    """Asks a runner program for its scenarios. Raises HarnessError if it does not answer in the agreed form."""
    command = [str(program), "--list"]
    try:
        answer = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LIST_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise HarnessError(f"{program.name} --list did not work: {problem}") from None
    if answer.returncode != 0:
        tail = answer.stderr.decode(errors="replace").strip()[-2000:]
        raise HarnessError(f"{program.name} --list ended with {answer.returncode}: {tail or 'it said nothing'}")
    scenarios = []
    for number, line in enumerate(answer.stdout.decode(errors="replace").splitlines(), start=1):
        if line.strip():
            scenarios.append(_parse(line, program, f"line {number} of {program.name} --list"))
    names = [scenario.name for scenario in scenarios]
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise HarnessError(f"{program.name} --list names {', '.join(doubles)} more than once")
    return scenarios


def _parse(line: str, program: Path, place: str) -> Scenario:
    try:
        entry = json.loads(line)
    except ValueError as problem:
        raise HarnessError(f"{place} is no JSON: {problem}") from None
    try:
        interpreter = _typed(entry.get("interpreter", ""), str)
        return Scenario(
            name=_typed(entry["scenario"], str),
            summary=_typed(entry.get("summary", ""), str),
            covers=_strings(entry.get("covers", [])),
            catches=_strings(entry.get("catches", [])),
            suites=_strings(entry.get("suites", ["default"])),
            variants=tuple(_variant(variant, program, interpreter) for variant in _typed(entry["variants"], list)),
            plan=_strings(entry.get("plan", [])),
            drivers=_strings(entry.get("drivers", ["model", "real"])),
            timeout_seconds=float(_typed(entry.get("timeout_s", 20), (int, float))),
            file=_typed(entry.get("file", ""), str),
            line=_typed(entry.get("line", 0), int),
        )
    except KeyError as problem:
        raise HarnessError(f"{place} lacks {problem}") from None
    except (TypeError, AttributeError) as problem:
        raise HarnessError(f"{place}: {problem}") from None


def _typed(value: Any, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} has the wrong type")
    return value


def _strings(values: Any) -> tuple[str, ...]:
    return tuple(_typed(value, str) for value in _typed(values, list))


def _variant(entry: Any, program: Path, interpreter: str) -> Variant:
    fields = _typed(entry, dict)
    return Variant(_typed(fields["name"], str), _strings(fields.get("plan", [])), program, interpreter)
