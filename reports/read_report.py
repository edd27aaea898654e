"""Reads report.json back into a record. The inverse of json_report.render, and as strict as the schema.

A report may come from anywhere, so nothing in it is trusted: what is not a whole report of this version is refused with
one sentence that says what is wrong and where.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import gc
import json
import re
from collections.abc import Iterator
from typing import Any

from reports.commented_json import load_without_comments
from reports.merge import case_key
from reports.record import NO_PLAN, SCHEMA, Case, Record, summarize
from reports.structure import StructureError, Structures

_FINGERPRINT = re.compile("[0-9a-f]{16}")
_STARTED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")


class ReportError(Exception):
    """The text is no report that can be used."""


def read_report(data: bytes) -> Record:
    """The record. Raises ReportError."""
    if not data.strip():
        raise ReportError("it is empty")
    with without_collector():
        document = _parse(data)
        del data
        return record_of(document)


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Nothing here makes a cycle, and to look for one among the millions of objects of a large report takes longer
    than all the rest.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _parse(data: bytes) -> dict[str, Any]:
    try:
        document = load_without_comments(data)
    except ValueError as problem:
        cut_off = ", so it was cut off or is no report" if isinstance(problem, json.JSONDecodeError) else ""
        raise ReportError(f"it is no JSON{cut_off}: {problem}") from None
    return document


def record_of(document: Any) -> Record:
    """The record that json_report would make this document of. Raises ReportError."""
    if not isinstance(document, dict) or "schema" not in document:
        raise ReportError("it is no report: it names no schema")
    if document.pop("schema") != SCHEMA:
        raise ReportError(f"it is of another version: this command reads {SCHEMA}")
    summary = document.pop("summary", None)
    if not isinstance(summary, dict) or not all(type(count) is int for count in summary.values()):
        raise ReportError("/summary: it is missing or no object of counts")
    for name in ("not_run", "passed_points"):
        if name in document:
            raise ReportError(f"/{name}: it stands in the summary, if anywhere")
    document["not_run"] = summary.get("not_run", 0)
    document["passed_points"] = 0
    try:
        record: Record = _READ_RECORD(document)
    except StructureError as problem:
        raise ReportError(str(problem)) from None
    for name, option in record.options.items():
        if not _is_option(option.value):
            raise ReportError(f"/options/{name}/value: it is no value that an option can have")
    if not _is_time(record.started):
        raise ReportError("/started: it is no time in UTC, such as 2025-01-02T03:04:05Z")
    counted = summarize(record)
    passed_points = summary.get("passed", 0) - counted["passed"]
    record = dataclasses.replace(record, passed_points=passed_points)
    # Of a sweep the cases lack the points that passed. Of others a surplus would be passes that nothing vouches for.
    is_possible = passed_points == 0 or (passed_points > 0 and record.command == "sweep")
    if not is_possible or {**summarize(record), "not_run": record.not_run} != summary:
        raise ReportError(f"/summary: it says {summary}, and the cases say {counted}")
    _refuse_contradictions(record)
    return record


def _is_option(value: Any, depth: int = 2) -> bool:
    """A text, number or nothing, several of these, or, of merged shards, several of such values."""
    if isinstance(value, list | tuple):
        return depth > 0 and all(_is_option(entry, depth - 1) for entry in value)
    return value is None or isinstance(value, str | int)


def _is_time(text: str) -> bool:
    if not _STARTED.fullmatch(text):
        return False
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:  # the calendar or the clock has no such time
        return False
    return True


def _refuse_contradictions(record: Record) -> None:
    """Raises ReportError for what no run can have written, though each part of it could be."""
    bad = [case.verdict for case in record.cases if case.verdict not in ("passed", "skipped")]
    if record.exit_code == 0 and bad:
        raise ReportError(f"/exit_code: it is 0, and a case is {bad[0]}")
    if record.exit_code == 1 and record.command in ("run", "sweep", "fuzz") and "failed" not in bad:
        raise ReportError("/exit_code: it is 1, and no case is failed")
    if record.command != "run":
        return
    keys = collections.Counter(case_key(case) for case in record.cases)
    twice = next((index for index, case in enumerate(record.cases) if keys[case_key(case)] > 1), None)
    if twice is not None:
        raise ReportError(f"/cases/{twice}: it is there twice")
    if "plan" not in record.options or "fault" not in record.options:
        return
    plan, faults = record.options["plan"].value, record.options["fault"].value
    if faults and record.plan_digest == NO_PLAN:
        raise ReportError("/plan_digest: it is that of no plan, and /options/fault has faults")
    if not faults and not plan and record.plan_digest != NO_PLAN:
        raise ReportError("/plan_digest: it is that of a plan, and /options has neither a plan nor a fault")


def _read_case(value: Any) -> Case:
    told = _take_fingerprints(value)
    case: Case = _READ_PLAIN_CASE(value)
    value.clear()  # so that a large report is not there twice, as it was written and as a record
    if (case.verdict == "failed") != bool(case.findings):
        raise StructureError(f"is {case.verdict} with {len(case.findings)} findings")
    for index in range(len(case.findings)):
        # What the finding has today: an earlier version may have made it otherwise.
        if not isinstance(told[index], str) or not _FINGERPRINT.fullmatch(told[index]):
            raise StructureError("is no fingerprint").inside("fingerprint").inside(index).inside("findings")
    return case


def _take_fingerprints(case: Any) -> list[Any]:
    """Takes the fingerprints out of a case's findings: they are written with them and no part of the record."""
    findings = case.get("findings") if isinstance(case, dict) else None
    if not isinstance(findings, list):
        return []
    return [finding.pop("fingerprint", None) for finding in findings if isinstance(finding, dict)]


_STRUCTURES = Structures(overrides={Case: _read_case})
_READ_PLAIN_CASE = _STRUCTURES.structure(Case)
_READ_RECORD = _STRUCTURES.reader(Record)
