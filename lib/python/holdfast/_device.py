"""Device: a GPU, and what is made on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast import _core
from holdfast._buffer import Buffer
from holdfast._event import Event, EventOptions
from holdfast._numbers import size as size_argument
from holdfast._ordinal import ordinal_of
from holdfast._stream import Stream, StreamOptions, create_stream, stream_of
from holdfast.graph import GraphBuilder

__all__ = ["ComputeCapability", "Device", "DeviceProperties"]

# CUdevice_attribute.
_ATTRIBUTES = {
    "max_threads_per_block": 1,
    "max_block_dim_x": 2,
    "max_grid_dim_x": 5,
    "max_shared_memory_per_block": 8,
    "warp_size": 10,
    "multiprocessor_count": 16,
    "unified_addressing": 41,
    "compute_capability_major": 75,
    "compute_capability_minor": 76,
    "managed_memory": 83,
    "cooperative_launch": 95,
    "memory_pools_supported": 115,
    "cluster_launch": 120,
}


class ComputeCapability(NamedTuple):
    """Of a device: 9, 0 for an H100."""

    major: int
    minor: int


class DeviceProperties:
    """What a device has, asked of the driver by attribute name; dir() lists them. DriverError."""

    __slots__ = ("_ordinal",)

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal

    def __getattr__(self, name: str) -> int:
        if name not in _ATTRIBUTES:
            raise AttributeError(f"a device has no property {name!r} here")
        return _core.device_attribute(self._ordinal, _ATTRIBUTES[name])

    def __dir__(self) -> list[str]:
        return sorted(_ATTRIBUTES)


class Device:
    """A GPU by its ordinal; without one, that of the current context, or else the first.

    set_current() comes before all that makes something: streams, events, memory and graphs belong to the context that
    is current on the calling thread, and each of these here is a RuntimeError unless that is this device's. Equal
    devices have the same ordinal. TypeError for what is no ordinal, ValueError for a device that is not there.
    """

    __slots__ = ("__weakref__", "_ordinal")

    def __init__(self, device_id: Any = None) -> None:
        if device_id is None:
            self._ordinal = _core.current_device() if _core.current_context() else 0
        else:
            self._ordinal = ordinal_of(device_id, "device_id")
        count = _core.device_count()
        if self._ordinal >= count:
            raise ValueError(f"there is no device {self._ordinal}: {count} are there")

    @staticmethod
    def get_all_devices() -> tuple[Device, ...]:
        """All that there are, in order."""
        return tuple(map(Device, range(_core.device_count())))

    @property
    def device_id(self) -> int:
        """The ordinal."""
        return self._ordinal

    @property
    def name(self) -> str:
        """As the driver gives it."""
        return _core.device_name(self._ordinal)

    @property
    def properties(self) -> DeviceProperties:
        """What the device has."""
        return DeviceProperties(self._ordinal)

    @property
    def compute_capability(self) -> ComputeCapability:
        """Major and minor."""
        properties = self.properties
        return ComputeCapability(properties.compute_capability_major, properties.compute_capability_minor)

    @property
    def arch(self) -> str:
        """The compute capability as compilers write it: "90"."""
        return "".join(map(str, self.compute_capability))

    def set_current(self) -> None:
        """Makes the device's primary context current on this thread, and keeps it for good. DriverError."""
        _core.set_current_context(_core.retain_primary_context(self._ordinal))

    def sync(self) -> None:
        """Waits for all work of the device's current context."""
        self._require_current()
        _core.synchronize_context()

    def create_stream(self, obj: Any = None, options: StreamOptions | Mapping[str, Any] | None = None) -> Stream:
        """A new stream, or `obj`, a stream of another library, which is kept. TypeError, DriverError."""
        self._require_current()
        return create_stream(options) if obj is None else Stream._wrap(stream_of(obj))

    def create_event(self, options: EventOptions | Mapping[str, Any] | None = None) -> Event:
        """A new event. TypeError, DriverError."""
        self._require_current()
        return Event._create(options)

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        """Device memory of `size` bytes, usable on every stream once this returns: `stream`, which programs written for
        cuda.core give, must be a stream and is not needed. TypeError, OverflowError, DriverError."""
        self._require_current()
        if stream is not None:
            stream_of(stream)
        return Buffer._of(_core.Memory.allocate_device(size_argument(size, "size")), is_device=True)

    def allocate_pinned(self, size: int) -> Buffer:
        """Memory of the host that the device reaches: `size` bytes. TypeError, OverflowError, DriverError."""
        self._require_current()
        return Buffer._of(_core.Memory.allocate_host(size_argument(size, "size")), is_device=False)

    def create_graph_builder(self) -> GraphBuilder:
        """A builder that captures on a new stream of its own."""
        return GraphBuilder.from_stream(self.create_stream())

    def _require_current(self) -> None:
        if not _core.current_context() or _core.current_device() != self._ordinal:
            raise RuntimeError(f"device {self._ordinal} is not current on this thread; call set_current() first")

    def __int__(self) -> int:
        return self._ordinal

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return self._ordinal == other._ordinal

    def __hash__(self) -> int:
        return hash((Device, self._ordinal))

    def __repr__(self) -> str:
        return f"<Device {self._ordinal} ({self.name})>"
