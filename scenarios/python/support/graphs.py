"""Graphs whose nodes own something."""

from __future__ import annotations

import ctypes

from holdfast import _core

from scenarios.python.support.owners import Owner, Releases


def address_of(name: str) -> int:
    """The address of a function of the C library."""
    return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0


# A node can call it with any address: it looks at nothing. A callback that is Python would be an owner of its own.
_NOTHING = address_of("sched_yield")


def callback_owned_by(owner: object) -> _core.Callback:
    """Does nothing, and keeps the owner."""
    return _core.Callback.from_address(_NOTHING, 0, owner, None)


def graph_owned_by(*owners: object) -> _core.GraphDefinition:
    """A graph with one node for each owner."""
    graph = _core.GraphDefinition()
    for owner in owners:
        graph.add_host(callback_owned_by(owner), [])
    return graph


def drop_graph(releases: Releases, nodes: int = 1) -> None:
    """Makes a graph with so many nodes, each with an owner of its own, and lets it go at once."""
    graph_owned_by(*(Owner(releases) for _ in range(nodes)))


def drop_clone(releases: Releases) -> None:
    """The same for a graph that only the driver knows in the end: nothing of the library runs but the callback."""
    driver = ctypes.CDLL("libcuda.so.1")
    clone = ctypes.c_void_p()
    graph = graph_owned_by(Owner(releases))
    if driver.cuGraphClone(ctypes.byref(clone), ctypes.c_void_p(graph.raw)) != 0:
        raise RuntimeError("the driver clones no graph")
    del graph
    if driver.cuGraphDestroy(clone) != 0:
        raise RuntimeError("the driver destroys no clone")
