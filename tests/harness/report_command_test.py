"""`holdfast report`: its verbs over reports in files and on the standard input, and what they refuse."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

import jsonschema
from command import TREE, Answer, FakeTree

from harness.cli import report_files, report_input
from harness.cli.cli import main
from harness.cli.session import Console
from harness.cli.values import REPORT_FORMATS
from reports import json_report, junit_report
from reports.read_report import read_report
from reports.record import Option, Record
from tests.reports.sample_record import REPRODUCE, sample_record

SAMPLE = sample_record()
SCHEMA = json.loads((TREE / "reports" / "report.schema.json").read_text())


class ReportTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.sample = self.report_file("sample.json", SAMPLE)

    def report_file(self, name: str, record: Record) -> str:
        path = self.root / name
        path.write_bytes(json_report.render(record))
        return str(path)

    def report(self, *arguments: str, stdin: bytes = b"", color: str = "no") -> Answer:
        """In this process; on a standard output that is a file, since reports are bytes."""
        out, err = io.StringIO(), io.StringIO()
        with mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin))):
            code = main(["report", f"--color={color}", *arguments], {}, Console(out, err))
        return Answer(code, out.getvalue(), err.getvalue())

    def assert_refused(self, answer: Answer, *words: str, code: int = 2) -> None:
        self.assertEqual(code, answer.code, answer)
        self.assertEqual(1, answer.err.count("\n"), answer.err)
        for word in words:
            self.assertIn(word, answer.err)


class VerbTest(ReportTest):
    def test_verbs_are_needed_known_and_in_the_help(self) -> None:
        self.assert_refused(self.report(), "needs a verb: convert, merge, diff, show")
        self.assert_refused(self.report("shwo"), "no verb 'shwo'; did you mean show?")
        text = FakeTree(self.root, []).holdfast("report", "--help").out
        for word in (
            "convert REPORT ",
            "merge REPORT ...",
            "diff OLD NEW",
            "show REPORT [CASE-GLOB]",
            "of convert, merge",
        ):
            self.assertIn(word, text)

    def test_an_option_of_another_verb_is_told_apart(self) -> None:
        said = self.report("diff", "a", "b", "--report=json:-")
        self.assert_refused(said, "report diff has no option --report; it belongs to report convert, report merge")

    def test_arguments_are_counted(self) -> None:
        for arguments, form in (
            (("convert",), "takes REPORT, and 0 are given"),
            (("convert", "a", "b"), "takes REPORT, and 2"),
            (("merge",), "takes REPORT ..., and 0"),
            (("diff", "a"), "takes OLD NEW, and 1"),
            (("show",), "takes REPORT [CASE-GLOB], and 0"),
            (("show", "a", "b", "c"), "and 3"),
        ):
            self.assert_refused(self.report(*arguments), form)

    def test_what_cannot_be_read_is_one_sentence_for_every_verb(self) -> None:
        bad = self.root / "bad.json"
        bad.write_bytes(json_report.render(SAMPLE)[:-100])
        for arguments in (
            ("convert", str(bad), "--report=json:-"),
            ("merge", self.sample, str(bad), "--report=json:-"),
            ("diff", self.sample, str(bad)),
            ("show", str(bad)),
        ):
            self.assert_refused(self.report(*arguments), "bad.json cannot be used", "cut off")
        self.assert_refused(self.report("show", "/nope"), "cannot be read: No such file")
        self.assert_refused(self.report("show", "-"), "it is empty")
        self.assert_refused(self.report("diff", "-", "-"), "can be read once only")

    def test_what_is_too_large_is_not_read_in_part(self) -> None:
        whole = json_report.render(SAMPLE)
        with mock.patch.object(report_input, "_MOST_BYTES", len(whole) - 1):
            self.assert_refused(self.report("show", self.sample), "larger than")
            self.assert_refused(self.report("show", "-", stdin=whole), "- is larger than")
        with mock.patch.object(report_input, "_MOST_BYTES", len(whole)):
            self.assertEqual(0, self.report("show", self.sample).code)
            self.assertEqual(0, self.report("show", "-", stdin=whole).code)


class ConvertTest(ReportTest):
    def test_a_report_that_is_read_is_not_replaced(self) -> None:
        before = Path(self.sample).read_bytes()
        answer = self.report("convert", self.sample, f"--report=markdown:{self.sample}")
        self.assertEqual(2, answer.code)
        self.assertIn("would replace a report that is read", answer.err)
        self.assertEqual(before, Path(self.sample).read_bytes())

    def test_a_hostile_file_name_cannot_reach_the_terminal(self) -> None:
        answer = self.report("show", "f\x1b[31m\n::error::x.json")
        self.assertEqual(2, answer.code)
        self.assertNotIn("\x1b", answer.err)
        self.assertEqual(1, answer.err.count("\n"))

    def test_every_format_can_be_converted_to(self) -> None:
        for name in REPORT_FORMATS:
            with self.subTest(format=name):
                path = self.root / "out"
                self.assertEqual(0, self.report("convert", self.sample, f"--report={name}:{path}").code)
                self.assertTrue(path.read_bytes())

    def test_several_at_once_and_from_the_standard_input(self) -> None:
        first, second = self.root / "a.json", self.root / "b.xml"
        targets = (f"--report=json:{first}", f"--report=junit:{second}")
        answer = self.report("convert", "-", *targets, stdin=json_report.render(SAMPLE))
        self.assertEqual((0, "", ""), (answer.code, answer.out, answer.err))
        self.assertEqual(json_report.render(SAMPLE), first.read_bytes())
        self.assertEqual(junit_report.render(SAMPLE), second.read_bytes())

    def test_to_the_standard_output(self) -> None:
        tree = FakeTree(self.root, [])
        done = subprocess.run(
            tree.command_line("report", "convert", self.sample, "--report=json:-"),
            env=tree.environment(),
            capture_output=True,
            check=False,
        )
        self.assertEqual((0, json_report.render(SAMPLE), b""), (done.returncode, done.stdout, done.stderr))

    def test_a_format_has_to_be_named(self) -> None:
        self.assert_refused(self.report("convert", self.sample), "--report=FORMAT:PATH")

    def test_a_baseline_goes_to_the_formats_that_compare(self) -> None:
        seen: list[Record | None] = []

        def compares(record: Record, baseline: Record | None = None) -> bytes:
            seen.append(baseline)
            return b""

        with (
            mock.patch.object(report_files, "COMPARING", ("junit",)),
            mock.patch("harness.cli.report_command.COMPARING", ("junit",)),
            mock.patch.dict(report_files.RENDERERS, {"junit": compares}),
        ):
            old = self.report_file("old.json", dataclasses.replace(SAMPLE, seed="0x0000000000000001"))
            targets = (f"--report=junit:{self.root}/a", f"--report=json:{self.root}/b")
            self.assertEqual(0, self.report("convert", self.sample, f"--baseline={old}", *targets).code)
            self.assertEqual(0, self.report("convert", self.sample, *targets).code)
        self.assertEqual([dataclasses.replace(SAMPLE, seed="0x0000000000000001"), None], seen)

    def test_a_baseline_that_no_format_looks_at_is_refused(self) -> None:
        said = self.report("convert", self.sample, f"--baseline={self.sample}", f"--report=json:{self.root}/a")
        self.assert_refused(said, "--baseline: none of these formats compares")

    def test_a_report_that_cannot_be_written(self) -> None:
        said = self.report("convert", self.sample, "--report=json:/proc/no/file")
        self.assert_refused(said, "the report json:/proc/no/file cannot be written: No such file or directory")
        said = self.report("convert", self.sample, "--report=json:/dev/full")
        self.assert_refused(said, "the report /dev/full was not written: No space left on device", code=3)


# Of the sample: the cases, and the exit code that comes of them.
HALVES: tuple[dict[str, Any], ...] = (
    {"cases": SAMPLE.cases[::2], "exit_code": 5},
    {"cases": SAMPLE.cases[1::2], "exit_code": 1},
)


class MergeTest(ReportTest):
    def test_shards_become_one_report(self) -> None:
        halves = [
            self.report_file(f"{index}.json", dataclasses.replace(SAMPLE, **half, detection=()))
            for index, half in enumerate(HALVES)
        ]
        path = self.root / "merged.json"
        self.assertEqual(0, self.report("merge", *halves, f"--report=json:{path}").code)
        self.assertEqual(SAMPLE.cases, read_report(path.read_bytes()).cases)

    def test_a_merged_report_meets_the_schema(self) -> None:
        jobs = dataclasses.replace(SAMPLE, options={"jobs": Option(2, "default"), "fault": Option(("a",), "default")})
        shards = [
            self.report_file(f"{index}.json", dataclasses.replace(one, **HALVES[index], detection=()))
            for index, one in enumerate((SAMPLE, jobs))
        ]
        path = self.root / "merged.json"
        self.assertEqual(0, self.report("merge", *shards, f"--report=json:{path}").code)
        jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(path.read_text()))
        again = self.root / "again.json"
        self.assertEqual(0, self.report("convert", str(path), f"--report=json:{again}").code)
        self.assertEqual(path.read_bytes(), again.read_bytes())

    def test_what_does_not_belong_together(self) -> None:
        other = self.report_file(
            "other.json", dataclasses.replace(SAMPLE, seed=f"0x{1:016x}", started="2026-01-01T00:00:00Z")
        )
        said = self.report("merge", self.sample, other, f"--report=json:{self.root}/out")
        self.assert_refused(said, "do not belong together: the seed differs")
        self.assertFalse((self.root / "out").exists())


class DiffTest(ReportTest):
    def test_reports_of_different_commands_are_not_compared(self) -> None:
        other = self.report_file("other.json", dataclasses.replace(SAMPLE, command="fuzz"))
        self.assert_refused(self.report("diff", self.sample, other), "of holdfast run and of holdfast fuzz")

    def test_equal_reports(self) -> None:
        answer = self.report("diff", self.sample, self.sample)
        self.assertEqual(0, answer.code)
        self.assertIn("0 new, 0 gone, 2 still; 0 verdicts", answer.closing_line)

    def test_all_that_changed(self) -> None:
        first, second, *others = SAMPLE.cases
        cases = (
            dataclasses.replace(first, counters={"callbacks": 4}, duration_ms=900.0),
            dataclasses.replace(second, findings=second.findings[:1]),
            *others[:-1],
        )
        cases = (*cases[:3], dataclasses.replace(cases[3], verdict="passed", reason=""), *cases[4:])
        new = self.report_file("new.json", dataclasses.replace(SAMPLE, cases=cases))
        answer = self.report("diff", self.sample, new)
        self.assertEqual(1, answer.code)
        for line in (
            "gone findings:\n  leak in A2.exec-outlives-node/thread [",
            "findings that are still there:\n  contract in ",
            "other verdicts:\n  A6.many-owners/only: skipped -> passed",
            "cases that vanished:\n  A8.callback/only",
            "callbacks 3 -> 4",
            "peak queue length 2 -> none",
            "other durations, which make no difference:\n  A2.exec-outlives-node/inline: 12 ms -> 900 ms",
            "0 new, 1 gone, 1 still; 1 verdict and 2 counters changed, 0 cases appeared and 1 vanished",
        ):
            self.assertIn(line, answer.out)
        self.assertNotIn("\x1b", answer.out)
        back = self.report("diff", new, self.sample)
        self.assertIn("new findings:\n  leak in", back.out)
        self.assertIn("cases that appeared:\n  A8.callback/only", back.out)


class ShowTest(ReportTest):
    def test_without_a_glob_the_run_and_what_did_not_pass(self) -> None:
        answer = self.report("show", self.sample)
        self.assertEqual(0, answer.code)
        for word in (
            "seed 0x00000000deadbeef",
            "built with address sanitizer",
            "note: the time was up",
            "no oracle ran",
        ):
            self.assertIn(word, answer.out)
        self.assertNotIn("A2.exec-outlives-node/inline", answer.out)
        self.assertEqual("2 passed, 1 failed, 1 skipped", answer.closing_line)

    def test_a_case_with_all_that_there_is(self) -> None:
        answer = self.report("show", self.sample, "A2*/thread")
        for word in (
            "failed A2.exec-outlives-node/thread\n",
            "passed A2.exec-outlives-node/thread (run 1)\n",
            "contract [d23f8a9c0c3e51aa]: owner",
            "    at lib/attachments/bundle.cc:40\n      #0 Release()",
            REPRODUCE[0],
            REPRODUCE[1],
            "timeline: 9 moments, after 7 that are left out",
            "artifacts: A2.exec-outlives-node_thread_0",
            "minimised: 1 of 5 rules, 3 of 214 switches of threads, in 41 runs; the time was up",
        ):
            self.assertIn(word, answer.out)
        self.assertRegex(answer.out, r"(?m)^ +4\.0 +1\.0 +main +call +cuGraphAddHostNode +CUDA_ERROR_OUT_OF_MEMORY$")
        self.assertRegex(answer.out, r"(?m)^ +9\.0 +3\.0 +delivery +destructor +object 1 +object 1 +0$")

    def test_faults_and_counters(self) -> None:
        answer = self.report("show", self.sample, "A2*/inline")
        for word in (
            "cuGraphAddHostNode:nth=2,return=CUDA_ERROR_OUT_OF_MEMORY (scenario, fired 1 time)",
            "cuGraphAddHostNode call 2 on main: return CUDA_ERROR_OUT_OF_MEMORY, by rule 0",
        ):
            self.assertIn(word, answer.out)
        self.assertRegex(answer.out, r"(?m)^    peak queue length  2$")

    def test_control_characters_are_visible(self) -> None:
        evil = "\x1b]0;title\x07\r\u202e\ud800"
        cases = tuple(
            dataclasses.replace(case, variant=f"{case.variant}{evil}", reason=evil, replay=evil, output_tail=evil)
            for case in SAMPLE.cases[:2]
        )
        path = self.report_file("evil.json", dataclasses.replace(SAMPLE, cases=cases, notes=(evil,)))
        out = self.report("show", path, "*").out + self.report("diff", self.sample, path).out
        self.assertIn(r"\x1b]0;title\x07\r\u202e\ud800", out)
        for letter in evil:
            if not letter.isprintable():
                self.assertNotIn(letter, out)

    def test_colour(self) -> None:
        self.assertIn("\x1b[31mfailed\x1b[0m", self.report("show", self.sample, color="yes").out)

    def test_a_glob_that_matches_nothing(self) -> None:
        self.assert_refused(self.report("show", self.sample, "A9*"), "'A9*' matches no case", code=4)


if __name__ == "__main__":
    unittest.main()
