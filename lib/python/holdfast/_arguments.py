"""Kernel arguments: the bytes of each, and who keeps what they point to.

A Python number has no width of its own. It gets that of the kernel's parameter where the driver tells, and else that of
a pointer or a double; an int that does not fit is an OverflowError. What has a width keeps it.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Iterable
from typing import Any

from holdfast import _core
from holdfast._condition import GraphCondition
from holdfast._foreign import is_a
from holdfast._memory import Memory, memory_of

_POINTER_BYTES = 8
_INTEGER_BYTES = (1, 2, 4, 8)
_FLOAT_FORMATS = {2: "=e", 4: "=f", 8: "=d"}
_COMPLEX_FORMATS = {8: "=ff", 16: "=dd"}

# Of numpy: bool, signed, unsigned, float, complex, and structures.
_NUMPY_KINDS = "biufcV"


def arguments_of(kernel: _core.Kernel | None, values: Iterable[Any]) -> _core.Arguments:
    """Packs the arguments of a kernel.

    Each is a buffer or an array of any kind that memory_of takes (its address, and it is kept), an int, float, bool or
    complex, a scalar of ctypes or numpy or a structure of ctypes (its bytes), or a GraphCondition (its handle).
    TypeError for anything else, None among them; ValueError for memory that kernels do not reach; OverflowError.
    """
    arguments = _core.Arguments()
    widths = kernel.parameter_sizes() if kernel is not None else None
    for index, value in enumerate(values):
        width = widths[index] if widths is not None and index < len(widths) else None
        memory = None
        data = _bytes_of(value, width)
        if data is None:
            memory = _reachable(value, index)
            data = memory.address.to_bytes(_POINTER_BYTES, sys.byteorder)
        arguments.add(data)
        if memory is not None and memory.owner is not None:
            arguments.add_owner(memory.owner)
    return arguments


def checked_sequence(args: Any) -> tuple[Any, ...]:
    """`args` of an update. TypeError for what is no sequence of arguments, a string or a single buffer among them."""
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"args must be a tuple or a list of arguments, not {type(args).__name__}")
    return tuple(args)


def _bytes_of(value: Any, width: int | None) -> bytes | None:
    """None for what is no value but memory, or nothing."""
    if isinstance(value, GraphCondition):
        return value.handle.to_bytes(8, sys.byteorder)
    if _is_numpy_scalar(value):
        return value.tobytes()
    if isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array)):
        return bytes(value)
    if isinstance(value, bool):
        return _integer(int(value), width if width in _INTEGER_BYTES else 1)
    if isinstance(value, int):
        return _integer(value, width if width in _INTEGER_BYTES else _POINTER_BYTES)
    if isinstance(value, float):
        return struct.pack(_FLOAT_FORMATS.get(width or 8, "=d"), value)
    if isinstance(value, complex):
        return struct.pack(_COMPLEX_FORMATS.get(width or 16, "=dd"), value.real, value.imag)
    if is_a(value, "cuda.bindings", "CUdeviceptr"):
        return int(value).to_bytes(_POINTER_BYTES, sys.byteorder)
    return None


def _integer(value: int, width: int) -> bytes:
    try:
        return value.to_bytes(width, sys.byteorder, signed=value < 0)
    except OverflowError:
        raise OverflowError(f"{value} does not fit the kernel's parameter of {width} bytes") from None


def _is_numpy_scalar(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic) and value.dtype.kind in _NUMPY_KINDS


def _reachable(value: Any, index: int) -> Memory:
    memory = memory_of(value)
    if memory is None:
        raise TypeError(f"argument {index}: a kernel cannot be given {type(value).__name__}")
    if memory.is_pageable:
        raise ValueError(f"argument {index}: kernels do not reach the memory of {type(value).__name__} on the host")
    return memory
