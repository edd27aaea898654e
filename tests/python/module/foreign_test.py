"""Streams, events and kernels of other libraries: taken, kept, given back, refused."""

from __future__ import annotations

import weakref
from typing import Any

import holdfast
import pytest
from fakes import ForeignStream, PyTorchStream, cuda_core_event, cuda_core_kernel, named
from holdfast import Buffer, Device, Event, Kernel, LaunchConfig, Stream, launch
from holdfast.graph import GraphBuilder, GraphDefinition
from kernels import code_of
from raw_driver import RawEvent, RawKernel
from settled import Owner, is_kept, is_released

ONE_BLOCK = LaunchConfig(grid=1, block=64)


class StreamProperty:
    """`__cuda_stream__` as a property, as early adopters have it."""

    def __init__(self, stream: Stream) -> None:
        self.kept = stream

    @property
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.kept.handle


STREAMS = {
    "ours": lambda stream: stream,
    "__cuda_stream__": ForeignStream,
    "__cuda_stream__ property": StreamProperty,
    "PyTorch": PyTorchStream,
    "CuPy": lambda stream: named("cupy.cuda.stream", "Stream", ptr=stream.handle, kept=stream),
    "handle": lambda stream: Stream.from_handle(stream.handle, owner=stream),
    "Device.create_stream": lambda stream: Device().create_stream(ForeignStream(stream)),
}


@pytest.mark.parametrize("wrap", STREAMS.values(), ids=STREAMS)
def test_streams_of_all_libraries_are_streams(
    graph: GraphDefinition, stream: Stream, buffer: Buffer, pinned: Buffer, add_one: Kernel, wrap: Any
) -> None:
    foreign = wrap(stream)
    buffer.fill(1, stream=foreign)
    launch(foreign, ONE_BLOCK, add_one, buffer, 64)
    graph.launch(ONE_BLOCK, add_one, buffer, 64)
    executable = graph.instantiate()
    executable.upload(foreign)
    executable.launch(foreign)
    builder = GraphBuilder.from_stream(foreign).begin_building()
    launch(builder, ONE_BLOCK, add_one, buffer, 64)
    builder.end_building().complete().launch(foreign)
    buffer.copy_to(pinned, stream=foreign)
    stream.sync()
    assert bytes(pinned.view()) == b"\4" * 64


# Covers: GB-24.
def test_a_builder_keeps_a_foreign_stream(stream: Stream) -> None:
    foreign = ForeignStream(stream)
    ref = weakref.ref(foreign)
    builder = GraphBuilder.from_stream(foreign)
    del foreign
    assert is_kept(ref)
    del builder
    assert is_released(ref)


class _Protocol:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __cuda_stream__(self) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (None, TypeError),
        (1, TypeError),
        ("stream", TypeError),
        (LaunchConfig(grid=1, block=1), TypeError),
        (_Protocol(7), TypeError),
        (_Protocol((0,)), TypeError),
        (_Protocol((0, "x")), TypeError),
        (_Protocol((1, 5)), ValueError),
        (_Protocol((0, -5)), OverflowError),
    ],
)
def test_what_is_no_stream(
    graph: GraphDefinition, buffer: Buffer, add_one: Kernel, value: Any, error: type[Exception]
) -> None:
    executable = graph.instantiate()
    for use in (
        lambda: executable.launch(value),
        lambda: executable.upload(value),
        lambda: GraphBuilder.from_stream(value),
        lambda: launch(value, ONE_BLOCK, add_one, buffer, 64),
        lambda: buffer.fill(1, stream=value),
    ):
        with pytest.raises(error):
            use()


def test_the_legacy_default_stream(graph: GraphDefinition, device: Device, buffer: Buffer, pinned: Buffer) -> None:
    graph.memset(buffer, 5, 64)
    for zero in (_Protocol((0, 0)), holdfast.LEGACY_DEFAULT_STREAM, Stream.from_handle(0)):
        graph.instantiate().launch(zero)
    assert Stream.from_handle(0) == holdfast.LEGACY_DEFAULT_STREAM
    buffer.copy_to(pinned, stream=holdfast.LEGACY_DEFAULT_STREAM)
    device.sync()
    assert bytes(pinned.view()) == b"\5" * 64


EVENTS = {
    "cuda.core": cuda_core_event,
    "CuPy": lambda event: named("cupy.cuda.stream", "Event", ptr=event.handle, kept=event),
    "PyTorch": lambda event: named("torch.cuda.streams", "Event", cuda_event=event.handle, kept=event),
}


# Covers: AP-24, IH-12.
@pytest.mark.parametrize("wrap", EVENTS.values(), ids=EVENTS)
def test_foreign_events_are_kept_and_given_back(device: Device, stream: Stream, wrap: Any) -> None:
    foreign = wrap(RawEvent())
    ref = weakref.ref(foreign)
    graph = GraphDefinition()
    record = graph.record(foreign)
    wait = record.wait(foreign)
    assert record.event is foreign is wait.event
    record.update(device.create_event())
    record.update(foreign)
    executable = graph.instantiate()
    del graph, record, wait, foreign
    assert is_kept(ref)
    executable.launch(stream)
    stream.record(ref())
    stream.wait(ref())
    stream.sync()
    del executable
    assert is_released(ref)


# Covers: AP-20, AP-24.
def test_an_event_by_handle_keeps_its_owner(device: Device) -> None:
    owner = RawEvent()
    ref = weakref.ref(owner)
    graph = GraphDefinition()
    node = graph.record(Event.from_handle(owner.handle, owner=owner))
    handle = owner.handle
    del owner
    assert is_kept(ref) and node.event.handle == handle
    assert node.event.is_timing_enabled is None and node.event.is_blocking_sync is None
    del node, graph
    assert is_released(ref)


# Covers: IH-12.
def test_the_handle_of_one_of_ours_finds_it_again(device: Device) -> None:
    event = device.create_event()
    owner = Owner()
    ref = weakref.ref(owner)
    found = Event.from_handle(event.handle, owner=owner)
    assert found == event and found.is_timing_enabled is False
    del owner
    assert is_released(ref)


@pytest.mark.parametrize("value", [None, 1, "event", ForeignStream, named("threading", "Event", handle=1)])
def test_what_is_no_event(graph: GraphDefinition, stream: Stream, buffer: Buffer, value: Any) -> None:
    for wrong in (value, stream, buffer, graph):
        for use in (graph.record, graph.wait, graph.empty().record, stream.record, stream.wait):
            if wrong is stream and use == stream.wait:
                continue
            if wrong is None and use == stream.record:
                continue
            with pytest.raises(TypeError):
                use(wrong)


# Covers: AP-22.
def test_foreign_events_that_are_closed_or_not_there_yet(graph: GraphDefinition) -> None:
    for package, attribute in (("cuda.core", "handle"), ("cupy", "ptr"), ("torch.cuda", "cuda_event")):
        for nothing in (0, None):
            with pytest.raises(RuntimeError, match="closed"):
                graph.record(named(package, "Event", **{attribute: nothing}))
    with pytest.raises(ValueError, match="0"):
        Event.from_handle(0)


# Covers: AP-23, IH-12.
def test_foreign_kernels_are_kept_and_given_back(stream: Stream, pinned: Buffer) -> None:
    foreign = cuda_core_kernel(RawKernel(code_of("add_one"), "add_one"))
    ref = weakref.ref(foreign)
    graph = GraphDefinition()
    node = graph.launch(ONE_BLOCK, foreign, pinned, 64)
    assert node.kernel is foreign
    executable = graph.instantiate()
    del graph, node, foreign
    executable.launch(stream)
    stream.sync()
    assert bytes(pinned.view()) == b"\1" * 64
    del executable
    assert is_released(ref)


def test_foreign_configurations_are_taken(graph: GraphDefinition, buffer: Buffer, add_one: Kernel) -> None:
    foreign = named(
        "cuda.core._launch_config",
        "LaunchConfig",
        grid=(3, 1, 1),
        cluster=(2, 1, 1),
        block=(4, 1, 1),
        shmem_size=8,
        is_cooperative=False,
        programmatic_stream_serialization=False,
    )
    node = graph.launch(foreign, add_one, buffer, 64)
    assert node.config == LaunchConfig(grid=3, cluster=2, block=4, shmem_size=8) and node.grid == (6, 1, 1)


@pytest.mark.parametrize("value", [None, 1, "kernel", print, named("cupy.cuda.function", "Function", ptr=1)])
def test_what_is_no_kernel(graph: GraphDefinition, stream: Stream, buffer: Buffer, value: Any) -> None:
    for wrong in (value, stream, graph):
        for use in (
            lambda wrong=wrong: graph.launch(ONE_BLOCK, wrong, buffer, 64),
            lambda wrong=wrong: launch(stream, ONE_BLOCK, wrong, buffer, 64),
        ):
            with pytest.raises(TypeError):
                use()
    with pytest.raises(ValueError, match="0"):
        Kernel.from_handle(0)
