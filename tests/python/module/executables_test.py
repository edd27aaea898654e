"""Executables: made, launched, updated whole, closed; and views of their nodes."""

from __future__ import annotations

import weakref

import pytest
from holdfast import Buffer, Device, DriverError, Kernel, LaunchConfig, Stream
from holdfast.graph import (
    ExecutableEventRecordNode,
    ExecutableGraphNode,
    ExecutableKernelNode,
    ExecutableMemsetNode,
    Graph,
    GraphCompleteOptions,
    GraphDefinition,
)
from kernels import load_kernel
from settled import Owner, is_kept, is_released

ONE_BLOCK = LaunchConfig(grid=1, block=64)


# Covers: EX-04.
def test_closing_twice_does_nothing_more_and_a_closed_one_does_nothing(graph: GraphDefinition, stream: Stream) -> None:
    node = graph.callback(print)
    executable = graph.instantiate()
    view = executable[node]
    hashed = hash(executable)
    assert not executable.is_closed and executable.handle
    executable.close()
    executable.close()
    assert (executable.is_closed, executable.handle, hash(executable)) == (True, 0, hashed)
    for use in (
        lambda: executable.launch(stream),
        lambda: executable.upload(stream),
        lambda: executable.update(graph),
        lambda: executable[node],
        lambda: view.update(print),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            use()


# Covers: EX-06, EX-07, A2.
def test_an_executable_keeps_what_its_graph_had(stream: Stream, buffer: Buffer) -> None:
    called: list[int] = []
    graph = GraphDefinition()
    owner = Owner()
    ref = weakref.ref(owner)
    graph.memset(buffer.handle, 1, 64, dst_owner=owner).callback(lambda: called.append(1))
    one, two = graph.instantiate(), graph.instantiate()
    del owner, graph
    one.close()
    assert is_kept(ref)
    two.launch(stream)
    stream.sync()
    assert called == [1] and is_kept(ref)
    del two
    assert is_released(ref)


def test_options_are_obeyed(graph: GraphDefinition, stream: Stream) -> None:
    allocation = graph.allocate(16)
    options = GraphCompleteOptions(auto_free_on_launch=True, upload_stream=stream)
    executable = graph.instantiate(options)
    for _ in range(2):
        # Without the option a second launch would be refused: the allocation is never freed.
        executable.launch(stream)
    executable.upload(stream)
    freeing = GraphDefinition()
    freeing.deallocate(allocation.dptr)
    freeing.instantiate().launch(stream)
    stream.sync()
    for wrong in (1, {"auto_free_on_launch": True}, GraphCompleteOptions(upload_stream=3)):
        with pytest.raises(TypeError):
            graph.instantiate(wrong)


# Covers: EX-02.
def test_what_cuda_makes_no_executable_of_is_a_driver_error(graph: GraphDefinition) -> None:
    a, b = graph.empty(), graph.empty()
    a.succ = [b]
    b.succ = [a]
    with pytest.raises(DriverError):
        graph.instantiate()
    assert graph.edges() == {(a, b), (b, a)}


# Covers: EA-05, EA-06, EA-07.
def test_a_whole_update_takes_over_what_its_source_keeps(stream: Stream) -> None:
    called: list[str] = []
    graph = GraphDefinition()
    first, second, third = (Owner() for _ in range(3))
    refs = [weakref.ref(each) for each in (first, second, third)]

    def call(owner: Owner, name: str) -> object:
        return lambda: called.append(name) if owner else None

    graph.callback(call(first, "first"))
    executable = graph.instantiate()
    source = GraphDefinition()
    source.callback(call(second, "second"))
    executable.update(source)
    del graph, source, first, second
    assert is_released(refs[0]) and is_kept(refs[1])
    other_shape = GraphDefinition()
    other_shape.callback(call(third, "third")).join()
    with pytest.raises(DriverError):
        executable.update(other_shape)
    del other_shape, third
    assert is_released(refs[2]) and is_kept(refs[1])
    executable.launch(stream)
    stream.sync()
    assert called == ["second"]
    del executable, call
    assert is_released(refs[1])


# Covers: EA-07.
def test_sources_of_an_update_that_are_none(graph: GraphDefinition, stream: Stream) -> None:
    graph.callback(print)
    executable = graph.instantiate()
    for wrong in (1, None, executable, graph.empty()):
        with pytest.raises(TypeError):
            executable.update(wrong)
    builder = stream.create_graph_builder()
    with pytest.raises(ValueError, match="end_building"):
        executable.update(builder)
    builder.begin_building()
    with pytest.raises(ValueError, match="end_building"):
        executable.update(builder)
    builder.callback(print)
    executable.update(builder.end_building())
    builder.close()
    with pytest.raises(RuntimeError, match="closed"):
        executable.update(builder)


# Covers: XU-01, XU-02.
def test_views_are_of_some_kinds_only(graph: GraphDefinition, device: Device, buffer: Buffer, add_one: Kernel) -> None:
    event = device.create_event()
    nodes = [
        graph.launch(ONE_BLOCK, add_one, buffer, 64),
        graph.memset(buffer, 1, 8),
        graph.memcpy(buffer, buffer, 8),
        graph.callback(print),
        graph.record(event),
        graph.wait(event),
        graph.embed(GraphDefinition()),
    ]
    executable = graph.instantiate()
    views = [executable[node] for node in nodes]
    assert [type(view).__name__ for view in views] == [f"Executable{type(node).__name__}" for node in nodes]
    for wrong in (graph.empty(), graph._entry, 1, None, executable):
        with pytest.raises(TypeError):
            executable[wrong]
    nodes[0].destroy()
    for use in (lambda: executable[nodes[0]], views[0].disable):
        with pytest.raises(RuntimeError, match="destroyed"):
            use()


# Covers: XU-03, EA-10, RP-02.
def test_updates_change_one_executable_and_nothing_else(
    graph: GraphDefinition, stream: Stream, buffer: Buffer, pinned: Buffer, add_one: Kernel, device: Device
) -> None:
    fill = graph.memset(buffer, 1, 64)
    kernel = fill.launch(ONE_BLOCK, add_one, buffer, 64)
    copy = kernel.memcpy(pinned, buffer, 64)
    changed, unchanged = graph.instantiate(), graph.instantiate()
    other = device.allocate(64)
    changed[fill].update(dst=other, value=8, width=64)
    changed[kernel].update(config=LaunchConfig(grid=1, block=(64, 1)), kernel=load_kernel("add_one"), args=(other, 64))
    changed[copy].update(dst=pinned, src=other, size=48)
    assert (fill.value, kernel.block, copy.src, copy.size) == (1, (64, 1, 1), buffer.handle, 64)
    for executable, expected in ((changed, b"\x09" * 48 + bytes(16)), (unchanged, b"\2" * 64)):
        pinned.view()[:] = bytes(64)
        executable.launch(stream)
        stream.sync()
        assert bytes(pinned.view()) == expected


# Covers: XU-03.
def test_views_take_all_parameters(
    graph: GraphDefinition, device: Device, buffer: Buffer, add_one: Kernel, stream: Stream
) -> None:
    event = device.create_event()
    kernel = graph.launch(ONE_BLOCK, add_one, buffer, 64)
    fill, copy = graph.memset(buffer, 1, 8), graph.memcpy(buffer, buffer, 8)
    record, wait = graph.record(event), graph.wait(event)
    callback, child = graph.callback(print), graph.embed(GraphDefinition())
    executable = graph.instantiate()
    for wrong, error in (
        (lambda: executable[kernel].update(config=ONE_BLOCK, kernel=add_one), TypeError),
        (lambda: executable[kernel].update(config=1, kernel=add_one, args=()), TypeError),
        (lambda: executable[kernel].update(config=ONE_BLOCK, kernel=1, args=()), TypeError),
        (lambda: executable[kernel].update(config=ONE_BLOCK, kernel=add_one, args=buffer), TypeError),
        (lambda: executable[kernel].update(config=ONE_BLOCK, kernel=add_one, args=()), ValueError),
        (lambda: executable[fill].update(dst=buffer, value=1), TypeError),
        (lambda: executable[fill].update(dst=buffer, value=256, width=1), OverflowError),
        (lambda: executable[fill].update(dst=buffer, value=1, width=65), ValueError),
        (lambda: executable[copy].update(dst=buffer, src=buffer), TypeError),
        (lambda: executable[copy].update(dst=buffer, src=buffer, size=-1), OverflowError),
        (lambda: executable[record].update(1), TypeError),
        (lambda: executable[wait].update(None), TypeError),
        (lambda: executable[callback].update(1), TypeError),
        (lambda: executable[callback].update(print, user_data=b""), ValueError),
        (lambda: executable[child].update(1), TypeError),
    ):
        with pytest.raises(error):
            wrong()
    executable[record].update(device.create_event())
    executable[wait].update(event)
    executable[child].update(GraphDefinition())
    executable.launch(stream)
    stream.sync()


# Covers: EA-09.
def test_some_kinds_can_be_disabled(
    graph: GraphDefinition, stream: Stream, buffer: Buffer, pinned: Buffer, add_one: Kernel
) -> None:
    fill = graph.memset(buffer, 1, 64)
    kernel = fill.launch(ONE_BLOCK, add_one, buffer, 64)
    copy = kernel.memcpy(pinned, buffer, 64)
    callback = copy.callback(print)
    executable = graph.instantiate()
    view = executable[kernel]
    assert view.is_enabled and executable[fill].is_enabled and executable[copy].is_enabled
    view.disable()
    view.disable()
    assert not view.is_enabled
    executable[callback].update(lambda: None)
    executable.launch(stream)
    stream.sync()
    assert bytes(pinned.view()) == b"\1" * 64
    view.enable()
    executable.launch(stream)
    stream.sync()
    assert bytes(pinned.view()) == b"\2" * 64 and not hasattr(executable[callback], "is_enabled")


# Covers: EA-02, EA-03, XU-04.
def test_owners_of_updates_pile_up_and_those_of_refused_ones_do_not(graph: GraphDefinition, buffer: Buffer) -> None:
    node = graph.memset(buffer, 1, 8)
    executable = graph.instantiate()
    owners = [Owner() for _ in range(3)]
    refs = [weakref.ref(owner) for owner in owners]
    for index in range(2):
        executable[node].update(dst=Buffer.from_handle(buffer.handle, 64, owner=owners[index]), value=1, width=8)
    stranger = GraphDefinition().memset(buffer, 1, 8)
    with pytest.raises(DriverError):
        executable[stranger].update(dst=Buffer.from_handle(buffer.handle, 64, owner=owners[2]), value=1, width=8)
    del owners
    assert is_released(refs[2]) and is_kept(refs[0]) and is_kept(refs[1])
    executable.close()
    assert is_released(refs[0]) and is_released(refs[1])


# Covers: XU-01.
def test_a_view_keeps_its_node_and_executable(stream: Stream) -> None:
    called: list[int] = []
    graph = GraphDefinition()
    node = graph.callback(print)
    view = graph.instantiate()[node]
    del graph, node
    view.update(lambda: called.append(1))
    assert repr(view).startswith("<ExecutableHostCallbackNode of <HostCallbackNode handle=")
    view._executable.launch(stream)
    stream.sync()
    assert called == [1]


@pytest.mark.parametrize(
    "made_elsewhere",
    [Graph, ExecutableGraphNode, ExecutableKernelNode, ExecutableMemsetNode, ExecutableEventRecordNode],
)
def test_they_are_not_made_directly(made_elsewhere: type) -> None:
    with pytest.raises(RuntimeError, match="made by"):
        made_elsewhere()
