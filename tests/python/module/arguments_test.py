"""Values as kernel arguments: which bytes arrive."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from holdfast import Buffer, Kernel, LaunchConfig, Stream, launch
from holdfast.graph import GraphDefinition
from kernels import load_kernel

ONE_THREAD = LaunchConfig(grid=1, block=1)


@pytest.fixture
def write_values(device: object) -> Kernel:
    """write_values(out, u8, u32, u64, f32, f64)"""
    return load_kernel("write_values")


def arrived(pinned: Buffer) -> tuple[int, int, int, float, float]:
    data = pinned.view()
    return (
        data[0],
        ctypes.c_uint32.from_buffer_copy(data, 8).value,
        ctypes.c_uint64.from_buffer_copy(data, 16).value,
        ctypes.c_float.from_buffer_copy(data, 24).value,
        ctypes.c_double.from_buffer_copy(data, 32).value,
    )


CASES: dict[str, tuple[tuple, tuple]] = {
    "numbers of Python": ((7, 2**32 - 1, 2**64 - 1, 0.5, 0.1), (7, 2**32 - 1, 2**64 - 1, 0.5, 0.1)),
    "negative ones": ((-1, -2, -3, -0.5, -0.1), (255, 2**32 - 2, 2**64 - 3, -0.5, -0.1)),
    "booleans": ((True, False, True, 1.0, 2.0), (1, 0, 1, 1.0, 2.0)),
    "scalars of ctypes": (
        (ctypes.c_uint8(3), ctypes.c_int32(-1), ctypes.c_size_t(9), ctypes.c_float(1.5), ctypes.c_double(2.5)),
        (3, 2**32 - 1, 9, 1.5, 2.5),
    ),
    "pointers and arrays of ctypes": (
        (ctypes.c_bool(True), (ctypes.c_uint16 * 2)(1, 2), ctypes.c_void_p(77), ctypes.c_float(0), ctypes.c_double(0)),
        (1, 0x00020001, 77, 0.0, 0.0),
    ),
}


@pytest.mark.parametrize(("values", "expected"), CASES.values(), ids=CASES)
def test_values_arrive(
    graph: GraphDefinition, stream: Stream, pinned: Buffer, write_values: Kernel, values: tuple, expected: tuple
) -> None:
    graph.launch(ONE_THREAD, write_values, pinned, *values)
    graph.instantiate().launch(stream)
    stream.sync()
    assert arrived(pinned) == expected
    pinned.view()[:] = bytes(64)
    launch(stream, ONE_THREAD, write_values, pinned, *values)
    stream.sync()
    assert arrived(pinned) == expected


def test_scalars_of_numpy_arrive(graph: GraphDefinition, stream: Stream, pinned: Buffer, write_values: Kernel) -> None:
    numpy = pytest.importorskip("numpy")
    values = numpy.uint8(3), numpy.int32(-1), numpy.uint64(2**64 - 1), numpy.float32(1.5), numpy.float64(2.5)
    graph.launch(ONE_THREAD, write_values, numpy.uint64(pinned.handle), *values)
    graph.instantiate().launch(stream)
    stream.sync()
    assert arrived(pinned) == (3, 2**32 - 1, 2**64 - 1, 1.5, 2.5)
    for wrong in (numpy.str_("x"), numpy.zeros(1).tolist(), numpy.datetime64("2025-01-01")):
        with pytest.raises(TypeError):
            graph.launch(ONE_THREAD, write_values, pinned, wrong, *values[1:])


@pytest.mark.parametrize(
    ("index", "value", "error"),
    [
        (0, None, TypeError),
        (0, "text", TypeError),
        (0, b"bytes", TypeError),
        (0, object(), TypeError),
        (1, 256, OverflowError),
        (1, -129, OverflowError),
        (2, 2**32, OverflowError),
        (3, 2**64, OverflowError),
        (3, -(2**63) - 1, OverflowError),
        (2, ctypes.c_uint64(1), ValueError),
        (4, ctypes.c_double(1), ValueError),
        (4, 1j, ValueError),
        (4, 1e300, OverflowError),
    ],
)
def test_values_that_do_not_go_in(
    graph: GraphDefinition, pinned: Buffer, write_values: Kernel, index: int, value: Any, error: type[Exception]
) -> None:
    arguments: list[Any] = [pinned, 1, 2, 3, 4.0, 5.0]
    node = graph.launch(ONE_THREAD, write_values, *arguments)
    arguments[index] = value
    for use in (
        lambda: graph.launch(ONE_THREAD, write_values, *arguments),
        lambda: node.update(args=arguments),
        lambda: graph.instantiate()[node].update(config=ONE_THREAD, kernel=write_values, args=arguments),
    ):
        with pytest.raises(error):
            use()
    assert graph.nodes() == {node}


def test_too_few_and_too_many(graph: GraphDefinition, pinned: Buffer, write_values: Kernel) -> None:
    for arguments in ((), (pinned,), (pinned, 1, 2, 3, 4.0, 5.0, 6)):
        with pytest.raises(ValueError, match="argument"):
            graph.launch(ONE_THREAD, write_values, *arguments)
    assert graph.nodes() == set()
