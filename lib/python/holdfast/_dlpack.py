"""Where a DLPack tensor lies, read from its capsule.

The capsule is not consumed: its name stays, so that its producer's deleter runs with it, and for as long as somebody
holds it the memory is kept. See https://dmlc.github.io/dlpack for the two structs.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

CPU = 1
CUDA = 2
CUDA_HOST = 3  # pinned
CUDA_MANAGED = 13

_READ_ONLY = 1

# The producer is not to order its work with any stream of ours: in a graph there is none yet, and in a capture it would
# become part of it.
_NO_SYNCHRONISATION = -1


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _ManagedTensor(ctypes.Structure):
    _fields_ = (("tensor", _Tensor),)


class _VersionedTensor(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


# By prototypes of their own: to declare the attributes of ctypes.pythonapi would do so for the whole process.
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@dataclass(frozen=True)
class Extent:
    """What a capsule says. Strides are in bytes, None where rows lie one behind the other."""

    address: int
    device_type: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    item_bytes: int
    size_bytes: int
    is_read_only: bool
    capsule: object


def extent_of(value: Any) -> Extent:
    """Asks an object that has `__dlpack__` and `__dlpack_device__`. TypeError for an answer that is no tensor of
    DLPack, and whatever the producer raises, BufferError by the protocol."""
    device_type = int(value.__dlpack_device__()[0])
    stream = _NO_SYNCHRONISATION if device_type in (CUDA, CUDA_MANAGED) else None
    try:
        capsule = value.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:
        # Producers from before version 1.0 do not know the second argument.
        capsule = value.__dlpack__(stream=stream)
    return _read(capsule)


def _read(capsule: Any) -> Extent:
    if _capsule_is_valid(capsule, b"dltensor_versioned"):
        versioned = _VersionedTensor.from_address(_capsule_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise TypeError(f"a DLPack tensor of version {versioned.major}; versions 0 and 1 are known")
        return _extent(versioned.tensor, bool(versioned.flags & _READ_ONLY), capsule)
    if _capsule_is_valid(capsule, b"dltensor"):
        return _extent(_ManagedTensor.from_address(_capsule_pointer(capsule, b"dltensor")).tensor, False, capsule)
    raise TypeError("__dlpack__ returned no unused DLPack capsule")


def _extent(tensor: _Tensor, is_read_only: bool, capsule: object) -> Extent:
    dimensions = range(tensor.dimensions)
    shape = tuple(tensor.shape[i] for i in dimensions)
    item_bits = tensor.type_bits * tensor.type_lanes
    item_bytes = (item_bits + 7) // 8
    strides = tuple(tensor.strides[i] * item_bytes for i in dimensions) if tensor.strides else None
    return Extent(
        address=(tensor.data or 0) + tensor.byte_offset,
        device_type=tensor.device_type,
        shape=shape,
        strides=strides,
        item_bytes=item_bytes,
        size_bytes=(math.prod(shape) * item_bits + 7) // 8,
        is_read_only=is_read_only,
        capsule=capsule,
    )
