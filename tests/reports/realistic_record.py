"""A record as a run of the default suite leaves it, with all that a page can show: for looking at, and for the browser.

Made from a fixed seed: equal calls give equal records. Threads, objects, names and results are such as `holdfast run
--report=json:PATH` writes. `many_cases` is a record with as many cases as are asked for, `fuzz_record` one of `holdfast
fuzz`.
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


_LOOKED_UP = 100  # driver calls that the library looks up when it is loaded


class _Clock:
    """Writes moments, one after the other, with the queue and the reference counts that go with them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.moments: list[record.Moment] = []
        self.at = 0.0
        self.waiting: list[int] = []  # the owners whose payloads are in the queue
        self.objects = 0

    def add(self, thread: str, kind: str, name: str, took: float | None = None, **fields: object) -> None:
        values: dict[str, object] = {"duration_us": None if took is None else round(took, 3), **fields}
        self.moments.append(record.Moment(round(self.at, 3), thread, kind, name, **values))  # type: ignore[arg-type]

    def call(self, thread: str, name: str, usual: float = 1.5, **fields: object) -> None:
        took = usual * self.random.lognormvariate(0, 0.5)
        self.add(thread, "call", name, took, **fields)
        self.at += took + self.random.expovariate(1 / 1.5)

    def start(self) -> None:
        """What every process of a scenario begins with."""
        for _ in range(_LOOKED_UP):
            self.call("main", "cuGetProcAddress_v2", 4)
        for name, usual in (
            ("cuInit", 7),
            ("cuDeviceGet", 0.2),
            ("cuDevicePrimaryCtxRetain", 370),
            ("cuCtxSetCurrent", 5),
            ("cuStreamCreate", 2000),
            ("cuGraphCreate", 600),
        ):
            self.call("main", name, usual)

    def attach(self, thread: str, call: str, result: str = "") -> int:
        """A new user object goes to the graph before the call that gives a node its resources."""
        self.objects += 1
        number = self.objects
        for name in ("cuUserObjectCreate", "cuGraphRetainUserObject"):
            self.call(thread, name, object=f"object {number}", references=1)
        if result:
            self.at += 0.8
            self.add(thread, "fault", call, result=f"return {result}")
        self.call(thread, call, 4, result=result)
        return number

    def give_up(self, thread: str, number: int) -> None:
        """The graph's reference goes; the destructor comes on a thread of the driver, and asks for a drain."""
        name = f"object {number}"
        self.add(thread, "call", "cuGraphReleaseUserObject", 9.0, object=name, references=0)
        self.at += 4
        self.add(thread, "fault", "destructor", result="deliver")
        self.at += 40 + self.random.expovariate(1 / 300)
        self.add("callback-0", "destructor", name, 2.6, object=name, references=0)
        self.waiting.append(number)
        self.at += 1
        self.add("callback-0", "pending-call", "Py_AddPendingCall", 0.4, queue=len(self.waiting))
        self.at += 6

    def drain(self, thread: str) -> None:
        count = len(self.waiting)
        each, mode = 1.2, "cuThreadExchangeStreamCaptureMode"
        self.add(thread, "drain", "drain", each * count + 2 if count else 0.8, queue=0)
        self.at += 0.5
        if count:
            self.add(thread, "call", mode, 0.3)
            for place, number in enumerate(self.waiting):
                self.at += each
                self.add(thread, "release", f"owner {number}", queue=count - place - 1)
            self.at += 0.4
            self.add(thread, "call", mode, 0.2)
        self.waiting.clear()
        self.at += 3

    def timeline(self, finding: str) -> record.Timeline:
        if finding:
            self.add("main", "finding", finding)
        return record.Timeline(tuple(sorted(self.moments, key=lambda moment: moment.at_us)))


def _replacements(seed: int, finding: str, rounds: int = 14) -> record.Timeline:
    """Owners are replaced one by one, those of two more threads as well; the first one is never given up."""
    clock = _Clock(seed)
    clock.start()
    clock.attach("main", "cuGraphAddHostNode")
    clock.drain("main")
    held = clock.attach("main", "cuGraphNodeSetParams")
    for index in range(rounds):
        thread = f"subject-{index % 2}"
        other = clock.attach(thread, "cuGraphAddHostNode")
        if index == rounds // 2:
            clock.add("main", "step", "refused")
            refused = clock.attach("main", "cuGraphNodeSetParams", "CUDA_ERROR_OUT_OF_MEMORY")
            clock.give_up("main", refused)
        following = clock.attach("main", "cuGraphNodeSetParams")
        clock.give_up("main", held)
        clock.drain("main")
        held = following
        clock.give_up(thread, other)
        clock.call("main", "cuGraphHostNodeGetParams", 1)
    clock.call("main", "cuGraphLaunch", 60)
    clock.at += 20
    clock.add("callback-1", "host-function", "host function", 3.1)
    clock.at += 5
    clock.drain("main")
    return clock.timeline(finding)


def _case(scenario: str, variant: str, verdict: str, draw: random.Random, **fields: object) -> record.Case:
    counters = {
        "payloads": draw.randrange(4, 30),
        "wakeups_refused": draw.randrange(0, 9),
        "queue_length_peak": draw.randrange(1, 7),
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


_SCENARIO_RULES = (
    "cuGraphNodeSetParams:nth=2,return=CUDA_ERROR_OUT_OF_MEMORY",
    "cuGraphReleaseUserObject:nth=3,return=CUDA_ERROR_INVALID_VALUE",
    "cuGraphReleaseUserObject:nth=5,return=CUDA_ERROR_INVALID_VALUE,after=true",
    "destructor:deliver=thread",
)


def _failed(scenario: str, variant: str, draw: random.Random, finding: record.Finding, seed: int) -> record.Case:
    """A case that ended where its contract broke: it has counted nothing yet."""
    return _case(
        scenario,
        variant,
        "failed",
        draw,
        findings=(finding,),
        rules=tuple(
            record.Rule(text, "scenario", fired) for text, fired in zip(_SCENARIO_RULES, (1, 0, 0, 7), strict=True)
        ),
        faults=(
            record.Fault("destructor", 1, "main", 3, "deliver", None),
            record.Fault("cuGraphNodeSetParams", 2, "main", 0, "return", "CUDA_ERROR_OUT_OF_MEMORY"),
        ),
        counters={},
        output_tail="replacing the owner of node 3\nwaiting for the release ... 0 of 1\n",
        artifacts=f"{scenario}_{variant}_0",
        timeline=_replacements(seed, finding.kind),
    )


def _contract(scenario: str, variant: str) -> record.Finding:
    return record.Finding(
        "contract",
        "the owner is released exactly once: it was replaced (0 releases)",
        "scenarios/a1_replacement_releases_the_old_owners.cc:66",
        reproduce=_reproduce(scenario, variant),
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
    for index, variant in enumerate(_VARIANTS[:2]):
        cases[index] = _failed(_SCENARIOS[0], variant, draw, _contract(_SCENARIOS[0], variant), 3 + index)
    leak = record.Finding(
        "leak",
        "still alive at the end of the scenario: 1 user objects",
        "scenarios/cl_failed_clone_leaves_nothing.cc:31",
        reproduce=_reproduce(_SCENARIOS[4], "inline"),
    )
    cases[12] = _failed(_SCENARIOS[4], "inline", draw, leak, 5)
    crash = record.Finding(
        "crash",
        "it was ended by SIGABRT",
        stack=("holdfast model driver: cuGraphAddNode_v2: a graph is embedded in itself", *_STACK),
        reproduce=_reproduce(_SCENARIOS[7], "held"),
    )
    cases[23] = _case(_SCENARIOS[7], "held", "failed", draw, findings=(crash,), timeline=_replacements(9, "", 2))
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
            "filter": record.Option(None, "default"),
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
    cases[12] = _case(_SCENARIOS[4], "inline", "passed", draw)
    cases[30] = _case(_SCENARIOS[10], "inline", "failed", draw, findings=(gone,))
    for index in (4, 7, 9, 15, 27):
        cases[index] = _case(cases[index].scenario, cases[index].variant, "passed", draw)
    return dataclasses.replace(now, cases=tuple(cases), started="2024-12-24T18:00:00.000Z", seed="0x00000000000000aa")


def fuzz_record() -> record.Record:
    """One sequence with a finding, made short, in the only job."""
    file = "out/fuzz/3edf0286b5e8.fuzz"
    command = f"fuzz --driver=model --bug=fuzz-clone-forgets-grandchildren --replay={file}"
    reproduce = (f"holdfast {command}", f"bazel run //harness:holdfast -- {command}")
    finding = record.Finding("contract", "node 35 lacks owner 8", reproduce=reproduce)
    case = _case(
        "fuzz",
        "job-0",
        "failed",
        random.Random(11),
        findings=(finding,),
        counters={"operations": 295, "sequences": 8, "faults": 0, "elapsed_ms": 4},
        timeline=_replacements(6, ""),
        file="",
        line=0,
    )
    shrunk = record.Shrunk(
        fingerprint="3edf0286b5e8",
        kind=finding.kind,
        message=finding.message,
        operations=3,
        faults=0,
        operations_before=70,
        faults_before=10,
        replays=458,
        complete=True,
        note="",
        file=file,
        sequence=(
            "holdfast-fuzz 1 seed=0xb71d9c4521cfc9c5 reuse=at-once delivery=inline settle=1",
            "0 create g0",
            "0 embed g6 n5 g0 - -",
            "0 clone g6 g2",
        ),
    )
    fuzz = record.Fuzz(295, 8, 0.019, 15_427.9, (shrunk,))
    template = realistic_record()
    return dataclasses.replace(template, command="fuzz", cases=(case,), detection=(), operations=(), fuzz=fuzz)


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
