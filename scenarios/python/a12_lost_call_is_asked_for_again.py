"""A12: an interpreter that accepts a pending call and never runs it does not strand the payloads for ever.

Intent: the plan loses the accepted call. The library believes that one is outstanding. An explicit drain releases what
is there at once; and once the call is overdue, the next use of a graph asks again.

Interleaving: one thread. The time after which a call counts as overdue is the library's own, ten seconds.

Expected verdict: passed, with one loss fired.
"""

from __future__ import annotations

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario
from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import drop_graph
from scenarios.python.support.owners import Releases

OVERDUE_SECONDS = 30.0  # the library's ten, on a busy machine


def run(context: Context) -> None:
    make_current()
    releases = Releases()
    drop_graph(releases)
    context.shim.deliver()
    context.require_faults("Py_AddPendingCall")
    context.check_equal(context.shim.pending_calls().lost, 1, "the call is lost")
    _core.drain()
    context.check_equal(releases.count, 1, "a drain by hand releases what a lost call was to release")
    drop_graph(releases)
    context.shim.deliver()
    calls = context.shim.pending_calls().calls
    context.check_equal(calls, 1, "the library takes the lost call for outstanding")

    def asked_again() -> bool:
        _core.GraphDefinition().add_empty([])
        return releases.count == 2

    context.check(context.wait_for(asked_again, OVERDUE_SECONDS), "a use of a graph asks again for an overdue call")
    drop_graph(releases)
    context.shim.deliver()
    context.check_eventually(lambda: releases.count == 3, "after a loss the next call comes by itself")
    context.oracle("releases after a lost call")


SCENARIO = Scenario(
    name="A12.python-lost-call-is-asked-for-again",
    summary="A pending call that Python accepted and lost is asked for again once it is overdue",
    covers=("A12", "D-03", "DC-05", "BR-24"),
    plan=("Py_AddPendingCall:nth=1,drop",),
    timeout_s=120,
    run=run,
)
