"""Module and Kernel, and kernels out of whatever there is that is one."""

from __future__ import annotations

from typing import Any

from holdfast import _core
from holdfast._foreign import handle_of, is_a
from holdfast._numbers import unsigned

__all__ = ["Kernel", "Module", "kernel_of", "wrap_kernel"]

_FOREIGN_KERNELS = (("cuda.core", "Kernel", "handle"),)


class Kernel:
    """A kernel, which keeps its module loaded.

    Made by Module.kernel or Kernel.from_handle. Equal kernels are the same kernel of CUDA.
    """

    __slots__ = ("__weakref__", "_resource")

    _resource: _core.Kernel

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("a Kernel is made by Module.kernel or Kernel.from_handle")

    @classmethod
    def _wrap(cls, resource: _core.Kernel) -> Kernel:
        kernel = cls.__new__(cls)
        kernel._resource = resource
        return kernel

    @staticmethod
    def from_handle(handle: int, *, owner: object = None) -> Kernel:
        """A kernel (CUkernel) that something else loaded. `owner` is kept for as long as the kernel is used here."""
        raw = unsigned(handle, "handle", 64)
        if raw == 0:
            raise ValueError("handle must not be 0")
        return Kernel._wrap(_core.Kernel.borrow(raw, owner))

    @property
    def handle(self) -> int:
        """The raw kernel (CUkernel)."""
        return self._resource.raw

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel):
            return NotImplemented
        return self.handle == other.handle

    def __hash__(self) -> int:
        return hash((Kernel, self.handle))

    def __repr__(self) -> str:
        return f"<Kernel handle={self.handle:#x}>"


class Module:
    """Loaded code. It stays loaded for as long as the module or one of its kernels is used, by graphs too."""

    __slots__ = ("__weakref__", "_resource")

    _resource: _core.Library

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("a Module is made by Module.from_code")

    @staticmethod
    def from_code(code: bytes | bytearray | memoryview | str) -> Module:
        """Loads PTX, as text or bytes, or a cubin or fatbin. TypeError for anything else, DriverError."""
        if isinstance(code, str):
            code = code.encode()
        if not isinstance(code, (bytes, bytearray, memoryview)):
            raise TypeError(f"code must be bytes or the text of PTX, not {type(code).__name__}")
        module = Module.__new__(Module)
        module._resource = _core.Library.load(bytes(code))
        return module

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name, as the code has it. TypeError, DriverError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, not {type(name).__name__}")
        return Kernel._wrap(_core.Kernel.find(self._resource, name))

    get_kernel = kernel


def kernel_of(value: Any) -> _core.Kernel:
    """The kernel of a Kernel, or of one of cuda.core, which is then kept for as long as it is used here.

    TypeError for anything else, functions of CuPy among them: CUDA tells no kernel for a function of a module.
    """
    if isinstance(value, Kernel):
        return value._resource
    raw = handle_of(value, _FOREIGN_KERNELS)
    if raw is not None:
        return _core.Kernel.borrow(raw, value)
    if is_a(value, "cupy", "RawKernel") or is_a(value, "cupy", "Function"):
        raise TypeError("a function of CuPy is no kernel to CUDA; load its code with Module.from_code")
    raise TypeError(f"kernel must be a Kernel, not {type(value).__name__}")


def wrap_kernel(resource: _core.Kernel) -> Any:
    """The kernel as it was given: a foreign one is that very object."""
    owner = resource.owner
    if owner is not None and handle_of(owner, _FOREIGN_KERNELS) == resource.raw:
        return owner
    return Kernel._wrap(resource)
