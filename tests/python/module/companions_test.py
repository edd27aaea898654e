"""Device, Stream, Event, Buffer, Module, Kernel, LaunchConfig and launch by themselves, without graphs."""

from __future__ import annotations

import threading

import holdfast
import pytest
from holdfast import Buffer, Device, DriverError, Event, EventOptions, Kernel, LaunchConfig, Module, Stream, launch


def test_a_device_has_a_name_and_an_ordinal(device: Device) -> None:
    assert device.device_id == int(device) == 0
    assert device.name
    assert device == Device(device) == Device() and hash(device) == hash(Device(0))
    assert device in Device.get_all_devices()
    assert device.properties.warp_size == 32
    assert device.arch == "".join(map(str, device.compute_capability))


def test_a_device_that_is_not_current_makes_nothing(device: Device) -> None:
    refused: list[Exception] = []

    def without_context() -> None:
        for make in (device.create_stream, device.create_event, device.create_graph_builder, device.sync):
            with pytest.raises(RuntimeError, match="set_current") as caught:
                make()
            refused.append(caught.value)

    thread = threading.Thread(target=without_context)
    thread.start()
    thread.join()
    assert len(refused) == 4


def test_copies_and_fills_are_ordered_on_their_stream(stream: Stream, buffer: Buffer, pinned: Buffer) -> None:
    buffer.fill(7, stream=stream)
    assert buffer.copy_to(pinned, stream=stream) is pinned
    stream.sync()
    assert bytes(pinned.view()) == b"\7" * 64
    pinned.view()[:] = bytes(range(64))
    buffer.copy_from(pinned, stream=stream)
    pinned.fill(b"\1\2", stream=stream)
    buffer.copy_to(pinned, stream=stream)
    stream.sync()
    assert bytes(pinned.view()) == bytes(range(64))


def test_a_closed_buffer_reads_as_nothing_and_does_nothing(stream: Stream, buffer: Buffer, pinned: Buffer) -> None:
    hashed = hash(buffer)
    with buffer:
        assert buffer.handle and buffer.size == 64 and buffer.is_device and not pinned.is_device
    assert (buffer.handle, buffer.size, buffer.is_closed, hash(buffer)) == (0, 0, True, hashed)
    assert buffer == buffer and buffer != pinned  # noqa: PLR0124 - that a closed one equals itself is the point
    buffer.close()
    for use in (
        lambda: buffer.is_device,
        lambda: buffer.owner,
        lambda: buffer.__cuda_array_interface__,
        lambda: buffer.fill(1, stream=stream),
        lambda: buffer.copy_to(pinned, stream=stream),
        lambda: pinned.copy_to(buffer, stream=stream),
        lambda: pinned.copy_from(buffer, stream=stream),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_copies_that_do_not_fit_are_refused(stream: Stream, device: Device, pinned: Buffer) -> None:
    small = device.allocate(16)
    with pytest.raises(ValueError, match="64 bytes into dst, which has 16"):
        pinned.copy_to(small, stream=stream)
    with pytest.raises(ValueError, match="64 bytes into dst, which has 16"):
        small.copy_from(pinned, stream=stream)
    with pytest.raises(ValueError, match="must have a size"):
        small.copy_from(pinned.handle, stream=stream)
    with pytest.raises(ValueError, match="no multiple"):
        Buffer.from_handle(small.handle, 3, owner=small).fill(b"ab", stream=stream)


def test_a_view_keeps_the_memory(device: Device, buffer: Buffer) -> None:
    pinned = device.allocate_pinned(8)
    view = pinned.view()
    pinned.close()
    del pinned
    view[:] = b"holdfast"
    assert bytes(view) == b"holdfast"
    with pytest.raises(ValueError, match="host"):
        buffer.view()


def test_events_order_and_time_streams(device: Device, stream: Stream, pinned: Buffer) -> None:
    start = stream.record(options=EventOptions(timing_enabled=True))
    end = device.create_event({"timing_enabled": True})
    pinned.fill(1, stream=stream)
    assert stream.record(end) is end
    other = device.create_stream()
    other.wait(end)
    other.wait(stream)
    other.sync()
    end.sync()
    assert end.is_done and end - start >= 0
    assert end.is_timing_enabled and not end.is_blocking_sync
    assert not device.create_event().is_timing_enabled


def test_closed_streams_and_events_do_nothing(device: Device, stream: Stream) -> None:
    event = device.create_event()
    hashes = hash(event), hash(stream)
    event.close()
    stream.close()
    stream.close()
    assert (event.handle, stream.handle, event.is_closed, stream.is_closed) == (0, 0, True, True)
    assert hashes == (hash(event), hash(stream))
    assert stream == stream and stream != device.create_stream()  # noqa: PLR0124 - as above
    other = device.create_stream()
    for use in (
        event.sync,
        lambda: event.is_done,
        lambda: event.is_timing_enabled,
        lambda: other.record(event),
        lambda: other.wait(event),
        lambda: other.wait(stream),
        stream.sync,
        stream.record,
        stream.create_graph_builder,
        stream.__cuda_stream__,
    ):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_a_kernel_runs_on_a_stream(stream: Stream, buffer: Buffer, pinned: Buffer, add_one: Kernel) -> None:
    buffer.fill(3, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=64), add_one, buffer, 64)
    buffer.copy_to(pinned, stream=stream)
    stream.sync()
    assert bytes(pinned.view()) == b"\4" * 64


def test_a_module_that_is_none_and_a_kernel_that_is_not_there(device: Device) -> None:
    with pytest.raises(TypeError):
        Module.from_code(17)
    module = Module.from_code(".version 7.8\n.target sm_70\n.address_size 64\n")
    with pytest.raises(DriverError) as caught:
        module.kernel("not_there")
    assert (caught.value.call, caught.value.name) == ("cuLibraryGetKernel", "CUDA_ERROR_NOT_FOUND")
    assert caught.value.result == 500
    with pytest.raises(TypeError):
        module.kernel(1)


def test_companions_are_not_made_directly() -> None:
    for made_elsewhere in (Stream, Event, Buffer, Module, Kernel):
        with pytest.raises(RuntimeError, match="is made by"):
            made_elsewhere()


def test_launch_configurations_have_three_sizes_and_compare_by_value() -> None:
    config = LaunchConfig(grid=(2, 3), block=4, cluster=(2,), shmem_size=16, is_cooperative=True)
    assert (config.grid, config.block, config.cluster) == ((2, 3, 1), (4, 1, 1), (2, 1, 1))
    assert config == LaunchConfig((2, 3, 1), (2, 1, 1), (4, 1, 1), 16, True)
    assert hash(config) == hash(LaunchConfig((2, 3, 1), 2, 4, 16, True))
    assert config != LaunchConfig(grid=(2, 3), block=4)
    assert "grid=(2, 3, 1)" in repr(config)


@pytest.mark.parametrize(
    "sizes",
    [{}, {"grid": 1}, {"grid": "1"}, {"grid": [1]}, {"grid": ()}, {"grid": (1, 1, 1, 1)}, {"grid": 0}, {"grid": 1.0}],
)
def test_a_size_that_is_none_is_refused(sizes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must"):
        LaunchConfig(**{"block": 1 if "grid" in sizes and sizes["grid"] != 1 else None, **sizes})


def test_a_programmatic_launch_is_refused_where_it_would_be_made(stream: Stream, add_one: Kernel) -> None:
    config = LaunchConfig(grid=1, block=1, programmatic_stream_serialization=True)
    with pytest.raises(NotImplementedError):
        launch(stream, config, add_one, 0, 0)


def test_the_module_counts_what_it_did() -> None:
    assert {"enqueued", "released", "drains"} <= holdfast.counters().keys()
    assert holdfast.__version__
