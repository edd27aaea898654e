"""Annotations of GitHub: workflow commands in the log of a step, which mark findings at lines of a pull request.

GitHub shows ten errors of a step. A command is one line; what would end it, or one of its properties, is written as %
and two digits, so that nothing of a subject's text can add a property or a command.
"""

from __future__ import annotations

from collections.abc import Mapping

from reports.case_name import case_name
from reports.counted import count_of
from reports.distinct_findings import DistinctFinding, distinct_findings
from reports.finding_text import MOST_MESSAGE
from reports.plain_text import one_line, plain, shortened
from reports.record import Record
from reports.source_place import place_of

MOST_ANNOTATIONS = 10

_MOST_TITLE = 200
_MOST_PATH = 500

# What is not taken literally: in a text, and in a property.
_ENDS_LINE = "%\r\n"
_ENDS_PROPERTY = _ENDS_LINE + ":,"


def annotations(record: Record) -> list[str]:
    """A line for each distinct finding, and one that counts those that there was no room for."""
    found = distinct_findings(record)
    lines = [_error(one) for one in found[:MOST_ANNOTATIONS]]
    if len(found) > MOST_ANNOTATIONS:
        left_out = count_of(len(found) - MOST_ANNOTATIONS, "more finding is", "more findings are")
        more = f"{left_out} in the log and in the reports"
        lines.append(_command("notice", {"title": "holdfast"}, more))
    return lines


def _error(one: DistinctFinding) -> str:
    case, finding = one.case, one.finding
    place = place_of(case, finding)
    where = {"file": one_line(place.path, _MOST_PATH), "line": str(place.line)} if place else {}
    title = one_line(f"{finding.kind} in {case_name(case)}", _MOST_TITLE)
    # The first command is ours, which is enough for whoever reads a margin.
    text = "\n".join([shortened(finding.message, MOST_MESSAGE), *finding.reproduce[:1]])
    return _command("error", {**where, "title": title}, plain(text))


def _command(name: str, properties: Mapping[str, str], text: str) -> str:
    listed = ",".join(f"{key}={_escaped(value, _ENDS_PROPERTY)}" for key, value in properties.items())
    return f"::{name} {listed}::{_escaped(text, _ENDS_LINE)}"


def _escaped(text: str, special: str) -> str:
    return "".join(f"%{ord(letter):02X}" if letter in special else letter for letter in text)
