"""DC-11: an owner that holds the graph that holds it is a cycle that Python's collector cannot see: the documented
leak.

Intent: make such a cycle and collect: nothing goes, nothing crashes. Then break it by destroying the node: owner and
graph go.

Interleaving: one thread.

Expected verdict: passed.
"""

from __future__ import annotations

import gc

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario
from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import callback_owned_by
from scenarios.python.support.owners import Owner, Releases


class Holder(Owner):
    """An owner with a graph of its own."""

    graph: _core.GraphDefinition | None = None


def run(context: Context) -> None:
    make_current()
    releases = Releases()
    holder = Holder(releases)
    holder.graph = _core.GraphDefinition()
    holder.graph.add_host(callback_owned_by(holder), [])
    raw = holder.graph.raw
    del holder
    for _ in range(3):
        gc.collect()
        _core.drain()
    context.check_equal(releases.count, 0, "a cycle through a graph is not collected")
    context.check_equal(context.shim.live().graphs, 1, "its graph is there")
    graph = _core.GraphDefinition.find(raw)
    assert graph is not None
    graph.nodes()[0].destroy()
    del graph
    context.check_eventually(lambda: releases.count == 1, "once the node is destroyed the owner goes")
    context.oracle("the owner of a cycle, before and after it is broken")


SCENARIO = Scenario(
    name="DC.python-cycle-through-a-graph",
    summary="A cycle through a graph is leaked until the program breaks it",
    covers=("DC-11", "D-30"),
    run=run,
)
