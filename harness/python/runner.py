"""The program around the scenarios written in Python: lists them, or runs one case.

    python -m harness.python.runner --interpreter=NAME --list                      one JSON object a scenario
    python -m harness.python.runner --interpreter=NAME --run=NAME --variant=NAME   runs the case

Exit codes: 0 no finding, 1 finding, 2 usage, 3 no shim, or an interpreter that is not what its name says.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
import sysconfig
from pathlib import Path

from harness.python.context import EXIT_CLEAN, Context
from harness.python.events import write_event
from harness.python.scenario import Scenario, is_free_threaded, variants_on
from harness.python.shim import NoShim, find_shim

EXIT_USAGE = 2
EXIT_HARNESS = 3

_PACKAGE = "scenarios.python"


def find_scenarios() -> list[Scenario]:
    """All scenarios, by name: one a file of the package."""
    scenarios = []
    folder = Path(__file__).absolute().parents[2] / _PACKAGE.replace(".", "/")
    # In a runfiles tree Bazel makes the folder a package.
    for path in sorted(folder.glob("[!_]*.py")):
        module = importlib.import_module(f"{_PACKAGE}.{path.stem}")
        file = f"{_PACKAGE.replace('.', '/')}/{path.name}"
        scenarios.append(dataclasses.replace(module.SCENARIO, file=file))
    return sorted(scenarios, key=lambda scenario: scenario.name)


def describe(scenario: Scenario, interpreter: str) -> dict[str, object]:
    """As the harness reads it (harness/cli/catalogue.py)."""
    variants = variants_on(scenario, interpreter)
    return {
        "scenario": scenario.name,
        "summary": scenario.summary,
        "covers": list(scenario.covers),
        "catches": list(scenario.catches),
        "suites": list(scenario.suites),
        "variants": [{"name": variant.name, "plan": list(variant.plan)} for variant in variants],
        "plan": list(scenario.plan),
        "drivers": list(scenario.drivers),
        "timeout_s": scenario.timeout_s,
        "file": scenario.file,
        "line": 1,
        "interpreter": interpreter,
    }


def run(scenario: Scenario, interpreter: str, variant: str) -> int:
    """Runs one case to its end. What remains is the end of this interpreter, which is part of the case."""
    try:
        shim = find_shim()
    except NoShim as problem:
        print(f"holdfast: {problem}", file=sys.stderr)
        return EXIT_HARNESS
    shim.name_thread("main", 0)
    write_event("start", scenario=scenario.name, variant=variant)
    context = Context(scenario, interpreter, variant.removeprefix(interpreter).removeprefix("-"), shim)
    try:
        scenario.run(context)
    except Exception as error:
        context.end_by_exception(error)
    context.check_nothing_leaked()
    write_event("finish")
    return EXIT_CLEAN


def _is_what_its_name_says(interpreter: str) -> bool:
    # Whether the lock is really off can be asked from 3.13 on; a module may have turned it on again.
    without_lock = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    lock_is_on = getattr(sys, "_is_gil_enabled", lambda: True)()
    return without_lock == is_free_threaded(interpreter) and (not without_lock or not lock_is_on)


def _usage(complaint: str) -> int:
    print(f"holdfast: {complaint}\nusage: runner --interpreter=NAME (--list | --run=SCENARIO --variant=VARIANT)")
    return EXIT_USAGE


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    options = dict(argument.partition("=")[::2] for argument in arguments)
    interpreter = options.pop("--interpreter", "")
    if not interpreter:
        return _usage("which interpreter?")
    scenarios = find_scenarios()
    if not _is_what_its_name_says(interpreter):
        print(f"holdfast: this is not {interpreter}, or a module turned its lock on", file=sys.stderr)
        return EXIT_HARNESS
    if options == {"--list": ""}:
        for scenario in scenarios:
            if variants_on(scenario, interpreter):
                print(json.dumps(describe(scenario, interpreter)))
        return EXIT_CLEAN
    if options.keys() != {"--run", "--variant"}:
        return _usage("what is to be done?")
    for scenario in scenarios:
        if scenario.name == options["--run"]:
            if options["--variant"] in [variant.name for variant in variants_on(scenario, interpreter)]:
                return run(scenario, interpreter, options["--variant"])
            return _usage(f"scenario {scenario.name} has no variant '{options['--variant']}'")
    return _usage(f"no scenario '{options['--run']}'")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
