"""Objects as other libraries have them, with their protocols and class names, around memory and handles of this one."""

from __future__ import annotations

import ctypes
from typing import Any

from holdfast import Buffer, Stream
from raw_driver import RawEvent, RawKernel


class ForeignStream:
    """With `__cuda_stream__`."""

    def __init__(self, stream: Stream) -> None:
        self.kept = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.kept.handle


class PyTorchStream:
    """As torch.cuda.Stream."""

    def __init__(self, stream: Stream) -> None:
        self.kept = stream

    @property
    def cuda_stream(self) -> int:
        return self.kept.handle


def named(package: str, name: str, **attributes: Any) -> Any:
    """An object of a class of that name in that package. Special methods are the class's, all else is the object's:
    what a class has, a free-threaded interpreter keeps in a cache of its own for as long as it likes."""
    special = {key: value for key, value in attributes.items() if key.startswith("__")}
    made = type(name, (), {"__module__": package, **special})()
    vars(made).update({key: value for key, value in attributes.items() if key not in special})
    return made


def cuda_core_buffer(buffer: Buffer) -> Any:
    return named("cuda.core._memory._buffer", "Buffer", handle=buffer.handle, size=buffer.size, kept=buffer)


def cuda_core_event(event: RawEvent) -> Any:
    return named("cuda.core._event", "Event", handle=event.handle, kept=event)


def cuda_core_kernel(kernel: RawKernel) -> Any:
    return named("cuda.core._module", "Kernel", handle=kernel.handle, kept=kernel)


class CudaArray:
    """With `__cuda_array_interface__`."""

    def __init__(
        self,
        buffer: Buffer,
        shape: tuple[int, ...] | None = None,
        strides: tuple[int, ...] | None = None,
        typestr: str = "|u1",
        is_read_only: bool = False,
    ) -> None:
        self.kept = buffer
        self.__cuda_array_interface__ = {
            "shape": (buffer.size,) if shape is None else shape,
            "strides": strides,
            "typestr": typestr,
            "data": (buffer.handle, is_read_only),
            "version": 3,
        }


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code_and_bits", ctypes.c_uint8 * 2),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Unversioned(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_GetName", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)

# What the capsules that are out point to.
_tensors: dict[int, Any] = {}


@_Destructor
def _capsule_is_gone(capsule: int) -> None:
    del _tensors[_pointer_of(capsule, _name_of(capsule))]


def capsules_out() -> int:
    """How many capsules of DLPackArrays there are."""
    return len(_tensors)


class DLPackArray:
    """A tensor of bytes with `__dlpack__`."""

    def __init__(
        self,
        buffer: Buffer,
        device_type: int,
        *,
        version: tuple[int, int] | None = None,
        strides: tuple[int, ...] | None = None,
        byte_offset: int = 0,
        is_read_only: bool = False,
    ) -> None:
        self.kept = buffer
        self.device_type = device_type
        self.version = version
        self.strides = strides
        self.byte_offset = byte_offset
        self.is_read_only = is_read_only
        self.streams: list[int | None] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_type, 0

    def __dlpack__(self, *, stream: int | None = None, **later: Any) -> object:
        if self.version is None and later:
            raise TypeError("a producer from before version 1.0")
        self.streams.append(stream)
        tensor, parts = self._tensor()
        if self.version is None:
            managed: Any = _Unversioned(tensor=tensor)
            name = b"dltensor"
        else:
            managed = _Versioned(version=self.version, flags=int(self.is_read_only), tensor=tensor)
            name = b"dltensor_versioned"
        _tensors[ctypes.addressof(managed)] = (managed, parts)
        return _new_capsule(ctypes.addressof(managed), name, _capsule_is_gone)

    def _tensor(self) -> tuple[_Tensor, Any]:
        shape = (self.kept.size - self.byte_offset,) if self.strides is None else (4,) * len(self.strides)
        dimensions = len(shape)
        parts = (ctypes.c_int64 * dimensions)(*shape), (ctypes.c_int64 * dimensions)(*(self.strides or ()))
        tensor = _Tensor(
            data=self.kept.handle,
            device=(self.device_type, 0),
            ndim=dimensions,
            code_and_bits=(1, 8),
            lanes=1,
            shape=ctypes.addressof(parts[0]),
            strides=ctypes.addressof(parts[1]) if self.strides is not None else None,
            byte_offset=self.byte_offset,
        )
        return tensor, parts
