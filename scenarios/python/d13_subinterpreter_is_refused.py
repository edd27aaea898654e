"""D-13: the module works in the main interpreter only; elsewhere its import is an ImportError that says so.

Intent: import it in a subinterpreter, before and after the main interpreter has. Each is refused with a sentence that
says why, and the main interpreter's module goes on working.

Interleaving: one thread.

Expected verdict: passed.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness.python.context import Context
from harness.python.scenario import Scenario
from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import drop_graph
from scenarios.python.support.owners import Releases

# Ours, and that of an interpreter which refuses the module before it is asked.
REASONS = ("main interpreter only", "does not support loading in subinterpreters")

PROGRAM = """
import sys
sys.path[:] = {path!r}
try:
    import holdfast._core
except ImportError as error:
    said = f"ImportError: {{error}}"
else:
    said = "imported"
with open({file!r}, "w") as file:
    file.write(said)
"""


def import_in_subinterpreter() -> str:
    """What came of it."""
    modules: list[Any] = []
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            modules.append(importlib.import_module(name))
        except ImportError:
            continue
    interpreters = modules[0]

    handle, file = tempfile.mkstemp()
    os.close(handle)
    identifier = interpreters.create("legacy") if modules[0].__name__ == "_interpreters" else create_old(interpreters)
    interpreters.run_string(identifier, PROGRAM.format(path=sys.path, file=file))
    interpreters.destroy(identifier)
    said = Path(file).read_text()
    os.unlink(file)
    return said


def create_old(interpreters: Any) -> Any:
    """One that may import any extension module: the others refuse ours before it is asked."""
    try:
        return interpreters.create(isolated=False)
    except TypeError:
        return interpreters.create()


def run(context: Context) -> None:
    make_current()
    for _ in range(2):
        said = import_in_subinterpreter()
        context.check(said.startswith("ImportError"), f"it is refused: {said}")
        context.check(any(reason in said for reason in REASONS), f"it is said why: {said}")
    releases = Releases()
    drop_graph(releases)
    context.check_eventually(lambda: releases.count == 1, "the main interpreter's module goes on working")
    context.oracle("an import in a subinterpreter")


SCENARIO = Scenario(
    name="SH.python-subinterpreter-is-refused",
    summary="In a subinterpreter the import is an ImportError that says: main interpreter only",
    covers=("D-13",),
    run=run,
)
