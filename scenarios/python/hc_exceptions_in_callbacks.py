"""HC: an exception that leaves a callback goes to sys.unraisablehook, and later launches run.

Intent: launch a graph whose callback raises every second time. Each exception is seen by the hook, once; no launch
fails, the stream goes on, and the callback is called as often as it was launched.

Interleaving: callbacks run on a thread of the driver's, while the main thread waits for the stream.

Expected verdict: passed.
"""

from __future__ import annotations

import sys
from typing import Any

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario
from scenarios.python.support.device import make_current, make_stream

LAUNCHES = 20


class FromACallback(Exception):
    """Raised on purpose."""


def run(context: Context) -> None:
    make_current()
    stream = make_stream()
    calls: list[int] = []
    raised: list[Any] = []
    sys.unraisablehook = lambda unraisable: raised.append((unraisable.exc_type, unraisable.object))

    def raise_now_and_then() -> None:
        calls.append(len(calls))
        if len(calls) % 2 == 0:
            raise FromACallback

    graph = _core.GraphDefinition()
    graph.add_host(_core.Callback.from_callable(raise_now_and_then), [])
    executable = graph.instantiate(0)
    for launched in range(1, LAUNCHES + 1):
        executable.launch(stream)
        stream.synchronize()
        context.check_equal(len(calls), launched, "each launch calls the callback, whatever the one before raised")
    expected = [(FromACallback, raise_now_and_then)] * (LAUNCHES // 2)
    context.check(raised == expected, "each exception goes to sys.unraisablehook, with the callback")
    raised.clear()
    executable.close()
    context.oracle("calls and exceptions of a callback")


SCENARIO = Scenario(
    name="HC.python-exceptions-in-callbacks",
    summary="An exception in a callback goes to sys.unraisablehook, and later launches run",
    covers=("HC-05",),
    run=run,
)
