"""What each kind of node says of itself, and what running it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from holdfast import Buffer, Device, DriverError, Kernel, LaunchConfig, Stream
from holdfast.graph import (
    AllocNode,
    ChildGraphNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    GraphDebugPrintOptions,
    GraphDefinition,
    GraphMemoryType,
    GraphNodeType,
    HostCallbackNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
)
from kernels import load_kernel

ONE_BLOCK = LaunchConfig(grid=1, block=64)


# Covers: HC-08.
def test_a_graph_of_all_kinds_gives_the_right_numbers(
    device: Device, graph: GraphDefinition, stream: Stream, pinned: Buffer, buffer: Buffer, add_one: Kernel
) -> None:
    seen: list[bytes] = []
    event = device.create_event()
    child = GraphDefinition()
    child.launch(ONE_BLOCK, add_one, buffer, 64)
    node = graph.memset(buffer, 10, 64).launch(ONE_BLOCK, add_one, buffer, 64).embed(child).record(event).wait(event)
    copy = node.memcpy(pinned, buffer, 64)
    copy.join().callback(lambda: seen.append(bytes(pinned.view())))
    executable = graph.instantiate()
    for _ in range(2):
        executable.launch(stream)
        stream.sync()
    assert seen == [b"\x0c" * 64] * 2


def test_every_kind_has_its_class(
    device: Device, graph: GraphDefinition, buffer: Buffer, pinned: Buffer, add_one: Kernel
) -> None:
    event = device.create_event()
    allocation = graph.allocate(32)
    made = {
        EmptyNode: graph.empty(),
        KernelNode: graph.launch(ONE_BLOCK, add_one, buffer, 64),
        MemsetNode: graph.memset(buffer, 1, 64),
        MemcpyNode: graph.memcpy(buffer, pinned, 64),
        HostCallbackNode: graph.callback(print),
        EventRecordNode: graph.record(event),
        EventWaitNode: graph.wait(event),
        ChildGraphNode: graph.embed(GraphDefinition()),
        AllocNode: allocation,
        FreeNode: allocation.deallocate(allocation.dptr),
    }
    for kind, node in made.items():
        assert type(node) is kind and node.is_valid and node.handle
    assert len({node.type for node in made.values()}) == len(made)
    assert graph.nodes() == set(made.values())


def test_a_kernel_node_says_how_it_is_launched(graph: GraphDefinition, buffer: Buffer, add_one: Kernel) -> None:
    config = LaunchConfig(grid=(2, 3), block=(4, 5, 6), shmem_size=128)
    node = graph.launch(config, add_one, buffer, 64)
    assert (node.grid, node.block, node.shmem_size) == ((2, 3, 1), (4, 5, 6), 128)
    assert node.config == config
    assert node.kernel == add_one


def test_clusters_and_cooperative_launches_are_kept(graph: GraphDefinition, buffer: Buffer, add_one: Kernel) -> None:
    clustered = LaunchConfig(grid=(2, 3), cluster=(2, 1, 1), block=8)
    node = graph.launch(clustered, add_one, buffer, 64)
    # The grid of a configuration with clusters is counted in clusters, that of a node in blocks.
    assert node.grid == (4, 3, 1) and node.config == clustered
    cooperative = LaunchConfig(grid=2, block=8, is_cooperative=True)
    assert graph.launch(cooperative, add_one, buffer, 64).config == cooperative


def test_a_memset_node_says_what_it_fills(graph: GraphDefinition, buffer: Buffer) -> None:
    node = graph.memset(buffer, b"\1\2", 4, 3, 16)
    said = (node.dptr, node.value, node.element_size, node.width, node.height, node.pitch)
    assert said == (buffer.handle, 0x0201, 2, 4, 3, 16)
    assert graph.memset(buffer, b"\1\0\0\0", 16).element_size == 4


def test_a_memcpy_node_says_what_it_copies(graph: GraphDefinition, buffer: Buffer, pinned: Buffer) -> None:
    node = graph.memcpy(buffer, pinned, 40)
    assert (node.dst, node.src, node.size) == (buffer.handle, pinned.handle, 40)


# Covers: ER-02, ER-03, ER-04.
def test_allocations_say_where_they_lie(device: Device, graph: GraphDefinition) -> None:
    node = graph.allocate(100, device=device, peer_access=[0])
    assert node.dptr and (node.bytesize, node.device_id, node.peer_access) == (100, 0, (0,))
    assert node.memory_type is GraphMemoryType.DEVICE and node.memory_type == "device"
    assert graph.allocate(8, memory_type="device", device=0).memory_type == "device"
    assert node.deallocate(node.dptr).dptr == node.dptr
    for size, memory_type, error in ((0, "device", DriverError), (1, "elsewhere", ValueError), (1, None, ValueError)):
        with pytest.raises(error):
            graph.allocate(size, memory_type=memory_type)
    with pytest.raises(DriverError):
        graph.deallocate(0)
    assert len(graph.nodes()) == 3


# Covers: ER-03, EX-07.
def test_what_a_graph_allocates_can_be_used_in_it(stream: Stream, pinned: Buffer, add_one: Kernel) -> None:
    graph = GraphDefinition()
    allocation = graph.allocate(64)
    fill = allocation.memset(allocation.dptr, 6, 64).launch(ONE_BLOCK, add_one, allocation.dptr, 64)
    fill.memcpy(pinned, allocation.dptr, 64).deallocate(allocation.dptr)
    executable = graph.instantiate()
    del graph, allocation, fill
    executable.launch(stream)
    stream.sync()
    assert bytes(pinned.view()) == b"\7" * 64


def test_an_embedded_graph_is_a_copy(graph: GraphDefinition, buffer: Buffer) -> None:
    child = GraphDefinition()
    child.memset(buffer, 1, 64)
    node = graph.embed(child)
    assert node.child_graph != child and node.child_graph == node.child_graph
    child.empty()
    (copied,) = node.child_graph.nodes()
    assert copied.type is GraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET and copied.dptr == buffer.handle


# Covers: DL-03.
def test_numbers_of_a_destroyed_node_stay_readable(graph: GraphDefinition, buffer: Buffer, add_one: Kernel) -> None:
    fill = graph.memset(buffer, 9, 5)
    copy = graph.memcpy(buffer, buffer, 3)
    kernel = graph.launch(ONE_BLOCK, add_one, buffer, 64)
    callback = graph.callback(print)
    for node in (fill, copy, kernel, callback):
        node.destroy()
        node.destroy()
    assert graph.nodes() == set()
    assert (fill.dptr, fill.value, fill.width) == (buffer.handle, 9, 5)
    assert (copy.dst, copy.size, kernel.grid, kernel.block) == (buffer.handle, 3, (1, 1, 1), (64, 1, 1))
    assert kernel.kernel is None and callback.callback is None


# Covers: DL-02.
def test_a_node_that_cuda_does_not_destroy_stays_as_it_is(graph: GraphDefinition, stream: Stream) -> None:
    called: list[int] = []
    allocation = graph.allocate(16)
    node = allocation.deallocate(allocation.dptr).callback(lambda: called.append(1))
    with pytest.raises(DriverError, match="NOT_SUPPORTED"):
        allocation.destroy()
    assert allocation.is_valid and allocation in graph.nodes() and len(graph.edges()) == 2 and node.callback
    graph.instantiate().launch(stream)
    stream.sync()
    assert called == [1]


def test_graphs_are_drawn(graph: GraphDefinition, tmp_path: Path) -> None:
    graph.empty()
    path = tmp_path / "graph.dot"
    graph.debug_dot_print(path, GraphDebugPrintOptions(verbose=True, handles=True))
    assert "digraph" in path.read_text()
    graph.debug_dot_print(str(path))
    with pytest.raises(DriverError):
        graph.debug_dot_print("/nowhere/graph.dot")


def test_kernels_take_numbers_as_wide_as_their_parameters(
    graph: GraphDefinition, stream: Stream, pinned: Buffer
) -> None:
    kernel = load_kernel("write_values")
    graph.launch(LaunchConfig(grid=1, block=1), kernel, pinned, 0x81, -2, 2**64 - 1, 1.5, -2.5)
    graph.instantiate().launch(stream)
    stream.sync()
    places = [bytes(pinned.view()[8 * i : 8 * i + 8]) for i in range(5)]
    assert places[0][0] == 0x81 and places[1][:4] == b"\xfe\xff\xff\xff" and places[2] == b"\xff" * 8
    assert memoryview(places[3][:4]).cast("f")[0] == 1.5 and memoryview(places[4]).cast("d")[0] == -2.5
    with pytest.raises(OverflowError):
        graph.launch(LaunchConfig(grid=1, block=1), kernel, pinned, 256, 0, 0, 0.0, 0.0)
