"""Events and kernels made without this library, by calls of the driver: what foreign objects are made of."""

from __future__ import annotations

import ctypes

_cuda = ctypes.CDLL("libcuda.so.1")


def _check(result: int) -> None:
    assert result == 0, result


class RawEvent:
    """An event, destroyed with this object."""

    def __init__(self) -> None:
        handle = ctypes.c_void_p()
        _check(_cuda.cuEventCreate(ctypes.byref(handle), 2))
        self.handle = handle.value

    def __del__(self, destroy: object = _cuda.cuEventDestroy_v2) -> None:
        destroy(ctypes.c_void_p(self.handle))


class RawKernel:
    """A kernel of a library that is unloaded with this object."""

    def __init__(self, code: str, name: str) -> None:
        library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        none = (None, None, 0, None, None, 0)
        _check(_cuda.cuLibraryLoadData(ctypes.byref(library), code.encode(), *none))
        _check(_cuda.cuLibraryGetKernel(ctypes.byref(kernel), library, name.encode()))
        self.handle, self._library = kernel.value, library

    def __del__(self, unload: object = _cuda.cuLibraryUnload) -> None:
        unload(self._library)
