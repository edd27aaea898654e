"""Conditional nodes, by hand and in a capture: bodies, conditions, and what runs."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest
from holdfast import Buffer, DriverError, LaunchConfig, Stream, launch
from holdfast.graph import (
    ConditionalNode,
    GraphBuilder,
    GraphCondition,
    GraphConditionalType,
    GraphDefinition,
    IfElseNode,
    IfNode,
    SwitchNode,
    WhileNode,
)
from kernels import load_kernel
from settled import Owner, is_kept, is_released

ONE_THREAD = LaunchConfig(grid=1, block=1)

ADDERS: list[tuple[str, tuple, type, str, int]] = [
    ("if_then", (), IfNode, "if", 1),
    ("if_else", (), IfElseNode, "if", 2),
    ("while_loop", (), WhileNode, "while", 1),
    ("switch", (3,), SwitchNode, "switch", 3),
]


# Covers: CB-01, CB-08.
@pytest.mark.parametrize(("method", "more", "kind", "word", "bodies"), ADDERS)
def test_each_kind_has_its_bodies(
    graph: GraphDefinition, method: str, more: tuple, kind: type, word: str, bodies: int
) -> None:
    condition = graph.create_condition()
    node = getattr(graph.empty(), method)(condition, *more)
    assert type(node) is kind and isinstance(node, ConditionalNode)
    assert node.condition == condition and node.cond_type == word and node.cond_type is GraphConditionalType(word)
    assert len(node.branches) == bodies == len(set(node.branches)) and node.branches == node.branches
    assert all(branch.is_valid and branch.nodes() == set() for branch in node.branches)
    named = {IfNode: ("then",), IfElseNode: ("then", "else_"), WhileNode: ("body",), SwitchNode: ()}[kind]
    assert [getattr(node, name) for name in named] == list(node.branches[: len(named)])
    assert next(iter(graph.nodes() - node.pred)) is node


# Covers: CB-03.
@pytest.mark.parametrize(("method", "more", "kind", "word", "bodies"), ADDERS)
def test_bodies_go_with_their_node(
    graph: GraphDefinition, buffer: Buffer, method: str, more: tuple, kind: type, word: str, bodies: int
) -> None:
    node = getattr(graph, method)(graph.create_condition(), *more)
    branches = node.branches
    owner = Owner()
    ref = weakref.ref(owner)
    inside = branches[-1].memset(buffer.handle, 1, 8, dst_owner=owner)
    del owner
    assert is_kept(ref)
    node.destroy()
    assert not inside.is_valid and not any(branch.is_valid for branch in branches)
    assert is_released(ref)
    with pytest.raises(RuntimeError):
        branches[0].empty()


# Covers: CB-02, IH-04.
def test_a_body_outlives_what_else_is_known_of_its_graph(buffer: Buffer) -> None:
    graph = GraphDefinition()
    body = graph.while_loop(graph.create_condition()).body
    del graph
    gc.collect()
    assert body.is_valid and body.nodes() == set()
    body.memset(buffer, 1, 8)
    assert len(body.nodes()) == 1


# Covers: CB-04.
def test_a_conditional_node_without_wrapper_gets_one_with_its_bodies(graph: GraphDefinition) -> None:
    body = graph.if_then(graph.create_condition()).then
    gc.collect()
    (node,) = graph.nodes()
    assert isinstance(node, ConditionalNode) and node.branches == (body,)


# Covers: CB-05, CB-06.
@pytest.mark.parametrize(("method", "more", "kind", "word", "bodies"), ADDERS)
def test_conditions_that_are_none_or_of_another_graph(
    graph: GraphDefinition, stream: Stream, method: str, more: tuple, kind: type, word: str, bodies: int
) -> None:
    builder = stream.create_graph_builder().begin_building()
    foreign = GraphDefinition().create_condition()
    for add in (getattr(graph, method), getattr(graph.empty(), method), getattr(builder, method)):
        for wrong, error in ((1, TypeError), (None, TypeError), (graph, TypeError), (foreign, ValueError)):
            with pytest.raises(error):
                add(wrong, *more)
    assert len(graph.nodes()) == 1


# Covers: CB-06.
def test_counts_of_a_switch(graph: GraphDefinition, stream: Stream) -> None:
    builder = stream.create_graph_builder().begin_building()
    for count, error in ((0, DriverError), (-1, OverflowError), (2**32, OverflowError), ("1", TypeError)):
        with pytest.raises(error):
            graph.switch(graph.create_condition(), count)
        if count != 0:
            with pytest.raises(error):
                builder.switch(builder.create_condition(), count)


# Covers: CB-08.
def test_defaults_of_a_condition(graph: GraphDefinition) -> None:
    one, two = graph.create_condition(), graph.create_condition(2**32 - 1)
    assert one != two and one == one and len({one, two}) == 2 and one.handle != two.handle  # noqa: PLR0124
    assert repr(one) == f"<GraphCondition handle={one.handle:#x}>"
    for default, error in ((-1, OverflowError), (2**32, OverflowError), ("1", TypeError), (1.0, TypeError)):
        with pytest.raises(error):
            graph.create_condition(default)
    with pytest.raises(RuntimeError):
        GraphCondition()


def add_by_hand(stream: Stream, build: Callable[[GraphDefinition, GraphCondition], None], default: int) -> None:
    graph = GraphDefinition()
    build(graph, graph.create_condition(default))
    graph.instantiate().launch(stream)
    stream.sync()


# Covers: CB-07.
@pytest.mark.parametrize("value", [0, 1, 2, 7])
def test_the_condition_decides_which_bodies_run(stream: Stream, pinned: Buffer, value: int) -> None:
    address = pinned.handle

    def mark(body: GraphDefinition, place: int) -> None:
        body.memset(address + place, 1, 1, dst_owner=pinned)

    def if_then(graph: GraphDefinition, condition: GraphCondition) -> None:
        mark(graph.if_then(condition).then, 0)

    def if_else(graph: GraphDefinition, condition: GraphCondition) -> None:
        node = graph.if_else(condition)
        mark(node.then, 1)
        mark(node.else_, 2)

    def switch(graph: GraphDefinition, condition: GraphCondition) -> None:
        for index, body in enumerate(graph.switch(condition, 3).branches):
            mark(body, 3 + index)

    for build in (if_then, if_else, switch):
        add_by_hand(stream, build, value)
    expected = [value != 0, value != 0, value == 0, value == 0, value == 1, value == 2]
    assert list(pinned.view()[:6]) == [int(each) for each in expected]


# Covers: CB-07, CB-09, HC-08.
def test_a_loop_by_hand_counts(graph: GraphDefinition, stream: Stream, pinned: Buffer) -> None:
    condition = graph.create_condition(1)
    body = graph.while_loop(condition).body
    body.launch(ONE_THREAD, load_kernel("count_up_to"), condition, pinned, 5)
    graph.instantiate().launch(stream)
    stream.sync()
    assert pinned.view()[0] == 5


# Covers: CB-07, CB-09, CB-10, GB-07, GB-23.
def test_bodies_are_captured_or_built_by_hand(stream: Stream, pinned: Buffer) -> None:
    # A capture keeps no kernels.
    set_condition, count_up_to = load_kernel("set_condition"), load_kernel("count_up_to")
    builder = stream.create_graph_builder().begin_building()
    condition = builder.create_condition(1)
    launch(builder, ONE_THREAD, set_condition, condition, 0)
    then, otherwise = builder.if_else(condition)
    assert isinstance(then, GraphBuilder) and not then.is_building and not then.is_join_required
    # By hand, without a capture.
    then.graph_definition.memset(pinned, 1, 8)
    # Captured, then extended, with another conditional node in it.
    otherwise.begin_building()
    with pytest.raises(RuntimeError):
        otherwise.graph_definition  # noqa: B018 - that asking raises is the point
    Buffer.from_handle(pinned.handle + 8, 8, owner=pinned).fill(2, stream=otherwise)
    counted = otherwise.create_condition(1)
    loop = otherwise.while_loop(counted)
    loop.begin_building()
    launch(loop, ONE_THREAD, count_up_to, counted, Buffer.from_handle(pinned.handle + 16, 8), 3)
    loop.end_building()
    otherwise.end_building()
    otherwise.graph_definition.memset(pinned.handle + 24, 4, 8, dst_owner=pinned)
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert bytes(pinned.view()[:32]) == bytes(8) + b"\2" * 8 + b"\3" + bytes(7) + b"\4" * 8


# Covers: CB-10.
def test_a_conditional_node_on_a_fork(stream: Stream, pinned: Buffer) -> None:
    builder, fork = stream.create_graph_builder().begin_building().split(2)
    body = fork.if_then(builder.create_condition(1))
    body.graph_definition.memset(pinned, 9, 8)
    first, *_ = fork.switch(fork.create_condition(0), 2)
    first.graph_definition.memset(pinned.handle + 8, 8, 8, dst_owner=pinned)
    GraphBuilder.join(builder, fork)
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert bytes(pinned.view()[:16]) == b"\x09" * 8 + b"\x08" * 8


# Covers: GB-25.
def test_conditional_nodes_need_a_capture(stream: Stream) -> None:
    builder = stream.create_graph_builder()
    condition = builder.begin_building().create_condition()
    builder.if_then(condition)
    builder.end_building()
    with pytest.raises(RuntimeError):
        builder.create_condition()
    for method, more, *_ in ADDERS:
        with pytest.raises(RuntimeError):
            getattr(builder, method)(condition, *more)
