"""`holdfast list`: the scenarios, what each covers, and which seeded bugs it catches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TextIO

from harness.cli import layout
from harness.cli.cases import select
from harness.cli.catalogue import Scenario, list_scenarios
from harness.cli.child_environment import loader_environment
from harness.cli.options import Invocation
from harness.cli.table import Paint, columns
from harness.cli.verdict import ExitCode


def run(invocation: Invocation, environment: Mapping[str, str], out: TextIO) -> ExitCode:
    """Lists all scenarios, or those that the command line names. Raises a Problem if none is left."""
    places = layout.find_layout(environment)
    runner = places.need(layout.SCENARIO_RUNNER, "the program with the scenarios")
    shim = places.need(layout.SHIM, "the shim")
    scenarios = list_scenarios(runner, loader_environment(environment, shim))
    words = invocation.positionals or ("*",)
    chosen = {scenario.name for scenario, _ in select(scenarios, words, invocation["--filter"])}
    listed = [scenario for scenario in scenarios if scenario.name in chosen]
    if invocation["--json"]:
        out.write(json.dumps([_entry(scenario) for scenario in listed], indent=2) + "\n")
    else:
        paint = Paint(invocation["--color"], out, environment)
        out.writelines(f"{line}\n" for line in _table(listed, paint))
    return ExitCode.ALL_MET


def _entry(scenario: Scenario) -> dict[str, object]:
    return {
        "name": scenario.name,
        "summary": scenario.summary,
        "covers": list(scenario.covers),
        "catches": list(scenario.catches),
        "suites": list(scenario.suites),
        "variants": [variant.name for variant in scenario.variants],
        "drivers": list(scenario.drivers),
        "faults": list(scenario.plan),
        "timeout_s": scenario.timeout_seconds,
        "file": scenario.file,
        "line": scenario.line,
    }


def _table(scenarios: Sequence[Scenario], paint: Paint) -> list[str]:
    rows = [
        (
            scenario.name,
            " ".join(scenario.suites),
            " ".join(variant.name for variant in scenario.variants),
            " ".join(scenario.covers) or "-",
            " ".join(scenario.catches) or "-",
        )
        for scenario in scenarios
    ]
    lines = columns(("scenario", "suites", "variants", "covers", "catches"), rows)
    return [paint("bold", lines[0]), *lines[1:], "", f"{len(scenarios)} scenarios"]
