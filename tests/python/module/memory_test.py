"""Memory of other libraries as operands and arguments: what is taken, what is refused, what is kept."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import pytest
from fakes import CudaArray, DLPackArray, capsules_out, cuda_core_buffer, named
from holdfast import Buffer, Device, Kernel, LaunchConfig, Stream
from holdfast.graph import GraphDefinition
from settled import Owner, becomes_true, is_kept, is_released

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

ONE_BLOCK = LaunchConfig(grid=1, block=64)

WRAPPERS = {
    "cuda.core": cuda_core_buffer,
    "array interface": CudaArray,
    "array interface with strides": lambda buffer: CudaArray(buffer, (4, 4), (16, 4), "<f4"),
    "DLPack": lambda buffer: DLPackArray(buffer, CUDA),
    "DLPack 1.0": lambda buffer: DLPackArray(buffer, CUDA, version=(1, 0)),
    "managed": lambda buffer: DLPackArray(buffer, CUDA_MANAGED),
}


# Covers: AP-16, AP-17, AP-20.
@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_foreign_memory_is_used_and_kept(
    stream: Stream, buffer: Buffer, pinned: Buffer, add_one: Kernel, wrap: Any
) -> None:
    graph = GraphDefinition()
    refs = []
    fill = graph.memset(kept := wrap(buffer), 1, 64)
    refs.append(weakref.ref(kept))
    kernel = fill.launch(ONE_BLOCK, add_one, kept := wrap(buffer), 64)
    refs.append(weakref.ref(kept))
    copy = kernel.memcpy(pinned, kept := wrap(buffer), 64)
    refs.append(weakref.ref(kept))
    assert fill.dptr == copy.src == buffer.handle
    executable = graph.instantiate()
    del graph, fill, kernel, copy, kept
    assert all(map(is_kept, refs))
    executable.launch(stream)
    stream.sync()
    assert bytes(pinned.view()) == b"\2" * 64
    del executable
    assert all(map(is_released, refs))


# Covers: AP-20.
def test_a_capsule_is_not_consumed_and_held_as_long_as_it_is_needed(buffer: Buffer) -> None:
    array = DLPackArray(buffer, CUDA, byte_offset=16)
    graph = GraphDefinition()
    node = graph.memset(array, 1, 48)
    assert node.dptr == buffer.handle + 16
    # No stream of ours is to be waited for.
    assert array.streams == [-1] and capsules_out() == 1
    del node, graph
    assert becomes_true(lambda: capsules_out() == 0)


# Covers: NU-C.
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_memory_of_the_host_is_copied(
    graph: GraphDefinition, stream: Stream, device: Device, buffer: Buffer, version: Any
) -> None:
    source, target = device.allocate_pinned(64), device.allocate_pinned(64)
    source.view()[:] = bytes(range(64))
    array = DLPackArray(source, CPU, version=version)
    graph.memcpy(buffer, array, 64).memcpy(DLPackArray(target, CUDA_HOST, version=version), buffer, 64)
    graph.instantiate().launch(stream)
    stream.sync()
    assert bytes(target.view()) == bytes(range(64)) and array.streams == [None]


def test_numpy_arrays_are_copied(graph: GraphDefinition, stream: Stream, buffer: Buffer) -> None:
    numpy = pytest.importorskip("numpy")
    source, target = numpy.arange(16, dtype=numpy.int32), numpy.zeros((4, 4), dtype=numpy.int32)
    source.flags.writeable = False
    first = graph.memcpy(buffer, source, 64)
    first.memcpy(target, buffer, 64)
    graph.instantiate().launch(stream)
    stream.sync()
    assert (target.reshape(16) == source).all()
    with pytest.raises(ValueError, match="read-only"):
        graph.memcpy(source, buffer, 64)
    with pytest.raises(ValueError, match="contiguous"):
        graph.memcpy(target.T, buffer, 64)


# Covers: AP-19, AP-22.
def test_closing_a_buffer_leaves_a_graph_its_memory(stream: Stream, device: Device, pinned: Buffer) -> None:
    buffer = device.allocate(64)
    graph = GraphDefinition()
    graph.memset(buffer, 3, 64).memcpy(pinned, buffer, 64)
    buffer.close()
    executable = graph.instantiate()
    del graph
    executable.launch(stream)
    stream.sync()
    assert bytes(pinned.view()) == b"\3" * 64
    other = GraphDefinition()
    for closed in (buffer, named("cuda.core", "Buffer", handle=0, size=0, is_closed=True)):
        for use in (
            lambda closed=closed: other.memset(closed, 1, 1),
            lambda closed=closed: other.memset(4096, 1, 1, dst_owner=closed),
            lambda closed=closed: other.memcpy(pinned, closed, 1),
            lambda closed=closed: other.memcpy(pinned.handle, pinned, 1, dst_owner=closed),
            lambda closed=closed: other.memcpy(pinned, pinned.handle, 1, src_owner=closed),
        ):
            with pytest.raises(RuntimeError, match="closed"):
                use()
        assert other.nodes() == set()


# Covers: AP-20.
def test_an_owner_that_is_a_buffer_counts_as_its_allocation(stream: Stream, device: Device) -> None:
    buffer = device.allocate(64)
    graph = GraphDefinition()
    graph.memset(buffer.handle, 3, 64, dst_owner=buffer)
    ref = weakref.ref(buffer)
    buffer.close()
    del buffer
    assert is_released(ref)
    graph.instantiate().launch(stream)
    stream.sync()


# Covers: AP-18, AP-20.
def test_owners_of_addresses_are_kept_together(buffer: Buffer) -> None:
    one, two = Owner(), Owner()
    refs = weakref.ref(one), weakref.ref(two)
    graph = GraphDefinition()
    node = graph.memcpy(buffer.handle, buffer.handle, 8, dst_owner=one, src_owner=two)
    without = graph.memcpy(buffer.handle, buffer.handle, 8)
    assert node.dst == node.src == without.dst
    del one, two
    assert all(map(is_kept, refs))
    node.destroy()
    assert all(map(is_released, refs))


# Covers: AP-21.
@pytest.mark.parametrize("wrap", [lambda buffer: buffer, *WRAPPERS.values()])
def test_an_owner_beside_memory_is_refused(graph: GraphDefinition, buffer: Buffer, wrap: Any) -> None:
    for use, side in (
        (lambda: graph.memset(wrap(buffer), 1, 1, dst_owner=buffer), "dst"),
        (lambda: graph.memcpy(wrap(buffer), buffer, 1, dst_owner=1), "dst"),
        (lambda: graph.memcpy(buffer, wrap(buffer), 1, src_owner=buffer), "src"),
    ):
        with pytest.raises(ValueError, match=f"{side}_owner"):
            use()
    assert graph.nodes() == set()


def test_operations_past_the_end_are_refused(graph: GraphDefinition, buffer: Buffer) -> None:
    for wrap in (lambda buffer: buffer, *WRAPPERS.values()):
        array = wrap(buffer)
        graph.memset(array, 1, 64)
        graph.memset(array, b"abcd", 4, 4, 16)
        graph.memcpy(array, buffer, 64)
        for use in (
            lambda array=array: graph.memset(array, 1, 65),
            lambda array=array: graph.memset(array, b"ab", 33),
            lambda array=array: graph.memset(array, b"abcd", 5, 4, 16),
            lambda array=array: graph.memcpy(array, buffer, 65),
            lambda array=array: graph.memcpy(buffer, array, 65),
        ):
            with pytest.raises(ValueError, match="reaches"):
                use()


def test_arrays_in_pieces_and_read_only_ones_are_refused(graph: GraphDefinition, buffer: Buffer) -> None:
    for array in (
        CudaArray(buffer, (4, 4), (4, 16), "<f4"),
        CudaArray(buffer, (8,), (2,)),
        CudaArray(buffer, (8,), (-1,)),
        DLPackArray(buffer, CUDA, strides=(1, 4)),
    ):
        for use in (
            lambda array=array: graph.memset(array, 1, 1),
            lambda array=array: graph.memcpy(buffer, array, 1),
        ):
            with pytest.raises(ValueError, match="contiguous"):
                use()
    for array in (CudaArray(buffer, is_read_only=True), DLPackArray(buffer, CUDA, version=(1, 1), is_read_only=True)):
        graph.memcpy(buffer, array, 64)
        for use in (
            lambda array=array: graph.memset(array, 1, 1),
            lambda array=array: graph.memcpy(array, buffer, 1),
        ):
            with pytest.raises(ValueError, match="read-only"):
                use()
    # A length of one has no pieces, whatever its stride.
    graph.memset(CudaArray(buffer, (1, 16), (999, 4), "<f4"), 1, 64)


def test_a_kernel_takes_arrays_in_pieces_but_none_of_the_host(
    graph: GraphDefinition, buffer: Buffer, pinned: Buffer, add_one: Kernel
) -> None:
    graph.launch(ONE_BLOCK, add_one, CudaArray(buffer, (8,), (2,)), 8)
    graph.launch(ONE_BLOCK, add_one, DLPackArray(pinned, CUDA_HOST), 8)
    with pytest.raises(ValueError, match=r"argument 0.*host"):
        graph.launch(ONE_BLOCK, add_one, DLPackArray(pinned, CPU), 8)


class _WithoutCapsule:
    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0

    def __dlpack__(self, **_: Any) -> object:
        return object()


def test_what_is_no_memory(graph: GraphDefinition, buffer: Buffer) -> None:
    for wrong, error in (
        (None, TypeError),
        ("x", TypeError),
        (b"bytes", TypeError),
        (1.5, TypeError),
        (graph, TypeError),
        (_WithoutCapsule(), TypeError),
        (DLPackArray(buffer, CUDA, version=(2, 0)), TypeError),
        (DLPackArray(buffer, 7), ValueError),
        (-1, OverflowError),
        (2**64, OverflowError),
    ):
        for use in (
            lambda wrong=wrong: graph.memset(wrong, 1, 1),
            lambda wrong=wrong: graph.memcpy(wrong, buffer, 1),
            lambda wrong=wrong: graph.memcpy(buffer, wrong, 1),
        ):
            with pytest.raises(error):
                use()
    assert graph.nodes() == set()


def test_addresses_of_the_driver_bindings_are_addresses(graph: GraphDefinition, buffer: Buffer) -> None:
    address = named("cuda.bindings.driver", "CUdeviceptr", __int__=lambda self: self.value, value=buffer.handle)
    assert graph.memset(address, 1, 8).dptr == buffer.handle


# Covers: AP-23.
def test_arguments_are_kept_with_the_kernel(stream: Stream, buffer: Buffer, add_one: Kernel) -> None:
    array = CudaArray(buffer)
    ref = weakref.ref(array)
    graph = GraphDefinition()
    node = graph.launch(ONE_BLOCK, add_one, array, ctypes.c_uint32(64))
    del array
    assert is_kept(ref)
    node.update(args=(buffer, 64))
    assert is_released(ref)
