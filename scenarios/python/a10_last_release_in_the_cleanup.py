"""A10: owners that are Python objects are released in drains alone, in a stated order, one at a time, and their
finalizers may use graphs.

Intent: let graphs go that hold the last references to objects whose finalizers drain, destroy and build graphs. Nothing
may be released before a drain; a drain inside a finalizer must run no other finalizer on top of it; a batch goes first
in, first out.

Interleaving: one thread, which drains by hand; the variants differ in where CUDA's destructor callbacks run.

Expected verdict: passed.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant
from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import drop_graph, graph_owned_by
from scenarios.python.support.owners import Owner, Releases

OWNERS = 20


def check_order(context: Context) -> None:
    order: list[int] = []
    releases = Releases()
    graph_owned_by(*(Owner(releases, lambda number=number: order.append(number)) for number in range(OWNERS)))
    context.shim.deliver()
    context.check_equal(order, [], "nothing is released without a drain")
    _core.drain()
    context.check_equal(order, list(range(OWNERS)), "owners are released first in, first out")


def check_reentry(context: Context) -> None:
    depths: list[int] = []
    releases = Releases()
    inner = [graph_owned_by(Owner(releases))]

    def nested(action: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            depths.append(1)
            action()
            context.check_equal(depths.pop(), 1, "finalizers are nested properly")
            peaks.append(len(depths))

        return run

    peaks: list[int] = []
    graph_owned_by(
        Owner(releases, nested(_core.drain)),
        Owner(releases, nested(inner.clear)),
        Owner(releases, nested(lambda: (drop_graph(releases), _core.drain()))),
    )
    expected = 5

    def settled() -> bool:
        context.shim.deliver()
        _core.drain()
        return releases.count == expected

    context.check_eventually(settled, "what finalizers let go is released as well")
    context.check_equal(peaks, [0, 0, 0], "a drain inside a finalizer runs no other finalizer on top of it")


def run(context: Context) -> None:
    make_current()
    _core.configure("manual")
    check_order(context)
    check_reentry(context)
    context.oracle("where, in which order and how deep owners were released")


SCENARIO = Scenario(
    name="A10.python-last-release-in-the-cleanup",
    summary="Python objects are released in drains alone, in order, one at a time",
    covers=("A10", "IH-12", "DC-03", "DC-10", "D-09", "D-11", "AP-23", "AP-24"),
    variants=(
        Variant("inline"),
        Variant("thread", ("destructor:deliver=thread",)),
        Variant("held", ("destructor:deliver=held",)),
    ),
    run=run,
)
