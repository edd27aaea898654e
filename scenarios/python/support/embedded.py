"""What the program of embedding.cc does in Python: with the module alone, without its package, and without ctypes. What
CPython 3.12 keeps of ctypes from one life to the next makes it crash by itself.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

DEADLINE_SECONDS = 20.0


def load_core() -> ModuleType:
    """holdfast._core without holdfast."""
    for folder in sys.path:
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = Path(folder) / "holdfast" / f"_core{suffix}"
            if path.is_file():
                spec = importlib.util.spec_from_file_location("holdfast._core", path)
                assert spec is not None and spec.loader is not None
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    raise ImportError("there is no holdfast._core")


_core: Any = load_core()
_core.set_current_context(_core.retain_primary_context(0))
released: list[str] = []


class SaysItIsReleased:
    """An owner that belongs to one life of Python."""

    def __init__(self, life: str) -> None:
        self._life = life
        self._write = os.write
        self._released = released

    def __del__(self) -> None:
        self._released.append(self._life)
        self._write(1, f"released: {self._life}\n".encode())


def make_graph(life: str, callback: int) -> Any:
    """A graph with one node, which keeps an owner; `callback` is the address of a function that does nothing."""
    graph = _core.GraphDefinition()
    graph.add_host(_core.Callback.from_address(callback, 0, SaysItIsReleased(life), None), [])
    return graph


def make_graphs(callback: int, count: int) -> list[int]:
    """Raw handles of graphs of the first life; they live until drop_graphs."""
    graphs.extend(make_graph("first", callback) for _ in range(count))
    return [graph.raw for graph in graphs]


graphs: list[Any] = []


def drop_graphs() -> None:
    """Whatever the driver made of them keeps their owners."""
    graphs.clear()


def drop_and_wait(callback: int) -> None:
    """Lets a graph of the second life go and waits for its owner."""
    before = len(released)
    make_graph("second", callback)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while len(released) == before:
        if time.monotonic() > deadline:
            raise RuntimeError("an owner was not released")
