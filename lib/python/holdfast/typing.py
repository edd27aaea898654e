"""The words that arguments of this package may be, and the protocols that foreign objects may have."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Protocol, runtime_checkable

__all__ = ["GraphConditionalType", "GraphMemoryType", "GraphNodeType", "IsStreamType"]


class _Word(str, Enum):
    """An enumeration whose members are strings: `GraphMemoryType.HOST == "host"`."""

    # enum.StrEnum, which 3.10 does not have.
    __str__ = str.__str__


class GraphMemoryType(_Word):
    """Where the memory of an allocation node lies."""

    DEVICE = "device"
    HOST = "host"  # pinned
    MANAGED = "managed"


class GraphConditionalType(_Word):
    """What a conditional node does with its bodies."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphNodeType(IntEnum):
    """Kinds of nodes, by the names and numbers of cuda.h (CUgraphNodeType)."""

    CU_GRAPH_NODE_TYPE_KERNEL = 0
    CU_GRAPH_NODE_TYPE_MEMCPY = 1
    CU_GRAPH_NODE_TYPE_MEMSET = 2
    CU_GRAPH_NODE_TYPE_HOST = 3
    CU_GRAPH_NODE_TYPE_GRAPH = 4
    CU_GRAPH_NODE_TYPE_EMPTY = 5
    CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6
    CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9
    CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10
    CU_GRAPH_NODE_TYPE_MEM_FREE = 11
    CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12
    CU_GRAPH_NODE_TYPE_CONDITIONAL = 13


@runtime_checkable
class IsStreamType(Protocol):
    """A stream of any library: the version of the protocol, which is 0, and the raw stream."""

    def __cuda_stream__(self) -> tuple[int, int]: ...
