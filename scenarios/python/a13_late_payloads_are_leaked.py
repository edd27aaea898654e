"""A13: whatever is let go while Python goes away, and after, crashes nothing and hangs nothing: what comes before the
gate closes is released, what comes later is leaked, and Python is not asked for anything any more.

Intent: an interpreter of its own ends with graphs alive. The variants let them go at each phase of the end. Its exit
status has to be 0, nothing may be on stderr, no call of Py_AddPendingCall may have come while it was being finalized,
and the owners that are released are those that the phase says.

Interleaving:
  before-atexit       in a function that `atexit` runs before ours
  after-atexit        in one that it runs after ours: the gate is closed, Python is whole
  module-teardown     when the modules go
  daemon-threads      threads that nobody joins make and drop graphs all the time
  threads-are-refused the same; a function that `atexit` runs after ours waits for them: each is refused a graph
  native-threads      destructors come from a thread of C, one after the other, all through the end
  after-finalization  destructors come when the interpreter has gone, from functions that the C library runs at the end
  callback-inside     a callback in Python is under way when the end begins: the end waits for it
  callback-too-late   a callback in Python is due after the gate has closed: it is skipped

Expected verdict: passed.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import sys
import threading
import time
import types
from collections.abc import Callable
from typing import Any

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant
from harness.python.subject import Subject

RELEASED = "released"
THREADS = 4
GRAPHS_BEFORE_THE_END = 20
LATE_GRAPHS = 10
CALLBACK_SECONDS = 0.2
SEMAPHORE_BYTES = 64  # more than any C library has

# How often "released" is said at each phase; None: any number of times.
EXPECTED: dict[str, int | None] = {
    "before-atexit": 1,
    "after-atexit": 0,
    "module-teardown": 0,
    "daemon-threads": None,
    "threads-are-refused": None,
    "native-threads": None,
    "after-finalization": 0,
    "callback-inside": 1,
    "callback-too-late": 0,
}


# Where threads race with the end, it is tried more than once.
RUNS = {"threads-are-refused": 4}

# Those that have a function for `atexit` from before the module is imported.
EARLY = ("after-atexit", "threads-are-refused", "callback-too-late")
JOIN_SECONDS = 5.0


class SaysItIsReleased:
    """An owner that says so even when the modules are gone."""

    def __init__(self) -> None:
        self._say = Subject.say

    def __del__(self) -> None:
        self._say(RELEASED)


class DropsGraphs:
    """Lets graphs go when it goes itself."""

    def __init__(self, graphs: list[object]) -> None:
        self._graphs = graphs
        self._say = Subject.say

    def __del__(self) -> None:
        self._graphs.clear()
        self._say("dropped")


def load(name: str) -> Any:
    """What imports the module under test, when it is due: functions that `atexit` runs go by the order of imports."""
    return importlib.import_module(name)


def make_graph() -> object:
    """A graph with one owner."""
    return load("scenarios.python.support.graphs").graph_owned_by(SaysItIsReleased())


def before_atexit(subject: Subject) -> None:
    graphs = [make_graph()]
    atexit.register(graphs.clear)


def after_atexit(subject: Subject) -> None:
    graphs: list[object] = []

    def drop() -> None:
        graphs.clear()
        core = load("holdfast._core")
        subject.say(f"leaked {core.counters()['leaked_at_shutdown']}")
        try:
            core.GraphDefinition()
        except RuntimeError:
            subject.say("refused")

    atexit.register(drop)
    graphs.append(make_graph())


def module_teardown(subject: Subject) -> None:
    module = types.ModuleType("holds_graphs_to_the_end")
    module.holder = DropsGraphs([make_graph()])  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module


def run_daemons(body: Callable[[], object]) -> list[threading.Thread]:
    """Threads that run `body` until no graph can be made any more; they are under way when this returns.

    `body` looks nothing up among the modules: free-threaded 3.13 may end a thread that has just been given the lock of
    sys.modules, and then waits for it for ever.
    """
    under_way = threading.Semaphore(0)
    make_current = load("scenarios.python.support.device").make_current

    def run() -> None:
        make_current()
        for _ in range(GRAPHS_BEFORE_THE_END):
            body()
        under_way.release()
        # Once the end has begun the library refuses to make graphs.
        with contextlib.suppress(RuntimeError):
            while True:
                body()

    threads = [threading.Thread(target=run, daemon=True) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for _ in range(THREADS):
        under_way.acquire()
    return threads


def daemon_threads(subject: Subject) -> None:
    graph_owned_by = load("scenarios.python.support.graphs").graph_owned_by

    def make_launch_drop() -> None:
        graph = graph_owned_by(SaysItIsReleased())
        graph.instantiate(0).close()
        graph.nodes()

    run_daemons(make_launch_drop)


def threads_are_refused(subject: Subject) -> None:
    threads: list[threading.Thread] = []

    def wait_for_them() -> None:
        for thread in threads:
            thread.join(JOIN_SECONDS)
        subject.say(f"{sum(thread.is_alive() for thread in threads)} threads go on")

    atexit.register(wait_for_them)
    load("scenarios.python.support.device").make_current()
    graph_owned_by = load("scenarios.python.support.graphs").graph_owned_by
    threads += run_daemons(lambda: graph_owned_by(SaysItIsReleased()))


def native_threads(subject: Subject) -> None:
    """The plan has destructors come late, on the shim's thread."""
    graph_owned_by = load("scenarios.python.support.graphs").graph_owned_by
    subject.shim.deliver_at_process_end()
    run_daemons(lambda: graph_owned_by(SaysItIsReleased()))


def after_finalization(subject: Subject) -> None:
    """The plan holds all destructors."""
    for _ in range(LATE_GRAPHS):
        make_graph()
    subject.shim.deliver_at_process_end()


def launch(subject: Subject, first: Any, second: Any) -> None:
    """Launches a graph of two callbacks, the second of which waits for the first; keeps it to the end."""
    core = load("holdfast._core")
    graph = core.GraphDefinition()
    node = graph.add_host(first, [])
    graph.add_host(second, [node])
    executable = graph.instantiate(0)
    stream = load("scenarios.python.support.device").make_stream()
    executable.launch(stream)
    sys.modules["holds_a_launch"] = types.ModuleType("holds_a_launch")
    sys.modules["holds_a_launch"].objects = [graph, executable, stream]  # type: ignore[attr-defined]


def callback_inside(subject: Subject) -> None:
    core = load("holdfast._core")
    inside = threading.Event()

    def callback() -> None:
        inside.set()
        time.sleep(CALLBACK_SECONDS)  # the time for which the end has to wait
        subject.say(RELEASED)

    nothing = load("scenarios.python.support.graphs").callback_owned_by(None)
    launch(subject, core.Callback.from_callable(callback), nothing)
    inside.wait()


def callback_too_late(subject: Subject) -> None:
    """A node before the callback waits for a semaphore, which is given once the gate is closed."""
    library, driver = ctypes.CDLL(None), ctypes.CDLL("libcuda.so.1")
    closed = ctypes.create_string_buffer(SEMAPHORE_BYTES)
    library.sem_init(closed, 0, 0)

    def let_it_come() -> None:
        library.sem_post(closed)
        driver.cuCtxSynchronize()
        subject.say("it was due")

    atexit.register(let_it_come)
    load("scenarios.python.support.device").make_current()
    core = load("holdfast._core")
    wait = load("scenarios.python.support.graphs").address_of("sem_wait")
    first = core.Callback.from_address(wait, ctypes.addressof(closed), None, None)
    launch(subject, first, core.Callback.from_callable(lambda: subject.say(RELEASED)))


def end(subject: Subject, phase: str) -> None:
    """What the interpreter of its own does before it ends."""
    if phase not in EARLY:
        load("scenarios.python.support.device").make_current()
    functions[phase](subject)
    subject.say("ending")


functions: dict[str, Callable[[Subject], None]] = {name: globals()[name.replace("-", "_")] for name in EXPECTED}


def run(context: Context) -> None:
    for _ in range(RUNS.get(context.variant, 1)):
        run_once(context)
    context.oracle("exit status, output, releases and pending calls of an interpreter that ended")


def run_once(context: Context) -> None:
    phase = context.variant
    ended = context.run_subject(end, phase)
    released = ended.said.count(RELEASED)
    expected = EXPECTED[phase]
    if expected is not None:
        context.check_equal(released, expected, f"owners that are let go in {phase} are released or leaked")
    if phase == "after-atexit":
        context.check_equal(
            ended.said, ["ending", "leaked 1", "refused"], "the gate is closed once our function has run"
        )
    elif phase == "module-teardown":
        context.check_equal(ended.said, ["ending", "dropped"], "graphs are let go when the modules go")
    elif phase == "callback-too-late":
        context.check_equal(ended.said, ["ending", "it was due"], "a callback that comes late calls nothing")
    elif phase == "threads-are-refused":
        context.check("0 threads go on" in ended.said, f"no graph is made once the gate is closed: {ended.said[-1]}")
    else:
        context.check("ending" in ended.said, "the interpreter comes to its end")
    late = ended.counters.get("pending_calls_while_finalizing", 0)
    context.check_equal(late, 0, "Python is asked for nothing while it is finalized")
    context.count("released", released)


SCENARIO = Scenario(
    name="A13.python-late-payloads-are-leaked",
    summary="Graphs let go at any phase of Python's end are released before the gate closes, leaked after, and no call"
    " reaches Python",
    covers=("A13", "SH-01", "SH-02", "SH-03", "DC-07", "DC-08", "DC-09", "D-05", "D-15", "BR-25"),
    catches=("gate-closed-too-late",),
    variants=(
        Variant("before-atexit"),
        Variant("after-atexit"),
        Variant("module-teardown"),
        Variant("daemon-threads"),
        Variant("threads-are-refused"),
        Variant("native-threads", ("destructor:deliver=thread,delay=3ms",)),
        Variant("after-finalization", ("destructor:deliver=held",)),
        Variant("callback-inside"),
        Variant("callback-too-late"),
    ),
    run=run,
)
