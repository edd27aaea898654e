"""SH, D-06: a program that embeds Python and outlives it, and one that starts Python a second time.

Intent: graphs that only the driver knows keep owners of a Python that has ended. Then they are destroyed, on several
threads: nobody may touch Python, no owner may be released. The same while a second Python runs: the owners belong to
the first one and may not be released in the second, whose own are released as usual.

Interleaving: the program destroys the graphs when Py_FinalizeEx has returned; the variants differ in what comes before.

Expected verdict: passed. Interpreters whose library is part of the executable cannot be embedded.
"""

from __future__ import annotations

import os
from pathlib import Path

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant

EXPECTED = {
    "after-finalization": ["ended", "user objects left: 0", "done"],
    "again": ["ended", "released: second", "user objects left: 0", "released: second", "ended", "done"],
}


def program(interpreter: str) -> Path:
    """The program for an interpreter; it is there if that can be embedded."""
    return Path(os.environ.get("HOLDFAST_PYTHON_PROGRAMS", ".")) / f"embedding_{interpreter}"


def run(context: Context) -> None:
    command = [str(program(context.interpreter).absolute()), context.variant.removesuffix("-held")]
    ended = context.run_to_its_end(command, "the embedding program")
    context.check_equal(ended.said, EXPECTED[context.variant.removesuffix("-held")], "what is released, and when")
    late = ended.counters.get("pending_calls_while_finalizing", 0)
    context.check_equal(late, 0, "Python is asked for nothing while it is finalized, or gone")
    context.oracle("what a program saw that outlived Python")


SCENARIO = Scenario(
    name="SH.python-embedding-program",
    summary="Owners of a Python that has ended are never released, not by a second Python in the same process either",
    covers=("SH-02", "SH-03", "D-06", "DC-08"),
    variants=(
        Variant("after-finalization"),
        Variant("after-finalization-held", ("destructor:deliver=held",)),
        Variant("again"),
    ),
    runs_on=lambda interpreter: program(interpreter).exists(),
    run=run,
)
