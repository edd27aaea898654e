"""Every public call, with what it must refuse: the documented exception, never a crash, and nothing is changed.

Method: one table with a row a refusal. A test asks the packages for all that is public in them, so that no call is
missing from the table; another gives each call junk in each place.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import holdfast
import pytest
from holdfast import Buffer, Device, DriverError, Event, EventOptions, Kernel, LaunchConfig, Module, Stream, launch
from holdfast import graph as graph_package
from holdfast.graph import (
    AdjacencySetProxy,
    GraphBuilder,
    GraphCompleteOptions,
    GraphDebugPrintOptions,
    GraphDefinition,
    GraphMemoryType,
    GraphNode,
)
from world import World

Use = Callable[[World], Any]
Row = tuple[str, type[BaseException], Use]

# ---- what adds a node: of a graph, and of a node ----

ADDITIONS: list[tuple[str, type[BaseException], Callable[[World, Any], Any]]] = [
    ("allocate", TypeError, lambda w, at: at.allocate("8")),
    ("allocate", TypeError, lambda w, at: at.allocate(8, device="x")),
    ("allocate", TypeError, lambda w, at: at.allocate(8, peer_access=["x"])),
    ("allocate", TypeError, lambda w, at: at.allocate(8, peer_access=1)),
    ("allocate", TypeError, lambda w, at: at.allocate(8, 0)),
    ("allocate", OverflowError, lambda w, at: at.allocate(-1)),
    ("allocate", ValueError, lambda w, at: at.allocate(8, memory_type="nowhere")),
    ("allocate", ValueError, lambda w, at: at.allocate(8, device=-1)),
    ("allocate", DriverError, lambda w, at: at.allocate(0)),
    ("allocate", DriverError, lambda w, at: at.allocate(8, device=99)),
    ("deallocate", TypeError, lambda w, at: at.deallocate("x")),
    ("deallocate", OverflowError, lambda w, at: at.deallocate(-1)),
    ("deallocate", DriverError, lambda w, at: at.deallocate(0)),
    ("memset", TypeError, lambda w, at: at.memset("x", 1, 1)),
    ("memset", TypeError, lambda w, at: at.memset(w.buffer, None, 1)),
    ("memset", TypeError, lambda w, at: at.memset(w.buffer, 1, None)),
    ("memset", TypeError, lambda w, at: at.memset(w.buffer, 1, 1, "1")),
    ("memset", TypeError, lambda w, at: at.memset(w.buffer, 1, 1, 1, 1.0)),
    ("memset", TypeError, lambda w, at: at.memset(w.buffer.handle, 1, 1, 1, 0, w.buffer)),
    ("memset", OverflowError, lambda w, at: at.memset(w.buffer, 256, 1)),
    ("memset", OverflowError, lambda w, at: at.memset(w.buffer, 1, -1)),
    ("memset", ValueError, lambda w, at: at.memset(w.buffer, b"123", 1)),
    ("memset", ValueError, lambda w, at: at.memset(w.buffer, 1, 65)),
    ("memset", ValueError, lambda w, at: at.memset(w.buffer, 1, 1, dst_owner=w.buffer)),
    ("memset", RuntimeError, lambda w, at: at.memset(w.closed_buffer, 1, 1)),
    ("memset", RuntimeError, lambda w, at: at.memset(w.buffer.handle, 1, 1, dst_owner=w.closed_buffer)),
    ("memset", DriverError, lambda w, at: at.memset(0, 1, 1)),
    ("launch", TypeError, lambda w, at: at.launch(1, w.kernel)),
    ("launch", TypeError, lambda w, at: at.launch(w.config, "kernel")),
    ("launch", TypeError, lambda w, at: at.launch(w.config, w.kernel, None, 1)),
    ("launch", TypeError, lambda w, at: at.launch(w.config)),
    ("launch", ValueError, lambda w, at: at.launch(w.config, w.kernel)),
    ("launch", OverflowError, lambda w, at: at.launch(w.config, w.kernel, w.buffer, 2**32)),
    ("launch", OverflowError, lambda w, at: at.launch(LaunchConfig(2**32, block=1), w.kernel, *w.arguments)),
    ("launch", OverflowError, lambda w, at: at.launch(LaunchConfig(2, 2**31, 1), w.kernel, *w.arguments)),
    ("launch", RuntimeError, lambda w, at: at.launch(w.config, w.kernel, w.closed_buffer, 1)),
    ("launch", DriverError, lambda w, at: at.launch(LaunchConfig(1, block=2**20), w.kernel, *w.arguments)),
    ("join", TypeError, lambda w, at: at.join(1)),
    ("join", TypeError, lambda w, at: at.join([at])),
    ("join", RuntimeError, lambda w, at: at.join(w.destroyed)),
    ("join", RuntimeError, lambda w, at: at.join(w.other_node)),
    ("memcpy", TypeError, lambda w, at: at.memcpy("x", w.buffer, 1)),
    ("memcpy", TypeError, lambda w, at: at.memcpy(w.buffer, None, 1)),
    ("memcpy", TypeError, lambda w, at: at.memcpy(w.buffer, w.pinned, "1")),
    ("memcpy", TypeError, lambda w, at: at.memcpy(w.buffer.handle, w.pinned, 1, w.buffer)),
    ("memcpy", OverflowError, lambda w, at: at.memcpy(w.buffer, w.pinned, -1)),
    ("memcpy", OverflowError, lambda w, at: at.memcpy(2**64, w.pinned, 1)),
    ("memcpy", ValueError, lambda w, at: at.memcpy(w.buffer, w.pinned, 65)),
    ("memcpy", ValueError, lambda w, at: at.memcpy(w.buffer, w.pinned, 1, src_owner=1)),
    ("memcpy", RuntimeError, lambda w, at: at.memcpy(w.closed_buffer, w.pinned, 1)),
    ("memcpy", RuntimeError, lambda w, at: at.memcpy(w.buffer, w.closed_buffer, 1)),
    ("embed", TypeError, lambda w, at: at.embed(1)),
    ("embed", TypeError, lambda w, at: at.embed(w.ended_builder)),
    ("embed", ValueError, lambda w, at: at.embed(w.graph)),
    ("embed", RuntimeError, lambda w, at: at.embed(w.gone_graph)),
    ("record", TypeError, lambda w, at: at.record(w.stream)),
    ("record", RuntimeError, lambda w, at: at.record(w.closed_event)),
    ("wait", TypeError, lambda w, at: at.wait(1)),
    ("wait", RuntimeError, lambda w, at: at.wait(w.closed_event)),
    ("callback", TypeError, lambda w, at: at.callback(1)),
    ("callback", TypeError, lambda w, at: at.callback(print, 1)),
    ("callback", ValueError, lambda w, at: at.callback(print, user_data=1)),
    ("if_then", TypeError, lambda w, at: at.if_then(1)),
    ("if_then", ValueError, lambda w, at: at.if_then(w.other_condition)),
    ("if_else", TypeError, lambda w, at: at.if_else(None)),
    ("if_else", ValueError, lambda w, at: at.if_else(w.other_condition)),
    ("while_loop", TypeError, lambda w, at: at.while_loop(w.graph)),
    ("while_loop", ValueError, lambda w, at: at.while_loop(w.other_condition)),
    ("switch", TypeError, lambda w, at: at.switch(1, 1)),
    ("switch", TypeError, lambda w, at: at.switch(w.condition, "1")),
    ("switch", OverflowError, lambda w, at: at.switch(w.condition, -1)),
    ("switch", ValueError, lambda w, at: at.switch(w.other_condition, 1)),
    ("switch", DriverError, lambda w, at: at.switch(w.condition, 0)),
]

# Good arguments, for what is refused because of where it is added.
GOOD: dict[str, Callable[[World, Any], Any]] = {
    "allocate": lambda w, at: at.allocate(8),
    "deallocate": lambda w, at: at.deallocate(w.other_graph.allocate(8).dptr),
    "memset": lambda w, at: at.memset(w.buffer, 1, 1),
    "launch": lambda w, at: at.launch(w.config, w.kernel, *w.arguments),
    "join": lambda w, at: at.join(),
    "memcpy": lambda w, at: at.memcpy(w.buffer, w.pinned, 1),
    "embed": lambda w, at: at.embed(w.other_graph),
    "record": lambda w, at: at.record(w.event),
    "wait": lambda w, at: at.wait(w.event),
    "callback": lambda w, at: at.callback(print),
    "if_then": lambda w, at: at.if_then(w.condition),
    "if_else": lambda w, at: at.if_else(w.condition),
    "while_loop": lambda w, at: at.while_loop(w.condition),
    "switch": lambda w, at: at.switch(w.condition, 1),
}


def additions() -> Iterator[Row]:
    for method, error, use in ADDITIONS:
        yield f"GraphDefinition.{method}", error, lambda w, use=use: use(w, w.graph)
        yield f"GraphNode.{method}", error, lambda w, use=use: use(w, w.nodes["empty"])
    for method, use in GOOD.items():
        yield f"GraphDefinition.{method}", RuntimeError, lambda w, use=use: use(w, w.gone_graph)
        yield f"GraphNode.{method}", RuntimeError, lambda w, use=use: use(w, w.destroyed)


DEFINITIONS: list[Row] = [
    ("GraphDefinition", TypeError, lambda w: GraphDefinition(1)),
    ("GraphDefinition.empty", TypeError, lambda w: w.graph.empty(1)),
    ("GraphDefinition.empty", RuntimeError, lambda w: w.gone_graph.empty()),
    ("GraphDefinition.nodes", RuntimeError, lambda w: w.gone_graph.nodes()),
    ("GraphDefinition.edges", RuntimeError, lambda w: w.gone_graph.edges()),
    ("GraphDefinition.create_condition", TypeError, lambda w: w.graph.create_condition("1")),
    ("GraphDefinition.create_condition", OverflowError, lambda w: w.graph.create_condition(2**32)),
    ("GraphDefinition.create_condition", RuntimeError, lambda w: w.gone_graph.create_condition()),
    ("GraphDefinition.instantiate", TypeError, lambda w: w.graph.instantiate(1)),
    ("GraphDefinition.instantiate", TypeError, lambda w: w.graph.instantiate(GraphCompleteOptions(upload_stream=1))),
    (
        "GraphDefinition.instantiate",
        RuntimeError,
        lambda w: w.graph.instantiate(GraphCompleteOptions(upload_stream=w.closed_stream)),
    ),
    ("GraphDefinition.instantiate", RuntimeError, lambda w: w.gone_graph.instantiate()),
    ("GraphDefinition.debug_dot_print", TypeError, lambda w: w.graph.debug_dot_print(1)),
    ("GraphDefinition.debug_dot_print", TypeError, lambda w: w.graph.debug_dot_print("/nowhere", 1)),
    ("GraphDefinition.debug_dot_print", DriverError, lambda w: w.graph.debug_dot_print("/nowhere/at/all")),
    ("GraphDefinition.debug_dot_print", RuntimeError, lambda w: w.gone_graph.debug_dot_print("/nowhere")),
    ("GraphCondition", RuntimeError, lambda w: graph_package.GraphCondition()),
    ("GraphCompleteOptions", TypeError, lambda w: GraphCompleteOptions(nothing=True)),
    ("GraphDebugPrintOptions", TypeError, lambda w: GraphDebugPrintOptions(nothing=True)),
    ("GraphMemoryType", ValueError, lambda w: GraphMemoryType("nowhere")),
    ("GraphConditionalType", ValueError, lambda w: graph_package.GraphConditionalType("unless")),
    ("GraphNodeType", ValueError, lambda w: graph_package.GraphNodeType(99)),
]

# ---- nodes ----

NODES: list[Row] = [
    ("GraphNode", RuntimeError, lambda w: GraphNode()),
    ("GraphNode.destroy", TypeError, lambda w: w.nodes["empty"].destroy(1)),
    ("GraphNode.pred", TypeError, lambda w: setattr(w.nodes["empty"], "pred", 1)),
    ("GraphNode.pred", TypeError, lambda w: setattr(w.nodes["empty"], "pred", [1])),
    ("GraphNode.pred", RuntimeError, lambda w: setattr(w.nodes["empty"], "pred", [w.destroyed])),
    ("GraphNode.pred", RuntimeError, lambda w: setattr(w.destroyed, "pred", [w.nodes["empty"]])),
    ("GraphNode.succ", TypeError, lambda w: setattr(w.nodes["empty"], "succ", None)),
    ("GraphNode.succ", RuntimeError, lambda w: setattr(w.nodes["empty"], "succ", [w.other_node])),
    ("AdjacencySetProxy.add", TypeError, lambda w: w.nodes["empty"].pred.add(1)),
    ("AdjacencySetProxy.add", ValueError, lambda w: w.nodes["empty"].pred.add(w.graph._entry)),
    ("AdjacencySetProxy.add", RuntimeError, lambda w: w.nodes["empty"].pred.add(w.destroyed)),
    ("AdjacencySetProxy.add", RuntimeError, lambda w: w.nodes["empty"].pred.add(w.other_node)),
    ("AdjacencySetProxy.add", DriverError, lambda w: w.nodes["empty"].pred.add(w.nodes["empty"])),
    ("AdjacencySetProxy.discard", TypeError, lambda w: w.nodes["empty"].pred.discard(1)),
    ("AdjacencySetProxy.update", TypeError, lambda w: w.nodes["empty"].succ.update([1])),
    ("AdjacencySetProxy.update", TypeError, lambda w: w.nodes["empty"].succ.update(1)),
    ("AdjacencySetProxy.update", RuntimeError, lambda w: w.destroyed.succ.update([w.nodes["empty"]])),
    ("AdjacencySetProxy.clear", TypeError, lambda w: w.nodes["empty"].succ.clear(1)),
    ("AdjacencySetProxy", TypeError, lambda w: AdjacencySetProxy()),
    ("KernelNode.update", TypeError, lambda w: w.nodes["kernel"].update(config=1)),
    ("KernelNode.update", ValueError, lambda w: w.nodes["kernel"].update(kernel=w.kernel)),
    ("KernelNode.update", RuntimeError, lambda w: w.nodes["kernel"].update(args=(w.closed_buffer, 1))),
    ("KernelNode.update", RuntimeError, lambda w: w.destroyed_nodes["kernel"].update(config=w.config)),
    ("MemsetNode.update", TypeError, lambda w: w.nodes["memset"].update(w.buffer)),
    ("MemsetNode.update", ValueError, lambda w: w.nodes["memset"].update(dst_owner=w.buffer)),
    ("MemsetNode.update", RuntimeError, lambda w: w.nodes["memset"].update(dst=w.closed_buffer)),
    ("MemsetNode.update", RuntimeError, lambda w: w.destroyed_nodes["memset"].update(value=1)),
    ("MemcpyNode.update", TypeError, lambda w: w.nodes["memcpy"].update(w.buffer)),
    ("MemcpyNode.update", ValueError, lambda w: w.nodes["memcpy"].update(src_owner=w.buffer)),
    ("MemcpyNode.update", RuntimeError, lambda w: w.nodes["memcpy"].update(src=w.closed_buffer)),
    ("MemcpyNode.update", RuntimeError, lambda w: w.destroyed_nodes["memcpy"].update(size=1)),
    ("ChildGraphNode.update", TypeError, lambda w: w.nodes["child"].update(1)),
    ("ChildGraphNode.update", ValueError, lambda w: w.nodes["child"].update(w.graph)),
    ("ChildGraphNode.update", ValueError, lambda w: w.nodes["child"].update(w.nodes["child"].child_graph)),
    ("ChildGraphNode.update", RuntimeError, lambda w: w.nodes["child"].update(w.gone_graph)),
    ("ChildGraphNode.update", RuntimeError, lambda w: w.destroyed_nodes["child"].update(w.other_graph)),
    ("EventRecordNode.update", TypeError, lambda w: w.nodes["record"].update(1)),
    ("EventRecordNode.update", RuntimeError, lambda w: w.nodes["record"].update(w.closed_event)),
    ("EventRecordNode.update", RuntimeError, lambda w: w.destroyed_nodes["record"].update(w.event)),
    ("EventWaitNode.update", TypeError, lambda w: w.nodes["wait"].update(None)),
    ("EventWaitNode.update", RuntimeError, lambda w: w.nodes["wait"].update(w.closed_event)),
    ("EventWaitNode.update", RuntimeError, lambda w: w.destroyed_nodes["wait"].update(w.event)),
    ("HostCallbackNode.update", TypeError, lambda w: w.nodes["callback"].update(1)),
    ("HostCallbackNode.update", ValueError, lambda w: w.nodes["callback"].update(print, user_data=b"")),
    ("HostCallbackNode.update", RuntimeError, lambda w: w.destroyed_nodes["callback"].update(print)),
]

# ---- executables ----


def good_update(w: World, kind: str, view: Any) -> Any:
    return {
        "kernel": lambda: view.update(config=w.config, kernel=w.kernel, args=w.arguments),
        "memset": lambda: view.update(dst=w.buffer, value=1, width=1),
        "memcpy": lambda: view.update(dst=w.buffer, src=w.pinned, size=1),
        "child": lambda: view.update(w.other_graph),
        "record": lambda: view.update(w.event),
        "wait": lambda: view.update(w.event),
        "callback": lambda: view.update(print),
    }[kind]()


VIEWS = {
    "kernel": "ExecutableKernelNode",
    "memset": "ExecutableMemsetNode",
    "memcpy": "ExecutableMemcpyNode",
    "child": "ExecutableChildGraphNode",
    "record": "ExecutableEventRecordNode",
    "wait": "ExecutableEventWaitNode",
    "callback": "ExecutableHostCallbackNode",
}


def destroyed_view(w: World, kind: str) -> Any:
    view = w.view(kind)
    w.nodes[kind].destroy()
    return view


def views() -> Iterator[Row]:
    for kind, name in VIEWS.items():
        yield name, RuntimeError, lambda w, name=name: getattr(graph_package, name)()
        yield f"{name}.update", TypeError, lambda w, kind=kind: w.view(kind).update()
        yield f"{name}.update", TypeError, lambda w, kind=kind: w.view(kind).update(1)
        yield f"{name}.update", RuntimeError, lambda w, kind=kind: good_update(w, kind, w.closed_view(kind))
        yield f"{name}.update", RuntimeError, lambda w, kind=kind: good_update(w, kind, destroyed_view(w, kind))
        if kind in ("kernel", "memset", "memcpy"):
            for method in ("enable", "disable"):
                full = f"{name}.{method}"
                yield full, TypeError, lambda w, kind=kind, m=method: getattr(w.view(kind), m)(1)
                yield full, RuntimeError, lambda w, kind=kind, m=method: getattr(w.closed_view(kind), m)()
                yield full, RuntimeError, lambda w, kind=kind, m=method: getattr(destroyed_view(w, kind), m)()
            yield f"{name}.is_enabled", RuntimeError, lambda w, kind=kind: w.closed_view(kind).is_enabled
            yield f"{name}.is_enabled", RuntimeError, lambda w, kind=kind: destroyed_view(w, kind).is_enabled


EXECUTABLES: list[Row] = [
    ("Graph", RuntimeError, lambda w: graph_package.Graph()),
    ("Graph.launch", TypeError, lambda w: w.executable.launch(1)),
    ("Graph.launch", TypeError, lambda w: w.executable.launch(None)),
    ("Graph.launch", RuntimeError, lambda w: w.executable.launch(w.closed_stream)),
    ("Graph.launch", RuntimeError, lambda w: w.closed_executable.launch(w.stream)),
    ("Graph.upload", TypeError, lambda w: w.executable.upload("stream")),
    ("Graph.upload", RuntimeError, lambda w: w.executable.upload(w.closed_stream)),
    ("Graph.upload", RuntimeError, lambda w: w.closed_executable.upload(w.stream)),
    ("Graph.update", TypeError, lambda w: w.executable.update(1)),
    ("Graph.update", TypeError, lambda w: w.executable.update(w.executable)),
    ("Graph.update", ValueError, lambda w: w.executable.update(w.new_builder)),
    ("Graph.update", ValueError, lambda w: w.executable.update(w.builder)),
    ("Graph.update", RuntimeError, lambda w: w.executable.update(w.closed_builder)),
    ("Graph.update", RuntimeError, lambda w: w.executable.update(w.gone_graph)),
    ("Graph.update", RuntimeError, lambda w: w.closed_executable.update(w.graph)),
    ("Graph.update", DriverError, lambda w: (w.nodes["empty"], w.executable.update(w.graph))),
    ("Graph.__getitem__", TypeError, lambda w: w.executable[1]),
    ("Graph.__getitem__", TypeError, lambda w: w.executable[w.nodes["empty"]]),
    ("Graph.__getitem__", TypeError, lambda w: w.executable[w.nodes["conditional"]]),
    ("Graph.__getitem__", TypeError, lambda w: w.executable[w.graph._entry]),
    ("Graph.__getitem__", RuntimeError, lambda w: w.executable[w.destroyed_nodes["memset"]]),
    ("Graph.__getitem__", RuntimeError, lambda w: w.closed_executable[w.nodes["memset"]]),
    ("Graph.close", TypeError, lambda w: w.executable.close(1)),
    ("ExecutableGraphNode", RuntimeError, lambda w: graph_package.ExecutableGraphNode()),
    ("ExecutableMemsetNode.update", DriverError, lambda w: good_update(w, "memset", w.executable[w.nodes["memset"]])),
]

# ---- builders ----

BUILDERS: list[Row] = [
    ("GraphBuilder", NotImplementedError, lambda w: GraphBuilder()),
    ("GraphBuilder.from_stream", TypeError, lambda w: GraphBuilder.from_stream(1)),
    ("GraphBuilder.from_stream", RuntimeError, lambda w: GraphBuilder.from_stream(w.closed_stream)),
    ("GraphBuilder.stream", RuntimeError, lambda w: w.closed_builder.stream),
    ("GraphBuilder.is_building", RuntimeError, lambda w: w.closed_builder.is_building),
    ("GraphBuilder.begin_building", TypeError, lambda w: w.new_builder.begin_building(1)),
    ("GraphBuilder.begin_building", ValueError, lambda w: w.new_builder.begin_building("x")),
    ("GraphBuilder.begin_building", RuntimeError, lambda w: w.builder.begin_building()),
    ("GraphBuilder.begin_building", RuntimeError, lambda w: w.ended_builder.begin_building()),
    ("GraphBuilder.begin_building", RuntimeError, lambda w: w.closed_builder.begin_building()),
    ("GraphBuilder.end_building", RuntimeError, lambda w: w.new_builder.end_building()),
    ("GraphBuilder.end_building", RuntimeError, lambda w: w.fork.end_building()),
    ("GraphBuilder.end_building", RuntimeError, lambda w: w.closed_builder.end_building()),
    ("GraphBuilder.complete", TypeError, lambda w: w.ended_builder.complete(1)),
    ("GraphBuilder.complete", RuntimeError, lambda w: w.builder.complete()),
    ("GraphBuilder.complete", RuntimeError, lambda w: w.closed_builder.complete()),
    ("GraphBuilder.graph_definition", RuntimeError, lambda w: w.new_builder.graph_definition),
    ("GraphBuilder.graph_definition", RuntimeError, lambda w: w.fork.graph_definition),
    ("GraphBuilder.graph_definition", RuntimeError, lambda w: w.closed_builder.graph_definition),
    ("GraphBuilder.debug_dot_print", TypeError, lambda w: w.ended_builder.debug_dot_print(1)),
    ("GraphBuilder.debug_dot_print", TypeError, lambda w: w.ended_builder.debug_dot_print("/nowhere", 1)),
    ("GraphBuilder.debug_dot_print", RuntimeError, lambda w: w.new_builder.debug_dot_print("/nowhere")),
    ("GraphBuilder.close", TypeError, lambda w: w.new_builder.close(1)),
    ("GraphBuilder.split", TypeError, lambda w: w.builder.split("2")),
    ("GraphBuilder.split", ValueError, lambda w: w.builder.split(1)),
    ("GraphBuilder.split", OverflowError, lambda w: w.builder.split(-1)),
    ("GraphBuilder.split", RuntimeError, lambda w: w.new_builder.split(2)),
    ("GraphBuilder.join", TypeError, lambda w: GraphBuilder.join(w.builder, 1)),
    ("GraphBuilder.join", ValueError, lambda w: GraphBuilder.join(w.builder)),
    ("GraphBuilder.join", RuntimeError, lambda w: GraphBuilder.join(w.builder, w.closed_builder)),
    ("GraphBuilder.embed", TypeError, lambda w: w.builder.embed(1)),
    ("GraphBuilder.embed", ValueError, lambda w: w.builder.embed(w.new_builder)),
    ("GraphBuilder.embed", ValueError, lambda w: w.new_builder.embed(w.ended_builder)),
    ("GraphBuilder.embed", RuntimeError, lambda w: w.builder.embed(w.gone_graph)),
    ("GraphBuilder.embed", RuntimeError, lambda w: w.closed_builder.embed(w.graph)),
    ("GraphBuilder.callback", TypeError, lambda w: w.builder.callback(1)),
    ("GraphBuilder.callback", ValueError, lambda w: w.builder.callback(print, user_data=1)),
    ("GraphBuilder.callback", RuntimeError, lambda w: w.new_builder.callback(print)),
    ("GraphBuilder.create_condition", TypeError, lambda w: w.builder.create_condition("1")),
    ("GraphBuilder.create_condition", OverflowError, lambda w: w.builder.create_condition(-1)),
    ("GraphBuilder.create_condition", RuntimeError, lambda w: w.ended_builder.create_condition()),
    ("GraphBuilder.if_then", TypeError, lambda w: w.builder.if_then(1)),
    ("GraphBuilder.if_then", ValueError, lambda w: w.builder.if_then(w.condition)),
    ("GraphBuilder.if_then", RuntimeError, lambda w: w.new_builder.if_then(w.condition)),
    ("GraphBuilder.if_else", TypeError, lambda w: w.builder.if_else(1)),
    ("GraphBuilder.if_else", ValueError, lambda w: w.builder.if_else(w.condition)),
    ("GraphBuilder.while_loop", TypeError, lambda w: w.builder.while_loop(1)),
    ("GraphBuilder.while_loop", ValueError, lambda w: w.builder.while_loop(w.condition)),
    ("GraphBuilder.switch", TypeError, lambda w: w.builder.switch(1, 1)),
    ("GraphBuilder.switch", TypeError, lambda w: w.builder.switch(w.builder.create_condition(), "1")),
    ("GraphBuilder.switch", ValueError, lambda w: w.builder.switch(w.condition, 1)),
    ("GraphBuilder.__cuda_stream__", RuntimeError, lambda w: w.closed_builder.__cuda_stream__()),
]

# ---- companions ----

COMPANIONS: list[Row] = [
    ("Device", TypeError, lambda w: Device("x")),
    ("Device", ValueError, lambda w: Device(99)),
    ("Device", ValueError, lambda w: Device(-1)),
    ("Device.get_all_devices", TypeError, lambda w: Device.get_all_devices(1)),
    ("Device.set_current", TypeError, lambda w: w.device.set_current(1)),
    ("Device.sync", TypeError, lambda w: w.device.sync(1)),
    ("Device.create_stream", TypeError, lambda w: w.device.create_stream(1)),
    ("Device.create_stream", TypeError, lambda w: w.device.create_stream(options=1)),
    ("Device.create_stream", TypeError, lambda w: w.device.create_stream(options={"nothing": 1})),
    ("Device.create_stream", TypeError, lambda w: w.device.create_stream(options={"priority": "high"})),
    ("Device.create_stream", RuntimeError, lambda w: w.device.create_stream(w.closed_stream)),
    ("Device.create_event", TypeError, lambda w: w.device.create_event(1)),
    ("Device.create_event", TypeError, lambda w: w.device.create_event({"nothing": 1})),
    ("Device.allocate", TypeError, lambda w: w.device.allocate("1")),
    ("Device.allocate", TypeError, lambda w: w.device.allocate(1, stream=1)),
    ("Device.allocate", OverflowError, lambda w: w.device.allocate(-1)),
    ("Device.allocate", RuntimeError, lambda w: w.device.allocate(1, stream=w.closed_stream)),
    ("Device.allocate", DriverError, lambda w: w.device.allocate(2**60)),
    ("Device.allocate_pinned", TypeError, lambda w: w.device.allocate_pinned(None)),
    ("Device.allocate_pinned", OverflowError, lambda w: w.device.allocate_pinned(-1)),
    ("Device.create_graph_builder", TypeError, lambda w: w.device.create_graph_builder(1)),
    ("DeviceProperties", AttributeError, lambda w: w.device.properties.nothing),
    ("ComputeCapability", TypeError, lambda w: holdfast.ComputeCapability()),
    ("Stream", RuntimeError, lambda w: Stream()),
    ("Stream.from_handle", TypeError, lambda w: Stream.from_handle("x")),
    ("Stream.from_handle", OverflowError, lambda w: Stream.from_handle(-1)),
    ("Stream.close", TypeError, lambda w: w.stream.close(1)),
    ("Stream.sync", RuntimeError, lambda w: w.closed_stream.sync()),
    ("Stream.record", TypeError, lambda w: w.stream.record(1)),
    ("Stream.record", TypeError, lambda w: w.stream.record(options=1)),
    ("Stream.record", RuntimeError, lambda w: w.stream.record(w.closed_event)),
    ("Stream.record", RuntimeError, lambda w: w.closed_stream.record()),
    ("Stream.wait", TypeError, lambda w: w.stream.wait(1)),
    ("Stream.wait", RuntimeError, lambda w: w.stream.wait(w.closed_event)),
    ("Stream.wait", RuntimeError, lambda w: w.stream.wait(w.closed_stream)),
    ("Stream.wait", RuntimeError, lambda w: w.closed_stream.wait(w.event)),
    ("Stream.create_graph_builder", RuntimeError, lambda w: w.closed_stream.create_graph_builder()),
    ("Stream.__cuda_stream__", RuntimeError, lambda w: w.closed_stream.__cuda_stream__()),
    ("StreamOptions", TypeError, lambda w: holdfast.StreamOptions(nothing=1)),
    ("Event", RuntimeError, lambda w: Event()),
    ("Event.from_handle", TypeError, lambda w: Event.from_handle(None)),
    ("Event.from_handle", ValueError, lambda w: Event.from_handle(0)),
    ("Event.close", TypeError, lambda w: w.event.close(1)),
    ("Event.sync", RuntimeError, lambda w: w.closed_event.sync()),
    ("Event.is_done", RuntimeError, lambda w: w.closed_event.is_done),
    ("Event.is_timing_enabled", RuntimeError, lambda w: w.closed_event.is_timing_enabled),
    ("Event.is_blocking_sync", RuntimeError, lambda w: w.closed_event.is_blocking_sync),
    ("Event.__sub__", TypeError, lambda w: w.event - 1),
    ("Event.__sub__", RuntimeError, lambda w: w.event - w.closed_event),
    ("Event.__sub__", DriverError, lambda w: w.event - w.event),
    ("EventOptions", TypeError, lambda w: EventOptions(nothing=1)),
    ("Buffer", RuntimeError, lambda w: Buffer()),
    ("Buffer.from_handle", TypeError, lambda w: Buffer.from_handle("x", 1)),
    ("Buffer.from_handle", TypeError, lambda w: Buffer.from_handle(1, None)),
    ("Buffer.from_handle", OverflowError, lambda w: Buffer.from_handle(1, -1)),
    ("Buffer.close", TypeError, lambda w: w.buffer.close(1)),
    ("Buffer.close", RuntimeError, lambda w: w.buffer.close(w.closed_stream)),
    ("Buffer.owner", RuntimeError, lambda w: w.closed_buffer.owner),
    ("Buffer.is_device", RuntimeError, lambda w: w.closed_buffer.is_device),
    ("Buffer.is_device_accessible", RuntimeError, lambda w: w.closed_buffer.is_device_accessible),
    ("Buffer.is_host_accessible", RuntimeError, lambda w: w.closed_buffer.is_host_accessible),
    ("Buffer.view", ValueError, lambda w: w.buffer.view()),
    ("Buffer.view", RuntimeError, lambda w: w.closed_buffer.view()),
    ("Buffer.copy_to", TypeError, lambda w: w.buffer.copy_to("x", stream=w.stream)),
    ("Buffer.copy_to", TypeError, lambda w: w.buffer.copy_to(w.pinned, stream=1)),
    ("Buffer.copy_to", TypeError, lambda w: w.buffer.copy_to(w.pinned, w.stream)),
    ("Buffer.copy_to", RuntimeError, lambda w: w.closed_buffer.copy_to(w.pinned, stream=w.stream)),
    ("Buffer.copy_from", TypeError, lambda w: w.buffer.copy_from(None, stream=w.stream)),
    ("Buffer.copy_from", ValueError, lambda w: w.buffer.copy_from(w.pinned.handle, stream=w.stream)),
    ("Buffer.copy_from", RuntimeError, lambda w: w.buffer.copy_from(w.closed_buffer, stream=w.stream)),
    ("Buffer.copy_from", RuntimeError, lambda w: w.buffer.copy_from(w.pinned, stream=w.closed_stream)),
    ("Buffer.fill", TypeError, lambda w: w.buffer.fill("x", stream=w.stream)),
    ("Buffer.fill", OverflowError, lambda w: w.buffer.fill(256, stream=w.stream)),
    ("Buffer.fill", ValueError, lambda w: w.buffer.fill(b"123", stream=w.stream)),
    ("Buffer.fill", RuntimeError, lambda w: w.closed_buffer.fill(1, stream=w.stream)),
    ("Buffer.__cuda_array_interface__", RuntimeError, lambda w: w.closed_buffer.__cuda_array_interface__),
    ("Module", RuntimeError, lambda w: Module()),
    ("Module.from_code", TypeError, lambda w: Module.from_code(1)),
    ("Module.kernel", TypeError, lambda w: w.module.kernel(1)),
    ("Module.kernel", DriverError, lambda w: w.module.kernel("not_there")),
    ("Module.get_kernel", TypeError, lambda w: w.module.get_kernel(None)),
    ("Kernel", RuntimeError, lambda w: Kernel()),
    ("Kernel.from_handle", TypeError, lambda w: Kernel.from_handle("x")),
    ("Kernel.from_handle", ValueError, lambda w: Kernel.from_handle(0)),
    ("LaunchConfig", ValueError, lambda w: LaunchConfig()),
    ("launch", TypeError, lambda w: launch(1, w.config, w.kernel, *w.arguments)),
    ("launch", TypeError, lambda w: launch(w.stream, 1, w.kernel, *w.arguments)),
    ("launch", TypeError, lambda w: launch(w.stream, w.config, 1, *w.arguments)),
    ("launch", TypeError, lambda w: launch(w.stream, w.config, w.kernel, None, 1)),
    ("launch", RuntimeError, lambda w: launch(w.closed_stream, w.config, w.kernel, *w.arguments)),
    ("launch", RuntimeError, lambda w: launch(w.closed_builder, w.config, w.kernel, *w.arguments)),
    ("launch", RuntimeError, lambda w: launch(w.stream, w.config, w.kernel, w.closed_buffer, 1)),
    ("configure", TypeError, lambda w: holdfast.configure(1)),
    ("configure", RuntimeError, lambda w: (w.graph, holdfast.configure("manual"))),
    ("drain", TypeError, lambda w: holdfast.drain(1)),
    ("counters", TypeError, lambda w: holdfast.counters(1)),
]

TABLE: list[Row] = [*additions(), *DEFINITIONS, *NODES, *views(), *EXECUTABLES, *BUILDERS, *COMPANIONS]

# What answers in every state: the objects that are gone and closed are asked in a test of its own.
ALWAYS_ANSWER = {
    "GraphDefinition": ("is_valid", "handle"),
    "GraphNode": ("type", "graph", "handle", "is_valid"),
    "GraphCondition": ("handle",),
    "GraphBuilder": ("is_closed", "is_join_required"),
    "Graph": ("handle", "is_closed"),
    "Stream": ("handle", "is_closed"),
    "Event": ("handle", "is_closed"),
    "Buffer": ("handle", "size", "is_closed"),
    "Kernel": ("handle",),
    "Device": ("device_id", "name", "properties", "compute_capability", "arch"),
    "KernelNode": ("grid", "block", "shmem_size", "config", "kernel"),
    "MemsetNode": ("dptr", "value", "element_size", "width", "height", "pitch"),
    "MemcpyNode": ("dst", "src", "size"),
    "ChildGraphNode": ("child_graph",),
    "EventRecordNode": ("event",),
    "EventWaitNode": ("event",),
    "HostCallbackNode": ("callback",),
    "ConditionalNode": ("condition", "cond_type", "branches"),
    "IfNode": ("then",),
    # CUDA destroys neither these nor anything in a graph that has some.
    "AllocNode": ("dptr", "bytesize", "device_id", "memory_type", "peer_access"),
    "FreeNode": ("dptr",),
    # As IfNode.
    "IfElseNode": ("then", "else_"),
    "WhileNode": ("body",),
}

PROTOCOLS = ("__getitem__", "__cuda_stream__", "__cuda_array_interface__", "__sub__")


# Data, and what comes from the standard library's class of sets.
ELSEWHERE = (
    "LaunchConfig",
    *(f"AdjacencySetProxy.{inherited}" for inherited in ("__sub__", "isdisjoint", "pop", "remove")),
)


def public_calls() -> set[str]:
    """Each public function, and each public method and property of a public class, by the class that has it."""
    public = {name: getattr(each, name) for each in (holdfast, graph_package) for name in each.__all__}
    calls = {name for name, value in public.items() if inspect.isfunction(value) or inspect.isbuiltin(value)}
    for name, value in public.items():
        if inspect.isclass(value) and not is_data(value):
            calls |= {f"{name}.{member}" for member in own_members(value, public)}
    return calls


def is_data(value: type) -> bool:
    """Exceptions, enumerations, named tuples and options have no calls of their own."""
    return issubclass(value, (BaseException, str, int, tuple)) or dataclasses.is_dataclass(value)


def own_members(value: type, public: dict[str, Any]) -> set[str]:
    """What is public in a class, unless it has it from a base class that is public itself."""
    known = {member for base in value.__mro__[1:] if public.get(base.__name__) is base for member in dir(base)}
    redefined = set(vars(value))
    members = {member for member in dir(value) if not member.startswith("_") or member in PROTOCOLS}
    return {member for member in members if member not in known or member in redefined}


def test_no_public_call_is_missing() -> None:
    told = {name for name, _, _ in TABLE}
    told |= {f"{name}.{member}" for name, members in ALWAYS_ANSWER.items() for member in members}
    missing = {name for name in public_calls() - told if not name.startswith(ELSEWHERE)}
    assert missing == set()
    # The table is about what there is.
    assert "GraphNode.memcpy" in public_calls() and len(public_calls()) > 150


def identify(row: Row) -> str:
    return f"{row[0]}-{row[1].__name__}"


# Covers: DL-03, EA-07, EM-08, GB-19, IH-14, NU-1, NU-2, TS-06, XU-02.
@pytest.mark.parametrize("row", TABLE, ids=identify)
def test_what_must_be_refused_is_refused_and_changes_nothing(row: Row) -> None:
    _, error, use = row
    world = World()
    # All that the row needs is made before the graph is looked at.
    with pytest.raises(error):
        use(world)
    before = world.graph.nodes(), world.graph.edges()
    with pytest.raises(error) as caught:
        use(world)
    assert (world.graph.nodes(), world.graph.edges()) == before
    assert str(caught.value)
    # A misuse is told by us; what only CUDA can tell is told with CUDA's name for it.
    assert isinstance(caught.value, DriverError) == (error is DriverError) or error is RuntimeError
    assert not isinstance(caught.value, DriverError) or caught.value.name.startswith("CUDA_ERROR_")


# Covers: DL-03, IH-14.
def test_what_always_answers_does(device: Device) -> None:
    world = World()
    of_nothing = [
        world.gone_graph,
        world.destroyed,
        world.condition,
        world.closed_builder,
        world.closed_executable,
        world.closed_stream,
        world.closed_event,
        world.closed_buffer,
        world.kernel,
        world.device,
        *world.destroyed_nodes.values(),
    ]
    for value in of_nothing:
        assert repr(value) and hash(value) == hash(value) and value == value  # noqa: PLR0124
        for base in type(value).__mro__:
            for member in ALWAYS_ANSWER.get(base.__name__, ()):
                getattr(value, member)
    for value in (world.gone_graph, world.destroyed, world.condition, world.device):
        assert value != 1 and value is not None


JUNK: list[Any] = [None, -1, 0, 1, 2**70, 1.5, "x", b"xy", object(), object, [], {}, (), print]


# Covers: NU-1.
def test_junk_is_refused_or_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each method of each object, good or gone, with junk in one, two and three places: an exception, or no harm."""
    monkeypatch.chdir(tmp_path)
    world = World()
    values = [
        world.graph,
        world.gone_graph,
        world.new_builder,
        world.closed_builder,
        world.executable,
        world.closed_executable,
        world.stream,
        world.closed_stream,
        world.event,
        world.closed_event,
        world.buffer,
        world.closed_buffer,
        world.module,
        world.kernel,
        world.device,
        *world.nodes.values(),
        *world.destroyed_nodes.values(),
        world.nodes["empty"].pred,
    ]
    refused = 0
    for value in values:
        for name, function in inspect.getmembers(type(value), inspect.isfunction):
            if name.startswith("_") or name in ("close", "destroy", "begin_building", "set_current"):
                continue
            for arguments in ([junk] * places for junk in JUNK for places in (1, 2, 3)):
                try:
                    function(value, *arguments)
                except (TypeError, ValueError, OverflowError, RuntimeError, KeyError):
                    refused += 1
    assert refused > 1000
