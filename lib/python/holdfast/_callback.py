"""Host callbacks: a Python callable, or a C function with its data."""

from __future__ import annotations

import ctypes
from _ctypes import CFuncPtr
from typing import Any

from holdfast import _core
from holdfast._numbers import unsigned

_PROTOTYPE = "ctypes.CFUNCTYPE(None, ctypes.c_void_p)"

# Of ctypes: the function is called as if the caller held the GIL, which the driver's thread does not.
_FUNCFLAG_PYTHONAPI = 4


def is_function_pointer(function: Any) -> bool:
    """Whether it is a function of ctypes, which CUDA calls without Python."""
    return isinstance(function, CFuncPtr)


def callback_of(function: Any, user_data: Any) -> _core.Callback:
    """The callback of a callable without arguments, or of a ctypes function that is declared as CUhostFn.

    The function is kept. Data is for C functions alone: an int is passed as it is, and what it points to is the
    caller's; anything with bytes is copied, and the copy kept. TypeError for what is neither, for another prototype,
    and for other data; ValueError for data beside a callable and for a null function; OverflowError for an int that is
    no pointer.
    """
    if is_function_pointer(function):
        _check_prototype(function)
        return _of_function_pointer(function, user_data)
    if not callable(function):
        raise TypeError(f"callback must be callable, not {type(function).__name__}")
    if user_data is not None:
        raise ValueError("user_data is for functions of ctypes; let a callable hold what it needs")
    return _core.Callback.from_callable(function)


def _check_prototype(function: Any) -> None:
    if function.restype is not None or tuple(function.argtypes or ()) != (ctypes.c_void_p,):
        raise TypeError(
            f"the callback is declared as {function.restype} of {function.argtypes}; CUDA calls {_PROTOTYPE}"
        )
    if function._flags_ & _FUNCFLAG_PYTHONAPI:
        raise TypeError(f"CUDA's thread does not hold the GIL, which a PYFUNCTYPE takes for granted; use {_PROTOTYPE}")


def _of_function_pointer(function: Any, user_data: Any) -> _core.Callback:
    # Not by ctypes.cast, which makes the function refer to itself: it would wait for a garbage collection.
    address = ctypes.c_void_p.from_address(ctypes.addressof(function)).value
    if not address:
        raise ValueError("the callback is a null pointer")
    if user_data is None:
        return _core.Callback.from_address(address, 0, function, None)
    if isinstance(user_data, int):
        return _core.Callback.from_address(address, unsigned(user_data, "user_data", 64), function, None)
    try:
        data = memoryview(user_data).tobytes()
    except TypeError:
        raise TypeError(f"user_data must be an integer or have bytes, not {type(user_data).__name__}") from None
    return _core.Callback.from_address_and_bytes(address, data, function)
