"""Memory out of whatever has some: where it is, how much, and what keeps it."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from holdfast import _core, _dlpack
from holdfast._foreign import is_a
from holdfast._numbers import unsigned


@dataclass(frozen=True)
class Memory:
    """One piece of memory."""

    address: int
    size_bytes: int | None  # None: nobody knows
    is_device: bool
    owner: object
    is_contiguous: bool = True
    is_read_only: bool = False
    is_pageable: bool = False  # host memory that a kernel cannot reach

    def operand(self) -> _core.Operand:
        """As the C++ library takes it."""
        return _core.Operand(self.address, self.is_device, self.owner)


class MemorySource:
    """What has memory of this library's own."""

    __slots__ = ()

    @abstractmethod
    def _memory(self) -> Memory:
        """RuntimeError once closed."""


def memory_of(value: Any) -> Memory | None:
    """The memory of a Buffer, of a buffer of cuda.core, of what has `__cuda_array_interface__`, or of what speaks
    DLPack, in that order; None for what has no memory. Foreign objects are its owners.

    RuntimeError for a closed buffer; what a producer of DLPack raises.
    """
    if isinstance(value, MemorySource):
        return value._memory()
    if is_a(value, "cuda.core", "Buffer"):
        return _of_foreign_buffer(value)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return _of_array_interface(interface, value)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _of_tensor(value)
    return None


def operand_of(value: Any, owner: Any, side: str) -> Memory:
    """One side of a copy, or the target of a fill: memory in one piece, or an address that `owner` keeps valid.

    TypeError for what is neither, ValueError for an owner beside memory and for memory in pieces, RuntimeError for
    what is closed, OverflowError for an address that is none.
    """
    memory = memory_of(value)
    if memory is None:
        address = _address(value, side)
        return Memory(address, None, is_device_address(address), owner_of(owner))
    if owner is not None:
        raise ValueError(
            f"{side}_owner cannot be given when {side} is a buffer or an array, which keeps its own memory"
        )
    if not memory.is_contiguous:
        raise ValueError(f"{side} must be contiguous")
    return memory


def target_of(value: Any, owner: Any, side: str = "dst") -> Memory:
    """As operand_of, for memory that is written to: ValueError for what may only be read."""
    memory = operand_of(value, owner, side)
    if memory.is_read_only:
        raise ValueError(f"{side} is read-only")
    return memory


def check_reach(memory: Memory, reach_bytes: int, side: str) -> None:
    """ValueError if an operation on the first so many bytes runs past the end, where that is known."""
    if memory.size_bytes is not None and reach_bytes > memory.size_bytes:
        raise ValueError(f"the operation reaches {reach_bytes} bytes into {side}, which has {memory.size_bytes}")


def owner_of(owner: Any) -> Any:
    """What to keep for an owner: of a buffer its allocation. RuntimeError for a closed buffer."""
    if isinstance(owner, MemorySource):
        return owner._memory().owner
    if is_a(owner, "cuda.core", "Buffer"):
        return _of_foreign_buffer(owner).owner
    return owner


def is_device_address(address: int) -> bool:
    """Whether a copy is to take the address for one of the device. What the driver does not know is taken for it, as
    cuda.core does: the address of an allocation node has no memory yet."""
    return _core.memory_kind(address) != _CU_MEMORYTYPE_HOST


_CU_MEMORYTYPE_HOST = 1


def _address(value: Any, side: str) -> int:
    try:
        return unsigned(int(value) if is_a(value, "cuda.bindings", "CUdeviceptr") else value, side, 64)
    except TypeError:
        raise TypeError(f"{side} must be a buffer, an array or an address, not {type(value).__name__}") from None


def _of_foreign_buffer(buffer: Any) -> Memory:
    address = int(buffer.handle or 0)
    if getattr(buffer, "is_closed", False) or address == 0:
        raise RuntimeError("the buffer has been closed")
    return Memory(address, int(buffer.size), is_device_address(address), buffer)


def _of_array_interface(interface: dict[str, Any], owner: object) -> Memory:
    address, is_read_only = interface["data"]
    shape = tuple(interface["shape"])
    item_bytes = int(interface["typestr"][2:])
    return Memory(
        address=int(address or 0),
        size_bytes=math.prod(shape) * item_bytes,
        is_device=is_device_address(int(address or 0)),
        owner=owner,
        is_contiguous=_is_contiguous(shape, interface.get("strides"), item_bytes),
        is_read_only=bool(is_read_only),
    )


def _of_tensor(value: Any) -> Memory:
    extent = _dlpack.extent_of(value)
    if extent.device_type not in (_dlpack.CPU, _dlpack.CUDA, _dlpack.CUDA_HOST, _dlpack.CUDA_MANAGED):
        raise ValueError(
            f"{type(value).__name__} has its memory on a device of another kind (DLPack's {extent.device_type})"
        )
    return Memory(
        address=extent.address,
        size_bytes=extent.size_bytes,
        is_device=extent.device_type in (_dlpack.CUDA, _dlpack.CUDA_MANAGED),
        # The capsule keeps the memory even if the object comes to have another.
        owner=(value, extent.capsule),
        is_contiguous=_is_contiguous(extent.shape, extent.strides, extent.item_bytes),
        is_read_only=extent.is_read_only,
        is_pageable=extent.device_type == _dlpack.CPU,
    )


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None, item_bytes: int) -> bool:
    """Whether the items lie one behind the other, the last index the fastest. Strides are in bytes."""
    if strides is None or 0 in shape:
        return True
    expected = item_bytes
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and stride != expected:
            return False
        expected *= length
    return True
