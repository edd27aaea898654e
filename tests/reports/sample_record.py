"""One record with a case of each verdict and text of every awkward sort, for the tests of all formats."""

from __future__ import annotations

from typing import Any

from reports import record

REPRODUCE = (
    "holdfast run --driver=model --seed=0x00000000deadbeef --filter=A2.exec-outlives-node/thread",
    "bazel test //scenarios:default_suite_test --test_filter=A2.exec-outlives-node/thread",
)

_MOMENTS = (
    record.Moment(0.0, "main", "step", "build"),
    record.Moment(1.5, "main", "call", "cuUserObjectCreate", 2.25, object="object 1", references=1),
    record.Moment(4.0, "main", "call", "cuGraphAddHostNode", 1.0, "CUDA_ERROR_OUT_OF_MEMORY"),
    record.Moment(4.5, "main", "fault", "cuGraphAddHostNode", result="return CUDA_ERROR_OUT_OF_MEMORY"),
    record.Moment(9.0, "delivery", "destructor", "object 1", 3.0, object="object 1", references=0),
    record.Moment(10.0, "delivery", "pending-call", "Py_AddPendingCall", 0.5, queue=1),
    record.Moment(14.0, "main", "drain", "drain", 6.0, queue=0),
    record.Moment(15.0, "main", "release", 'owner "a" <&>'),
    record.Moment(21.0, "main", "finding", "contract"),
)


def _case(scenario: str, variant: str, verdict: str, **fields: object) -> record.Case:
    defaults: dict[str, object] = {
        "run": 0,
        "seed": "0xffffffffffffffff",
        "plan_digest": "0123456789abcdef",
        "replay": f"hf2~run~{scenario}~{variant}~model~ffffffffffffffff~0~~89abcdef",
        "file": "scenarios/a2_exec_outlives_node.cc",
        "line": 14,
        "duration_ms": 12.5,
        "peak_rss_mb": 9.0,
    }
    values: dict[str, Any] = {**defaults, **fields}
    return record.Case(scenario=scenario, variant=variant, verdict=verdict, **values)


def sample_record() -> record.Record:
    """A run of six cases and a matrix of two cells."""
    passed = _case(
        "A2.exec-outlives-node",
        "inline",
        "passed",
        counters={"callbacks": 3, "peak queue length": 2},
        faults=(record.Fault("cuGraphAddHostNode", 2, "main", 0, "return", "CUDA_ERROR_OUT_OF_MEMORY"),),
        rules=(record.Rule("cuGraphAddHostNode:nth=2,return=CUDA_ERROR_OUT_OF_MEMORY", "scenario", 1),),
    )
    failed = _case(
        "A2.exec-outlives-node",
        "thread",
        "failed",
        findings=(
            record.Finding(
                "contract",
                'owner "a" <released> & gone\x1b[31m, ]]> and \ud800',
                "lib/attachments/bundle.cc:40",
                ("#0 Release() lib/attachments/bundle.cc:40", "#1 main"),
                REPRODUCE,
            ),
            record.Finding("leak", "1 graph", reproduce=REPRODUCE),
        ),
        output_tail="first line\n\ttabbed \x07 line",
        artifacts="A2.exec-outlives-node_thread_0",
        timeline=record.Timeline(_MOMENTS, left_out=7),
        minimised=record.Minimised(5, 1, 214, 3, 41, complete=False, note="the time was up"),
    )
    again = _case("A2.exec-outlives-node", "thread", "passed", run=1)
    return record.Record(
        version="0.1.0",
        command="run",
        seed="0x00000000deadbeef",
        driver="model",
        driver_library="/tree/fault/model/libcuda.so.1",
        driver_version=13000,
        interpreter="CPython 3.11.2",
        subject=record.Subject("scenario_runner", "00112233445566aa", ("address",)),
        plan_digest="cbf29ce484222325",
        started="2025-01-02T03:04:05.678Z",
        duration_ms=98.7,
        exit_code=1,
        not_run=1,
        notes=("the time was up with 1 case not run",),
        options={"seed": record.Option("0x00000000deadbeef", "command line"), "runs": record.Option(2, "default")},
        cases=(
            passed,
            failed,
            again,
            _case("A6.many-owners", "only", "skipped", reason="there is one GPU, and two are needed"),
            _case("A7.last-launch", "only", "inconclusive", reason="no oracle ran"),
            _case("A8.callback", "only", "error", reason="the case did not start"),
        ),
        detection=(
            record.Detection("early-release", "A2.exec-outlives-node", True, ("contract", "leak")),
            record.Detection("lost-wakeup", "A6.many-owners", False, (), "skipped: no GPU"),
        ),
    )
