"""The HTML report without a browser: what is on the page, what can never get onto it, and how large it grows.

Method: pages are rendered and read with Python's own parser, which keeps what stands between tags apart from tags. The
sizes and times of large records are measured in a process of their own.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import itertools
import json
import re
import subprocess
import sys
import unittest
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

from reports import html_report
from reports.compare import compare
from reports.distinct_findings import distinct_findings
from reports.html_data import latencies
from reports.html_findings import MOST_FINDINGS, MOST_STACK
from reports.html_focus import END, NAMED, NOTED, focus_of
from reports.html_text import Budget, joined
from reports.plain_text import plain
from reports.record import Case, Finding, Moment, Timeline
from tests.reports.hostile_records import HOSTILE, hostile_record
from tests.reports.realistic_record import fuzz_record, realistic_baseline, realistic_record
from tests.reports.sample_record import REPRODUCE, sample_record

_EXECUTABLE = ("", "text/javascript", "module")
_ATTRIBUTES_THAT_LOAD = ("src", "href", "action", "data", "poster", "srcset", "formaction", "xlink:href")

# The limits of the issue, and what a browser takes without effort.
_MOST_SECONDS = 20
_MOST_KIB = 1024 * 1024
_MOST_BYTES = 30_000_000


class _Page(HTMLParser):
    """The elements of a page, its text, and what stands in its scripts and styles."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.data = ""
        self._inside = ""
        self.feed(content.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        self._inside = ""
        if tag == "script":
            self._inside = "script" if attributes.get("type", "") in _EXECUTABLE else "data"
        elif tag == "style":
            self._inside = "style"

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside == "style":
            self.styles.append(data)
        elif self._inside == "data":
            self.data += data
        else:
            self.text.append(data)

    def all_text(self) -> str:
        return " ".join(" ".join(self.text).split())

    def document(self) -> Any:
        return json.loads(self.data)


def _policy(page: _Page) -> str:
    metas = (attributes for tag, attributes in page.tags if tag == "meta")
    return next(each["content"] for each in metas if each.get("http-equiv") == "Content-Security-Policy")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class ContentTest(unittest.TestCase):
    def test_the_page_says_without_any_script_what_was_found_and_how_to_take_it_again(self) -> None:
        text = _Page(html_report.render(sample_record())).all_text()
        for expected in (
            "2 findings in 1 of 6 cases",
            'owner "a" <released> & gone',
            "#0 Release() lib/attachments/bundle.cc:40",
            *REPRODUCE,
            "0x00000000deadbeef",
            "1 of 5 rules, 3 of 214 switches of threads, in 41 runs; the time was up",
            "there is one GPU, and two are needed",
            "lost-wakeup",
        ):
            self.assertIn(expected, text)

    def test_each_state_of_a_run_has_its_headline(self) -> None:
        sample = sample_record()
        passed = dataclasses.replace(sample, cases=sample.cases[:1], detection=())
        for record, says in (
            (passed, "The one case passed"),
            (dataclasses.replace(passed, cases=(), passed_points=0), "Nothing ran"),
            (dataclasses.replace(passed, exit_code=None), "The run goes on"),
            (dataclasses.replace(passed, interrupted="SIGINT"), "Interrupted"),
            (dataclasses.replace(passed, cases=sample.cases[4:5]), "inconclusive"),
            (dataclasses.replace(passed, cases=sample.cases[5:6]), "trouble of the harness"),
            (dataclasses.replace(passed, detection=sample.detection), "unnoticed"),
        ):
            with self.subTest(says=says):
                self.assertIn(says, _Page(html_report.render(record)).all_text())

    def test_equal_findings_stand_together(self) -> None:
        groups = distinct_findings(realistic_record())
        self.assertEqual([("contract", 2), ("leak", 1), ("crash", 1)], [(g.finding.kind, g.cases) for g in groups])

    def test_the_headings_are_in_order(self) -> None:
        page = _Page(html_report.render(realistic_record(), realistic_baseline()))
        levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
        self.assertEqual(1, levels[0])
        self.assertEqual(1, levels.count(1))
        for above, below in itertools.pairwise(levels):
            self.assertLessEqual(below, above + 1)

    def test_every_link_inside_the_page_leads_somewhere(self) -> None:
        page = _Page(html_report.render(realistic_record(), realistic_baseline()))
        names = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        self.assertEqual(len(names), len(set(names)))
        for tag, attributes in page.tags:
            if tag == "a":
                self.assertIn(attributes["href"].removeprefix("#"), names)

    def test_rendering_is_a_function_of_the_record(self) -> None:
        self.assertEqual(html_report.render(realistic_record()), html_report.render(realistic_record()))

    def test_without_the_charting_library_there_is_a_page_all_the_same(self) -> None:
        with mock.patch.object(html_report, "LIBRARY_PLACES", ()):
            page = _Page(html_report.render(realistic_record()))
        self.assertEqual(1, len(page.scripts))
        self.assertIn("there are tables in place of charts", page.all_text())

    def test_the_charting_library_comes_with_its_licence(self) -> None:
        page = _Page(html_report.render(sample_record()))
        self.assertEqual(2, len(page.scripts))
        self.assertIn("Chart.js v3", page.scripts[0][:200])
        self.assertIn("Permission is hereby granted, free of charge", page.all_text())


class SafetyTest(unittest.TestCase):
    def test_the_policy_names_every_script_and_style_by_its_hash_and_nothing_else(self) -> None:
        page = _Page(html_report.render(realistic_record(), realistic_baseline()))
        policy = _policy(page)
        expected = " ".join(_hash(script) for script in page.scripts)
        self.assertIn(f"script-src {expected};", policy)
        self.assertIn(f"style-src {_hash(page.styles[0])};", policy)
        self.assertTrue(policy.startswith("default-src 'none';"))
        self.assertNotIn("unsafe", policy)

    def test_hostile_text_makes_no_element_and_no_attribute(self) -> None:
        tame = _Page(html_report.render(realistic_record(), realistic_baseline()))
        hostile = _Page(html_report.render(hostile_record(), realistic_baseline()))
        self.assertLessEqual({tag for tag, _ in hostile.tags}, {tag for tag, _ in tame.tags})
        names = {name for _, attributes in tame.tags for name in attributes}
        self.assertLessEqual({name for _, attributes in hostile.tags for name in attributes}, names)
        self.assertEqual(tame.scripts, hostile.scripts)
        self.assertEqual(tame.styles, hostile.styles)

    def test_hostile_text_is_kept_and_can_be_seen(self) -> None:
        content = html_report.render(hostile_record())
        page = _Page(content)
        self.assertIn(plain(HOSTILE), page.all_text())
        self.assertIn(r"\u202e\ud800\x00\x1b[31m", page.all_text())
        self.assertIn(plain(HOSTILE), page.document()["cases"]["scenarios"][0])
        for letter in ("\u2028", "\u202e", "\x00", "\x1b"):
            self.assertNotIn(letter, content.decode())

    def test_the_data_can_end_no_script(self) -> None:
        page = _Page(html_report.render(hostile_record()))
        self.assertNotRegex(page.data, "[<>&]")
        self.assertTrue(page.data.isascii())

    def test_nothing_is_loaded_from_anywhere(self) -> None:
        for record in (realistic_record(), hostile_record()):
            for tag, attributes in _Page(html_report.render(record)).tags:
                for name in _ATTRIBUTES_THAT_LOAD:
                    if name in attributes:
                        self.assertRegex(attributes[name], r"^(#[\w-]*|data:,)$", f"{tag} {name}")

    def test_no_style_or_handler_stands_in_an_attribute(self) -> None:
        for _, attributes in _Page(html_report.render(realistic_record(), realistic_baseline())).tags:
            self.assertFalse([name for name in attributes if name == "style" or name.startswith("on")])


class BoundsTest(unittest.TestCase):
    def test_long_texts_are_cut_and_say_so(self) -> None:
        sample = sample_record()
        finding = Finding("race", "m" * 5000, stack=("s" * (MOST_STACK + 234),))
        record = dataclasses.replace(sample, cases=(dataclasses.replace(sample.cases[1], findings=(finding,)),))
        text = _Page(html_report.render(record)).all_text()
        self.assertIn("4,700 more characters", text)
        self.assertIn("234 more characters", text)

    def test_findings_beyond_the_limit_are_counted(self) -> None:
        sample = sample_record()
        names = ["".join(chr(97 + int(digit)) for digit in str(index)) for index in range(MOST_FINDINGS + 17)]
        findings = tuple(Finding("leak", name) for name in names)
        record = dataclasses.replace(sample, cases=(dataclasses.replace(sample.cases[1], findings=findings),))
        page = _Page(html_report.render(record))
        self.assertEqual(MOST_FINDINGS, sum(tag == "article" for tag, _ in page.tags))
        self.assertIn("17 more findings", page.all_text())

    def test_lines_are_joined_up_to_a_limit(self) -> None:
        self.assertEqual(("ab\ncd", 0), joined(["ab", "cd"], 10))
        self.assertEqual(("ab\nc", 4), joined(["ab", "cd", "efg"], 4))

    def test_a_budget_that_is_used_up_leaves_stubs(self) -> None:
        budget = Budget(100)
        self.assertEqual(200, len(budget.html("a" * 200, 1000)))
        self.assertLess(len(budget.html("a" * 200, 1000)), 100)


class MeasuredTest(unittest.TestCase):
    def measure(self, maker: str) -> tuple[float, int, int]:
        """Seconds to render, KiB that the process had at most while it did, and bytes of the page."""
        program = (
            "import resource, sys, time; sys.path.insert(0, sys.argv[1])\n"
            "from reports import html_report\n"
            "from tests.reports.hostile_records import huge_record\n"
            "from tests.reports.realistic_record import many_cases\n"
            f"record = {maker}\n"
            "began = time.process_time()\n"
            "size = len(html_report.render(record))\n"
            "print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, size)\n"
        )
        command = [sys.executable, "-c", program, str(TREE)]
        seconds, peak, size = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        print(f"{maker}: {float(seconds):.2f} s, {int(peak) // 1024} MiB, {int(size):,} bytes", file=sys.stderr)
        return float(seconds), int(peak), int(size)

    def test_a_hundred_thousand_cases(self) -> None:
        seconds, peak, size = self.measure("many_cases(100_000)")
        self.assertLess(seconds, _MOST_SECONDS)
        self.assertLess(peak, _MOST_KIB)
        self.assertLess(size, _MOST_BYTES)

    def test_failures_with_far_too_much_of_everything(self) -> None:
        seconds, _, size = self.measure("huge_record(20_000)")
        self.assertLess(seconds, _MOST_SECONDS)
        self.assertLess(size, _MOST_BYTES)


class LatencyTest(unittest.TestCase):
    def test_waits_run_from_a_beginning_to_the_next_end(self) -> None:
        moments = (
            Moment(0.0, "d", "destructor", "object 1", 2.0, object="object 1"),
            Moment(3.0, "d", "pending-call", "Py_AddPendingCall", 1.0),
            Moment(5.0, "d", "pending-call", "Py_AddPendingCall", 1.0, result="-1"),
            Moment(14.0, "main", "drain", "drain", 6.0),
            Moment(15.0, "main", "release", "owner 4"),
            Moment(15.5, "d", "destructor", "object 2", 0.5, object="object 2"),
            Moment(17.0, "main", "release", "owner 1"),
            Moment(30.0, "d", "destructor", "object 3"),
        )
        self.assertEqual(
            {
                "callback": [(0.0, 2.0), (15.5, 0.5)],
                "wakeup": [(3.0, 10.0)],
                "release": [(0.0, 13.0), (15.5, 1.0)],
            },
            latencies(moments),
        )


class FocusTest(unittest.TestCase):
    """Where a timeline opens."""

    def case(self, *findings: Finding) -> Case:
        return dataclasses.replace(sample_record().cases[1], findings=findings)

    def life(self, number: int, at: float) -> tuple[Moment, ...]:
        name = f"object {number}"
        return (
            Moment(at, "main", "call", "cuUserObjectCreate", 1.0, object=name, references=1),
            Moment(at + 2, "main", "call", "cuGraphRetainUserObject", 1.0, object=name, references=1),
            Moment(at + 4, "main", "call", "cuGraphAddHostNode", 1.0),
        )

    def test_it_opens_at_the_moment_that_the_process_noted_with_the_life_of_what_was_near(self) -> None:
        looked_up = tuple(Moment(float(at), "main", "call", "cuGetProcAddress_v2", 0.5) for at in range(100))
        moments = (
            *looked_up,
            *(Moment(200.0 + at, "main", "call", name, 0.5) for at, name in enumerate(("cuInit", "cuDeviceGet"))),
            *self.life(1, 300.0),
            *self.life(2, 400.0),
            Moment(500.0, "main", "finding", "contract"),
            Moment(501.0, "main", "call", "cuGraphDestroy", 0.5),
        )
        focus = focus_of(self.case(Finding("contract", "it is not so")), 0, moments)
        self.assertEqual((108, 102, (), NOTED), (focus.moment, focus.first, focus.objects, focus.how))

    def test_equal_kinds_have_their_moments_in_order(self) -> None:
        moments = (*self.life(1, 0.0), Moment(9.0, "main", "finding", "leak"), Moment(10.0, "main", "finding", "leak"))
        case = self.case(Finding("leak", "a"), Finding("leak", "b"))
        self.assertEqual([3, 4], [focus_of(case, number, moments).moment for number in (0, 1)])

    def test_without_a_noted_moment_it_is_the_last_call_that_the_message_names(self) -> None:
        release = Moment(20.0, "main", "call", "cuUserObjectRelease", 1.0, object="object 1", references=0)
        moments = (*self.life(1, 0.0), *self.life(2, 10.0), release, *self.life(3, 30.0))
        focus = focus_of(self.case(Finding("over-release", "cuUserObjectRelease took 2 of 0x1f")), 0, moments)
        self.assertEqual((6, NAMED, ("object 1",)), (focus.moment, focus.how, focus.objects))
        self.assertEqual(0, focus.first)

    def test_a_crash_is_at_the_end_of_the_record(self) -> None:
        moments = (*self.life(1, 0.0), *self.life(2, 10.0))
        focus = focus_of(self.case(Finding("crash", "it was ended by SIGABRT")), 0, moments)
        self.assertEqual((5, END, ()), (focus.moment, focus.how, focus.objects))

    def test_a_life_that_began_long_before_is_not_seen_whole(self) -> None:
        many = tuple(Moment(100.0 + at, "main", "call", f"call {at}", 0.5) for at in range(300))
        moments = (*self.life(1, 0.0), *many, Moment(500.0, "main", "finding", "contract"))
        focus = focus_of(self.case(Finding("contract", "object 1 is not so")), 0, moments)
        self.assertEqual(("object 1",), focus.objects)
        self.assertEqual(303 - 24, focus.first)

    def test_only_a_leak_is_about_all_that_is_held_at_the_end(self) -> None:
        gone = Moment(20.0, "main", "destructor", "object 2", 1.0, object="object 2", references=0)
        moments = (*self.life(1, 0.0), *self.life(2, 10.0), gone)
        for kind, objects in (("leak", ("object 1",)), ("contract", ())):
            self.assertEqual(objects, focus_of(self.case(Finding(kind, "no")), 0, moments).objects)

    def test_what_goes_on_around_the_moment_is_what_it_is_about(self) -> None:
        around = Moment(20.0, "main", "call", "cuUserObjectRelease", 9.0, object="object 2", references=0)
        moments = (*self.life(1, 0.0), *self.life(2, 10.0), around, Moment(25.0, "main", "finding", "over-release"))
        case = self.case(Finding("over-release", "cuUserObjectRelease took 1 reference of user object 0x1fb0"))
        self.assertEqual(("object 2",), focus_of(case, 0, moments).objects)
        timeline = dataclasses.replace(case, timeline=Timeline(moments))
        text = _Page(html_report.render(dataclasses.replace(sample_record(), cases=(timeline,)))).all_text()
        self.assertIn("The user object of the message is object 2 in the timeline.", text)


class OrderTest(unittest.TestCase):
    """What comes first on the page, and what is folded."""

    def test_findings_come_before_what_is_known_of_the_run(self) -> None:
        page = _Page(html_report.render(realistic_record(), realistic_baseline()))
        sections = [attributes["id"] for tag, attributes in page.tags if tag == "section"]
        self.assertEqual(["summary", "findings", "timeline", "comparison", "cases"], sections[:5])
        self.assertEqual(["about", "words"], sections[-2:])
        text = page.all_text()
        self.assertLess(text.index("it was replaced"), text.index("Driver library"))
        self.assertLess(text.index("Take it again"), text.index("Plan: the faults that were asked for"))

    def test_a_sequence_of_the_fuzzer_stands_in_its_finding(self) -> None:
        content = html_report.render(fuzz_record()).decode()
        article = content[content.index("<article") : content.index("</article>")]
        for expected in ("0 clone g6 g2", "70 → 3", "458", "before it was made short"):
            self.assertIn(expected, article)
        self.assertLess(content.index("295 operations"), content.index("<article"))

    def test_a_sequence_without_its_finding_is_shown_all_the_same(self) -> None:
        fuzz = fuzz_record()
        cases = (dataclasses.replace(fuzz.cases[0], verdict="passed", findings=()),)
        self.assertIn("0 clone g6 g2", _Page(html_report.render(dataclasses.replace(fuzz, cases=cases))).all_text())

    def test_every_word_that_is_explained_has_its_entry_and_every_column_a_word(self) -> None:
        for record in (realistic_record(), fuzz_record()):
            page = _Page(html_report.render(record, realistic_baseline()))
            names = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
            terms = [attributes for tag, attributes in page.tags if "data-term" in attributes]
            self.assertGreater(len(terms), 20)
            for attributes in terms:
                self.assertIn(f"word-{attributes['data-term']}", names)

    def test_the_words_of_the_scripts_have_entries(self) -> None:
        page = _Page(html_report.render(realistic_record()))
        names = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
        for key in re.findall(r'(?:makeTerm|legendItem|placePlot)\((?:into, )?"([\w-]+)"', page.scripts[-1]):
            self.assertIn(f"word-{key}", names)


class RealisticTest(unittest.TestCase):
    """The record that the tests look at is like one of a run, whose timelines harness/cli/timeline.py reads."""

    def test_its_timelines_are_such_as_the_shim_writes(self) -> None:
        kinds = {"call", "destructor", "host-function", "pending-call", "drain", "step", "fault", "finding", "release"}
        for case in (*realistic_record().cases, *fuzz_record().cases):
            for moment in case.timeline.moments if case.timeline else ():
                self.assertRegex(moment.thread, r"^(main|(subject|callback|thread)-\d+)$")
                self.assertIn(moment.kind, kinds)
                if moment.kind == "destructor":
                    self.assertEqual(moment.name, moment.object)
                if moment.kind == "finding":
                    self.assertIn(moment.name, [finding.kind for finding in case.findings])
                if moment.object:
                    self.assertRegex(moment.object, r"^object \d+$")


class ComparisonTest(unittest.TestCase):
    def test_the_page_shows_what_the_comparison_says(self) -> None:
        before, now = realistic_baseline(), realistic_record()
        difference = compare(before, now)
        text = _Page(html_report.render(now, before)).all_text()
        for seen in (*difference.new.values(), *difference.gone.values(), *difference.still.values()):
            self.assertIn(seen.finding.message, text)
        for change in difference.verdicts:
            self.assertIn(change.case, text)
        for expected in ("Since the baseline", "it took longer than 60 s", "Changed verdicts", "Ratio"):
            self.assertIn(expected, text)


if __name__ == "__main__":
    unittest.main()
