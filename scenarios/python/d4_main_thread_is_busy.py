"""D-04: while the main thread evaluates nothing, payloads wait; it releases them as soon as it evaluates again.

Intent: the main thread waits in a lock, in a join, in a selector, in a call of C that lets go of the interpreter's
lock, and in one that keeps it, while destructors run on other threads. Nothing may be released meanwhile, one call may
be outstanding, and when the main thread goes on everything is released with no further call of the library. A drain by
hand, from the thread that is not busy, is the way out, and a worker another.

Interleaving: the other thread begins once the main thread is asleep in the kernel, and ends its sleep when it is done.

Expected verdict: passed.
"""

from __future__ import annotations

import ctypes
import os
import selectors
import threading
import time
from collections.abc import Callable

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant
from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import drop_graph
from scenarios.python.support.main_thread import keep_asleep
from scenarios.python.support.owners import Releases

PAYLOADS = 200
SLEEP = "destructor:deliver=thread,delay=200ms"


class Way:
    """A way for the main thread to be busy, and to be woken up."""

    def __init__(self, block: Callable[[], object], wake: Callable[[], object]) -> None:
        self.block = block
        self.wake = wake


def ways() -> dict[str, Way]:
    reading, writing = os.pipe()
    lock = threading.Lock()
    lock.acquire()
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait, daemon=True)
    thread.start()
    selector = selectors.DefaultSelector()
    selector.register(reading, selectors.EVENT_READ)

    def write() -> object:
        return os.write(writing, b"!")

    read_in_c = ctypes.CDLL(None).read
    return {
        "lock": Way(lock.acquire, lock.release),
        "join": Way(thread.join, ended.set),
        "selector": Way(selector.select, write),
        "c-call": Way(lambda: read_in_c(reading, ctypes.create_string_buffer(1), 1), write),
        "drain": Way(lock.acquire, lock.release),
    }


def check_asleep(context: Context) -> None:
    releases = Releases()
    seen: list[tuple[int, int]] = []
    woken: list[float] = []
    way = ways()[context.variant]

    def work() -> None:
        make_current()
        drop_graph(releases, PAYLOADS)
        context.shim.deliver()
        calls = context.shim.pending_calls()
        seen.append((releases.count, calls.outstanding))
        if context.variant == "drain":
            _core.drain()
            seen.append((releases.count, calls.outstanding))
        woken.append(time.monotonic())
        way.wake()

    keep_asleep(context, way.block, work)
    context.check_eventually(lambda: releases.count == PAYLOADS, "the main thread releases all when it evaluates again")
    context.count("released_after_waking_ms", round((time.monotonic() - woken[0]) * 1000, 3))
    context.check_equal(seen[0], (0, 1), "nothing is released, and one call outstanding, while the main thread is busy")
    if context.variant == "drain":
        context.check_equal(seen[1][0], PAYLOADS, "a drain by hand on another thread releases all")


def check_with_the_lock(context: Context) -> None:
    """The destructors come, from the shim's thread, while the main thread is in a call of C that keeps the lock."""
    releases = Releases()
    drop_graph(releases, PAYLOADS)
    context.check_equal(context.shim.pending_calls().calls, 0, "no destructor has run yet")
    address = context.shim.quiesce_address()
    keeps_the_lock = ctypes.PYFUNCTYPE(None)(address)
    keeps_the_lock()
    context.check_eventually(lambda: releases.count == PAYLOADS, "the main thread releases all when it evaluates again")
    context.check_equal(context.shim.pending_calls().accepted, 1, "one pending call does for all")


def check_worker(context: Context) -> None:
    """The worker needs no main thread."""
    _core.configure("worker")
    releases = Releases()
    way = ways()["lock"]
    seen: list[bool] = []

    def work() -> None:
        make_current()
        drop_graph(releases, PAYLOADS)
        seen.append(context.wait_for(lambda: releases.count == PAYLOADS))
        way.wake()

    keep_asleep(context, way.block, work)
    context.check_equal(seen, [True], "a worker releases all while the main thread is busy")


def run(context: Context) -> None:
    make_current()
    if context.variant == "c-call-with-lock":
        check_with_the_lock(context)
    elif context.variant == "worker":
        check_worker(context)
    else:
        check_asleep(context)
    context.check(context.shim.pending_calls().peak_outstanding <= 1, "at most one pending call is outstanding")
    context.oracle("releases while the main thread was busy, and after")


SCENARIO = Scenario(
    name="DC.python-main-thread-is-busy",
    summary="Payloads wait for a main thread in a lock, a join, a selector or a call of C, and go when it evaluates",
    covers=("D-04", "DC-04", "DC-06"),
    variants=(
        Variant("lock"),
        Variant("join"),
        Variant("selector"),
        Variant("c-call"),
        Variant("c-call-with-lock", (SLEEP,)),
        Variant("drain"),
        Variant("worker"),
    ),
    run=run,
)
