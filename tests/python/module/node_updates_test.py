"""Updates of nodes of a definition: what is replaced, what stays, and what is refused without a change."""

from __future__ import annotations

import weakref

import pytest
from holdfast import Buffer, Device, Kernel, LaunchConfig, Stream
from holdfast.graph import GraphDefinition, GraphNode
from kernels import load_kernel
from settled import Owner, is_kept, is_released

ONE_BLOCK = LaunchConfig(grid=1, block=64)


# Covers: NU-K.
def test_parts_of_a_kernel_node_are_replaced_one_by_one(
    graph: GraphDefinition, stream: Stream, device: Device, buffer: Buffer, pinned: Buffer, add_one: Kernel
) -> None:
    first = graph.memset(buffer, 1, 64)
    node = first.launch(ONE_BLOCK, add_one, buffer, 64)
    node.memcpy(pinned, buffer, 64)
    node.update(config=LaunchConfig(grid=1, block=32, shmem_size=64))
    assert (node.block, node.shmem_size, node.kernel) == ((32, 1, 1), 64, add_one)
    node.update(args=(buffer, 2))
    assert node.block == (32, 1, 1)
    node.update()
    graph.instantiate().launch(stream)
    stream.sync()
    assert bytes(pinned.view()[:4]) == b"\2\2\1\1"
    other = load_kernel("add_one")
    node.update(kernel=other, args=[buffer, 1])
    assert node.kernel == other != add_one
    graph.instantiate().launch(stream)
    stream.sync()
    assert bytes(pinned.view()[:4]) == b"\2\1\1\1"


# Covers: NU-K, NU-1.
def test_a_kernel_update_that_is_refused_changes_nothing(
    graph: GraphDefinition, buffer: Buffer, add_one: Kernel
) -> None:
    node = graph.launch(ONE_BLOCK, add_one, buffer, 64)
    with pytest.raises(ValueError, match="args"):
        node.update(kernel=load_kernel("add_one"))
    with pytest.raises(ValueError, match="argument"):
        node.update(kernel=load_kernel("write_values"), args=())
    for wrong in (
        {"config": 1},
        {"kernel": 1, "args": ()},
        {"args": buffer},
        {"args": "ab"},
        {"args": 1},
        {"args": (None, 1)},
    ):
        with pytest.raises(TypeError):
            node.update(**wrong)
    with pytest.raises(TypeError):
        node.update(ONE_BLOCK)
    assert node.config == ONE_BLOCK and node.kernel == add_one


# Covers: NU-K.
def test_clusters_come_and_go_with_an_update(graph: GraphDefinition, buffer: Buffer, add_one: Kernel) -> None:
    node = graph.launch(ONE_BLOCK, add_one, buffer, 64)
    for config in (LaunchConfig(grid=3, cluster=2, block=8), LaunchConfig(grid=2, block=4, is_cooperative=True)):
        node.update(config=config)
        assert node.config == config


# Covers: NU-S.
def test_parts_of_a_memset_node_are_replaced_one_by_one(graph: GraphDefinition, device: Device, buffer: Buffer) -> None:
    node = graph.memset(buffer, 1, 8, 2, 32)
    other = device.allocate(128)
    node.update(dst=other)
    node.update(value=b"\3\0")
    node.update(width=4)
    node.update(height=3, pitch=16)
    node.update()
    said = (node.dptr, node.value, node.element_size, node.width, node.height, node.pitch)
    assert said == (other.handle, 3, 2, 4, 3, 16)
    node.update(value=200)
    assert (node.value, node.element_size) == (200, 1)


# Covers: NU-S, NU-1.
def test_a_memset_update_that_is_refused_changes_nothing(graph: GraphDefinition, buffer: Buffer) -> None:
    node = graph.memset(buffer, 1, 8)
    for wrong, error in (
        ({"dst_owner": 1}, ValueError),
        ({"dst": buffer, "dst_owner": buffer}, ValueError),
        ({"dst": "x"}, TypeError),
        ({"dst": -1}, OverflowError),
        ({"value": 256}, OverflowError),
        ({"value": -1}, OverflowError),
        ({"value": b"abc"}, ValueError),
        ({"value": 1.0}, TypeError),
        ({"width": -1}, OverflowError),
        ({"height": "1"}, TypeError),
        ({"pitch": 1.0}, TypeError),
        ({"dst": buffer, "width": 65}, ValueError),
    ):
        with pytest.raises(error):
            node.update(**wrong)
    with pytest.raises(TypeError):
        node.update(buffer)
    assert (node.dptr, node.value, node.width) == (buffer.handle, 1, 8)


# Covers: NU-C.
def test_parts_of_a_memcpy_node_are_replaced_one_by_one(
    graph: GraphDefinition, stream: Stream, buffer: Buffer, pinned: Buffer, device: Device
) -> None:
    source = device.allocate_pinned(64)
    source.view()[:] = bytes(range(64))
    # Between device memory and memory of the host, either way.
    node = graph.memcpy(buffer, source, 64)
    node.update(dst=pinned)
    node.update(size=8)
    assert (node.dst, node.src, node.size) == (pinned.handle, source.handle, 8)
    graph.instantiate().launch(stream)
    stream.sync()
    assert bytes(pinned.view()) == bytes(range(8)) + bytes(56)
    node.update(dst=buffer, src=pinned, size=64)
    node.update()
    assert (node.dst, node.src, node.size) == (buffer.handle, pinned.handle, 64)


# Covers: NU-C, NU-1.
def test_a_memcpy_update_that_is_refused_changes_nothing(
    graph: GraphDefinition, buffer: Buffer, pinned: Buffer
) -> None:
    node = graph.memcpy(buffer, pinned, 8)
    for wrong, error in (
        ({"dst_owner": 1}, ValueError),
        ({"src_owner": 1}, ValueError),
        ({"dst": buffer, "dst_owner": 1}, ValueError),
        ({"src": buffer, "src_owner": 1}, ValueError),
        ({"dst": "x"}, TypeError),
        ({"src": 1.5}, TypeError),
        ({"size": -1}, OverflowError),
        ({"size": "1"}, TypeError),
        ({"dst": buffer, "size": 65}, ValueError),
        ({"src": buffer, "size": 65}, ValueError),
    ):
        with pytest.raises(error):
            node.update(**wrong)
    with pytest.raises(TypeError):
        node.update(buffer)
    assert (node.dst, node.src, node.size) == (buffer.handle, pinned.handle, 8)


# Covers: NU-R, NU-W.
@pytest.mark.parametrize("kind", ["record", "wait"])
def test_events_are_replaced(graph: GraphDefinition, device: Device, kind: str) -> None:
    first, second, closed = (device.create_event() for _ in range(3))
    closed.close()
    node = getattr(graph, kind)(first)
    node.update(second)
    assert node.event == second != first
    with pytest.raises(TypeError):
        node.update(17)
    with pytest.raises(RuntimeError, match="closed"):
        node.update(closed)
    assert node.event == second


# Covers: NU-H.
def test_callbacks_are_replaced_with_their_data(graph: GraphDefinition, stream: Stream) -> None:
    called: list[str] = []
    node = graph.callback(lambda: called.append("first"))
    before = graph.instantiate()
    second = lambda: called.append("second")  # noqa: E731 - it is asked for again
    node.update(second)
    assert node.callback is second
    before.launch(stream)
    graph.instantiate().launch(stream)
    stream.sync()
    assert called == ["first", "second"]
    for wrong, error in (((1,), TypeError), ((None,), TypeError)):
        with pytest.raises(error):
            node.update(*wrong)
    with pytest.raises(ValueError, match="user_data"):
        node.update(print, user_data=1)
    assert node.callback is second


# Covers: NU-G, CU-02, CU-05.
def test_a_child_graph_is_replaced_whole(graph: GraphDefinition, buffer: Buffer) -> None:
    child = GraphDefinition()
    child.empty()
    node = graph.embed(child)
    old_graph = node.child_graph
    (old_node,) = old_graph.nodes()
    for wrong, error in ((1, TypeError), (graph, ValueError), (old_graph, ValueError)):
        with pytest.raises(error):
            node.update(wrong)
    assert old_graph.is_valid and old_node.is_valid
    other = GraphDefinition()
    other.memset(buffer, 3, 64)
    node.update(other)
    assert node.is_valid and not old_graph.is_valid and not old_node.is_valid
    (new_node,) = node.child_graph.nodes()
    assert node.child_graph != old_graph and new_node.value == 3


# Covers: NU-2.
def test_destroyed_nodes_refuse_every_update(
    graph: GraphDefinition, device: Device, buffer: Buffer, add_one: Kernel
) -> None:
    event = device.create_event()
    updates: list[tuple[GraphNode, tuple, dict]] = [
        (graph.launch(ONE_BLOCK, add_one, buffer, 64), (), {"config": ONE_BLOCK}),
        (graph.launch(ONE_BLOCK, add_one, buffer, 64), (), {}),
        (graph.memset(buffer, 1, 8), (), {"value": 2}),
        (graph.memset(buffer, 1, 8), (), {}),
        (graph.memcpy(buffer, buffer, 8), (), {"size": 4}),
        (graph.memcpy(buffer, buffer, 8), (), {}),
        (graph.embed(GraphDefinition()), (GraphDefinition(),), {}),
        (graph.record(event), (event,), {}),
        (graph.wait(event), (event,), {}),
        (graph.callback(print), (print,), {}),
    ]
    for node, arguments, named in updates:
        node.destroy()
        with pytest.raises(RuntimeError, match="destroyed"):
            node.update(*arguments, **named)
    assert graph.nodes() == set()


# Covers: RP-01, RP-02.
def test_a_replaced_owner_goes_with_the_executables_that_have_it(graph: GraphDefinition, buffer: Buffer) -> None:
    first, second = Owner(), Owner()
    first_ref, second_ref = weakref.ref(first), weakref.ref(second)
    node = graph.memcpy(buffer.handle, buffer.handle, 8, dst_owner=first, src_owner=second)
    executable = graph.instantiate()
    del first, second
    node.update(dst=buffer)
    assert is_kept(first_ref) and is_kept(second_ref)
    executable.close()
    assert is_released(first_ref) and is_kept(second_ref)
    node.update(src=buffer.handle)
    assert is_released(second_ref)
