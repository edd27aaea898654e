"""One of everything, in all the states in which it refuses what is asked of it: made when first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from holdfast import Buffer, Device, Event, Kernel, LaunchConfig, Module, Stream
from holdfast.graph import Graph, GraphBuilder, GraphCondition, GraphDefinition, GraphNode
from kernels import load_kernel

NODE_KINDS = ("empty", "kernel", "memset", "memcpy", "child", "record", "wait", "callback", "conditional")


class World:
    """Its attributes are objects that work; `gone_...`, `closed_...`, `destroyed_...` and `other_...` ones do not."""

    @cached_property
    def device(self) -> Device:
        return Device(0)

    @cached_property
    def stream(self) -> Stream:
        return self.device.create_stream()

    @cached_property
    def event(self) -> Event:
        return self.device.create_event()

    @cached_property
    def buffer(self) -> Buffer:
        return self.device.allocate(64)

    @cached_property
    def pinned(self) -> Buffer:
        return self.device.allocate_pinned(64)

    @cached_property
    def kernel(self) -> Kernel:
        return load_kernel("add_one")

    @cached_property
    def module(self) -> Module:
        return Module.from_code(".version 7.8\n.target sm_70\n.address_size 64\n")

    @cached_property
    def config(self) -> LaunchConfig:
        return LaunchConfig(grid=1, block=64)

    @cached_property
    def arguments(self) -> tuple[Any, ...]:
        return self.buffer, 64

    @cached_property
    def graph(self) -> GraphDefinition:
        return GraphDefinition()

    @cached_property
    def condition(self) -> GraphCondition:
        return self.graph.create_condition()

    def new_node(self, graph: GraphDefinition, kind: str) -> Any:
        """A node of any kind but those of memory, with which CUDA destroys no node."""
        return {
            "empty": graph.empty,
            "kernel": lambda: graph.launch(self.config, self.kernel, *self.arguments),
            "memset": lambda: graph.memset(self.buffer, 1, 8),
            "memcpy": lambda: graph.memcpy(self.buffer, self.pinned, 8),
            "child": lambda: graph.embed(GraphDefinition()),
            "record": lambda: graph.record(self.event),
            "wait": lambda: graph.wait(self.event),
            "callback": lambda: graph.callback(print),
            "conditional": lambda: graph.if_then(graph.create_condition()),
        }[kind]()

    @cached_property
    def nodes(self) -> dict[str, Any]:
        """One of each kind, in the graph."""
        return {kind: self.new_node(self.graph, kind) for kind in NODE_KINDS}

    @cached_property
    def destroyed_nodes(self) -> dict[str, Any]:
        """One of each kind, which were in the graph."""
        nodes = {kind: self.new_node(self.graph, kind) for kind in NODE_KINDS}
        for node in nodes.values():
            node.destroy()
        return nodes

    @cached_property
    def destroyed(self) -> GraphNode:
        return self.destroyed_nodes["empty"]

    @cached_property
    def gone_graph(self) -> GraphDefinition:
        node = self.graph.embed(GraphDefinition())
        graph = node.child_graph
        node.destroy()
        return graph

    @cached_property
    def other_graph(self) -> GraphDefinition:
        return GraphDefinition()

    @cached_property
    def other_node(self) -> GraphNode:
        return self.other_graph.empty()

    @cached_property
    def other_condition(self) -> GraphCondition:
        return self.other_graph.create_condition()

    @cached_property
    def executable(self) -> Graph:
        return self.other_graph.instantiate()

    @cached_property
    def closed_executable(self) -> Graph:
        return self._closed(self.other_graph.instantiate())

    def view(self, kind: str) -> Any:
        """Of a node in an executable."""
        return self.graph.instantiate()[self.nodes[kind]]

    def closed_view(self, kind: str) -> Any:
        """Of a node in an executable that is closed."""
        node = self.nodes[kind]
        executable = self.graph.instantiate()
        view = executable[node]
        executable.close()
        return view

    @cached_property
    def builder(self) -> GraphBuilder:
        """Capturing."""
        return self.stream.create_graph_builder().begin_building()

    @cached_property
    def new_builder(self) -> GraphBuilder:
        return self.device.create_graph_builder()

    @cached_property
    def ended_builder(self) -> GraphBuilder:
        return self.device.create_graph_builder().begin_building().end_building()

    @cached_property
    def fork(self) -> GraphBuilder:
        return self.builder.split(2)[1]

    @cached_property
    def closed_builder(self) -> GraphBuilder:
        builder = self.device.create_graph_builder()
        builder.close()
        return builder

    @cached_property
    def closed_stream(self) -> Stream:
        return self._closed(self.device.create_stream())

    @cached_property
    def closed_event(self) -> Event:
        return self._closed(self.device.create_event())

    @cached_property
    def closed_buffer(self) -> Buffer:
        return self._closed(self.device.allocate(16))

    @staticmethod
    def _closed(resource: Any) -> Any:
        resource.close()
        return resource
