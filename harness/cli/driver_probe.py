"""Opens a CUDA driver library and says in one line of JSON what it has. Run as a program of its own.

A driver can hang, crash or take the process with it; the caller gives this program a time limit and reads what it
says. The answer has `error`, or else `path`, `version` and `devices` (names).
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any, NoReturn

_NAME_BYTES = 256

# What our libraries export and no real driver does.
_OUR_SYMBOLS = ("holdfast_model_control", "holdfast_shim_control")


def _answer(**fields: Any) -> NoReturn:
    print(json.dumps(fields), flush=True)
    sys.exit(0)


def _call(library: ctypes.CDLL, name: str, *arguments: Any) -> None:
    result = getattr(library, name)(*arguments)
    if result != 0:
        text = ctypes.c_char_p()
        library.cuGetErrorName(result, ctypes.byref(text))
        _answer(error=f"{name} answered {(text.value or b'an unknown error').decode()} ({result})")


def _mapped_path(name: str) -> str:
    """Where the loader found the library. A path that was given as one is kept."""
    if "/" in name:
        return name
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if path.startswith("/") and "/libcuda.so" in path:
                return path
    return name


def probe(name: str) -> NoReturn:
    """Answers for the library `name`, a path or a name that the loader looks up."""
    try:
        library = ctypes.CDLL(name)
    except OSError as problem:
        _answer(error=str(problem))
    if any(hasattr(library, symbol) for symbol in _OUR_SYMBOLS):
        _answer(error="it is one of our own libraries, not a real driver")
    _call(library, "cuInit", 0)
    number = ctypes.c_int()
    _call(library, "cuDriverGetVersion", ctypes.byref(number))
    version = number.value
    _call(library, "cuDeviceGetCount", ctypes.byref(number))
    devices = []
    for index in range(number.value):
        device = ctypes.c_int()
        text = ctypes.create_string_buffer(_NAME_BYTES)
        _call(library, "cuDeviceGet", ctypes.byref(device), index)
        _call(library, "cuDeviceGetName", text, _NAME_BYTES, device)
        devices.append(text.value.decode(errors="replace"))
    _answer(path=_mapped_path(name), version=version, devices=devices)


if __name__ == "__main__":
    probe(sys.argv[1])
