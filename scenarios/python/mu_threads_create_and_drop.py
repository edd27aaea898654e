"""MU: threads create, launch and drop graphs at the same time, with the GIL and without.

Intent: each thread has graphs, events and a stream of its own; the queue, the registries and the interpreter are
shared. Every owner is released exactly once and nothing is left. Some owners are borrowed events that other threads
look up at the same moment: whoever takes the interpreter's lock while it holds that of a registry hangs here.

Interleaving: native threads, as they come; one variant keeps the interpreter's queue full now and then.

Expected verdict: passed.
"""

from __future__ import annotations

import ctypes
import threading
import time

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant
from scenarios.python.support.device import make_current, make_stream
from scenarios.python.support.graphs import callback_owned_by
from scenarios.python.support.owners import Owner, Releases

THREADS = 4
ROUNDS = 60
EVENTS = 8
A_FEW = 16
LETS_OTHERS_RUN_SECONDS = 1e-5
WITHOUT_TIMING = 2  # CU_EVENT_DISABLE_TIMING
DRIVER = ctypes.CDLL("libcuda.so.1")


def make_event() -> int:
    """An event that the library has not made, so that it knows it as borrowed only."""
    event = ctypes.c_void_p()
    if DRIVER.cuEventCreate(ctypes.byref(event), WITHOUT_TIMING) != 0 or event.value is None:
        raise RuntimeError("the driver makes no event")
    return event.value


def one_round(releases: Releases, stream: _core.Stream, raw_events: list[int]) -> None:
    """Three owners: of a callback, of a callback in Python, of a borrowed event."""
    graph = _core.GraphDefinition()
    owner = Owner(releases)
    first = graph.add_host(callback_owned_by(Owner(releases)), [])
    second = graph.add_host(_core.Callback.from_callable(lambda owner=owner: None), [first])
    del owner
    for raw in raw_events:
        # Its finalizer lets go of the interpreter's lock, so that another thread looks for an event meanwhile.
        event = _core.Event.borrow(raw, Owner(releases, lambda: time.sleep(LETS_OTHERS_RUN_SECONDS)))
        second = graph.add_event_record(event, [second])
    executable = graph.instantiate(0)
    executable.launch(stream)
    stream.synchronize()
    executable.close()


def fill_queue(context: Context, no_ops: int) -> None:
    """The interpreter's queue has so many calls of somebody else's for a moment."""
    context.shim.saturate(no_ops)
    context.shim.release_saturation()


def run(context: Context) -> None:
    make_current()
    releases = Releases()
    raw_events = [make_event() for _ in range(EVENTS)]
    start = threading.Barrier(THREADS + 1)

    def work() -> None:
        make_current()
        stream = make_stream()
        start.wait()
        for _ in range(ROUNDS):
            one_round(releases, stream, raw_events)

    threads = [context.start_thread(ordinal, work) for ordinal in range(1, THREADS + 1)]
    start.wait()
    while any(thread.is_alive() for thread in threads):
        if context.variant == "full-queue":
            fill_queue(context, A_FEW)
        threads[0].join(0.01)
    context.join(threads)
    if context.variant == "full-queue":
        # Free-threaded 3.13 forgets its queue if 32 calls were run in one go and another thread is the first to look
        # for more. Whoever adds a call reminds it of all; with one thread left it does not forget again.
        fill_queue(context, A_FEW + 1)
    expected = THREADS * ROUNDS * (2 + EVENTS)
    context.check_eventually(lambda: releases.count == expected, "every owner is released exactly once")
    counters = _core.counters()
    context.check_equal(counters["released"], counters["enqueued"], "what was enqueued was released")
    for raw in raw_events:
        DRIVER.cuEventDestroy_v2(ctypes.c_void_p(raw))
    context.check(context.shim.pending_calls().peak_outstanding <= 1, "at most one pending call is outstanding")
    context.count("released", releases.count)
    context.oracle("releases of graphs on many threads")


SCENARIO = Scenario(
    name="MU.python-threads-create-and-drop",
    summary="Threads create, launch and drop graphs at the same time, with the GIL and without",
    covers=("MU-01", "MU-02"),
    catches=("registry-locked-while-owners-go",),
    variants=(Variant("pending-call"), Variant("full-queue"), Variant("thread", ("destructor:deliver=thread",))),
    timeout_s=60,
    run=run,
)
