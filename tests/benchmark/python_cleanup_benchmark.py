"""How long a destructor callback takes in an interpreter, and how long it is from there to the release of the owner.

    python tests/benchmark/python_cleanup_benchmark.py [pending-call | worker]

The module's folder is on PYTHONPATH, and a driver that runs destructors inside the call that frees them (the model
driver, without the shim) first in LD_LIBRARY_PATH. Prints one JSON object; all times are in microseconds.

The callback's time is the difference between destroying a graph that owns one attachment of the library's and one that
owns a user object whose destructor is a trivial function of C. It is taken on the main thread and on another one: up to
3.12 the latter also wakes the thread that interrupts the main one. Two processes keep the machine busy meanwhile.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from holdfast import _core

ROUNDS = 2000
LATENCIES = 500
BURNERS = 2
NO_DESTRUCTOR_SYNC = 1  # CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
MOVE = 1  # CU_GRAPH_USER_OBJECT_MOVE

DRIVER = ctypes.CDLL("libcuda.so.1")
# Without letting go of the GIL: to take it back, while others ask for it as well, is not the callback's time.
DRIVER_WITH_GIL = ctypes.PyDLL("libcuda.so.1")
C_LIBRARY = ctypes.CDLL(None)


def address_of(name: str) -> int:
    """The address of a function of the C library."""
    return ctypes.cast(getattr(C_LIBRARY, name), ctypes.c_void_p).value or 0


class Owner:
    """Notes when it goes."""

    def __init__(self, released: list[int]) -> None:
        self._released = released
        self._now = time.perf_counter_ns

    def __del__(self) -> None:
        self._released.append(self._now())


def owned_clone(owner: object) -> ctypes.c_void_p:
    """A graph that nobody but the driver knows, with one attachment of the library's."""
    graph = _core.GraphDefinition()
    graph.add_host(_core.Callback.from_address(address_of("getppid"), 0, owner, None), [])
    clone = ctypes.c_void_p()
    assert DRIVER.cuGraphClone(ctypes.byref(clone), ctypes.c_void_p(graph.raw)) == 0
    return clone


def plain_graph() -> ctypes.c_void_p:
    """The same with a user object of its own."""
    graph, user_object = ctypes.c_void_p(), ctypes.c_void_p()
    destructor = ctypes.c_void_p(address_of("getppid"))
    assert DRIVER.cuGraphCreate(ctypes.byref(graph), 0) == 0
    assert DRIVER.cuUserObjectCreate(ctypes.byref(user_object), None, destructor, 1, NO_DESTRUCTOR_SYNC) == 0
    assert DRIVER.cuGraphRetainUserObject(graph, user_object, 1, MOVE) == 0
    node = ctypes.c_void_p()
    assert DRIVER.cuGraphAddEmptyNode(ctypes.byref(node), graph, None, ctypes.c_size_t(0)) == 0
    return graph


def destroy_us(graph: ctypes.c_void_p) -> float:
    """How long it takes to destroy a graph."""
    start = time.perf_counter_ns()
    DRIVER_WITH_GIL.cuGraphDestroy(graph)
    return (time.perf_counter_ns() - start) / 1000


def callback_us(call: Callable[..., tuple[float, float]]) -> dict[str, float]:
    """With the pending call in it: each round drains, so that the next one has to ask again. `call` calls a function,
    on a thread of its choice.
    """
    released: list[int] = []
    rounds: list[tuple[float, float]] = []

    def destroy(clone: ctypes.c_void_p, plain: ctypes.c_void_p) -> tuple[float, float]:
        return destroy_us(clone), destroy_us(plain)

    for done in range(1, ROUNDS + 1):
        rounds.append(call(destroy, owned_clone(Owner(released)), plain_graph()))
        wait_for(lambda done=done: len(released) == done)
    with_library, without = (statistics.median(times) for times in zip(*rounds, strict=True))
    return {"median": round(with_library - without, 3), "destroy_plain_median": round(without, 3)}


def callback_on_another_thread_us() -> dict[str, float]:
    """The same while the main thread waits in a lock."""
    with ThreadPoolExecutor(max_workers=1, initializer=make_current) as threads:
        return callback_us(lambda *call: threads.submit(*call).result())


def make_current() -> None:
    """The first device's context, for the calling thread."""
    _core.set_current_context(_core.retain_primary_context(0))


def wait_for(condition: Callable[[], bool]) -> None:
    """Evaluates until then."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited for too long"


def latencies_us(evaluate: Callable[[], object]) -> list[float]:
    """From the destructor, on another thread, to the release, while the main thread does `evaluate` again and again."""
    released: list[int] = []
    times: list[float] = []
    done = threading.Event()

    def destroy() -> None:
        make_current()
        for number in range(1, LATENCIES + 1):
            clone = owned_clone(Owner(released))
            start = time.perf_counter_ns()
            DRIVER.cuGraphDestroy(clone)
            while len(released) < number:
                time.sleep(0)
            times.append((released[-1] - start) / 1000)
        done.set()

    thread = threading.Thread(target=destroy)
    thread.start()
    while not done.is_set():
        evaluate()
    thread.join()
    return times


def summary(times: list[float]) -> dict[str, float]:
    """Median, and the value that one in a hundred exceeds."""
    return {"median": round(statistics.median(times), 1), "p99": round(statistics.quantiles(times, n=100)[98], 1)}


def main(wakeup: str) -> None:
    """Measures one wakeup."""
    burners = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(BURNERS)]
    try:
        _core.configure(wakeup)
        make_current()
        result = {
            "python": sys.version.split()[0],
            "wakeup": wakeup,
            "callback_on_the_main_thread": callback_us(lambda function, *arguments: function(*arguments)),
            "callback_on_another_thread": callback_on_another_thread_us(),
            "release_while_main_evaluates": summary(latencies_us(lambda: sum(range(100)))),
            "release_while_main_sleeps_1_ms": summary(latencies_us(lambda: time.sleep(0.001))),
        }
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "pending-call")
