"""A8: the callback releases no owner and calls no CUDA; of Python it calls Py_AddPendingCall, once, and nothing else.

Intent: threads destroy graphs while the main thread sleeps in a system call and evaluates nothing. No owner may be
released, and Python may have been asked once. Then the main thread evaluates, and everything is released there.

Interleaving: four threads drop graphs while the main thread sleeps; the variants differ in where CUDA's
destructor callbacks run.

Expected verdict: passed. The finding of a callback that calls the driver comes from the ledger.
"""

from __future__ import annotations

import os
import threading

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant
from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import drop_graph
from scenarios.python.support.main_thread import keep_asleep
from scenarios.python.support.owners import Releases

THREADS = 4
GRAPHS = 16


def run(context: Context) -> None:
    make_current()
    releases = Releases()
    seen: list[tuple[int, int, int]] = []
    reading, writing = os.pipe()

    def drop() -> None:
        make_current()
        for _ in range(GRAPHS):
            drop_graph(releases)

    def drop_on_threads() -> None:
        context.join([context.start_thread(ordinal, drop) for ordinal in range(2, THREADS + 2)])
        context.shim.deliver()
        calls = context.shim.pending_calls()
        seen.append((releases.count, calls.calls, calls.outstanding))
        os.write(writing, b"!")

    keep_asleep(context, lambda: os.read(reading, 1), drop_on_threads)
    context.check_eventually(lambda: releases.count == THREADS * GRAPHS, "the main thread's evaluation releases all")
    (released, calls, outstanding) = seen[0]
    context.check_equal(released, 0, "callbacks release nothing")
    context.check_equal((calls, outstanding), (1, 1), "however many callbacks, Python is asked once")
    context.check(releases.all_on(threading.main_thread().ident or 0), "owners are released on the main thread")
    context.check_equal(context.shim.pending_calls().while_finalizing, 0, "Python is whole while it is asked")
    context.count("payloads", releases.count)
    context.oracle("owners and calls of Python while callbacks ran")


SCENARIO = Scenario(
    name="A8.python-callback-only-enqueues",
    summary="A destructor callback asks Python for one pending call, releases nothing and calls no CUDA",
    covers=("A8", "DC-01", "DC-02", "DC-03", "D-04", "D-07", "BR-11"),
    variants=(
        Variant("inline"),
        Variant("thread", ("destructor:deliver=thread",)),
        Variant("held", ("destructor:deliver=held",)),
    ),
    run=run,
)
