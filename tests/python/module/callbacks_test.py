"""Host callbacks: callables, functions of ctypes, and their data."""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from holdfast import Stream
from holdfast.graph import GraphDefinition
from settled import Owner, is_kept, is_released

HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def run(graph: GraphDefinition, stream: Stream) -> None:
    graph.instantiate().launch(stream)
    stream.sync()


# Covers: HC-01.
def test_a_callable_runs_once_a_launch_and_is_kept(stream: Stream) -> None:
    called: list[int] = []
    owner = Owner()
    ref = weakref.ref(owner)

    def call(_: Owner) -> None:
        called.append(threading.get_ident())

    graph = GraphDefinition()
    graph.callback(functools.partial(call, owner))
    executable = graph.instantiate()
    del graph, owner
    executable.launch(stream)
    executable.launch(stream)
    stream.sync()
    assert len(called) == 2 and threading.get_ident() not in called
    assert is_kept(ref)
    del executable
    assert is_released(ref)


# Covers: HC-02, HC-04.
def test_a_function_of_ctypes_is_kept_and_gets_its_integer(stream: Stream) -> None:
    got: list[int | None] = []
    function = HostFunction(got.append)
    ref = weakref.ref(function)
    graph = GraphDefinition()
    node = graph.callback(function, user_data=0x1234)
    graph.callback(function)
    assert node.callback is None
    del function, node
    assert is_kept(ref)
    run(graph, stream)
    assert sorted(got, key=str) == [0x1234, None]
    del graph
    assert is_released(ref)


# Covers: HC-03.
@pytest.mark.parametrize("data", [b"holdfast", bytearray(b"holdfast"), memoryview(b"holdfast"), b""])
def test_bytes_are_copied_and_the_copy_is_kept(stream: Stream, data: Any) -> None:
    got: list[bytes | None] = []
    expected = bytes(data) or None
    function = HostFunction(lambda address: got.append(ctypes.string_at(address, 8) if address else None))
    graph = GraphDefinition()
    graph.callback(function, user_data=data)
    if isinstance(data, bytearray):
        data[:] = b"changed!"
    executable = graph.instantiate()
    del graph, data
    executable.launch(stream)
    stream.sync()
    assert got == [expected]


# Covers: HC-05.
def test_what_a_callback_raises_is_reported_and_goes_no_further(
    graph: GraphDefinition, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Any] = []
    called: list[int] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda problem: reported.append(problem.exc_type))

    def fail() -> None:
        raise LookupError

    # The `callback` of a callback node is its function, as in cuda.core: a node behind it needs one between.
    graph.callback(fail).join().callback(lambda: called.append(1))
    executable = graph.instantiate()
    for _ in range(2):
        executable.launch(stream)
        stream.sync()
    assert reported == [LookupError, LookupError] and called == [1, 1]


def _no_function() -> Any:
    return HostFunction(0)


# Covers: HC-07, NU-H.
@pytest.mark.parametrize("where", ["definition", "node", "update", "executable", "builder"])
@pytest.mark.parametrize(
    ("make", "data", "error"),
    [
        (lambda: 1, None, TypeError),
        (lambda: None, None, TypeError),
        (lambda: print, 1, ValueError),
        (lambda: print, b"", ValueError),
        (lambda: ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda _: 0), None, TypeError),
        (lambda: ctypes.CFUNCTYPE(None)(lambda: None), None, TypeError),
        (lambda: ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda _: None), None, TypeError),
        (lambda: ctypes.CDLL(None).abs, None, TypeError),
        # It would run Python without the GIL.
        (lambda: ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(lambda _: None), None, TypeError),
        (_no_function, None, ValueError),
        (lambda: HostFunction(lambda _: None), "text", TypeError),
        (lambda: HostFunction(lambda _: None), 1.5, TypeError),
        (lambda: HostFunction(lambda _: None), -1, OverflowError),
        (lambda: HostFunction(lambda _: None), 2**64, OverflowError),
    ],
)
def test_callbacks_that_are_none(
    graph: GraphDefinition,
    stream: Stream,
    where: str,
    make: Callable[[], Any],
    data: Any,
    error: type[Exception],
) -> None:
    node = graph.callback(print)
    add = {
        "definition": graph.callback,
        "node": graph.empty().callback,
        "update": node.update,
        "executable": graph.instantiate()[node].update,
        "builder": stream.create_graph_builder().begin_building().callback,
    }[where]
    before = graph.nodes()
    with pytest.raises(error):
        add(make(), user_data=data)
    assert graph.nodes() == before and node.callback is print


# Covers: AC-01, HC-02, HC-03.
def test_captured_functions_of_ctypes_keep_their_data(stream: Stream) -> None:
    got: list[bytes] = []
    builder = stream.create_graph_builder().begin_building()
    builder.callback(HostFunction(lambda address: got.append(ctypes.string_at(address, 4))), user_data=b"data")
    executable = builder.end_building().complete()
    del builder
    executable.launch(stream)
    stream.sync()
    assert got == [b"data"]


# Covers: HC-06.
def test_callbacks_of_several_graphs_do_not_mix(stream: Stream) -> None:
    got: list[int] = []
    graphs = [GraphDefinition() for _ in range(3)]
    for index, graph in enumerate(graphs):
        graph.callback(lambda index=index: got.append(index))
    for executable in [graph.instantiate() for graph in graphs]:
        executable.launch(stream)
    stream.sync()
    assert got == [0, 1, 2]
