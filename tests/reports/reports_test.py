"""The report formats against golden files, against the schema, and against what the readers of each format need.

After a wanted change, `python3 tests/reports/reports_test.py --update` from the root of the tree rewrites the golden
files; the difference is then part of the change.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import operator
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

import jsonschema

from reports import (
    json_lines_report,
    json_report,
    junit_report,
    markdown_report,
    sarif_report,
    tap_report,
    trace_report,
)
from reports.fingerprint import fingerprint
from reports.read_report import ReportError, read_report
from reports.record import NO_PLAN, Finding, Fuzz, Operation, Option, Record, Shrunk
from tests.reports.sample_record import REPRODUCE, sample_record

GOLDEN = {
    "run.json": json_report.render,
    "run.jsonl": json_lines_report.render,
    "run.md": markdown_report.render,
    "run.sarif": sarif_report.render,
    "run.tap": tap_report.render,
    "run.trace.json": trace_report.render,
    "run.xml": junit_report.render,
}
SCHEMA = json.loads((TREE / "reports" / "report.schema.json").read_text())


def _validate(content: bytes) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(content))


# What is checked where it is used, or by other means.
_ELSEWHERE = ("replay", "schedule")


def _violations(schema: Any, value: Any, pointer: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str, Any]]:
    """For each bound in the schema that a part of `value` keeps: where, which, and a value that breaks it."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        schema = SCHEMA["$defs"][schema["anyOf"][1]["$ref"].rpartition("/")[2]]
    bad = {"minimum": -1, "maximum": 1e13, "enum": "no such word", "pattern": "no such form", "minLength": ""}
    if value is not None and pointer[-1:] not in [(name,) for name in _ELSEWHERE]:
        yield from ((pointer, asked, bad[asked]) for asked in bad if asked in schema)
    if isinstance(value, dict):
        for name, part in schema.get("properties", {}).items():
            yield from _violations(part, value[name], (*pointer, name))
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _violations(schema["items"], entry, (*pointer, index))


def _cases(record: Record) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(junit_report.render(record)).iter("testcase"))


class GoldenTest(unittest.TestCase):
    def test_each_format_renders_the_sample_as_it_stands_in_the_golden_file(self) -> None:
        for name, render in GOLDEN.items():
            with self.subTest(file=name):
                self.assertEqual((TREE / "reports" / "golden" / name).read_text(), render(sample_record()).decode())

    def test_rendering_leaves_the_record_alone(self) -> None:
        record = sample_record()
        for render in GOLDEN.values():
            self.assertEqual(render(record), render(record))
        self.assertEqual(sample_record(), record)


class JsonReportTest(unittest.TestCase):
    def test_the_schema_is_a_schema(self) -> None:
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_the_sample_meets_the_schema(self) -> None:
        _validate(json_report.render(sample_record()))

    def test_a_run_without_any_case_meets_the_schema(self) -> None:
        _validate(json_report.render(dataclasses.replace(sample_record(), cases=(), detection=(), exit_code=None)))

    def test_the_schema_refuses_a_failed_case_without_a_finding(self) -> None:
        record = sample_record()
        broken = dataclasses.replace(record.cases[1], findings=())
        with self.assertRaises(jsonschema.ValidationError):
            _validate(json_report.render(dataclasses.replace(record, cases=(broken,))))

    def test_the_schema_refuses_a_seed_that_is_a_number(self) -> None:
        document = json.loads(json_report.render(sample_record()))
        document["seed"] = 7
        with self.assertRaises(jsonschema.ValidationError):
            _validate(json.dumps(document).encode())

    def test_what_was_written_reads_back_as_it_was(self) -> None:
        self.assertEqual(sample_record(), read_report(json_report.render(sample_record())))

    def test_what_is_no_whole_report_of_this_version_is_refused(self) -> None:
        whole = json_report.render(sample_record())
        for broken, says in (
            (b" \n", "empty"),
            (whole[: len(whole) // 2], "cut off"),
            (b"[]", "no schema"),
            (whole.replace(b"holdfast-report/1", b"holdfast-report/2"), "another version"),
            (whole.replace(b'"exit_code": 1', b'"exit_code": "1"'), "/exit_code"),
            (whole.replace(b'"passed": 2', b'"passed": 1'), "/summary"),
            (whole.replace(b'"exit_code": 1', b'"not_run": 0, "exit_code": 1'), "/not_run"),
            (whole.replace(b'"exit_code": 1', b'"passed_points": 0, "exit_code": 1'), "/passed_points"),
            (whole.replace(b'"run": 0', b'"walk": 0', 1), "unknown member 'walk'"),
            (whole.replace(b'"run": 0', b'"line": 0', 1), "twice"),
            (whole.replace(b'"fingerprint": "', b'"fingerprint": "x', 1), "fingerprint"),
            (whole.replace(b'"verdict": "skipped"', b'"verdict": "failed"', 1), "failed with 0 findings"),
        ):
            with self.subTest(says=says):
                self.assertNotEqual(whole, broken)
                with self.assertRaisesRegex(ReportError, says):
                    read_report(broken)

    def test_what_the_schema_refuses_the_reader_refuses(self) -> None:
        count = dict.fromkeys(("points", "before", "after", "transient", "persistent", "alloc", "double"), 1)
        swept = Operation("A1.a", ("cuCreate",), **count, not_after=0, not_after_reasons={}, runs=1, failed=0)
        shrunk = Shrunk("0" * 12, "leak", "", 1, 1, 2, 2, 3, True, "", "file")
        whole = json_report.document(
            dataclasses.replace(sample_record(), operations=(swept,), fuzz=Fuzz(1, 1, 1.0, 1.0, (shrunk,)))
        )
        jsonschema.Draft202012Validator(SCHEMA).validate(whole)
        read_report(json.dumps(whole).encode())
        tried = set()
        for pointer, asked, value in _violations(SCHEMA, whole, ()):
            with self.subTest(pointer=pointer, value=value):
                broken = copy.deepcopy(whole)
                functools.reduce(operator.getitem, pointer[:-1], broken)[pointer[-1]] = value
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.Draft202012Validator(SCHEMA).validate(broken)
                with self.assertRaises(ReportError):
                    read_report(json.dumps(broken).encode())
                tried.add(asked)
        self.assertEqual({"minimum", "maximum", "enum", "pattern", "minLength"}, tried)

    def test_what_no_run_can_have_written_is_refused(self) -> None:
        record = dataclasses.replace(
            sample_record(),
            plan_digest=NO_PLAN,
            options={"plan": Option(None, "default"), "fault": Option((), "default")},
        )
        self.assertEqual(record, read_report(json_report.render(record)))
        passed = dataclasses.replace(record.cases[0], findings=record.cases[1].findings)
        for broken, says in (
            (dataclasses.replace(record, started="2025-02-30T00:00:00Z"), "/started"),
            (dataclasses.replace(record, started="2025-01-01T25:00:00Z"), "/started"),
            (dataclasses.replace(record, started="2025-01-01T00:00:00"), "/started"),
            (dataclasses.replace(record, exit_code=0), "/exit_code: it is 0, and a case is failed"),
            (dataclasses.replace(record, cases=(passed,)), "passed with 2 findings"),
            (dataclasses.replace(record, cases=record.cases[2:]), "/exit_code: it is 1, and no case is failed"),
            (dataclasses.replace(record, cases=(*record.cases, record.cases[1])), "/cases/1: it is there twice"),
            (dataclasses.replace(record, options={"x": Option({"a": 1}, "default")}), "/options/x/value"),
            (dataclasses.replace(record, options={"x": Option(([[["a"]]],), "default")}), "/options/x/value"),
            (dataclasses.replace(record, plan_digest="1" * 16), "neither a plan nor a fault"),
            (
                dataclasses.replace(
                    record, options={**record.options, "fault": Option(("alloc:fail",), "command line")}
                ),
                "has faults",
            ),
        ):
            with self.subTest(says=says), self.assertRaisesRegex(ReportError, says):
                read_report(json_report.render(broken))

    def test_only_a_sweep_has_passed_more_often_than_its_cases_say(self) -> None:
        for command in ("run", "selftest", "fuzz", "explore", "sweep"):
            record = dataclasses.replace(sample_record(), command=command, passed_points=3)
            with self.subTest(command=command):
                if command == "sweep":
                    self.assertEqual(record, read_report(json_report.render(record)))
                    continue
                with self.assertRaisesRegex(ReportError, "/summary"):
                    read_report(json_report.render(record))

    def test_the_summary_counts_each_verdict(self) -> None:
        document = json.loads(json_report.render(sample_record()))
        self.assertEqual(
            {"passed": 2, "failed": 1, "errors": 1, "skipped": 1, "inconclusive": 1, "not_run": 1}, document["summary"]
        )


def _race(*stacks: str) -> Finding:
    """A finding with these stacks, each a text of functions."""
    lines = [
        f"#{number} {name} /a/lib/x.cc:{number + 7}" for stack in stacks for number, name in enumerate(stack.split())
    ]
    return Finding("data-race", "at 0x7f00", stack=tuple(lines))


class FingerprintTest(unittest.TestCase):
    def assert_same(self, *findings: Finding) -> None:
        self.assertEqual(1, len({fingerprint("A2", finding) for finding in findings}), findings)

    def assert_different(self, *findings: Finding) -> None:
        self.assertEqual(len(findings), len({fingerprint("A2", finding) for finding in findings}), findings)

    def test_runs_builds_and_machines_make_no_difference(self) -> None:
        self.assert_same(
            Finding("race", "at 0x7f00", stack=("#0 0x55d0 in Release() /a/lib/bundle.cc:40:3", "#1 main")),
            Finding("race", "at 0x8f11", stack=("#0 0x66d0 in Release() /b/lib/bundle.cc:41:9", "#1 main")),
        )
        self.assert_same(Finding("leak", "3 graphs at 0xff in /a/b/x"), Finding("leak", "12 graphs at 0xa in /c/x"))
        self.assert_same(Finding("contract", "3 runs", "lib/a.cc:4"), Finding("contract", "5 runs", "a.cc:5"))
        self.assert_same(
            Finding("leak", "", stack=("#0 0x1 in Make (/a/scenario_runner+0xa3f2) (BuildId: aa11)",)),
            Finding("leak", "", stack=("#0 0x2 in Make (/b/scenario_runner+0xbb) (BuildId: 22cc)",)),
        )

    def test_threads_and_output_make_no_difference(self) -> None:
        self.assert_same(
            Finding(
                "hang", "it did not end within 20s", stack=("Thread 2 (Thread 0x7f1 (LWP 4711))", "#0 0x1 in Wait ()")
            ),
            Finding(
                "hang", "it did not end within 20s", stack=("Thread 1 (Thread 0x8f1 (LWP 12))", "#0 0x2 in Wait ()")
            ),
        )
        self.assert_same(
            Finding("crash", "it was ended by SIGSEGV", stack=("pid 17: begins", "0.3 ms")),
            Finding("crash", "it was ended by SIGSEGV", stack=("pid 18: begins",)),
        )
        self.assert_same(
            Finding("hang", "", stack=("thread 4711 a: S",)), Finding("hang", "", stack=("thread 12 a: S",))
        )
        self.assert_same(_race("Read f main", "Write g main"), _race("Write g main", "Read f main"))

    def test_another_fault_has_another(self) -> None:
        finding = Finding("leak", "1 graph")
        self.assert_different(
            finding,
            dataclasses.replace(finding, kind="contract"),
            dataclasses.replace(finding, message="1 stream"),
            dataclasses.replace(finding, stack=("#0 Clone()",)),
            dataclasses.replace(finding, place="a.cc:4"),
            dataclasses.replace(finding, place="a.cc:4", message="another check of the same file"),
            dataclasses.replace(finding, place="b.cc:4"),
        )
        self.assertNotEqual(fingerprint("A2", finding), fingerprint("A3", finding))
        runtime = "malloc std::f std::g operator_new std::h std::i"
        self.assert_different(_race(f"{runtime} Mine"), _race(f"{runtime} Other"))
        self.assert_different(_race("Read f", "Write g"), _race("Read f", "Write h"))


class JunitReportTest(unittest.TestCase):
    def test_class_and_name_are_unique_also_over_runs(self) -> None:
        names = [(case.get("classname"), case.get("name")) for case in _cases(sample_record())]
        self.assertEqual(len(names), len(set(names)), names)

    def test_each_verdict_has_its_element(self) -> None:
        outcomes = [[child.tag for child in case if child.tag != "properties"] for case in _cases(sample_record())]
        self.assertEqual([[], ["failure"], [], ["skipped"], ["error"], ["error"], [], ["failure"]], outcomes)

    def test_the_counts_are_those_of_the_elements(self) -> None:
        root = ElementTree.fromstring(junit_report.render(sample_record()))
        for element in [root, *root.iter("testsuite")]:
            self.assertEqual(str(len(list(element.iter("testcase")))), element.get("tests"))
            self.assertEqual(str(len(list(element.iter("failure")))), element.get("failures"))
            self.assertEqual(str(len(list(element.iter("error")))), element.get("errors"))
            self.assertEqual(str(len(list(element.iter("skipped")))), element.get("skipped"))

    def test_the_failure_text_starts_with_what_replays_it(self) -> None:
        text = _cases(sample_record())[1].find("failure").text  # type: ignore[union-attr]
        assert text
        self.assertEqual(["seed", "replay", "plan_digest"], [line.split(":")[0] for line in text.splitlines()[:3]])
        for command in REPRODUCE:
            self.assertIn(f"reproduce: {command}", text)

    def test_no_forbidden_character_survives_and_none_vanishes_unseen(self) -> None:
        content = junit_report.render(sample_record()).decode()
        self.assertNotIn("]]>", content)
        for letter in ("\x1b", "\x07", "\ud800"):
            self.assertNotIn(letter, content)
        self.assertIn(r"\x1b[31m", content)

    def test_files_are_relative(self) -> None:
        for case in _cases(sample_record())[:6]:
            self.assertFalse(str(case.get("file")).startswith("/"))

    def test_a_run_without_any_case_is_a_valid_file(self) -> None:
        root = ElementTree.fromstring(junit_report.render(dataclasses.replace(sample_record(), cases=(), detection=())))
        self.assertEqual("0", root.get("tests"))


def _update() -> None:
    for name, render in GOLDEN.items():
        (TREE / "reports" / "golden" / name).write_bytes(render(sample_record()))


if __name__ == "__main__":
    if "--update" in sys.argv:
        _update()
    else:
        unittest.main()
