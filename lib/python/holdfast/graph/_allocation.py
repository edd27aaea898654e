"""Where the memory of an allocation node lies, in the driver's numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast import _core
from holdfast._ordinal import ordinal_of
from holdfast.typing import GraphMemoryType

# CUmemLocationType and CUmemAllocationType.
_LOCATION_DEVICE = 1
_LOCATION_HOST = 2
_ALLOCATION_PINNED = 1
_ALLOCATION_MANAGED = 2

_LOCATIONS = {
    GraphMemoryType.DEVICE: (_LOCATION_DEVICE, _ALLOCATION_PINNED),
    GraphMemoryType.HOST: (_LOCATION_HOST, _ALLOCATION_PINNED),
    GraphMemoryType.MANAGED: (_LOCATION_DEVICE, _ALLOCATION_MANAGED),
}


def location_of(memory_type: Any, device: Any) -> tuple[int, int, int]:
    """Location type, allocation type and device ordinal. ValueError for a memory type that there is not, TypeError for
    what is no device, DriverError if no context is current and none is given."""
    location, kind = _LOCATIONS[GraphMemoryType(memory_type)]
    if location == _LOCATION_HOST:
        if device is not None:
            ordinal_of(device, "device")
        return location, kind, 0
    return location, kind, _core.current_device() if device is None else ordinal_of(device, "device")


def memory_type_of(location: int, kind: int) -> GraphMemoryType:
    """The word for it."""
    if kind == _ALLOCATION_MANAGED:
        return GraphMemoryType.MANAGED
    return GraphMemoryType.DEVICE if location == _LOCATION_DEVICE else GraphMemoryType.HOST


def peers_of(devices: Iterable[Any] | None) -> list[int]:
    """Ordinals. TypeError for what is no device."""
    return [] if devices is None else [ordinal_of(device, "peer_access") for device in devices]
