"""Graph builders: their states, forks and joins, and what they make."""

from __future__ import annotations

import weakref
from pathlib import Path

import pytest
from fakes import ForeignStream
from holdfast import Buffer, Device, DriverError, Kernel, LaunchConfig, Stream, launch
from holdfast.graph import GraphBuilder, GraphCompleteOptions, GraphDebugPrintOptions, GraphDefinition, KernelNode
from settled import Owner, is_kept, is_released, settle

ONE_BLOCK = LaunchConfig(grid=1, block=64)


# Covers: GB-01.
def test_builders_come_from_devices_and_streams(device: Device, stream: Stream) -> None:
    with pytest.raises(NotImplementedError):
        GraphBuilder()
    assert stream.create_graph_builder().stream is stream
    assert device.create_graph_builder().stream.handle != stream.handle
    foreign = ForeignStream(stream)
    builder = GraphBuilder.from_stream(foreign)
    assert builder.stream == stream and builder.__cuda_stream__() == (0, stream.handle)
    for wrong in (1, None, device):
        with pytest.raises(TypeError):
            GraphBuilder.from_stream(wrong)


# Covers: GB-02, GB-03, GB-04, GB-10.
def test_a_builder_is_started_captures_and_has_ended(stream: Stream, buffer: Buffer) -> None:
    builder = stream.create_graph_builder()
    assert not builder.is_building
    assert builder.begin_building() is builder and builder.is_building
    buffer.fill(1, stream=builder)
    with pytest.raises(RuntimeError, match="capturing already"):
        builder.begin_building()
    assert builder.is_building
    assert builder.end_building() is builder and not builder.is_building
    with pytest.raises(RuntimeError, match="new builder"):
        builder.begin_building()
    executable = builder.complete()
    executable.launch(stream)
    executable.launch(stream)
    stream.sync()


# Covers: GB-05.
def test_modes(stream: Stream) -> None:
    for mode in ("global", "thread_local", "relaxed"):
        stream.create_graph_builder().begin_building(mode).end_building()
    builder = stream.create_graph_builder()
    for mode, error in (("lax", ValueError), (None, ValueError), (2, TypeError)):
        with pytest.raises(error):
            builder.begin_building(mode)
    assert not builder.is_building


# Covers: GB-08, GB-13, GB-22.
def test_what_a_builder_that_has_not_ended_refuses(stream: Stream, tmp_path: Path) -> None:
    builder = stream.create_graph_builder()
    for begun in (False, True):
        if begun:
            builder.begin_building()
        for use in (
            builder.complete,
            lambda: builder.debug_dot_print("/nowhere"),
            lambda: builder.graph_definition,
            *(() if begun else (builder.end_building, lambda: builder.split(2), lambda: builder.callback(print))),
        ):
            with pytest.raises(RuntimeError):
                use()
    builder.end_building()
    path = tmp_path / "captured.dot"
    builder.debug_dot_print(path, GraphDebugPrintOptions(verbose=True))
    assert "digraph" in path.read_text()


# Covers: GB-09, GB-15, GB-17.
def test_forks_are_joined_into_the_one_that_is_none(
    stream: Stream, buffer: Buffer, pinned: Buffer, add_one: Kernel
) -> None:
    builder = stream.create_graph_builder().begin_building()
    buffer.fill(0, stream=builder)
    builders = builder.split(3)
    assert builders[0] is builder and [each.is_join_required for each in builders] == [False, True, True]
    assert len({each.stream.handle for each in builders}) == 3
    for index, each in enumerate(builders):
        part = Buffer.from_handle(buffer.handle + 16 * index, 16, owner=buffer)
        launch(each, LaunchConfig(grid=1, block=16), add_one, part, 16)
    with pytest.raises(RuntimeError, match="fork"):
        builders[1].end_building()
    with pytest.raises(RuntimeError):
        builders[1].graph_definition  # noqa: B018 - that asking raises is the point
    assert GraphBuilder.join(*reversed(builders)) is builder
    assert [each.is_closed for each in builders] == [False, True, True]
    buffer.copy_to(pinned, stream=builder)
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert bytes(pinned.view()) == b"\1" * 48 + bytes(16)


# Covers: GB-17.
def test_joined_forks_stay_one_fork(stream: Stream, buffer: Buffer) -> None:
    builder, *forks = stream.create_graph_builder().begin_building().split(3)
    for each in (builder, *forks):
        buffer.fill(1, stream=each)
    joined = GraphBuilder.join(*forks)
    assert joined is forks[0] and joined.is_join_required and forks[1].is_closed
    assert GraphBuilder.join(joined, builder) is builder
    assert len(builder.end_building().graph_definition.nodes()) == 3


# Covers: GB-15, GB-16.
def test_splits_and_joins_that_make_no_sense(stream: Stream) -> None:
    builder = stream.create_graph_builder().begin_building()
    for count, error in ((1, ValueError), (0, ValueError), (-1, OverflowError), ("2", TypeError), (2.0, TypeError)):
        with pytest.raises(error):
            builder.split(count)
    for builders, error in (
        ((), ValueError),
        ((builder,), ValueError),
        ((builder, builder), ValueError),
        ((builder, stream), TypeError),
        ((1, 2), TypeError),
    ):
        with pytest.raises(error):
            GraphBuilder.join(*builders)
    assert builder.is_building


# Covers: GB-11, GB-12, GB-14.
def test_a_capture_that_went_wrong_has_no_graph(device: Device, stream: Stream, graph: GraphDefinition) -> None:
    builder = stream.create_graph_builder().begin_building()
    with pytest.raises(DriverError):
        stream.sync()
    with pytest.raises(RuntimeError, match="End"):
        builder.is_building  # noqa: B018 - that asking raises is the point
    with pytest.raises(DriverError):
        builder.end_building()
    graph.empty()
    executable = graph.instantiate()
    other = device.create_graph_builder().begin_building()
    for use in (
        builder.complete,
        lambda: builder.debug_dot_print("/nowhere"),
        lambda: builder.graph_definition,
        lambda: executable.update(builder),
        lambda: other.embed(builder),
    ):
        with pytest.raises(RuntimeError):
            use()
    stream.sync()


# Covers: GB-11.
def test_forks_that_are_not_joined_are_found_at_the_end(stream: Stream, buffer: Buffer) -> None:
    builder, fork = stream.create_graph_builder().begin_building().split(2)
    buffer.fill(1, stream=fork)
    with pytest.raises(DriverError) as caught:
        builder.end_building()
    assert "UNJOINED" in caught.value.name


# Covers: GB-19, GB-24.
def test_a_closed_builder_does_nothing(device: Device) -> None:
    builder = device.create_graph_builder()
    stream = builder.stream
    condition = builder.begin_building().create_condition(0)
    builder.if_then(condition)
    builder.close()
    builder.close()
    assert builder.is_closed and not builder.is_join_required
    for use in (
        builder.begin_building,
        builder.end_building,
        builder.complete,
        builder.create_condition,
        builder.__cuda_stream__,
        lambda: builder.stream,
        lambda: builder.is_building,
        lambda: builder.graph_definition,
        lambda: builder.debug_dot_print("/nowhere"),
        lambda: builder.split(2),
        lambda: GraphBuilder.join(builder, device.create_graph_builder()),
        lambda: builder.embed(GraphDefinition()),
        lambda: builder.callback(print),
        lambda: builder.if_then(condition),
        lambda: builder.if_else(condition),
        lambda: builder.while_loop(condition),
        lambda: builder.switch(condition, 2),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            use()
    stream.sync()


# Covers: GB-20, GB-21.
@pytest.mark.parametrize("closed", [True, False])
def test_a_builder_that_goes_in_mid_capture_frees_its_stream(stream: Stream, closed: bool) -> None:
    owner = Owner()
    ref = weakref.ref(owner)
    builder = stream.create_graph_builder().begin_building()
    builder.callback(lambda owner=owner: None)
    del owner
    if closed:
        builder.close()
    del builder
    assert is_released(ref)
    stream.sync()
    stream.create_graph_builder().begin_building().end_building()


# Covers: GB-22, GB-23.
def test_what_was_captured_goes_on_as_a_definition(stream: Stream, buffer: Buffer, add_one: Kernel) -> None:
    called: list[int] = []
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE_BLOCK, add_one, buffer, 64)
    builder.end_building()
    definition = builder.graph_definition
    (node,) = definition.nodes()
    assert type(node) is KernelNode and node.block == (64, 1, 1) and definition == builder.graph_definition
    node.callback(lambda: called.append(1))
    builder.complete(GraphCompleteOptions(use_node_priority=True)).launch(stream)
    stream.sync()
    builder.close()
    assert called == [1] and definition.is_valid and len(definition.nodes()) == 2


# Covers: EM-06, EM-08.
def test_what_a_builder_embeds(device: Device, stream: Stream) -> None:
    called: list[str] = []
    child = device.create_graph_builder()
    builder = stream.create_graph_builder()
    with pytest.raises(ValueError, match="not building"):
        builder.embed(child)
    builder.begin_building()
    for state in (lambda: None, child.begin_building):
        state()
        with pytest.raises(ValueError, match="end_building"):
            builder.embed(child)
    child.callback(lambda: called.append("builder"))
    builder.embed(child.end_building())
    definition = GraphDefinition()
    definition.callback(lambda: called.append("definition"))
    builder.embed(definition)
    for wrong in (1, None, stream):
        with pytest.raises(TypeError):
            builder.embed(wrong)
    child.close()
    with pytest.raises(RuntimeError, match="closed"):
        builder.embed(child)
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert called == ["builder", "definition"]
    with pytest.raises(ValueError, match="not building"):
        builder.embed(definition)


# Covers: AC-01, AC-02, AC-04, AC-05.
def test_a_capture_keeps_its_callbacks_and_nothing_else(stream: Stream, buffer: Buffer) -> None:
    callback_owner, memory_owner = Owner(), Owner()
    callback_ref, memory_ref = weakref.ref(callback_owner), weakref.ref(memory_owner)
    builder = stream.create_graph_builder().begin_building()
    builder.callback(lambda owner=callback_owner: None)
    Buffer.from_handle(buffer.handle, 64, owner=memory_owner).fill(1, stream=builder)
    builder.end_building()
    del callback_owner, memory_owner
    assert is_kept(callback_ref) and is_released(memory_ref)
    executable = builder.complete()
    del builder
    executable.launch(stream)
    stream.sync()
    assert is_kept(callback_ref)
    del executable
    assert is_released(callback_ref)


# Covers: GB-21.
def test_draining_in_mid_capture_does_not_disturb_it(stream: Stream, buffer: Buffer) -> None:
    graph = GraphDefinition()
    graph.memset(Buffer.from_handle(buffer.handle, 64, owner=Owner()), 1, 64)
    builder = stream.create_graph_builder().begin_building()
    del graph
    settle()
    assert builder.is_building
    builder.end_building()


def test_builders_compare_by_what_they_build(stream: Stream) -> None:
    one, two = stream.create_graph_builder(), stream.create_graph_builder()
    assert one != two and len({one, two}) == 2 and one != stream
