"""Hostile records through every format that there is: what comes out is well formed, holds nothing that acts on whoever
reads it, and is no larger than its readers take.

The formats are those of the command's table. Each gets the checks of any format, and its own from `_CHECKS`.
"""

from __future__ import annotations

import gzip
import html.parser
import json
import re
import sys
import unittest
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

from harness.cli.report_files import RENDERERS
from harness.cli.values import REPORT_FORMATS
from reports.read_json_lines import read_json_lines
from reports.read_report import read_report
from reports.record import Record
from tests.reports.hostile_records import records
from tests.reports.sample_record import sample_record

# What the readers of a format take; those that are the full record take what they are given.
_MOST_BYTES = {"junit": 30_000_000, "markdown": 900 * 1024, "sarif": 100_000_000, "tap": 100_000_000}
_FULL = ("json", "jsonl")

# What a forge whose log a report is printed into would obey.
_COMMAND_LINE = re.compile(r"^\s*(?:::|section_(?:start|end):)", re.MULTILINE)
_COMMAND_ANYWHERE = re.compile(r"##[A-Za-z]*\[")

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class HostileTest(unittest.TestCase):
    def test_every_format_that_can_be_asked_for_is_tested(self) -> None:
        self.assertEqual(sorted(REPORT_FORMATS), sorted(RENDERERS))

    def test_what_comes_out_is_well_formed_and_bounded(self) -> None:
        for what, record in records():
            for name, render in RENDERERS.items():
                with self.subTest(format=name, record=what):
                    content = render(record)
                    text = content.decode()  # UTF-8, and no surrogate in it
                    self.assertIsNone(_HIDDEN.search(text))
                    self.assertIsNone(_COMMAND_LINE.search(text))
                    self.assertIsNone(_COMMAND_ANYWHERE.search(text))
                    if name not in _FULL:
                        self.assertLessEqual(len(content), _MOST_BYTES.get(name, 100_000_000))
                    if name in _CHECKS:
                        _CHECKS[name](self, record, content)


def _check_json(test: unittest.TestCase, record: Record, content: bytes) -> None:
    test.assertTrue(record == read_report(content))  # not assertEqual, whose difference would be as large


def _check_json_lines(test: unittest.TestCase, record: Record, content: bytes) -> None:
    test.assertTrue(read_json_lines(content) == (record, False))


def _check_junit(test: unittest.TestCase, record: Record, content: bytes) -> None:
    cases = list(ElementTree.fromstring(content).iter("testcase"))
    test.assertEqual(len(record.cases) + len(record.detection), len(cases))
    names = Counter((case.get("classname"), case.get("name")) for case in cases)
    test.assertEqual([], [name for name, count in names.items() if count > 1])
    test.assertEqual(set(), {tag.tag for case in cases for tag in case.iter()} - _JUNIT_TAGS)
    for case in cases:
        test.assertTrue(case.get("name") and case.get("classname"))
        for texts in (case.itertext(), *(element.attrib.values() for element in case.iter())):
            test.assertLess(max(map(len, texts), default=0), 10_000_000)  # of libxml2


_JUNIT_TAGS = {"testcase", "properties", "property", "failure", "error", "skipped"}


def _check_markdown(test: unittest.TestCase, record: Record, content: bytes) -> None:
    """Whatever stands outside of fenced blocks is ours, but for what is in entities."""
    fence = ""
    for line in content.decode().split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line.removesuffix("text")
            test.assertEqual("`" * len(fence), fence)
        else:
            test.assertRegex(line, _MARKDOWN_LINE)
    test.assertEqual("", fence)


_CODE = r"<code>(?:[A-Za-z0-9 ,.:/()=-]|&#\d+;)*</code>"
_MARKDOWN_LINE = "^(?:{})$".format(
    "|".join(
        (
            "",
            f"## holdfast {_CODE}: (?:exit code -?\\d+(?:, interrupted)?|not at its end yet)",
            r"### Findings",
            r"\| .*passed \| failed \| errors \| skipped \| inconclusive \| not run \|",
            r"\|(?:---:\|)+",
            r"\|(?: -?\d+ \|)+",
            f"(?:(?:, )?(?:seed|driver|subject|version) {_CODE})+",
            rf"<details><summary>{_CODE}(?: \(and in \d+ more cases\))?</summary>",
            r"<details><summary>(?:Errors|Inconclusive|Skipped|Seeded bugs missed): \d+</summary>",
            r"</details>",
            r"\d+ more (?:findings|list): the page is full; the full report has them\.",
        )
    )
)


def _check_sarif(test: unittest.TestCase, record: Record, content: bytes) -> None:
    document = json.loads(content)
    for value in _values(document):
        test.assertNotEqual("", value)  # which GitHub takes for none
        if isinstance(value, str):
            value.encode()  # no surrogate behind an escape
    run = document["runs"][0]
    test.assertLessEqual(len(run["results"]), 25_000)
    test.assertLessEqual(len(gzip.compress(content, mtime=0)), 10_000_000)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    test.assertEqual(len(rules), len(set(rules)))
    for result in run["results"]:
        test.assertEqual(result["ruleId"], rules[result["ruleIndex"]])
        place = result["locations"][0]["physicalLocation"]
        test.assertRegex(place["artifactLocation"]["uri"], r"^[A-Za-z0-9._~@+-](?:[A-Za-z0-9/._~@+-]|%[0-9A-F]{2})*$")
        test.assertNotIn("..", place["artifactLocation"]["uri"].split("/"))
        test.assertGreaterEqual(place["region"]["startLine"], 1)


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for entry in value:
            yield from _values(entry)
    else:
        yield value


def _check_tap(test: unittest.TestCase, record: Record, content: bytes) -> None:
    lines = content.decode().split("\n")
    number = 0
    in_block = False
    for line in lines[1:]:
        if in_block:
            in_block = line != "  ..."
            test.assertRegex(line, r'^  (?:\.\.\.| *(?:- )?(?:[a-z_]+:)?(?: ?".*")?)$')
        elif line == "  ---":
            in_block = True
        elif line.startswith(("ok ", "not ok ")):
            number += 1
            test.assertRegex(line, rf"^(?:not )?ok {number} - [^#]+(?: # SKIP [^#]+)?$")
        else:
            test.assertRegex(line, r"^(?:|# .*|1\.\.\d+(?: # SKIP no case ran)?|Bail out! .*)$")
    bad = sum(case.verdict not in ("passed", "skipped") for case in record.cases)
    bad += sum(not cell.caught for cell in record.detection)
    test.assertEqual(bad, sum(line.startswith("not ok ") for line in lines))
    plans = [line for line in lines if line.startswith("1..")]
    expected = f"1..{number}" if number else "1..0 # SKIP no case ran"
    test.assertEqual([] if record.exit_code is None else [expected], plans)


class _Tags(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[tuple[str, frozenset[str]]] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add((tag, frozenset(name for name, _ in attrs if name.startswith("on"))))


def _check_html(test: unittest.TestCase, record: Record, content: bytes) -> None:
    """No element is there that the sample has not, and no handler of an event."""
    known = {tag for tag, _ in _Tags(RENDERERS["html"](sample_record()).decode()).seen}
    seen = _Tags(content.decode()).seen
    test.assertEqual(set(), {tag for tag, handlers in seen if handlers})
    test.assertLessEqual({tag for tag, _ in seen}, known)


def _check_trace(test: unittest.TestCase, record: Record, content: bytes) -> None:
    for value in _values(json.loads(content)):
        if isinstance(value, str):
            value.encode()


_CHECKS: dict[str, Callable[[unittest.TestCase, Record, bytes], None]] = {
    "html": _check_html,
    "json": _check_json,
    "jsonl": _check_json_lines,
    "junit": _check_junit,
    "markdown": _check_markdown,
    "sarif": _check_sarif,
    "tap": _check_tap,
    "trace": _check_trace,
}


if __name__ == "__main__":
    unittest.main()
