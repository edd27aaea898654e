"""What the programs of interpreters_test.py start with: the shim's control table, and a wait with a deadline."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable


class PendingCalls(ctypes.Structure):
    """As in fault/shim/control.h."""

    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            "calls",
            "accepted",
            "refused",
            "run",
            "lost",
            "outstanding",
            "peak_outstanding",
            "not_handed_over",
            "no_ops",
            "while_finalizing",
        )
    )


class Control(ctypes.Structure):
    """As in fault/shim/control.h; what is not called here is a plain pointer."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("name_thread", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint32)),
        ("announce_step", ctypes.CFUNCTYPE(None, ctypes.c_char_p)),
        ("enter_context", ctypes.c_void_p),
        ("leave_context", ctypes.c_void_p),
        ("decide", ctypes.c_void_p),
        ("calls", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_char_p)),
        ("faults", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_char_p)),
        ("live", ctypes.c_void_p),
        ("release_held", ctypes.c_void_p),
        ("quiesce", ctypes.c_void_p),
        ("driver_symbol", ctypes.c_void_p),
        ("write_visits", ctypes.c_void_p),
        ("release_faults", ctypes.c_void_p),
        ("findings", ctypes.c_void_p),
        ("arm", ctypes.c_void_p),
        ("disarm", ctypes.c_void_p),
        ("pending_calls", ctypes.CFUNCTYPE(PendingCalls)),
        ("saturate", ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)),
        ("release_saturation", ctypes.CFUNCTYPE(None)),
        ("release_pending_calls", ctypes.CFUNCTYPE(None)),
        ("note_moment", ctypes.c_void_p),
    )


def find_control() -> Control:
    """The control table of the shim that was preloaded into this process."""
    function = ctypes.CDLL("libcuda.so.1").holdfast_shim_control
    function.restype = ctypes.POINTER(Control)
    table = function().contents
    assert table.version == 4, table.version
    return table


def wait_for(condition: Callable[[], bool]) -> None:
    """Runs bytecode until the condition holds; fails past a deadline that no healthy run reaches.

    Gives up the interpreter's lock each time: up to 3.12 a main thread that never does is not told of calls that
    another thread added (cpython 95820).
    """
    deadline = time.monotonic() + 30
    while not condition():
        time.sleep(0)
        assert time.monotonic() < deadline, "waited for too long"


control = find_control()
pending_calls = control.pending_calls
