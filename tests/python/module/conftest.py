"""What the tests of the Python module share.

They run on the driver that the loader finds: the model driver, or a real one. On the model each test is also shown to
leave no graph, executable, user object, stream, event or allocation behind.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).absolute().parent))

from holdfast import Buffer, Device, Kernel, Stream
from holdfast.graph import GraphDefinition
from kernels import load_kernel
from model_driver import MODEL
from settled import becomes_true


def pytest_collection_finish() -> None:
    """What was imported is no garbage: collecting in each test is quick without it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    """The first device, current; and nothing is left on it by a test that passes."""
    device = Device(0)
    device.set_current()
    before = _counts()
    failures = request.session.testsfailed
    yield device
    # The values of the other fixtures, which pytest would hold for longer.
    request.node.funcargs.clear()
    if MODEL is not None and request.session.testsfailed == failures:
        assert becomes_true(lambda: _counts() == before), f"left behind: {_counts()}, before: {before}"


def _counts() -> dict[str, int]:
    return {} if MODEL is None else MODEL.live().counts()


@pytest.fixture
def stream(device: Device) -> Stream:
    return device.create_stream()


@pytest.fixture
def graph(device: Device) -> GraphDefinition:
    return GraphDefinition()


@pytest.fixture
def buffer(device: Device) -> Buffer:
    """64 bytes on the device."""
    return device.allocate(64)


@pytest.fixture
def pinned(device: Device) -> Buffer:
    """64 zeroes on the host."""
    pinned = device.allocate_pinned(64)
    pinned.view()[:] = bytes(64)
    return pinned


@pytest.fixture
def add_one(device: Device) -> Kernel:
    """add_one(memory, size_bytes)"""
    return load_kernel("add_one")
