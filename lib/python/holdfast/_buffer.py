"""Buffer: device memory, or pinned memory of the host."""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import Any

from holdfast import _core
from holdfast._memory import Memory, MemorySource, check_reach, is_device_address, operand_of, target_of
from holdfast._numbers import size as size_argument
from holdfast._numbers import unsigned
from holdfast._pattern import pattern_of
from holdfast._stream import stream_of

__all__ = ["Buffer"]


class Buffer(MemorySource):
    """Memory of `size` bytes at the address `handle`.

    Made by Device.allocate, Device.allocate_pinned or Buffer.from_handle. Memory that was allocated here is freed with
    its last user, graphs included: close() ends what can be done through this object, not what others do with it.
    Freeing waits for the device. Equal buffers are the same memory; a closed one equals itself alone.

    Thread safety: a buffer may be used from any thread; order between writers is the caller's affair.
    """

    __slots__ = ("__weakref__", "_content", "_hash")

    _content: Memory | None
    _hash: int

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("a Buffer is made by Device.allocate, Device.allocate_pinned or Buffer.from_handle")

    @classmethod
    def _wrap(cls, content: Memory) -> Buffer:
        buffer = cls.__new__(cls)
        buffer._content = content
        buffer._hash = hash((Buffer, content.address, content.size_bytes))
        return buffer

    @classmethod
    def _of(cls, resource: _core.Memory, is_device: bool) -> Buffer:
        return cls._wrap(Memory(resource.address, resource.size_bytes, is_device, resource))

    @staticmethod
    def from_handle(ptr: int, size: int, *, owner: object = None) -> Buffer:
        """Memory that something else allocated and frees: `size` bytes at the address `ptr`.

        `owner` is kept for as long as this memory is used here. TypeError, OverflowError for what are no such numbers.
        """
        address = unsigned(ptr, "ptr", 64)
        return Buffer._wrap(Memory(address, size_argument(size, "size"), is_device_address(address), owner))

    @property
    def handle(self) -> int:
        """The address; 0 once closed."""
        return 0 if self._content is None else self._content.address

    @property
    def size(self) -> int:
        """In bytes; 0 once closed."""
        return 0 if self._content is None else self._content.size_bytes or 0

    @property
    def owner(self) -> object:
        """What from_handle was given; None for memory that was allocated here. RuntimeError once closed."""
        owner = self._memory().owner
        return None if isinstance(owner, _core.Memory) else owner

    @property
    def is_device(self) -> bool:
        """Whether it is memory of the device, rather than of the host. RuntimeError once closed."""
        return self._memory().is_device

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels reach it: always. RuntimeError once closed."""
        self._memory()
        return True

    @property
    def is_host_accessible(self) -> bool:
        """Whether view() gives it. RuntimeError once closed."""
        return not self._memory().is_device

    @property
    def is_closed(self) -> bool:
        """Whether close() was called."""
        return self._content is None

    def close(self, stream: Any = None) -> None:
        """Lets go of the memory, which is freed when nothing else uses it. A second call does nothing.

        `stream` is there for programs written for cuda.core: it must be a stream, and is not needed, since freeing
        waits for the device.
        """
        if stream is not None:
            stream_of(stream)
        self._content = None

    def view(self) -> memoryview:
        """The bytes of host memory, to read and write; they are kept for as long as the view is.

        ValueError for device memory, RuntimeError once closed. Work that is still going on may change them.
        """
        content = self._memory()
        if content.is_device:
            raise ValueError("the host cannot read device memory; copy it to a pinned buffer")
        array: Any = (ctypes.c_ubyte * (content.size_bytes or 0)).from_address(content.address)
        array.owner = content.owner
        return memoryview(array).cast("B")

    def copy_to(self, dst: Any, *, stream: Any) -> Any:
        """Copies all of this buffer to the beginning of `dst` (any operand of GraphNode.memcpy), and returns that.

        Ordered on `stream`; returns before it is done, as all three do. TypeError, ValueError if it does not fit,
        RuntimeError for what is closed, DriverError.
        """
        _copy(target_of(dst, None), self._memory(), self.size, stream)
        return dst

    def copy_from(self, src: Any, *, stream: Any) -> None:
        """Copies all of `src` to the beginning of this buffer. As copy_to. ValueError for a plain address, which has no
        size."""
        source = operand_of(src, None, "src")
        if source.size_bytes is None:
            raise ValueError("src must have a size; Buffer.from_handle gives an address one")
        _copy(self._memory(), source, source.size_bytes, stream)

    def fill(self, value: Any, *, stream: Any) -> None:
        """Fills the buffer with a pattern: an int from 0 to 255, or an object of 1, 2 or 4 bytes. As copy_to.
        ValueError for a size that is no multiple of the pattern's, OverflowError."""
        content = self._memory()
        bits, element_bytes = pattern_of(value)
        if self.size % element_bytes != 0:
            raise ValueError(f"the size, {self.size} bytes, is no multiple of the pattern's {element_bytes}")
        _core.fill(content.address, bits, element_bytes, self.size // element_bytes, stream_of(stream))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory as an array of bytes, for CuPy, PyTorch, Numba and others. RuntimeError once closed."""
        content = self._memory()
        return {
            "shape": (content.size_bytes,),
            "typestr": "|u1",
            "data": (content.address, False),
            "strides": None,
            "version": 3,
        }

    def _memory(self) -> Memory:
        if self._content is None:
            raise RuntimeError("the buffer has been closed")
        return self._content

    def __enter__(self) -> Buffer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Buffer):
            return NotImplemented
        if self._content is None or other._content is None:
            return self is other
        return (self.handle, self.size) == (other.handle, other.size)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<Buffer handle={self.handle:#x} size={self.size}>"


def _copy(destination: Memory, source: Memory, size_bytes: int, stream: Any) -> None:
    check_reach(destination, size_bytes, "dst")
    _core.copy(destination.address, source.address, size_bytes, stream_of(stream))
