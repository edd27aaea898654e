"""`pred` and `succ`: mutable sets that change the graph."""

from __future__ import annotations

import pytest
from holdfast import DriverError
from holdfast.graph import AdjacencySetProxy, GraphDefinition, GraphNode


@pytest.fixture
def nodes(graph: GraphDefinition) -> tuple[GraphNode, ...]:
    """Four nodes without edges."""
    return tuple(graph.empty() for _ in range(4))


# Covers: DL-07.
def test_they_behave_as_mutable_sets(nodes: tuple[GraphNode, ...]) -> None:
    a, b, c, d = nodes
    a.succ.add(b)
    a.succ.add(b)
    a.succ.update([c], d)
    assert set(a.succ) == {b, c, d} and len(a.succ) == 3 and b in a.succ and a not in a.succ and 1 not in a.succ
    a.succ.discard(b)
    a.succ.discard(b)
    a.succ.remove(c)
    with pytest.raises(KeyError):
        a.succ.remove(c)
    assert a.succ == {d} and d.pred == {a}
    assert (a.succ | {b}, a.succ & {b}, a.succ - {d}, a.succ ^ {b}) == ({b, d}, set(), set(), {b, d})
    assert a.succ <= {b, d} and a.succ.isdisjoint({b})
    assert isinstance(a.succ | {b}, set)
    assert a.succ.pop() is d and not a.succ
    assert repr(a.succ) == "{}" and isinstance(a.succ, AdjacencySetProxy)


# Covers: DL-07.
def test_operators_in_place_change_the_graph(nodes: tuple[GraphNode, ...]) -> None:
    a, b, c, d = nodes
    d.pred |= {a, b, c}
    assert d.pred == {a, b, c} and all(node.succ == {d} for node in (a, b, c))
    d.pred -= {a}
    assert d.pred == {b, c}
    d.pred &= {b}
    assert d.pred == {b} and c.succ == set()
    d.pred.clear()
    assert d.pred == set() == b.succ


# Covers: DL-07.
def test_assigning_replaces_all_edges(nodes: tuple[GraphNode, ...]) -> None:
    a, b, c, d = nodes
    d.pred = [a, b]
    d.pred = {b, c}
    assert d.pred == {b, c} and a.succ == set()
    b.succ = ()
    assert d.pred == {c} and b.succ == set()
    c.succ = iter([a, b])
    assert c.succ == {a, b}


# Covers: DL-07.
@pytest.mark.parametrize("direction", ["pred", "succ"])
def test_what_is_no_node_is_refused_and_nothing_changes(nodes: tuple[GraphNode, ...], direction: str) -> None:
    a, b, *_ = nodes
    setattr(a, direction, [b])
    neighbours = getattr(a, direction)
    for change in (
        lambda: neighbours.add(1),
        lambda: neighbours.discard(None),
        lambda: neighbours.update([nodes[2], "x"]),
        lambda: neighbours.update(1),
        lambda: setattr(a, direction, [nodes[2], 1]),
        lambda: setattr(a, direction, 1),
    ):
        with pytest.raises(TypeError):
            change()
    with pytest.raises(ValueError, match="entry"):
        neighbours.add(a.graph._entry)
    with pytest.raises(ValueError, match="entry"):
        setattr(a.graph._entry, direction, [b])
    assert neighbours == {b}


# Covers: DL-07, ER-01.
def test_a_change_that_fails_midway_is_taken_back(nodes: tuple[GraphNode, ...]) -> None:
    a, b, c, d = nodes
    stranger = GraphDefinition().empty()
    a.succ = [b]
    with pytest.raises(RuntimeError, match="another graph"):
        a.succ = [c, d, stranger]
    assert a.succ == {b} and c.pred == set() == d.pred
    with pytest.raises(DriverError) as caught:
        a.succ.update([c], [a])
    assert caught.value.name == "CUDA_ERROR_INVALID_VALUE"
    assert a.succ == {b} and c.pred == set()


# Covers: DL-06.
def test_a_node_that_goes_takes_its_own_edges_only(graph: GraphDefinition, nodes: tuple[GraphNode, ...]) -> None:
    a, b, c, d = nodes
    a.succ = [b, d]
    b.succ = [c]
    b.destroy()
    assert graph.edges() == {(a, d)}
    c.pred = [a]
    assert graph.edges() == {(a, d), (a, c)}


# Covers: DL-03.
def test_a_destroyed_node_has_no_neighbours_and_gets_none(nodes: tuple[GraphNode, ...]) -> None:
    a, b, *_ = nodes
    a.succ = [b]
    a.destroy()
    assert set(a.succ) == set() == set(a.pred) == set(b.pred)
    for change in (lambda: a.succ.add(b), lambda: b.pred.add(a), lambda: setattr(b, "pred", [a])):
        with pytest.raises(RuntimeError, match="destroyed"):
            change()
    a.succ.discard(b)


# Covers: ER-05.
def test_joins_depend_on_all_and_may_have_one(graph: GraphDefinition, nodes: tuple[GraphNode, ...]) -> None:
    a, b, *_ = nodes
    assert graph.join(a, b).pred == {a, b} == a.join(b).pred
    assert graph.join(a).pred == {a} == a.join().pred == a.join(graph._entry).pred
    assert graph.join().pred == set()
