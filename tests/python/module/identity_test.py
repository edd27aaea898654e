"""Which Python object stands for which node or graph, before and after its end."""

from __future__ import annotations

import gc
import weakref

import pytest
from holdfast import Buffer, Device, Stream
from holdfast.graph import EmptyNode, GraphDefinition, GraphNode, GraphNodeType, HostCallbackNode, MemsetNode


# Covers: IH-09.
def test_the_same_object_comes_back_by_every_way(graph: GraphDefinition) -> None:
    first = graph.empty()
    second = first.callback(print)
    assert {id(node) for node in graph.nodes()} == {id(first), id(second)}
    ((start, end),) = graph.edges()
    assert start is first and end is second
    assert next(iter(first.succ)) is second
    assert next(iter(second.pred)) is first


# Covers: IH-10.
def test_a_node_without_wrapper_gets_one_of_its_kind_with_its_parameters(
    graph: GraphDefinition, buffer: Buffer
) -> None:
    graph.memset(buffer, 5, 16).callback(print)
    gc.collect()
    by_class = {type(node): node for node in graph.nodes()}
    assert set(by_class) == {MemsetNode, HostCallbackNode}
    fill = by_class[MemsetNode]
    assert (fill.dptr, fill.value, fill.element_size, fill.width, fill.height) == (buffer.handle, 5, 1, 16, 1)
    assert by_class[HostCallbackNode].callback is print


# Covers: IH-11.
def test_a_destroyed_node_is_forgotten_and_its_raw_value_means_the_new_one(graph: GraphDefinition) -> None:
    kept = graph.empty()
    old = graph.empty()
    old_hash = hash(old)
    old.destroy()
    new = graph.empty()
    assert new is not old and new != old and hash(old) == old_hash
    assert graph.nodes() == {kept, new}
    assert all(node is kept or node is new for node in graph.nodes())
    assert (old.is_valid, old.handle, old.type) == (False, None, None)


# Covers: IH-11.
def test_a_wrapper_goes_when_nobody_holds_it(graph: GraphDefinition) -> None:
    kept = graph.empty()
    gone = weakref.ref(graph.empty())
    gc.collect()
    assert gone() is None
    assert len(graph.nodes()) == 2 and kept in graph.nodes()


# Covers: IH-13.
def test_the_entry_stands_in_front_of_all_nodes_and_is_none(graph: GraphDefinition) -> None:
    entry = graph._entry
    assert (entry.type, entry.handle, entry.is_valid, type(entry)) == (None, None, True, GraphNode)
    assert set(entry.pred) == set() == set(entry.succ)
    entry.destroy()
    assert entry.is_valid
    assert entry == graph._entry and hash(entry) == hash(graph._entry) and entry != GraphDefinition()._entry
    assert set(entry.join().pred) == set()
    assert entry.graph == graph
    assert repr(entry) == "<GraphNode entry>"


# Covers: IH-14.
def test_a_graph_that_is_gone_equals_itself_alone(graph: GraphDefinition) -> None:
    first, second = graph.embed(GraphDefinition()), graph.embed(GraphDefinition())
    one, two = first.child_graph, second.child_graph
    again = first.child_graph
    hashes = hash(one), hash(two)
    first.destroy()
    second.destroy()
    assert (one.is_valid, one.handle) == (False, 0)
    assert one == again and one != two and (hash(one), hash(two)) == hashes and hash(again) == hash(one)
    assert repr(one) == "<GraphDefinition destroyed>"


# Covers: IH-15.
def test_two_executables_of_one_graph_differ(graph: GraphDefinition) -> None:
    graph.empty()
    one, two = graph.instantiate(), graph.instantiate()
    assert one != two and one == one and len({one, two}) == 2  # noqa: PLR0124 - equal to itself is half of it
    assert one.handle != two.handle


# Covers: IH-16.
def test_a_node_knows_its_graph(graph: GraphDefinition) -> None:
    node = graph.empty()
    assert node.graph == graph and hash(node.graph) == hash(graph)
    assert node.graph.handle == graph.handle
    assert node != graph
    node.destroy()
    assert node.graph == graph


# Covers: IH-04.
def test_a_node_of_an_embedded_graph_keeps_the_graphs_around_it() -> None:
    graph, child = GraphDefinition(), GraphDefinition()
    child.empty()
    embedded = graph.embed(child).child_graph
    (node,) = embedded.nodes()
    handle = graph.handle
    del graph, child, embedded
    gc.collect()
    assert node.is_valid and node.graph.is_valid and node.graph.handle != handle
    node.callback(print)
    assert len(node.graph.nodes()) == 2


# Covers: IH-12.
def test_an_event_comes_back_with_what_it_was_made_with(device: Device, graph: GraphDefinition) -> None:
    event = device.create_event({"timing_enabled": True, "blocking_sync": True})
    record = graph.record(event)
    wait = record.wait(event)
    assert record.event == event == wait.event
    del event, wait
    gc.collect()
    (waits,) = record.succ
    for node in (record, waits):
        assert node.event.is_timing_enabled and node.event.is_blocking_sync
    del record, waits, node


def test_kinds_have_cuda_names_and_numbers(graph: GraphDefinition) -> None:
    assert graph.empty().type is GraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY
    assert graph.callback(print).type == 3


def test_representations_say_what_it_is(graph: GraphDefinition, stream: Stream) -> None:
    node = graph.empty()
    assert repr(node) == f"<EmptyNode handle={node.handle:#x}>"
    node.destroy()
    assert repr(node) == "<EmptyNode destroyed>"
    executable = graph.instantiate()
    assert repr(executable) == f"<Graph handle={executable.handle:#x}>"
    executable.close()
    assert repr(executable) == "<Graph closed>"
    assert repr(stream.create_graph_builder()) == "<GraphBuilder primary, not started>"


@pytest.mark.parametrize("made_elsewhere", [GraphNode, EmptyNode])
def test_nodes_are_not_made_directly(made_elsewhere: type) -> None:
    with pytest.raises(RuntimeError):
        made_elsewhere()
