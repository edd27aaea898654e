"""Reads report.json back into a record. The inverse of json_report.render, and as strict as the schema.

A report may come from anywhere, so nothing in it is trusted: what is not a whole report of this version is refused with
one sentence that says what is wrong and where.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from typing import Any

from reports.fingerprint import fingerprint
from reports.record import SCHEMA, SUMMARY_WORDS, Case, Record, summarize


class ReportError(Exception):
    """The text is no report that can be used."""


def read_report(data: bytes) -> Record:
    """The record. Raises ReportError."""
    if not data.strip():
        raise ReportError("it is empty")
    try:
        document = read_json(data)
    except (ValueError, RecursionError) as problem:
        cut_off = ", so it was cut off or is no report" if isinstance(problem, json.JSONDecodeError) else ""
        raise ReportError(f"it is no JSON{cut_off}: {problem}") from None
    return record_of(document)


def read_json(data: bytes) -> Any:
    """A value of strict JSON. Raises ValueError or RecursionError."""
    return json.loads(data, object_pairs_hook=_object, parse_constant=_refuse_constant)


def record_of(document: Any) -> Record:
    """The record that json_report.document would make this of. Raises ReportError."""
    if not isinstance(document, dict) or "schema" not in document:
        raise ReportError("it is no report: it names no schema")
    if document.pop("schema") != SCHEMA:
        raise ReportError(f"it is of another version: this command reads {SCHEMA}")
    return _record(document)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return result


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _record(document: dict[str, Any]) -> Record:
    summary = document.pop("summary", None)
    if not isinstance(summary, dict) or not all(type(count) is int for count in summary.values()):
        raise ReportError("/summary: it is missing or no object of counts")
    document["not_run"] = summary.get("not_run", 0)
    document["passed_points"] = 0
    record: Record = _build(Record, document, "")
    counted = summarize(record)
    passed_points = summary.get("passed", 0) - counted["passed"]
    record = dataclasses.replace(record, passed_points=passed_points)
    if passed_points < 0 or {**summarize(record), "not_run": record.not_run} != summary:
        raise ReportError(f"/summary: it says {summary}, and the cases say {counted}")
    return record


def _build(kind: Any, value: Any, where: str) -> Any:
    """A value of the type `kind`. `where` is a JSON pointer to it."""
    if kind is Any:
        return _plain(value)
    origin, arguments = _parts(kind)
    if origin in (types.UnionType, typing.Union):
        return _alternative(arguments, value, where)
    if origin is tuple:
        _require(isinstance(value, list), where, "is no array")
        return tuple(_build(arguments[0], entry, f"{where}/{index}") for index, entry in enumerate(value))
    if origin is dict:
        _require(isinstance(value, dict), where, "is no object")
        return {name: _build(arguments[1], entry, f"{where}/{name}") for name, entry in value.items()}
    if dataclasses.is_dataclass(kind):
        return _fields(kind, value, where)
    if kind is float:
        _require(type(value) in (int, float), where, "is no number")
        return value
    _require(type(value) is kind, where, f"is no {_WORDS[kind]}")
    return value


_WORDS = {str: "string", int: "integer", bool: "boolean", types.NoneType: "null"}


@functools.cache
def _parts(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    return typing.get_origin(kind), typing.get_args(kind)


def _alternative(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and types.NoneType in kinds:
        return None
    for kind in kinds:
        if kind is float and type(value) in (int, float):
            return value
        if type(value) is kind:
            return value
    structures = [kind for kind in kinds if dataclasses.is_dataclass(kind)]
    _require(len(structures) == 1, where, f"has a value of a wrong type: {value!r:.40}")
    return _build(structures[0], value, where)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _fields(kind: Any, value: Any, where: str) -> Any:
    _require(isinstance(value, dict), where, "is no object")
    given = dict(value)
    told = [finding.pop("fingerprint", None) for finding in _findings_of(kind, given)]
    hints = _hints(kind)
    for name in given:
        _require(name in hints, where, f"has the unknown member {name!r}")
    for name in hints:
        _require(name in given, where, f"lacks the member {name!r}")
    built = kind(**{name: _build(hint, given[name], f"{where}/{name}") for name, hint in hints.items()})
    if isinstance(built, Case):
        _check_case(built, told, where)
    return built


def _findings_of(kind: Any, given: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings of a case, copied: the fingerprint is written with them and no part of the record."""
    findings = given.get("findings")
    if kind is not Case or not isinstance(findings, list):
        return []
    given["findings"] = [dict(finding) if isinstance(finding, dict) else finding for finding in findings]
    return [finding for finding in given["findings"] if isinstance(finding, dict)]


def _check_case(case: Case, fingerprints: list[Any], where: str) -> None:
    verdicts = tuple(SUMMARY_WORDS)
    _require(case.verdict in verdicts, f"{where}/verdict", f"is none of {', '.join(verdicts)}")
    _require(
        (case.verdict == "failed") == bool(case.findings),
        where,
        f"is {case.verdict} with {len(case.findings)} findings",
    )
    for index, (finding, told) in enumerate(zip(case.findings, fingerprints, strict=True)):
        _require(
            told == fingerprint(case.scenario, finding), f"{where}/findings/{index}", "has the fingerprint of another"
        )


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _require(condition: bool, where: str, what: str) -> None:
    if not condition:
        raise ReportError(f"{where or '/'}: it {what}")
