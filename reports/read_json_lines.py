"""Reads JSON lines back into a record, as strictly as read_report reads a report, and says whether the run came to its
end: one that was killed leaves no last line, and perhaps a part of a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from reports.commented_json import load_without_comments
from reports.json_lines_report import END_FIELDS, HEAD_FIELDS, LINES_SCHEMA
from reports.read_report import ReportError, record_of, without_collector
from reports.record import SCHEMA, SUMMARY_WORDS, Record

_ANY_VERSION = LINES_SCHEMA.partition("/")[0] + "/"

_CASE_KEY = ("scenario", "variant", "run", "point")  # as merge.case_key

CUT_OFF_NOTE = "the run was cut off: the lines of its report have no end"


class Reading(NamedTuple):
    """Of a run that was cut off, the record has no exit code, a note that says so, and those cases that had ended."""

    record: Record
    is_cut_off: bool


def are_json_lines(data: bytes) -> bool:
    """Whether this means to be JSON lines of ours, of any version, and not a report in one piece."""
    return _ANY_VERSION.encode() in data[:200]


def read_json_lines(data: bytes) -> Reading:
    """Raises ReportError."""
    if not data.strip():
        raise ReportError("it is empty")
    with without_collector():
        return _read(data)


def _read(data: bytes) -> Reading:
    lines = data.split(b"\n")
    rest = lines.pop()
    entries = _entries(lines)
    first = entries[0]
    schema = first.pop("schema", None)
    if isinstance(schema, str) and schema.startswith(_ANY_VERSION) and schema != LINES_SCHEMA:
        raise ReportError(f"line 1: it is of another version: this command reads {LINES_SCHEMA}")
    if schema != LINES_SCHEMA:
        raise ReportError(f"line 1: it is no head of {LINES_SCHEMA}")
    is_cut_off = "end" not in entries[-1]  # and `rest` is a part of a line, if anything
    if rest and not is_cut_off:
        raise ReportError(f"line {len(entries) + 1}: there is something behind the end")
    head = _content(1, first, "head")
    cases = [_content(number, entry, "case") for number, entry in _numbered(entries, is_cut_off)]
    if is_cut_off:
        cases = _last_of_each(cases)
    end = _end_of_what_there_is(cases) if is_cut_off else _content(len(entries), entries[-1], "end")
    _require_fields("line 1", head, HEAD_FIELDS)
    _require_fields(f"line {len(entries)}", end, (*END_FIELDS, "summary", "order"))
    in_order = _in_order(cases, end.pop("order"), len(entries))
    document = {"schema": SCHEMA, **head, **end, "cases": in_order}
    return Reading(record_of(document), is_cut_off)


def _entries(lines: list[bytes]) -> list[dict[str, Any]]:
    """The lines as objects."""
    if not lines:
        raise ReportError("line 1: it was cut off, and is all there is")
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            entry = load_without_comments(line)
        except ValueError as problem:
            raise ReportError(f"line {number}: it is no JSON: {problem}") from None
        if not isinstance(entry, dict):
            raise ReportError(f"line {number}: it is no line of a report")
        entries.append(entry)
    return entries


def _numbered(entries: list[dict[str, Any]], is_cut_off: bool) -> Iterable[tuple[int, dict[str, Any]]]:
    """What stands between the head and the end."""
    return enumerate(entries[1:] if is_cut_off else entries[1:-1], start=2)


def _content(number: int, entry: dict[str, Any], kind: str) -> dict[str, Any]:
    content = entry.get(kind)
    if len(entry) != 1 or not isinstance(content, dict):
        raise ReportError(f"line {number}: it is no {kind}, and stands where one has to be")
    return content


def _last_of_each(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cases without the lines that a later one replaces. Without an end, no order says which these are."""
    return list({_key_of(case): case for case in cases}.values())


def _key_of(case: dict[str, Any]) -> str:
    return json.dumps([case.get(name) for name in _CASE_KEY])


def _end_of_what_there_is(cases: list[dict[str, Any]]) -> dict[str, Any]:
    summary = dict.fromkeys([*SUMMARY_WORDS.values(), "not_run"], 0)
    for case in cases:
        word = SUMMARY_WORDS.get(str(case.get("verdict")))
        if word:
            summary[word] += 1
    nothing: dict[str, Any] = dict.fromkeys(END_FIELDS)
    lists = {"notes": [CUT_OFF_NOTE], "detection": [], "operations": []}
    return {
        **nothing, **lists, "duration_ms": 0, "interrupted": "", "summary": summary, "order": list(range(len(cases)))
    }  # fmt: skip


def _require_fields(where: str, entry: dict[str, Any], names: tuple[str, ...]) -> None:
    if set(entry) != set(names):
        different = ", ".join(sorted(set(entry) ^ set(names)))
        raise ReportError(f"{where}: its members are not those of its kind: {different}")


def _in_order(cases: list[dict[str, Any]], order: Any, number: int) -> list[dict[str, Any]]:
    fits = isinstance(order, list) and all(type(index) is int and 0 <= index < len(cases) for index in order)
    if not fits or len(set(order)) != len(order):
        raise ReportError(f"line {number}: its order does not name cases of this file, each once")
    chosen = set(order)
    last = {_key_of(case): index for index, case in enumerate(cases)}
    lost = [index for index in last.values() if index not in chosen]
    if lost:
        raise ReportError(f"line {number}: its order leaves out line {lost[0] + 2}, which no later one replaces")
    return [cases[index] for index in order]
