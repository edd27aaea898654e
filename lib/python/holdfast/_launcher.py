"""launch: a kernel on a stream, or at this place of a graph that is being captured."""

from __future__ import annotations

from typing import Any

from holdfast import _core
from holdfast._arguments import arguments_of
from holdfast._launch_config import configuration_of
from holdfast._module import kernel_of
from holdfast._stream import stream_of

__all__ = ["launch"]


def launch(stream: Any, config: Any, kernel: Any, *kernel_args: Any) -> None:
    """Launches a kernel with a LaunchConfig on a stream, and returns before it has run.

    With a GraphBuilder it becomes part of the graph, which keeps neither the kernel nor what its arguments point to: as
    with a stream, that is the caller's (GraphNode.launch keeps them). Arguments as for GraphNode.launch. TypeError,
    ValueError, OverflowError; RuntimeError for what is closed; DriverError.
    """
    resource = stream_of(stream)
    configuration = configuration_of(config)
    function = kernel_of(kernel)
    _core.launch(function, configuration, arguments_of(function, kernel_args), resource)
