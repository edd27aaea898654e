"""A record as a run of the default suite leaves it, with all that a page can show: for looking at, and for the browser.

Made from a fixed seed: equal calls give equal records. `many_cases` is one with as many cases as are asked for.
"""

from __future__ import annotations

import dataclasses
import random

from reports import record

_SCENARIOS = (
    "A1.replacement-releases-the-old-owners",
    "A2.exec-outlives-node",
    "A6.many-owners",
    "B3.wakeup-is-never-lost",
    "CL.failed-clone-leaves-nothing",
    "CU.refused-child-update-changes-nothing",
    "DC.python-main-thread-is-busy",
    "EM.moved-graph-keeps-its-handles",
    "ER.memory-nodes-run",
    "HZ.root-without-memory",
    "IH.nodes-come-back",
    "SH.python-fork",
)
_VARIANTS = ("inline", "thread", "held")
_BUGS = (
    "old-reference-never-released",
    "early-release",
    "lost-wakeup",
    "clone-forgets-grandchildren",
    "own-hierarchy-accepted",
    "moved-root-destroyed-again",
    "drain-holds-its-lock",
    "tombstone-freed-early",
)
_STACK = (
    "#0 holdfast::attachments::Bundle::Release() lib/attachments/bundle.cc:40:3",
    "#1 holdfast::cleanup::CleanupQueue::Drain(unsigned long) lib/cleanup/cleanup_queue.cc:118:9",
    "#2 holdfast::graph::GraphDefinition::Replace(holdfast::graph::Node, holdfast::attachments::Owners) "
    "lib/graph/graph_definition.cc:233:14",
    "#3 (anonymous namespace)::Run(holdfast::scenario::Context&) "
    "scenarios/a1_replacement_releases_the_old_owners.cc:66:5",
    "#4 main harness/scenario/scenario_main.cc:91:12",
)


class _Clock:
    """Writes moments on a few threads, with the queue and the reference counts that go with them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.moments: list[record.Moment] = []
        self.at = 0.0
        self.references: dict[str, int] = {}
        self.waiting: list[str] = []

    def add(self, thread: str, kind: str, name: str, took: float | None = None, **fields: object) -> None:
        values: dict[str, object] = {"duration_us": None if took is None else round(took, 3), **fields}
        self.moments.append(record.Moment(round(self.at, 3), thread, kind, name, **values))  # type: ignore[arg-type]

    def call(self, thread: str, name: str, delta: int = 0, which: str = "", result: str = "") -> None:
        took = self.random.lognormvariate(1.0, 0.7)
        if which:
            self.references[which] = self.references.get(which, 0) + delta
            self.add(thread, "call", name, took, object=which, references=self.references[which], result=result)
        else:
            self.add(thread, "call", name, took, result=result)
        self.at += took + self.random.expovariate(1 / 3)

    def destroy(self, which: str) -> None:
        self.references[which] = 0
        took = self.random.lognormvariate(0.9, 0.4)
        self.add("delivery", "destructor", which, took, object=which, references=0)
        self.at += took * 0.4
        self.waiting.append(which)
        self.add("delivery", "pending-call", "Py_AddPendingCall", 0.4, queue=len(self.waiting))
        self.at += took

    def drain(self, thread: str) -> None:
        each = self.random.uniform(2, 5)
        count = len(self.waiting)
        self.add(thread, "drain", "drain", each * count + 3, queue=0)
        for which in self.waiting:
            self.at += each
            self.add(thread, "release", which, object=which)
        self.waiting.clear()
        self.at += 4


def _timeline(seed: int, rounds: int = 46) -> record.Timeline:
    """About 300 moments over 4 threads; one of the objects is never given up."""
    clock = _Clock(seed)
    clock.add("main", "step", "build")
    objects = [f"object {index}" for index in range(1, 8)]
    for each in objects:
        clock.call("main", "cuUserObjectCreate", 1, each)
        clock.call("main", "cuGraphRetainUserObject", 1, each)
    for index in range(rounds):
        worker = "worker 1" if index % 3 else "worker 2"
        start = clock.at
        clock.call(worker, "cuGraphAddHostNode")
        clock.call("main", "cuGraphExecHostNodeSetParams", 1, clock.random.choice(objects[:4]))
        if index == rounds // 2:
            clock.add("main", "step", "replace")
            clock.add("main", "fault", "cuGraphNodeSetParams", result="return CUDA_ERROR_OUT_OF_MEMORY")
            clock.call("main", "cuGraphNodeSetParams", result="CUDA_ERROR_OUT_OF_MEMORY")
        clock.call(worker, "cuGraphLaunch")
        clock.add("delivery", "host-function", "callback of node 3", clock.random.lognormvariate(1.4, 0.3))
        clock.at += 5
        which = clock.random.choice(objects[:4])
        clock.call("main", "cuGraphReleaseUserObject", -1 if clock.references[which] > 1 else 0, which)
        if index % 5 == 2 and objects[4:]:
            clock.call("main", "cuUserObjectRelease", -clock.references[objects[-1]], objects[-1])
            clock.destroy(objects.pop())
        if index % 7 == 5:
            clock.add("main", "context", "capture", clock.at - start + 12)
            clock.drain("main")
    for each in objects[1:]:
        clock.call("main", "cuUserObjectRelease", -clock.references[each], each)
        clock.destroy(each)
    clock.at += 30
    clock.drain("main")
    clock.at += 25
    clock.add("main", "finding", "contract: the owner is released exactly once")
    moments = sorted(clock.moments, key=lambda moment: moment.at_us)
    return record.Timeline(tuple(moments), left_out=112)


def _case(scenario: str, variant: str, verdict: str, draw: random.Random, **fields: object) -> record.Case:
    counters = {
        "callbacks": draw.randrange(4, 30),
        "drains": draw.randrange(1, 9),
        "wakeups": draw.randrange(2, 20),
        "peak queue length": draw.randrange(1, 7),
        "leaked at shutdown": 0,
    }
    values: dict[str, object] = {
        "run": 0,
        "seed": f"0x{draw.getrandbits(64):016x}",
        "plan_digest": "cbf29ce484222325",
        "replay": f"hf2~run~{scenario}~{variant}~model~0000000001c0ffee~0~~4e2325aa",
        "counters": counters,
        "duration_ms": round(draw.lognormvariate(3.2, 0.9), 1),
        "peak_rss_mb": round(draw.uniform(8, 40), 1),
        "file": f"scenarios/{scenario.lower().replace('.', '_').replace('-', '_')}.cc",
        "line": draw.randrange(20, 120),
        **fields,
    }
    return record.Case(scenario=scenario, variant=variant, verdict=verdict, **values)  # type: ignore[arg-type]


def _reproduce(scenario: str, variant: str) -> tuple[str, str]:
    name = f"{scenario}/{variant}"
    return (
        f"holdfast run --driver=model --seed=0x0000000001c0ffee --filter={name} --bug=old-reference-never-released",
        f"bazel run //harness:holdfast -- run --driver=model --seed=0x0000000001c0ffee --filter={name} "
        "--bug=old-reference-never-released",
    )


def _failed(scenario: str, variant: str, draw: random.Random, seed: int) -> record.Case:
    contract = record.Finding(
        "contract",
        "the owner is released exactly once: it was replaced (0 releases)",
        "scenarios/a1_replacement_releases_the_old_owners.cc:66",
        _STACK,
        _reproduce(scenario, variant),
    )
    leak = record.Finding("leak", "1 user object is alive at the end: object 1", reproduce=contract.reproduce)
    rule = "cuGraphNodeSetParams:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY"
    fault = record.Fault("cuGraphNodeSetParams", 1, "main", 0, "return", "CUDA_ERROR_OUT_OF_MEMORY")
    return _case(
        scenario,
        variant,
        "failed",
        draw,
        findings=(contract, leak),
        rules=(record.Rule(rule, "user", 1), record.Rule("destructor:deliver=thread", "scenario", 7)),
        faults=(fault,),
        output_tail="building the graph\nreplacing the owner of node 3\nwaiting for the release ... 0 of 1\n",
        artifacts=f"{scenario}_{variant}_0",
        timeline=_timeline(seed),
    )


def _operation(scenario: str, draw: random.Random, failed: int = 0) -> record.Operation:
    before, after, double = draw.randrange(20, 140), draw.randrange(10, 90), draw.randrange(0, 30)
    transient = (before + after) // 2
    return record.Operation(
        scenario=scenario,
        sites=("alloc", "cuGraphAddHostNode", "cuGraphRetainUserObject", "cuUserObjectCreate")[: draw.randrange(2, 5)],
        points=before + after,
        before=before,
        after=after,
        transient=transient,
        persistent=before + after - transient,
        alloc=draw.randrange(2, 20),
        double=double,
        not_after=draw.randrange(0, 6),
        not_after_reasons={"an allocation that failed has allocated nothing": ("alloc",)},
        runs=before + after + 9,
        failed=failed,
    )


def _detection(draw: random.Random) -> tuple[record.Detection, ...]:
    cells = []
    for bug in _BUGS:
        for scenario in sorted(draw.sample(_SCENARIOS, draw.randrange(1, 5))):
            missed = bug == "drain-holds-its-lock"
            kinds = () if missed else tuple(draw.sample(("contract", "leak", "crash", "hang"), draw.randrange(1, 3)))
            reason = "skipped: there is no interpreter without the GIL" if missed else ""
            cells.append(record.Detection(bug, scenario, not missed, kinds, reason))
    return tuple(cells)


def _cases(draw: random.Random) -> tuple[record.Case, ...]:
    cases = [_case(scenario, variant, "passed", draw) for scenario in _SCENARIOS for variant in _VARIANTS]
    cases[0] = _failed(_SCENARIOS[0], "inline", draw, 3)
    cases[1] = _failed(_SCENARIOS[0], "thread", draw, 4)
    crash = record.Finding(
        "crash",
        "it was ended by SIGABRT",
        stack=("holdfast model driver: cuGraphAddNode_v2: a graph is embedded in itself",),
        reproduce=_reproduce(_SCENARIOS[7], "held"),
    )
    cases[23] = _case(_SCENARIOS[7], "held", "failed", draw, findings=(crash,), timeline=_timeline(9, 12))
    cases[18] = _case(_SCENARIOS[6], "inline", "skipped", draw, reason="there is no interpreter without the GIL")
    cases[35] = _case(_SCENARIOS[11], "held", "inconclusive", draw, reason="the fault cuGraphClone:nth=2 did not fire")
    return tuple(cases)


def realistic_record() -> record.Record:
    draw = random.Random(7)
    return record.Record(
        version="0.1.0",
        command="run",
        seed="0x0000000001c0ffee",
        driver="model",
        driver_library="fault/model/libcuda.so.1",
        driver_version=13000,
        interpreter="CPython 3.11.2",
        subject=record.Subject("scenario_runner", "00112233445566aa"),
        plan_digest="cbf29ce484222325",
        started="2025-01-02T03:04:05.678Z",
        duration_ms=14_210.0,
        exit_code=1,
        notes=("the model driver was taken: there is no NVIDIA driver here",),
        options={
            "seed": record.Option("0x0000000001c0ffee", "command line"),
            "bug": record.Option("old-reference-never-released", "command line"),
            "runs": record.Option(1, "default"),
            "jobs": record.Option(2, "default"),
            "timeout": record.Option("60s", "environment HOLDFAST_TIMEOUT"),
        },
        cases=_cases(draw),
        detection=_detection(draw),
        operations=tuple(_operation(name, draw, failed=int(name.startswith("HZ"))) for name in _SCENARIOS[:11]),
    )


def realistic_baseline() -> record.Record:
    """The same some time ago: one finding less, one that is gone by now, and other figures."""
    now = realistic_record()
    draw = random.Random(8)
    gone = record.Finding("hang", "it took longer than 60 s", "scenarios/ih_nodes_come_back.cc:181")
    cases = list(now.cases)
    cases[0] = _case(_SCENARIOS[0], "inline", "passed", draw)
    cases[1] = _case(_SCENARIOS[0], "thread", "passed", draw)
    cases[30] = _case(_SCENARIOS[10], "inline", "failed", draw, findings=(gone,))
    for index in (4, 7, 12, 15, 27):
        cases[index] = _case(cases[index].scenario, cases[index].variant, "passed", draw)
    return dataclasses.replace(now, cases=tuple(cases), started="2024-12-24T18:00:00.000Z", seed="0x00000000000000aa")


def many_cases(count: int, every: int = 1000) -> record.Record:
    """A record with `count` cases, of which one in `every` failed."""
    draw = random.Random(9)
    template = realistic_record()
    failed, passed = template.cases[0], template.cases[2]
    cases = tuple(
        dataclasses.replace(
            failed if index % every == 0 else passed,
            scenario=_SCENARIOS[index % len(_SCENARIOS)],
            variant=_VARIANTS[index // len(_SCENARIOS) % 3],
            run=index // (3 * len(_SCENARIOS)),
            duration_ms=draw.randrange(100, 100_000) / 10,
        )
        for index in range(count)
    )
    return dataclasses.replace(template, cases=cases)
