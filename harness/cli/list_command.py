"""`holdfast list`: the scenarios, what each covers, and which seeded bugs it catches; or the behaviours, and what
covers each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TextIO

from harness.cli import layout
from harness.cli.cases import select
from harness.cli.catalogue import Scenario, list_all_scenarios
from harness.cli.child_environment import loader_environment
from harness.cli.coverage import CoveringTest, covering, read_behaviours, read_covering_tests
from harness.cli.options import Invocation
from harness.cli.problems import UsageError
from harness.cli.table import Paint, columns
from harness.cli.verdict import ExitCode
from reports.counted import count_of

# A line shows so many variants of a scenario.
_MOST_VARIANTS = 8


def run(invocation: Invocation, environment: Mapping[str, str], out: TextIO) -> ExitCode:
    """Lists all scenarios, or those that the command line names. Raises a Problem if none is left."""
    places = layout.find_layout(environment)
    runner = places.need(layout.SCENARIO_RUNNER, "the program with the scenarios")
    shim = places.need(layout.SHIM, "the shim")
    scenarios = list_all_scenarios([runner, *places.python_runners()], loader_environment(environment, shim))
    if invocation["--coverage"]:
        return _run_coverage(invocation, environment, places, scenarios, out)
    words = invocation.positionals or ("*",)
    chosen = {scenario.name for scenario, _ in select(scenarios, words, invocation["--filter"])}
    listed = [scenario for scenario in scenarios if scenario.name in chosen]
    if invocation["--json"]:
        entries = [_entry(scenario) for scenario in listed]
        if not invocation.positionals and not invocation["--filter"]:
            # Whoever asks for everything gets to see what else covers a behaviour.
            entries += [_test_entry(test) for test in read_covering_tests(places)]
        out.write(json.dumps(entries, indent=2) + "\n")
    else:
        paint = Paint(invocation["--color"], out, environment)
        out.writelines(f"{line}\n" for line in _table(listed, paint))
    return ExitCode.ALL_MET


def _run_coverage(
    invocation: Invocation,
    environment: Mapping[str, str],
    places: layout.Layout,
    scenarios: Sequence[Scenario],
    out: TextIO,
) -> ExitCode:
    if invocation.positionals or invocation["--filter"]:
        raise UsageError("--coverage is about all scenarios; leave names and --filter out")
    behaviours = read_behaviours(places)
    tests = read_covering_tests(places)
    by = {behaviour.name: covering(behaviour.name, scenarios, tests) for behaviour in behaviours}
    if invocation["--json"]:
        document = {
            behaviour.name: {"what": behaviour.what, "by": by[behaviour.name], "reason": behaviour.reason}
            for behaviour in behaviours
        }
        out.write(json.dumps(document, indent=2) + "\n")
        return ExitCode.ALL_MET
    rows = []
    for behaviour in behaviours:
        state = ", ".join(by[behaviour.name]) or (f"none: {behaviour.reason}" if behaviour.reason else "NOT COVERED")
        rows.append((behaviour.name, behaviour.what, state))
    lines = columns(("id", "behaviour", "covered by"), rows)
    missing = sum(not by[behaviour.name] and not behaviour.reason for behaviour in behaviours)
    paint = Paint(invocation["--color"], out, environment)
    closing = f"{count_of(len(behaviours), 'behaviour')}, {missing} of them not covered"
    out.writelines(f"{line}\n" for line in (paint("bold", lines[0]), *lines[1:], "", closing))
    return ExitCode.ALL_MET


def _test_entry(test: CoveringTest) -> dict[str, object]:
    return {"name": test.name, "kind": "test", "covers": list(test.covers), "catches": [], "suites": []}


def _entry(scenario: Scenario) -> dict[str, object]:
    return {
        "name": scenario.name,
        "kind": "scenario",
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


def _few(names: Sequence[str]) -> str:
    """The names, or how they begin: a scenario in Python has some for each interpreter."""
    shown = " ".join(names[:_MOST_VARIANTS])
    return f"{shown} and {len(names) - _MOST_VARIANTS} more" if len(names) > _MOST_VARIANTS else shown


def _table(scenarios: Sequence[Scenario], paint: Paint) -> list[str]:
    rows = [
        (
            scenario.name,
            " ".join(scenario.suites),
            _few([variant.name for variant in scenario.variants]),
            " ".join(scenario.covers) or "-",
            " ".join(scenario.catches) or "-",
        )
        for scenario in scenarios
    ]
    lines = columns(("scenario", "suites", "variants", "covers", "catches"), rows)
    return [paint("bold", lines[0]), *lines[1:], "", count_of(len(scenarios), "scenario")]
