"""How a graph is instantiated, and how it is drawn."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

__all__ = ["GraphCompleteOptions", "GraphDebugPrintOptions"]


@dataclass
class GraphCompleteOptions:
    """How an executable is made.

    auto_free_on_launch: a launch frees what the one before it allocated and did not free.
    upload_stream: the executable is brought to the device on this stream, so that the first launch need not.
    device_launch: it can be launched from the device.
    use_node_priority: nodes run by their own priority rather than that of the launching stream.
    """

    auto_free_on_launch: bool = False
    upload_stream: Any = None
    device_launch: bool = False
    use_node_priority: bool = False


@dataclass
class GraphDebugPrintOptions:
    """What is written of a graph besides its shape: parameters of each kind of node, handles, numbers of edges.

    verbose is all of them. The fields are in the order of the driver's flags.
    """

    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False


# CUgraphInstantiate_flags.
_AUTO_FREE_ON_LAUNCH = 1
_DEVICE_LAUNCH = 4
_USE_NODE_PRIORITY = 8


def complete_options(options: Any) -> GraphCompleteOptions:
    """The defaults for None. TypeError for what are no options."""
    if options is None:
        return GraphCompleteOptions()
    if not isinstance(options, GraphCompleteOptions):
        raise TypeError(f"options must be GraphCompleteOptions, not {type(options).__name__}")
    return options


def instantiate_flags(options: GraphCompleteOptions) -> int:
    """What the driver calls them; the upload is a call of its own."""
    flags = _AUTO_FREE_ON_LAUNCH if options.auto_free_on_launch else 0
    flags |= _DEVICE_LAUNCH if options.device_launch else 0
    return flags | (_USE_NODE_PRIORITY if options.use_node_priority else 0)


def debug_flags(options: Any) -> int:
    """CUgraphDebugDot_flags. TypeError for what are no options."""
    if options is None:
        return 0
    if not isinstance(options, GraphDebugPrintOptions):
        raise TypeError(f"options must be GraphDebugPrintOptions, not {type(options).__name__}")
    return sum(1 << bit for bit, wanted in enumerate(astuple(options)) if wanted)
