"""The same programs with cuda.core.graph and with holdfast.graph, where cuda.core is installed.

Method: each program gets the package as an argument, and streams, events, memory and kernels from cuda.core. What it
returns, and on the model driver what is alive at each step, must be the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import holdfast
import holdfast.graph
import pytest
from kernels import code_of
from model_driver import MODEL
from settled import becomes_true, settle

core = pytest.importorskip("cuda.core")
core_graph = pytest.importorskip("cuda.core.graph")

PACKAGES = (core_graph, holdfast.graph)


class Resources:
    """What programs are made of, all of it from cuda.core."""

    def __init__(self) -> None:
        device = core.Device(0)
        device.set_current()
        self.device = device
        self.stream = device.create_stream()
        self.kernel = core.ObjectCode.from_ptx(code_of("add_one").encode()).get_kernel("add_one")
        self.config = core.LaunchConfig(grid=1, block=64)

    def buffer(self) -> Any:
        return self.device.allocate(64, stream=self.stream)

    def builder(self, package: Any) -> Any:
        if package is core_graph:
            return self.stream.create_graph_builder()
        return package.GraphBuilder.from_stream(self.stream)


def live() -> dict[str, int]:
    settle()
    return {} if MODEL is None else MODEL.live().counts()


def nodes_of(graph: Any) -> list[str]:
    return sorted(type(node).__name__ for node in graph.nodes())


def look_at(out: holdfast.Buffer, seen: list[int]) -> None:
    seen.append(out.view()[0])


def by_hand(package: Any, made: Resources) -> Any:
    seen: list[int] = []
    buffer, event, out = made.buffer(), made.device.create_event(), holdfast.Device(0).allocate_pinned(64)
    graph, child = package.GraphDefinition(), package.GraphDefinition()
    child.launch(made.config, made.kernel, buffer, 64)
    fill = graph.memset(buffer, 3, 64)
    kernel = fill.launch(made.config, made.kernel, buffer, 64)
    record = kernel.record(event)
    copy = record.wait(event).embed(child).memcpy(out.handle, buffer, 64, dst_owner=out)
    copy.callback(partial(look_at, out, seen))
    executable = graph.instantiate()
    executable.launch(made.stream)
    executable.launch(made.stream)
    executable[fill].update(dst=buffer, value=7, width=64)
    fill.update(value=11)
    executable.launch(made.stream)
    made.stream.sync()
    counts = [live()]
    same = record.event == event, kernel.kernel == made.kernel, kernel.config == made.config
    steps = nodes_of(graph), len(graph.edges()), (fill.value, fill.width, copy.size)
    del buffer, event, out, child, fill, kernel, record, copy
    counts.append(live())
    del graph
    counts.append(live())
    executable.close()
    del executable
    counts.append(live())
    return seen, same[0], same[1], steps, counts


def captured(package: Any, made: Resources) -> Any:
    seen: list[int] = []
    buffer = made.buffer()
    builder = made.builder(package).begin_building()
    core.launch(builder, made.config, made.kernel, buffer, 64)
    builder.callback(lambda: seen.append(1))
    first, second = builder.split(2)
    second.callback(lambda: seen.append(2))
    package.GraphBuilder.join(first, second)
    builder.end_building()
    definition = builder.graph_definition
    nodes = nodes_of(definition)
    definition.join(*definition.nodes()).callback(lambda: seen.append(3))
    executable = builder.complete()
    builder.close()
    executable.launch(made.stream)
    made.stream.sync()
    counts = [live()]
    del definition, builder, first, second
    counts.append(live())
    del executable, buffer
    counts.append(live())
    return seen, nodes, counts


def updated_whole(package: Any, made: Resources) -> Any:
    seen: list[str] = []
    graph, source = package.GraphDefinition(), package.GraphDefinition()
    graph.callback(lambda: seen.append("old"))
    source.callback(lambda: seen.append("new"))
    executable = graph.instantiate()
    executable.launch(made.stream)
    made.stream.sync()
    executable.update(source)
    del graph, source
    counts = [live()]
    executable.launch(made.stream)
    made.stream.sync()
    executable.close()
    counts.append(live())
    return seen, counts


@pytest.fixture(scope="module")
def resources() -> Resources:
    """For all tests: cuda.core never unloads code."""
    return Resources()


# Covers: EX-07, HC-08, RP-02.
@pytest.mark.parametrize("program", [by_hand, captured, updated_whole])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_same_results_and_the_same_lifetimes(
    resources: Resources, program: Callable[[Any, Resources], Any]
) -> None:
    results = []
    for package in PACKAGES:
        before = live()
        results.append(program(package, resources))
        assert becomes_true(lambda before=before: live() == before)
    assert results[0] == results[1]


def test_whatever_is_public_there_is_public_here() -> None:
    assert set(core_graph.__all__) <= set(holdfast.graph.__all__)
    for name in core_graph.__all__:
        theirs, ours = getattr(core_graph, name), getattr(holdfast.graph, name)
        missing = {member for member in dir(theirs) if not member.startswith("_")} - set(dir(ours))
        assert missing == set(), name
