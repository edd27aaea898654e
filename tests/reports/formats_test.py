"""What the readers of SARIF, Markdown, TAP and JSON lines each need of their format."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import unittest
from pathlib import Path
from typing import Any

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

from reports import (
    html_report,
    json_lines_report,
    json_report,
    junit_report,
    markdown_report,
    sarif_report,
    tap_report,
)
from reports.fingerprint import fingerprint
from reports.read_json_lines import CUT_OFF_NOTE, are_json_lines, read_json_lines
from reports.read_report import ReportError
from reports.record import Finding, Record
from tests.reports.hostile_records import large_record
from tests.reports.sample_record import REPRODUCE, sample_record


def _with_findings(*findings: Finding, copies: int = 1) -> Record:
    record = sample_record()
    failed = dataclasses.replace(record.cases[1], findings=findings)
    cases = tuple(dataclasses.replace(failed, variant=f"v{number}") for number in range(copies))
    return dataclasses.replace(record, cases=cases)


def _sarif_run(record: Record) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(sarif_report.render(record))["runs"][0]
    return run


class SarifTest(unittest.TestCase):
    def test_results_are_the_findings_with_the_fingerprint_that_github_matches(self) -> None:
        case = sample_record().cases[1]
        results = _sarif_run(sample_record())["results"]
        self.assertEqual(["contract", "leak"], [result["ruleId"] for result in results])
        expected = [f"{fingerprint(case.scenario, finding)}:1" for finding in case.findings]
        self.assertEqual(expected, [result["partialFingerprints"]["primaryLocationLineHash"] for result in results])

    def test_the_place_is_that_of_the_finding_or_of_a_frame_or_of_the_scenario(self) -> None:
        for finding, path, line in (
            (Finding("leak", "m", "lib/a.cc:7"), "lib/a.cc", 7),
            (Finding("leak", "m", "/b/sandbox/1/execroot/main/lib/a.cc:7"), "lib/a.cc", 7),
            (Finding("leak", "m", "/x/t.runfiles/main/scenarios/python/a.py:7"), "scenarios/python/a.py", 7),
            (Finding("leak", "m", "/usr/include/c++/12/bits/a.h:7", ("#0 f /usr/a.c:1", "#1 g() lib/b.cc:9:3")),
             "lib/b.cc", 9),
            (Finding("leak", "m", "../../etc/a.c:7"), "scenarios/a2_exec_outlives_node.cc", 14),
            (Finding("leak", "m", "lib/a b%.cc:0"), "scenarios/a2_exec_outlives_node.cc", 14),
        ):  # fmt: skip
            with self.subTest(finding=finding):
                place = _sarif_run(_with_findings(finding))["results"][0]["locations"][0]["physicalLocation"]
                self.assertEqual((path, line), (place["artifactLocation"]["uri"], place["region"]["startLine"]))

    def test_one_fault_in_many_cases_is_one_result(self) -> None:
        results = _sarif_run(_with_findings(Finding("leak", "3 graphs"), copies=40))["results"]
        self.assertEqual([40], [result["occurrenceCount"] for result in results])

    def test_a_finding_without_a_line_of_source_is_counted_in_a_notification(self) -> None:
        record = _with_findings(Finding("deadlock", "m"))
        record = dataclasses.replace(record, cases=(dataclasses.replace(record.cases[0], file="", line=0),))
        run = _sarif_run(record)
        self.assertEqual([], run["results"])
        texts = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
        self.assertIn("1 finding without a line of source, in the full report only", texts)

    def test_what_github_would_refuse_is_left_out_and_counted(self) -> None:
        findings = [Finding("leak", "m", stack=(f"#0 F{number}() lib/a.cc:{number + 1}",)) for number in range(26_000)]
        run = _sarif_run(_with_findings(*findings))
        self.assertEqual(sarif_report.MOST_RESULTS, len(run["results"]))
        texts = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
        self.assertIn("1,000 more findings, in the full report only", texts)

    def test_a_run_without_findings_has_an_empty_list_so_that_alerts_close(self) -> None:
        run = _sarif_run(dataclasses.replace(sample_record(), cases=(), detection=(), exit_code=0))
        self.assertEqual([], run["results"])
        self.assertTrue(run["invocations"][0]["executionSuccessful"])

    def test_the_flow_has_each_thread_and_the_order_over_all_of_them(self) -> None:
        flow = _sarif_run(sample_record())["results"][0]["codeFlows"][0]
        self.assertEqual(["main", "delivery"], [thread["id"] for thread in flow["threadFlows"]])
        orders = [step["executionOrder"] for thread in flow["threadFlows"] for step in thread["locations"]]
        self.assertEqual(list(range(1, 10)), sorted(orders))
        self.assertEqual("7 moments before these are left out", flow["message"]["text"])

    def test_a_kind_of_the_subjects_own_has_a_rule_too(self) -> None:
        run = _sarif_run(_with_findings(Finding("no such <kind>!", "m"), Finding("", "m")))
        ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertEqual(["no-such-kind", "other"], [ids[result["ruleIndex"]] for result in run["results"]])

    def test_runs_on_other_drivers_or_with_sanitizers_do_not_replace_each_other(self) -> None:
        self.assertRegex(_sarif_run(sample_record())["automationDetails"]["id"], "^holdfast/run/model/address/.+")


class ReplayTest(unittest.TestCase):
    def test_a_replay_string_is_whole_wherever_it_stands(self) -> None:
        for length in (1_000, 15_990):
            string = "hf2~" + "x" * length
            record = _with_findings(Finding("leak", "m" * 5_000, reproduce=(f"holdfast replay '{string}'", "by bazel")))
            record = dataclasses.replace(record, cases=(dataclasses.replace(record.cases[0], replay=string),))
            for report in (html_report, json_report, json_lines_report, junit_report, markdown_report, tap_report):
                with self.subTest(report=report.__name__, length=length):
                    self.assertEqual({string}, set(re.findall("hf2~x+", report.render(record).decode())))
            (result,) = _sarif_run(record)["results"]
            shown = re.findall("hf2~x+", result["message"]["text"])
            self.assertEqual([string] if length < 3_000 else [], shown, "a part of one is of no use")


class MarkdownTest(unittest.TestCase):
    def test_the_commands_that_take_a_finding_again_are_there(self) -> None:
        text = markdown_report.render(sample_record()).decode()
        for command in REPRODUCE:
            self.assertIn(f"\nreproduce: {command}\n", text)

    def test_a_page_that_is_full_says_what_is_left_out(self) -> None:
        content = markdown_report.render(large_record(20_000))
        self.assertLessEqual(len(content), markdown_report.MOST_BYTES)
        self.assertRegex(content.decode(), r"\n[1-9][0-9]+ more findings: the page is full")

    def test_equal_findings_are_shown_once(self) -> None:
        record = dataclasses.replace(_with_findings(Finding("leak", "3 graphs"), copies=40), detection=())
        text = markdown_report.render(record).decode()
        self.assertEqual(1, text.count("<details>"))
        self.assertIn("(and in 39 more cases)", text)


class TapTest(unittest.TestCase):
    def test_the_plan_comes_last_and_once(self) -> None:
        lines = tap_report.render(sample_record()).decode().splitlines()
        self.assertEqual("1..8", lines[-1])
        self.assertEqual(1, sum(line.startswith("1..") for line in lines))

    def test_a_run_that_goes_on_has_no_plan(self) -> None:
        self.assertNotIn("\n1..", tap_report.render(dataclasses.replace(sample_record(), exit_code=None)).decode())

    def test_a_run_that_was_interrupted_bails_out(self) -> None:
        record = dataclasses.replace(sample_record(), interrupted="SIGINT", exit_code=130)
        self.assertEqual("Bail out! interrupted by SIGINT", tap_report.render(record).decode().splitlines()[-1])


class JsonLinesTest(unittest.TestCase):
    def test_what_was_written_reads_back_as_it_was(self) -> None:
        content = json_lines_report.render(sample_record())
        self.assertTrue(are_json_lines(content))
        self.assertEqual((sample_record(), False), read_json_lines(content))

    def test_lines_without_an_end_are_a_run_that_was_cut_off(self) -> None:
        lines = json_lines_report.render(sample_record()).splitlines(keepends=True)
        for kept, rest, cases in ((len(lines) - 1, b"", 6), (3, b"", 2), (3, lines[3][:50], 2), (1, b"", 0)):
            with self.subTest(kept=kept, rest=rest):
                record, is_cut_off = read_json_lines(b"".join(lines[:kept]) + rest)
                self.assertTrue(is_cut_off)
                self.assertIsNone(record.exit_code)
                self.assertEqual((CUT_OFF_NOTE,), record.notes)
                self.assertEqual(sample_record().cases[:cases], record.cases)

    def test_lines_of_another_version_are_lines(self) -> None:
        newer = json_lines_report.render(sample_record()).replace(
            b"holdfast-report-lines/1", b"holdfast-report-lines/27"
        )
        self.assertTrue(are_json_lines(newer))

    def test_of_a_run_that_was_cut_off_a_later_line_of_a_case_counts(self) -> None:
        first, second, *_ = sample_record().cases
        later = dataclasses.replace(first, verdict="inconclusive", reason="no oracle ran")
        lines = [json_lines_report.case_line(case) for case in (first, second, later)]
        record, _ = read_json_lines(b"".join([json_lines_report.head_line(sample_record()), *lines]))
        self.assertEqual((later, second), record.cases)

    def test_what_are_no_lines_of_one_run_is_refused(self) -> None:
        whole = json_lines_report.render(sample_record())
        lines = whole.splitlines(keepends=True)
        for broken, says in (
            (b"", "empty"),
            (lines[0][:30], "line 1: it was cut off"),
            (
                whole.replace(b"holdfast-report-lines/1", b"holdfast-report-lines/2"),
                "line 1: it is of another version: this command",
            ),
            (whole.replace(b"holdfast-report-lines/1", b"something-else/1"), "line 1: it is no head"),
            (b"".join([lines[0], lines[0], *lines[1:]]), "line 2: it is no case"),
            (b"".join([*lines[:3], b"{]\n", *lines[3:]]), "line 4: it is no JSON"),
            (b"".join([*lines, lines[1]]), "line 8: it is no case"),
            (b"".join([*lines, b"{"]), f"line {len(lines) + 1}: there is something behind the end"),
            (b"".join([*lines, b"\n"]), "it is no JSON"),
            (b"\xef\xbb\xbf" + whole, "line 1: it is no JSON: it begins with a byte order mark"),
            (whole.replace(b'"run":0', b'"run":-1', 1), "/cases/0/run: it is -1 and must be at least 0"),
            (whole.replace(b'"order":[0,1', b'"order":[0,0'), "order"),
            (whole.replace(b'"order":[0,1', b'"order":[0,7'), "order"),
            (whole.replace(b'"order":[0,1,', b'"order":[0,'), "its order leaves out line 3"),
            (whole.replace(b'"started"', b'"begun"'), "line 1: its members"),
            (whole.replace(b'"passed":2', b'"passed":1'), "/summary"),
            (whole.replace(b'"fingerprint":"', b'"fingerprint":"x', 1), "fingerprint"),
        ):
            with self.subTest(says=says):
                self.assertNotEqual(whole, broken)
                with self.assertRaisesRegex(ReportError, says):
                    read_json_lines(broken)


if __name__ == "__main__":
    unittest.main()
