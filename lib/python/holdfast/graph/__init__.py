"""Graphs that keep alive what they refer to, with the names and argument rules of cuda.core.graph."""

from holdfast._condition import GraphCondition
from holdfast.graph._adjacency import AdjacencySetProxy
from holdfast.graph._builder import GraphBuilder
from holdfast.graph._conditional_nodes import ConditionalNode, IfElseNode, IfNode, SwitchNode, WhileNode
from holdfast.graph._definition import GraphDefinition
from holdfast.graph._executable import Graph
from holdfast.graph._executable_nodes import (
    ExecutableChildGraphNode,
    ExecutableEventRecordNode,
    ExecutableEventWaitNode,
    ExecutableGraphNode,
    ExecutableHostCallbackNode,
    ExecutableKernelNode,
    ExecutableMemcpyNode,
    ExecutableMemsetNode,
)
from holdfast.graph._node import GraphNode
from holdfast.graph._nodes import (
    AllocNode,
    ChildGraphNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    HostCallbackNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
)
from holdfast.graph._options import GraphCompleteOptions, GraphDebugPrintOptions
from holdfast.typing import GraphConditionalType, GraphMemoryType, GraphNodeType

__all__ = [
    "AdjacencySetProxy",
    "AllocNode",
    "ChildGraphNode",
    "ConditionalNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "ExecutableChildGraphNode",
    "ExecutableEventRecordNode",
    "ExecutableEventWaitNode",
    "ExecutableGraphNode",
    "ExecutableHostCallbackNode",
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
    "FreeNode",
    "Graph",
    "GraphBuilder",
    "GraphCompleteOptions",
    "GraphCondition",
    "GraphConditionalType",
    "GraphDebugPrintOptions",
    "GraphDefinition",
    "GraphMemoryType",
    "GraphNode",
    "GraphNodeType",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "SwitchNode",
    "WhileNode",
]
