"""D-11: owners whose finalizers build, drop and drain graphs, raise, or start threads.

Intent: let graphs go whose owners do all that when they are released, on the main thread inside a pending call. What
they let go is released as well, what they raise goes to sys.unraisablehook and stops nothing, and what comes after is
released as usual.

Interleaving: pending calls on the main thread, which evaluates; one variant drains on a worker instead.

Expected verdict: passed.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant
from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import drop_graph, graph_owned_by
from scenarios.python.support.owners import Owner, Releases

NESTED = 50


class FromAFinalizer(Exception):
    """Raised on purpose."""


def build_and_drop(releases: Releases, depth: int) -> None:
    """A graph whose owner drops a graph whose owner ..."""
    if depth > 0:
        graph_owned_by(Owner(releases, lambda: build_and_drop(releases, depth - 1)))


def run(context: Context) -> None:
    make_current()
    if context.variant == "worker":
        _core.configure("worker")
    raised: list[Any] = []
    threads: list[threading.Thread] = []
    releases = Releases()

    def raise_something() -> None:
        raise FromAFinalizer

    def drop_on_a_thread() -> None:
        make_current()
        drop_graph(releases)

    def start_thread() -> None:
        thread = threading.Thread(target=drop_on_a_thread)
        thread.start()
        threads.append(thread)

    sys.unraisablehook = lambda unraisable: raised.append(unraisable.exc_type)
    if context.variant == "worker":
        # The context is of a thread, and the worker has none until an owner makes one current there.
        graph_owned_by(Owner(releases, make_current))
    graph_owned_by(
        Owner(releases, lambda: build_and_drop(releases, NESTED)),
        Owner(releases, lambda: (drop_graph(releases), _core.drain())),
        Owner(releases, raise_something),
        Owner(releases, start_thread),
        Owner(releases, lambda: drop_graph(releases, 3)),
    )
    expected = 5 + NESTED + 1 + 1 + 3 + (context.variant == "worker")
    context.check_eventually(lambda: releases.count == expected, "whatever finalizers let go is released")
    for thread in threads:
        thread.join()
    context.check_equal(
        raised, [FromAFinalizer], "what a finalizer raises goes to sys.unraisablehook, and nowhere else"
    )
    drop_graph(releases)
    context.check_eventually(lambda: releases.count == expected + 1, "what comes afterwards is released as usual")
    context.count("released", releases.count)
    context.oracle("releases by finalizers that use the library")


SCENARIO = Scenario(
    name="DC.python-finalizers-do-anything",
    summary="Owners whose finalizers build, drop and drain graphs, raise, or start threads",
    covers=("D-11", "DC-10", "DC-03"),
    catches=("asked-for-during-the-drain",),
    variants=(Variant("pending-call"), Variant("thread", ("destructor:deliver=thread",)), Variant("worker")),
    run=run,
)
