"""Annotations for GitHub, read back as GitHub's runner reads them: a command a line, properties up to the next ::."""

from __future__ import annotations

import dataclasses
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from reports.github_annotations import annotations
from reports.record import Finding, Record
from tests.reports.hostile_records import large_record, records
from tests.reports.sample_record import sample_record


def _unescaped(text: str) -> str:
    return re.sub("%(25|0D|0A|3A|2C)", lambda match: chr(int(match[1], 16)), text)


def _read(line: str) -> tuple[str, dict[str, str], str]:
    match = re.fullmatch(r"::(error|notice) (.*?)::(.*)", line)
    assert match, line
    pairs = (part.partition("=") for part in match[2].split(","))
    return match[1], {name: _unescaped(value) for name, _, value in pairs}, _unescaped(match[3])


def _with_finding(finding: Finding) -> Record:
    sample = sample_record()
    return dataclasses.replace(sample, cases=(dataclasses.replace(sample.cases[0], findings=(finding,)),))


class AnnotationsTest(unittest.TestCase):
    def test_place_title_message_and_what_takes_it_again(self) -> None:
        record = _with_finding(Finding("leak", "50% left, of: a", place="lib/a.cc:7", reproduce=("again", "by bazel")))
        case = record.cases[0]
        (line,) = annotations(record)
        title = f"leak in {case.scenario}/{case.variant}"
        self.assertEqual(f"::error file=lib/a.cc,line=7,title={title}::50%25 left, of: a%0Aagain", line)

    def test_what_would_end_a_line_or_a_property_is_escaped(self) -> None:
        record = _with_finding(Finding("a,line=1::b%", "x\r\n::error::y", place="lib/a.cc:7"))
        (line,) = annotations(record)
        name, properties, text = _read(line)
        self.assertEqual("error", name)
        self.assertEqual(["file", "line", "title"], list(properties))
        self.assertTrue(properties["title"].startswith("a,line=1::b% in "), properties)
        self.assertIn("::error::y", text)

    def test_a_finding_without_a_place_has_none(self) -> None:
        record = _with_finding(Finding("hang", "for ever"))
        record = dataclasses.replace(record, cases=(dataclasses.replace(record.cases[0], file="", line=0),))
        self.assertTrue(annotations(record)[0].startswith("::error title=hang in "))

    def test_ten_are_shown_and_the_rest_is_counted(self) -> None:
        lines = annotations(large_record(1_000))
        self.assertEqual(["error"] * 10 + ["notice"], [_read(line)[0] for line in lines])
        self.assertRegex(_read(lines[-1])[2], "^[0-9]+ more findings")

    def test_no_finding_is_no_line(self) -> None:
        self.assertEqual([], annotations(dataclasses.replace(sample_record(), cases=())))

    def test_hostile_records_stay_one_command_a_line(self) -> None:
        for what, record in records():
            with self.subTest(record=what):
                for line in annotations(record):
                    self.assertEqual([line], line.splitlines())
                    self.assertTrue(line.encode())  # which half a surrogate pair could not be
                    self.assertLessEqual({*_read(line)[1]}, {"file", "line", "title"})


if __name__ == "__main__":
    unittest.main()
