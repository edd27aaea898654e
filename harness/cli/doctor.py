"""`holdfast doctor`: what this machine has, and what each missing thing switches off.

Nothing that is missing makes it fail."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from typing import TextIO

from harness.cli import layout
from harness.cli.drivers import REAL_LIBRARY, library_path, probe_driver
from harness.cli.interpreters import find_interpreters, missing
from harness.cli.layout import Layout, find_layout
from harness.cli.options import Invocation
from harness.cli.session import sanitizers_of
from harness.cli.table import Paint, columns
from harness.cli.verdict import ExitCode
from harness.cli.version import VERSION
from reports.counted import count_of

_PROGRAM_SECONDS = 30

# Programs from elsewhere: (name, how to ask for the version, what its absence switches off).
_TOOLS = (
    ("gdb", "--version", "a hang is reported with the state of its threads instead of their stacks"),
    ("bazel", "--version", "building here; a bundle folder still runs"),
    ("g++", "--version", "building with GCC here"),
    ("clang++", "--version", "building with Clang here"),
)

# Our own programs: (path, what it is, what its absence switches off).
_PROGRAMS = (
    (layout.SCENARIO_RUNNER, "run, sweep, list and selftest"),
    (layout.FUZZ_RUNNER, "fuzz"),
    (layout.SHIM, "run, sweep, fuzz and selftest: without the shim no fault can be injected"),
    (layout.MODEL_DRIVER, "--driver=model, so every run on a machine without a GPU, and selftest"),
    (layout.PLAN_TOOL, "run, sweep, fuzz and selftest: plans cannot be checked"),
    (layout.BEHAVIOURS, "list --coverage"),
)


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing. `missing_means` is what its absence switches off; empty when it is present."""

    name: str
    present: bool
    detail: str
    missing_means: str = ""


def run(invocation: Invocation, environment: Mapping[str, str], out: TextIO) -> ExitCode:
    """Looks at everything and prints it."""
    places = find_layout(environment)
    checks = [
        *_driver(invocation["--driver"]),
        *_programs(places),
        *_sanitizers(places),
        _bugs(places),
        *_interpreters(environment),
        *_tools(),
    ]
    if invocation["--json"]:
        document = {"version": VERSION, "checks": [dataclasses.asdict(check) for check in checks]}
        out.write(json.dumps(document, indent=2) + "\n")
    else:
        paint = Paint(invocation["--color"], out, environment)
        out.writelines(f"{line}\n" for line in _table(checks, paint))
    return ExitCode.ALL_MET


def _driver(option: str) -> list[Check]:
    library = REAL_LIBRARY if option in ("auto", "real", "model") else str(library_path(option))
    probe = probe_driver(library)
    off = "--driver=real and every scenario that needs the real driver; auto takes the model driver"
    if probe.error:
        return [Check("real driver", False, probe.error, off), Check("GPU", False, "none that can be used", off)]
    version = f"{probe.version // 1000}.{probe.version % 1000 // 10}"
    names = ", ".join(f"{index}: {name}" for index, name in enumerate(probe.devices))
    return [Check("real driver", True, f"{probe.path}, CUDA {version}"), Check("GPU", True, names)]


def _programs(places: Layout) -> list[Check]:
    checks = []
    for path, off in _PROGRAMS:
        found = places.find(path)
        checks.append(Check(path, bool(found), str(found) if found else "not found", "" if found else off))
    return checks


def _sanitizers(places: Layout) -> list[Check]:
    runner = places.find(layout.SCENARIO_RUNNER)
    built = sanitizers_of(runner) if runner else ()
    if built:
        return [Check("sanitizers", True, f"the scenarios are built with {' and '.join(built)} sanitizer")]
    off = "findings that only a sanitizer sees: build with --config=asan, tsan or ubsan"
    return [Check("sanitizers", False, "the scenarios are built without", off)]


def _bugs(places: Layout) -> Check:
    count = len(places.bug_runners()) + len(places.bug_fuzz_runners())
    return Check(
        "seeded bugs", count > 0, f"{count_of(count, 'build')} in {layout.BUG_FOLDER}", "" if count else "selftest"
    )


def _interpreters(environment: Mapping[str, str]) -> list[Check]:
    found = find_interpreters(environment)
    checks = []
    for interpreter in found:
        if interpreter.reason:
            off = "the Python module in this interpreter"
            checks.append(Check(interpreter.path, False, f"left out: {interpreter.reason}", off))
            continue
        detail = interpreter.description
        if not os.access(interpreter.environment_python, os.X_OK):
            detail += "; without pytest, which tools/setup --test installs"
        checks.append(Check(interpreter.name, True, detail))
    for name, how in missing(found):
        checks.append(Check(name, False, f"not found: {how}", f"the Python module and its tests on {name}"))
    return checks


def _tools() -> list[Check]:
    checks = []
    for name, question, off in _TOOLS:
        answer = _ask(name, question)
        checks.append(Check(name, bool(answer), answer or "not found, or it does not start", "" if answer else off))
    return checks


def _ask(program: str, *arguments: str) -> str:
    """The first line that a program prints, or nothing if it is not there or fails."""
    path = shutil.which(program)
    if not path:
        return ""
    try:
        answer = subprocess.run(
            [path, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROGRAM_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = answer.stdout.decode(errors="replace").splitlines()
    return lines[0].strip() if answer.returncode == 0 and lines else ""


def _table(checks: list[Check], paint: Paint) -> list[str]:
    rows = [("yes" if check.present else "no", check.name, check.detail) for check in checks]
    lines = [f"holdfast {VERSION}", ""]
    for check, line in zip(checks, columns(("", "what", "found"), rows)[1:], strict=True):
        lines.append(paint("green" if check.present else "yellow", line))
        if check.missing_means:
            lines.append(f"     switches off: {check.missing_means}")
    return lines
