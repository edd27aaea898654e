"""What the program of embedding.cc does in Python."""

from __future__ import annotations

import ctypes
import os
import time

from holdfast import _core

from scenarios.python.support.device import make_current
from scenarios.python.support.graphs import graph_owned_by

DEADLINE_SECONDS = 20.0


class SaysItIsReleased:
    """An owner that belongs to one life of Python."""

    def __init__(self, life: str) -> None:
        self._life = life
        self._write = os.write
        self._released = released

    def __del__(self) -> None:
        self._released.append(self._life)
        self._write(1, f"released: {self._life}\n".encode())


released: list[str] = []


def make_clones(life: str, count: int) -> list[int]:
    """Raw graphs that nobody but the driver knows any more, each with an owner."""
    make_current()
    driver = ctypes.CDLL("libcuda.so.1")
    clones = []
    for _ in range(count):
        clone = ctypes.c_void_p()
        graph = graph_owned_by(SaysItIsReleased(life))
        if driver.cuGraphClone(ctypes.byref(clone), ctypes.c_void_p(graph.raw)) != 0 or clone.value is None:
            raise RuntimeError("the driver clones no graph")
        clones.append(clone.value)
    return clones


def drop_and_wait(life: str) -> None:
    """Lets a graph go and waits for its owner."""
    make_current()
    before = len(released)
    graph_owned_by(SaysItIsReleased(life))
    deadline = time.monotonic() + DEADLINE_SECONDS
    while len(released) == before:
        if time.monotonic() > deadline:
            raise RuntimeError("an owner was not released")
    if _core.counters()["enqueued"] == 0:
        raise RuntimeError("this life has no queue of its own")
