"""Which device is meant."""

from __future__ import annotations

from typing import Any

from holdfast._foreign import is_a
from holdfast._numbers import integer


def ordinal_of(device: Any, name: str) -> int:
    """The ordinal of a Device, of this library or of cuda.core, or of an int. TypeError, ValueError if negative."""
    if is_a(device, "holdfast", "Device") or is_a(device, "cuda.core", "Device"):
        return device.device_id
    ordinal = integer(device, name)
    if not 0 <= ordinal < 1 << 31:
        raise ValueError(f"{name} must be the ordinal of a device, not {ordinal}")
    return ordinal
