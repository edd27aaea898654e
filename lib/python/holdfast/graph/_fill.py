"""The arguments of a fill, checked, in the order in which the C++ library takes them."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast import _core
from holdfast._memory import Memory, check_reach, target_of
from holdfast._numbers import size as size_argument
from holdfast._pattern import pattern_of


class Fill(NamedTuple):
    """A whole fill."""

    destination: _core.Operand
    value: int
    element_size_bytes: int
    width: int
    height: int
    pitch_bytes: int


class FillUpdate(NamedTuple):
    """What changes of a fill; None for what stays."""

    destination: _core.Operand | None
    value: int | None
    element_size_bytes: int | None
    width: int | None
    height: int | None
    pitch_bytes: int | None


class FillParameters(NamedTuple):
    """What a memset node says of itself."""

    address: int
    value: int
    element_size_bytes: int
    width: int
    height: int
    pitch_bytes: int


def fill_of(dst: Any, value: Any, width: Any, height: Any, pitch: Any, dst_owner: Any) -> Fill:
    """A whole fill. Errors as GraphNode.memset says."""
    destination = target_of(dst, dst_owner)
    bits, element_bytes = pattern_of(value)
    sizes = size_argument(width, "width"), size_argument(height, "height"), size_argument(pitch, "pitch")
    check_reach(destination, _reach_bytes(element_bytes, *sizes), "dst")
    return Fill(_operand(destination), bits, element_bytes, *sizes)


def fill_update(
    present: FillParameters, dst: Any, value: Any, width: Any, height: Any, pitch: Any, dst_owner: Any
) -> FillUpdate:
    """What changes of a fill. Errors as fill_of, and ValueError for an owner without its destination."""
    if dst is None and dst_owner is not None:
        raise ValueError("dst_owner is given without dst")
    destination = None if dst is None else target_of(dst, dst_owner)
    bits, element_bytes = (None, None) if value is None else pattern_of(value)
    sizes = [
        None if size is None else size_argument(size, name)
        for size, name in ((width, "width"), (height, "height"), (pitch, "pitch"))
    ]
    if destination is not None:
        given = (element_bytes, *sizes)
        kept = present[2:]
        check_reach(
            destination, _reach_bytes(*(b if a is None else a for a, b in zip(given, kept, strict=True))), "dst"
        )
    return FillUpdate(None if destination is None else _operand(destination), bits, element_bytes, *sizes)


def _reach_bytes(element_bytes: int, width: int, height: int, pitch_bytes: int) -> int:
    """From the first byte of the first row to the last one of the last row."""
    if width == 0 or height == 0:
        return 0
    return (height - 1) * pitch_bytes + width * element_bytes


def _operand(destination: Memory) -> _core.Operand:
    # Fills take an address of the device, which that of pinned memory is, too.
    return _core.Operand(destination.address, True, destination.owner)
