"""What a child leaves behind and what is made of it: events, sanitizer reports, exit codes."""

from __future__ import annotations

import dataclasses
import io
import json
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from harness.cli.child import Ending, Limits, Stop
from harness.cli.classify import Judgement, judge
from harness.cli.events import parse_events
from harness.cli.plans import Plan
from harness.cli.sanitizer import environment_options, read_reports
from harness.cli.table import Paint, details
from harness.cli.verdict import ExitCode, Verdict, exit_code_of
from reports import record
from reports.record import Finding

ADDRESS = """=================================================================
==17==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x55 bp 0x7f sp 0x7f
READ of size 8 at 0x602000000010 thread T0
    #0 0x5581 in Release() /proc/self/cwd/lib/attachments/bundle.cc:40
    #1 0x5582 in main scenarios/a2.cc:9

SUMMARY: AddressSanitizer: heap-use-after-free /proc/self/cwd/lib/attachments/bundle.cc:40 in Release()
"""
LEAK = """==17==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 72 byte(s) in 1 object(s) allocated from:
    #0 0x5581 in operator new(unsigned long)
    #1 0x5582 in Prepare() lib/attachments/prepare.cc:12

SUMMARY: AddressSanitizer: 72 byte(s) leaked in 1 allocation(s).
"""
RACE = """==================
WARNING: ThreadSanitizer: data race (pid=17)
  Write of size 8 at 0x7b04 by thread T1:
    #0 Push() lib/cleanup/queue.cc:40 (runner+0x1)
SUMMARY: ThreadSanitizer: data race lib/cleanup/queue.cc:40 in Push()
==================
"""
UNDEFINED = """lib/driver/status.cc:7:12: runtime error: signed integer overflow: 2147483647 + 1 does not fit
    #0 0x5581 in Add lib/driver/status.cc:7
SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior lib/driver/status.cc:7:12 in
"""
CRASH = """==17==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55 bp 0x7f sp 0x7f T0)
    #0 0x5581 in Touch() lib/graph/node.cc:3
SUMMARY: AddressSanitizer: SEGV lib/graph/node.cc:3 in Touch()
"""


class StackTest(unittest.TestCase):
    def test_every_thread_keeps_its_first_frames_and_the_main_thread_leads(self) -> None:
        stack = [line for thread in (2, 1) for line in (f"Thread {thread} (x)", *(f"#{n} f" for n in range(24)))]
        case = record.Case(
            "A1.a", "only", 0, "0x1", "failed", "0", "", findings=(Finding("hang", "it hung", "", tuple(stack)),)
        )
        shown = [line.strip() for line in details([case], Paint("no", io.StringIO(), {}))][2:]
        self.assertEqual(["Thread 1 (x)", "#14 f", "Thread 2 (x)", "#14 f"], [shown[n] for n in (0, 15, 16, 31)])


class PlanTextTest(unittest.TestCase):
    def test_a_plan_does_not_grow_on_its_way_to_a_case(self) -> None:
        text = Plan({"version": 1, "rules": [{"site": "a", "do": {"fail": True}}]}, "0", (), 0).text(1)
        self.assertNotIn(" ", text)


class SanitizerTest(unittest.TestCase):
    def found(self, text: str) -> list[tuple[str, str]]:
        return [(finding.kind, finding.place) for finding in read_reports(text).findings]

    def test_each_tool_gets_its_kind_and_place(self) -> None:
        self.assertEqual([("sanitizer", "lib/attachments/bundle.cc:40")], self.found(ADDRESS))
        self.assertEqual([("leak", "lib/attachments/prepare.cc:12")], self.found(LEAK))
        self.assertEqual([("sanitizer", "lib/cleanup/queue.cc:40")], self.found(RACE))
        self.assertEqual([("sanitizer", "lib/driver/status.cc:7")], self.found(UNDEFINED))
        self.assertEqual([("crash", "lib/graph/node.cc:3")], self.found(CRASH))

    def test_several_reports_are_several_findings_and_a_repeated_one_is_one(self) -> None:
        self.assertEqual(
            ["sanitizer", "sanitizer", "leak"], [kind for kind, _ in self.found(RACE + ADDRESS + RACE + LEAK)]
        )

    def test_frames_go_with_their_report(self) -> None:
        findings = read_reports(ADDRESS + RACE).findings
        self.assertEqual([2, 1], [len(finding.stack) for finding in findings])

    def test_a_report_that_was_cut_off_counts(self) -> None:
        self.assertEqual([("sanitizer", "lib/cleanup/queue.cc:40")], self.found(RACE[: RACE.index("SUMMARY")]))

    def test_undefined_behaviour_without_a_summary_counts(self) -> None:
        (finding,) = read_reports(UNDEFINED[: UNDEFINED.index("SUMMARY")]).findings
        self.assertIn("signed integer overflow", finding.message)

    def test_a_sanitizer_that_could_not_work_is_no_finding(self) -> None:
        for text, advice in (
            ("FATAL: ThreadSanitizer: unexpected memory mapping 0x5", "vm.mmap_rnd_bits"),
            ("==1==ASan runtime does not come first in initial library list; preload it", "same sanitizer"),
            ("==1==LeakSanitizer has encountered a fatal error.", "debugger"),
        ):
            reports = read_reports("first line\n" + text)
            self.assertEqual((), reports.findings)
            self.assertIn(advice, reports.broken)

    def test_ordinary_words_are_no_report(self) -> None:
        self.assertEqual([], self.found("WARNING: low memory\nERROR: nothing\n#0 of 3\nSUMMARY: all well\n"))

    def test_the_users_options_stay(self) -> None:
        options = environment_options("/s/log", {"TSAN_OPTIONS": "history_size=7"})
        self.assertEqual("history_size=7:log_path=/s/log", options["TSAN_OPTIONS"])
        self.assertEqual("log_path=/s/log", options["ASAN_OPTIONS"])


class EventsTest(unittest.TestCase):
    def test_a_last_line_that_is_cut_off_is_forgiven_only_if_the_child_died(self) -> None:
        data = b'{"event":"start"}\n{"event":"oracle","na'
        self.assertEqual([], parse_events(data, died=True).problems)
        self.assertEqual(1, len(parse_events(data, died=False).problems))

    def test_a_bad_line_in_the_middle_is_never_forgiven(self) -> None:
        events = parse_events(b'{"event":"start"}\nnonsense\n{"event":"finish"}\n', died=True)
        self.assertEqual((1, True, True), (len(events.problems), events.started, events.finished))

    def test_lines_of_every_wrong_sort_are_problems_and_nothing_worse(self) -> None:
        for line in (
            b"[]",
            b"7",
            b'"start"',
            b"{}",
            b'{"event":7}',
            b'{"event":"oracle"}',
            b"\xff\x00",
            b'{"event":"fault","site":"a","ordinal":"1","thread":"main","rule":0,"action":"fail"}',
            b'{"event":"fault","site":"a","ordinal":1,"thread":"main","rule":true,"action":"fail"}',
            b'{"event":"counter","name":"n","value":1e999}',
            b'{"event":"counter","name":"n","value":1%s}' % (b"0" * 400),
            b'{"event":"counter","name":"n","value":Infinity}',
            b'{"event":"finding","kind":"leak","message":"m","stack":"s"}',
            b'{"event":"subject","driver_version":"13"}',
            b'{"event":"finding","kind":"Two Words","message":"a"}',
        ):
            with self.subTest(line=line):
                self.assertEqual(1, len(parse_events(line + b"\n", died=False).problems))

    def test_events_of_the_future_are_ignored(self) -> None:
        self.assertEqual([], parse_events(b'{"event":"trace","anything":1}\n', died=False).problems)

    def test_lone_surrogates_can_be_reported(self) -> None:
        events = parse_events(b'{"event":"oracle","name":"\\ud800"}\n', died=False)
        self.assertEqual('"\\ud800"', json.dumps(events.oracles[0]))


def _line(event: str, **fields: Any) -> bytes:
    return (json.dumps({"event": event, **fields}) + "\n").encode()


START, FINISH, ORACLE = _line("start"), _line("finish"), _line("oracle", name="ran")
FINDING = _line("finding", kind="contract", message="m")
GOOD = Ending(0, None, 0.1, 1 << 20, "", START + ORACLE + FINISH, "", (), ())
LIMITS = Limits(20.0, 100 << 20)
NO_PLAN = Plan({"version": 1, "rules": []}, "0" * 16, (), 0)


def _judge(**changes: Any) -> Judgement:
    return judge(dataclasses.replace(GOOD, **changes), LIMITS, NO_PLAN)


class JudgementTest(unittest.TestCase):
    def kinds(self, **changes: Any) -> list[str]:
        return [finding.kind for finding in _judge(**changes).findings]

    def test_an_orderly_end_passes(self) -> None:
        self.assertIs(Verdict.PASSED, _judge().verdict)

    def test_a_crash_after_a_finding_is_a_finding_of_its_own(self) -> None:
        self.assertEqual(["contract", "crash"], self.kinds(code=-11, events=START + FINDING))

    def test_a_sanitizer_report_explains_the_signal_and_the_code(self) -> None:
        self.assertEqual(["sanitizer"], self.kinds(code=-6, events=START, sanitizer_logs=ADDRESS))
        self.assertEqual(["sanitizer"], self.kinds(code=86, events=START, output=ADDRESS))
        self.assertEqual(["crash"], self.kinds(code=86, events=START, output=CRASH))

    def test_the_same_report_in_the_log_and_the_output_is_one_finding(self) -> None:
        self.assertEqual(["sanitizer"], self.kinds(code=86, sanitizer_logs=RACE, output=RACE))

    def test_code_66_alone_is_no_sanitizer_finding(self) -> None:
        self.assertEqual(["exit-code"], self.kinds(code=66))

    def test_a_finding_explains_its_exit_code(self) -> None:
        self.assertEqual(["contract"], self.kinds(code=1, events=START + FINDING + FINISH))

    def test_a_finding_does_not_explain_an_early_exit(self) -> None:
        self.assertEqual(["contract", "early-exit"], self.kinds(events=START + FINDING))

    def test_a_crash_after_the_finish_counts(self) -> None:
        self.assertEqual(["crash"], self.kinds(code=-6))

    def test_a_program_that_did_not_start_is_trouble_of_the_harness(self) -> None:
        for code in (2, 3, 126, 127):
            judgement = _judge(code=code, events=b"", output="libx.so: cannot open shared object file")
            self.assertIs(Verdict.ERROR, judgement.verdict)
            self.assertIn("libx.so", judgement.reason)

    def test_what_the_harness_stopped_has_one_finding_whatever_the_code(self) -> None:
        for stop, kind in ((Stop.TIME, "hang"), (Stop.MEMORY, "memory-limit"), (Stop.OUTPUT, "output-limit")):
            self.assertEqual([kind], self.kinds(code=-9, stop=stop, events=START))

    def test_findings_of_a_child_that_hangs_are_kept(self) -> None:
        self.assertEqual(["hang", "contract"], self.kinds(code=-9, stop=Stop.TIME, events=START + FINDING))

    def test_a_skip_needs_no_oracle_and_a_finding_outweighs_it(self) -> None:
        skip = _line("skip", reason="no GPU")
        self.assertIs(Verdict.SKIPPED, _judge(code=1, events=START + skip + FINISH).verdict)
        self.assertIs(Verdict.FAILED, _judge(code=1, events=START + skip + FINDING + FINISH).verdict)

    def test_an_inconclusive_case_says_all_its_reasons(self) -> None:
        plan = Plan({"version": 1, "rules": [{}, {}]}, "0" * 16, ("alloc:fail", "event:fail"), 1)
        events = START + _line("inconclusive", reason="too slow") + FINISH
        judgement = judge(dataclasses.replace(GOOD, code=1, events=events), LIMITS, plan)
        self.assertIs(Verdict.INCONCLUSIVE, judgement.verdict)
        self.assertEqual("too slow; the fault event:fail had to fire and did not; no oracle ran", judgement.reason)


class ExitCodeTest(unittest.TestCase):
    def test_the_worst_certain_thing_decides(self) -> None:
        for verdicts, code in (
            ([], ExitCode.ALL_MET),
            ([Verdict.PASSED, Verdict.SKIPPED], ExitCode.ALL_MET),
            ([Verdict.PASSED, Verdict.INCONCLUSIVE], ExitCode.INCONCLUSIVE),
            ([Verdict.INCONCLUSIVE, Verdict.ERROR], ExitCode.HARNESS_FAILED),
            ([Verdict.ERROR, Verdict.FAILED, Verdict.PASSED], ExitCode.FINDING),
        ):
            self.assertEqual(code, exit_code_of(verdicts))

    def test_the_codes_are_those_of_the_contract(self) -> None:
        self.assertEqual([0, 1, 2, 3, 4, 5, 130, 141, 143], [int(code) for code in ExitCode])


if __name__ == "__main__":
    unittest.main()
