"""A13: shutdown waits for a destructor callback that is past all checks and about to call Python; no call reaches an
interpreter that is gone.

Intent: the plan stops the callback inside Py_AddPendingCall, before the interpreter sees the call: the very window in
which 'check a flag, then call' breaks. The interpreter's end begins meanwhile. Python must still be whole when the
callback goes on; what the call was for is released by the last drain.

Interleaving:
  shim's thread                        main thread
  destructor: enters the gate
  Py_AddPendingCall, stopped
                                       the end begins: closes the gate, waits
  goes on (Python is whole)
  leaves the gate
                                       last drain; Python goes

Expected verdict: passed. Without the gate CPython 3.10 to 3.12 crash (fact P3): the process outlives the interpreter
for as long as the callback takes.
"""

from __future__ import annotations

from harness.python.context import Context
from harness.python.scenario import Scenario
from harness.python.subject import Subject
from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import graph_owned_by

SITE = "Py_AddPendingCall"


class SaysItIsReleased:
    def __del__(self, say: object = Subject.say) -> None:
        say("released")  # type: ignore[operator]


def end(subject: Subject) -> None:
    """Ends while the callback is stopped."""
    make_current()
    subject.shim.deliver_at_process_end()
    graph_owned_by(SaysItIsReleased())
    while subject.shim.calls(SITE) == 0:
        pass
    subject.say("ending")


def run(context: Context) -> None:
    ended = context.run_subject(end)
    context.check_equal(ended.said[:1], ["ending"], "the end begins while the callback is stopped")
    context.check_equal(ended.said[1:], ["released"], "the last drain releases what the callback brought")
    late = ended.counters.get("pending_calls_while_finalizing", 0)
    context.check_equal(late, 0, "Python is asked for nothing while it is finalized")
    context.oracle("how an interpreter ended with a callback inside")


SCENARIO = Scenario(
    name="A13.python-shutdown-waits-for-callbacks-inside",
    summary="Python's end waits for a callback that is about to add its pending call",
    covers=("A13", "SH-01", "D-05", "BR-25"),
    catches=("flag-instead-of-gate",),
    plan=("destructor:deliver=thread", "Py_AddPendingCall:nth=1,deliver=inline,delay=400ms"),
    run=run,
)
