"""A9: a graph that holds the last reference to a buffer keeps it valid through all launches; the buffer is freed from
the cleanup, on the main thread or on the worker.

Intent: give the only reference to a device buffer to a graph and its executable, launch several times, let everything
go. The allocation must be there until the last launch has ended and must then really be freed: inside a callback
cuMemFree would be refused and the memory lost in silence.

Interleaving: the variants differ in where CUDA's destructor callbacks run, and in who drains.

Expected verdict: passed.
"""

from __future__ import annotations

import ctypes

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant
from scenarios.python.support.device import make_current, make_stream

SIZE_BYTES = 4096
VALUE = 0x59
LAUNCHES = 5


def build(result: _core.Memory) -> _core.GraphDefinition:
    """Fills a buffer and copies it to the host. The graph alone keeps the buffer."""
    buffer = _core.Memory.allocate_device(SIZE_BYTES)
    graph = _core.GraphDefinition()
    side = _core.Operand(buffer.address, True, buffer)
    fill = graph.add_memset(side, VALUE, 1, SIZE_BYTES, 1, 0, [])
    graph.add_memcpy(_core.Operand(result.address, False, result), side, SIZE_BYTES, [fill])
    return graph


def run(context: Context) -> None:
    make_current()
    if context.variant == "worker":
        _core.configure("worker")
    stream = make_stream()
    result = _core.Memory.allocate_host(SIZE_BYTES)
    before = context.shim.live().allocations
    executable = build(result).instantiate(0)
    for _ in range(LAUNCHES):
        ctypes.memset(result.address, 0, SIZE_BYTES)
        executable.launch(stream)
        stream.synchronize()
        context.check(ctypes.string_at(result.address, SIZE_BYTES) == bytes([VALUE]) * SIZE_BYTES, "a launch fills all")
        context.check_equal(context.shim.live().allocations, before + 1, "the buffer is there while it is needed")
    executable.close()

    def freed() -> bool:
        context.shim.release_held()
        return context.shim.live().allocations == before

    context.check_eventually(freed, "the buffer is freed once nothing needs it")
    counters = _core.counters()
    context.check_equal(counters["released"], counters["enqueued"], "what was enqueued was released")
    context.oracle("the buffer's allocation against the launches")


SCENARIO = Scenario(
    name="A9.python-buffer-outlives-all-launches",
    summary="A buffer that a graph alone holds is valid in every launch and freed from the cleanup",
    covers=("A9", "AP-19", "AP-23", "DC-03", "BR-01"),
    variants=(
        Variant("inline"),
        Variant("thread", ("destructor:deliver=thread",)),
        Variant("held", ("destructor:deliver=held",)),
        Variant("worker"),
    ),
    run=run,
)
