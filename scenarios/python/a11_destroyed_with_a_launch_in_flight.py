"""A11: an executable that is closed with a launch in flight does not queue its owners until CUDA says that the launch
no longer needs them.

Intent: a callback in Python keeps the launch in flight; close the executable and let the graph go. Nothing may reach
the queue while the callback waits; after it has ended the owner goes.

Interleaving:
  main thread          driver's stream thread
  launch
                       callback starts, waits
  close, drop
  (queue is empty)
  let the callback go
                       callback ends, launch ends
                       destructor -> queue
  released

Expected verdict: passed.
"""

from __future__ import annotations

import threading

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant
from scenarios.python.support.device import make_current, make_stream
from scenarios.python.support.graphs import callback_owned_by
from scenarios.python.support.owners import Owner, Releases


def run(context: Context) -> None:
    make_current()
    stream = make_stream()
    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    releases = Releases()

    def wait() -> None:
        started.set()
        go_on.wait()
        ended.set()

    graph = _core.GraphDefinition()
    first = graph.add_host(_core.Callback.from_callable(wait), [])
    graph.add_host(callback_owned_by(Owner(releases)), [first])
    executable = graph.instantiate(0)
    executable.launch(stream)
    context.check_eventually(started.is_set, "the launch starts")
    executable.close()
    del graph, first
    context.check(not ended.is_set(), "closing does not wait for the launch")
    context.shim.deliver()
    context.check(not _core.has_work(), "nothing is queued while the launch is in flight")
    _core.drain()
    context.check_equal(releases.count, 0, "the owner is alive while the launch is in flight")
    go_on.set()
    stream.synchronize()

    def released() -> bool:
        context.shim.release_held()
        return releases.count == 1

    context.check_eventually(released, "the owner goes once the launch has ended")
    context.check(ended.is_set(), "the callback had ended when the owner went")
    context.oracle("queue and owner while a launch is in flight")


SCENARIO = Scenario(
    name="A11.python-destroyed-with-a-launch-in-flight",
    summary="Owners of a closed executable are not even queued while a launch, and a callback in Python, needs them",
    covers=("A11", "EX-05", "BR-16"),
    variants=(
        Variant("inline"),
        Variant("thread", ("destructor:deliver=thread",)),
        Variant("held", ("destructor:deliver=held",)),
    ),
    run=run,
)
