"""The shim's control table (fault/shim/control.h) as ctypes has it."""

from __future__ import annotations

import ctypes

VERSION = 4

NO_QUEUE = 0xFFFFFFFF

_COUNT = ctypes.c_uint64
_NAME = ctypes.c_char_p


class SiteDecision(ctypes.Structure):
    """As in control.h."""

    _fields_ = (
        ("fires", ctypes.c_bool),
        ("fails", ctypes.c_bool),
        ("result", ctypes.c_int64),
        ("drops", ctypes.c_bool),
        ("delay_ns", ctypes.c_uint64),
        ("saturate", ctypes.c_uint32),
    )


class LiveObjects(ctypes.Structure):
    """As in control.h."""

    _fields_ = (
        ("user_objects", _COUNT),
        ("graphs", _COUNT),
        ("executables", _COUNT),
        ("streams", _COUNT),
        ("events", _COUNT),
        ("allocations", _COUNT),
        ("libraries", _COUNT),
        ("kept_user_objects", _COUNT),
        ("kept_others", _COUNT),
    )


class PendingCalls(ctypes.Structure):
    """As in control.h."""

    _fields_ = (
        ("calls", _COUNT),
        ("accepted", _COUNT),
        ("refused", _COUNT),
        ("run", _COUNT),
        ("lost", _COUNT),
        ("outstanding", _COUNT),
        ("peak_outstanding", _COUNT),
        ("not_handed_over", _COUNT),
        ("no_ops", _COUNT),
        ("while_finalizing", _COUNT),
    )


class Control(ctypes.Structure):
    """As in control.h. Functions that no scenario calls from Python are plain pointers."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("name_thread", ctypes.CFUNCTYPE(None, _NAME, ctypes.c_uint32)),
        ("announce_step", ctypes.CFUNCTYPE(None, _NAME)),
        ("enter_context", ctypes.CFUNCTYPE(None, _NAME)),
        ("leave_context", ctypes.CFUNCTYPE(None, _NAME)),
        ("decide", ctypes.CFUNCTYPE(SiteDecision, _NAME)),
        ("calls", ctypes.CFUNCTYPE(_COUNT, _NAME)),
        ("faults", ctypes.CFUNCTYPE(_COUNT, _NAME)),
        ("live", ctypes.CFUNCTYPE(LiveObjects)),
        ("release_held", ctypes.CFUNCTYPE(None)),
        ("quiesce", ctypes.CFUNCTYPE(None)),
        ("driver_symbol", ctypes.CFUNCTYPE(ctypes.c_void_p, _NAME)),
        ("write_visits", ctypes.CFUNCTYPE(None, _NAME)),
        ("release_faults", ctypes.CFUNCTYPE(_COUNT)),
        ("findings", ctypes.CFUNCTYPE(_COUNT)),
        ("arm", ctypes.c_void_p),
        ("disarm", ctypes.c_void_p),
        ("pending_calls", ctypes.CFUNCTYPE(PendingCalls)),
        ("saturate", ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)),
        ("release_saturation", ctypes.CFUNCTYPE(None)),
        ("release_pending_calls", ctypes.CFUNCTYPE(None)),
        ("note_moment", ctypes.CFUNCTYPE(None, _NAME, _NAME, ctypes.c_uint32)),
    )


class NoShim(RuntimeError):
    """The libcuda.so.1 that is found is not the shim, or is another version of it."""


class Shim:
    """The shim in this process. Its calls let go of the interpreter's lock."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def name_thread(self, role: str, ordinal: int) -> None:
        """Names the calling thread for plans and for the fault log."""
        self._control.name_thread(role.encode(), ordinal)

    def announce_step(self, name: str) -> None:
        """For rules with `step`."""
        self._control.announce_step(name.encode())

    def calls(self, site: str) -> int:
        """Visits of the site so far, over all threads."""
        return self._control.calls(site.encode())

    def faults(self, site: str | None = None) -> int:
        """Faults fired there so far; without a site, anywhere."""
        return self._control.faults(site.encode() if site else None)

    def live(self) -> LiveObjects:
        """What the subject made through the driver and is still alive."""
        return self._control.live()

    def release_held(self) -> None:
        """Delivers the destructors that the plan holds."""
        self._control.release_held()

    def quiesce(self) -> None:
        """Waits until the delivery thread has no destructor left that is not held."""
        self._control.quiesce()

    def deliver(self) -> None:
        """Both: every destructor that is due has been called afterwards."""
        self.release_held()
        self.quiesce()

    def driver_symbol(self, name: str) -> int:
        """The address of a symbol of the driver library below the shim; 0 if there is none."""
        return self._control.driver_symbol(name.encode()) or 0

    def pending_calls(self) -> PendingCalls:
        """What became of the calls of Py_AddPendingCall."""
        return self._control.pending_calls()

    def saturate(self, count: int) -> int:
        """Keeps up to `count` no-ops in the interpreter's queue until release_saturation; how many fitted."""
        return self._control.saturate(count)

    def release_saturation(self) -> None:
        """There is room again once the no-ops in the queue have run."""
        self._control.release_saturation()

    def release_pending_calls(self) -> None:
        """Lets go of the pending calls that the plan holds."""
        self._control.release_pending_calls()

    def note_moment(self, kind: str, name: str, queue: int = NO_QUEUE) -> None:
        """A point in time for the report's timeline: `release`, `finding` or `pending-call`."""
        self._control.note_moment(kind.encode(), name.encode(errors="replace"), queue)

    def quiesce_address(self) -> int:
        """The function behind `quiesce`, to call it in another way."""
        return ctypes.cast(self._control.quiesce, ctypes.c_void_p).value or 0

    def deliver_at_process_end(self) -> None:
        """Has every destructor called when the process ends, which is after the interpreter has gone: a function of C
        that the C library calls.
        """
        library = ctypes.CDLL(None)
        for function in (self._control.quiesce, self._control.release_held):  # the last one registered runs first
            address = ctypes.cast(function, ctypes.c_void_p)
            library["__cxa_atexit"](address, None, None)


def find_shim() -> Shim:
    """The shim that this process finds as its libcuda.so.1. Raises NoShim."""
    try:
        function = ctypes.CDLL("libcuda.so.1").holdfast_shim_control
    except (OSError, AttributeError) as problem:
        raise NoShim(f"the shim is not the libcuda.so.1 that is found first: {problem}") from None
    function.restype = ctypes.POINTER(Control)
    control = function().contents
    if control.version != VERSION:
        raise NoShim(f"the shim's control table has version {control.version}, not {VERSION}")
    return Shim(control)
