"""D-14: the child of a fork leaves to its parent what it inherited, uses nothing of CUDA, and ends with 0.

Intent: fork a process that has graphs and payloads in its queue, and one that only imported the module. The child
releases nothing of the parent's, its graphs refuse to be used, and it ends by itself with 0. The parent goes on as if
nothing had happened. `subprocess` and `multiprocessing`, by fork and by spawn, work beside graphs.

Interleaving: one thread forks. Nothing evaluates between the destructors and the fork, so the payload is in the queue,
and a pending call in the interpreter's, when the child comes to be.

Expected verdict: passed.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable

from holdfast import _core

from harness.python.context import Context
from harness.python.scenario import Scenario, Variant, is_watched
from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import drop_graph, graph_owned_by
from scenarios.python.support.main_thread import keep_asleep
from scenarios.python.support.owners import Owner, Releases

CHILD_FAILED = 9
SQUARES = [1, 4, 9]


def check_child(context: Context, body: Callable[[], None], how: str) -> None:
    """Forks, runs `body` in the child, and sees that it ends with 0. The child ends as a program does, functions that
    `atexit` runs included.
    """
    forking_main = threading.main_thread()  # in the child it is whoever forked
    child = os.fork()
    if child == 0:
        try:
            body()
        except BaseException:
            traceback.print_exc()
            os._exit(CHILD_FAILED)
        if threading.current_thread() is forking_main:
            sys.exit(0)
        # To leave a thread ends that thread alone.
        atexit._run_exitfuncs()
        os._exit(0)
    statuses: list[int] = []

    def ended() -> bool:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            statuses.append(os.waitstatus_to_exitcode(status))
        return bool(statuses)

    context.check_eventually(ended, f"the child that {how} ends")
    context.check_equal(statuses, [0], f"the child that {how} ends with 0")


def refuses_everything(releases: Releases, graphs: list[_core.GraphDefinition]) -> None:
    """What a child may expect of the module."""
    before = releases.count
    for use in (lambda: graphs[0].add_empty([]), lambda: graphs[0].instantiate(0), _core.GraphDefinition):
        try:
            use()
        except RuntimeError:
            continue
        raise AssertionError("something of CUDA was used in the child of a fork")
    _core.drain()
    graphs.clear()
    sum(range(100_000))  # pending calls run, if there are any
    assert releases.count == before, "a child released what is its parent's"


def check_with_graphs(context: Context) -> None:
    releases = Releases()
    graphs = [graph_owned_by(Owner(releases)) for _ in range(3)]
    drop_graph(releases)
    context.check_eventually(lambda: releases.count == 1, "graphs work before the fork")
    check_child(context, lambda: refuses_everything(releases, graphs), "has its parent's graphs")
    context.check_equal(releases.count, 1, "the parent's owners are alive")
    for graph in graphs:
        context.check(graph.is_valid and len(graph.nodes()) == 1, "the parent's graphs are whole")
    graphs.clear()
    del graph
    context.check_eventually(lambda: releases.count == 4, "the parent goes on as before")


def check_with_payloads(context: Context) -> None:
    """A thread forks while the main thread is asleep and the queue has payloads."""
    releases = Releases()
    lock = threading.Lock()
    lock.acquire()

    def work() -> None:
        make_current()
        drop_graph(releases, 10)
        context.shim.deliver()
        context.check(_core.has_work(), "the queue has payloads")
        graphs = [graph_owned_by(None)]
        check_child(context, lambda: refuses_everything(releases, graphs), "inherited a queue with payloads")
        lock.release()

    keep_asleep(context, lock.acquire, work)
    context.check_eventually(lambda: releases.count == 10, "the parent releases what was in the queue")


def leave(subject: object) -> None:
    """Forks where the module was only imported."""
    if os.fork() == 0:
        sys.exit(0)
    _, status = os.wait()
    sys.exit(os.waitstatus_to_exitcode(status))


def square(number: int) -> int:
    return number * number


def check_others(context: Context) -> None:
    """What forks behind a program's back."""
    releases = Releases()
    kept = graph_owned_by(Owner(releases))
    done = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True, check=False)
    context.check_equal((done.returncode, done.stdout.strip()), (0, "42"), "subprocess works beside graphs")
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            context.check_equal(
                pool.map(square, [1, 2, 3]), SQUARES, f"multiprocessing by {method} works beside graphs"
            )
            pool.close()
            pool.join()
    context.check_equal(releases.count, 0, "the parent's owner is alive")
    del kept
    context.check_eventually(lambda: releases.count == 1, "the parent goes on as before")


def run(context: Context) -> None:
    if context.variant == "only-imported":
        context.run_subject(leave)
        check_child(context, lambda: None, "only imported the module")
    elif is_watched(context.interpreter) and context.variant != "others":
        context.skip("the child starts a thread of the library's, which ThreadSanitizer takes for one of the parent's")
    else:
        make_current()
        checks = {
            "with-graphs": check_with_graphs,
            "with-payloads": check_with_payloads,
            "others": check_others,
        }
        checks[context.variant](context)
    context.oracle("what child and parent of a fork can do")


SCENARIO = Scenario(
    name="SH.python-fork",
    summary="The child of a fork abandons what it inherited, uses nothing of CUDA, and ends with 0",
    covers=("D-14",),
    variants=(Variant("with-graphs"), Variant("with-payloads"), Variant("only-imported"), Variant("others")),
    run=run,
)
