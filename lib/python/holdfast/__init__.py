"""Holdfast: CUDA graphs that keep alive what they refer to.

`holdfast.graph` has the names and argument rules of `cuda.core.graph`. What graphs are made of comes from here, or from
whatever a program has: streams, events, kernels, memory of cuda.core, CuPy, PyTorch, Numba, or plain integers.

What a graph keeps is let go of later than the last user goes, on the main thread between two bytecodes (see configure),
never inside a callback of CUDA. Owners that refer to the graph that keeps them are never let go of.

Errors: DriverError for what CUDA refuses, with `call`, `result` and `name`; TypeError for an argument of another type;
ValueError, OverflowError for a value that cannot be; RuntimeError for what is closed, destroyed, or not allowed now.
"""

from holdfast import graph, typing
from holdfast._buffer import Buffer
from holdfast._core import DriverError, configure, counters, drain
from holdfast._device import ComputeCapability, Device, DeviceProperties
from holdfast._event import Event, EventOptions
from holdfast._launch_config import LaunchConfig
from holdfast._launcher import launch
from holdfast._module import Kernel, Module
from holdfast._stream import LEGACY_DEFAULT_STREAM, Stream, StreamOptions

__version__ = "0.1.0"

__all__ = [
    "LEGACY_DEFAULT_STREAM",
    "Buffer",
    "ComputeCapability",
    "Device",
    "DeviceProperties",
    "DriverError",
    "Event",
    "EventOptions",
    "Kernel",
    "LaunchConfig",
    "Module",
    "Stream",
    "StreamOptions",
    "configure",
    "counters",
    "drain",
    "graph",
    "launch",
    "typing",
]
