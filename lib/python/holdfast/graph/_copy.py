"""The arguments of a copy, checked, in the order in which the C++ library takes them."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast import _core
from holdfast._memory import Memory, check_reach, operand_of, target_of
from holdfast._numbers import size as size_argument


class Copy(NamedTuple):
    """A whole copy."""

    destination: _core.Operand
    source: _core.Operand
    size_bytes: int


class CopyUpdate(NamedTuple):
    """What changes of a copy; None for what stays."""

    destination: _core.Operand | None
    source: _core.Operand | None
    size_bytes: int | None


class CopyParameters(NamedTuple):
    """What a memcpy node says of itself."""

    destination: int
    source: int
    size_bytes: int


def copy_of(dst: Any, src: Any, size: Any, dst_owner: Any, src_owner: Any) -> Copy:
    """A whole copy. Errors as GraphNode.memcpy says."""
    destination = target_of(dst, dst_owner)
    source = operand_of(src, src_owner, "src")
    size_bytes = size_argument(size, "size")
    check_reach(destination, size_bytes, "dst")
    check_reach(source, size_bytes, "src")
    return Copy(destination.operand(), source.operand(), size_bytes)


def copy_update(present: CopyParameters, dst: Any, src: Any, size: Any, dst_owner: Any, src_owner: Any) -> CopyUpdate:
    """What changes of a copy. Errors as copy_of, and ValueError for an owner without its operand."""
    for operand, owner, side in ((dst, dst_owner, "dst"), (src, src_owner, "src")):
        if operand is None and owner is not None:
            raise ValueError(f"{side}_owner is given without {side}")
    destination = None if dst is None else target_of(dst, dst_owner)
    source = None if src is None else operand_of(src, src_owner, "src")
    size_bytes = None if size is None else size_argument(size, "size")
    reach_bytes = present.size_bytes if size_bytes is None else size_bytes
    return CopyUpdate(_operand(destination, reach_bytes, "dst"), _operand(source, reach_bytes, "src"), size_bytes)


def _operand(memory: Memory | None, reach_bytes: int, side: str) -> _core.Operand | None:
    if memory is None:
        return None
    check_reach(memory, reach_bytes, side)
    return memory.operand()
