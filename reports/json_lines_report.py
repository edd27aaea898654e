"""JSON lines: the full record, a line at a time, so that a run can be followed, and one that is killed leaves what it
had.

The first line is the head of the run, then comes one line a case as it ends, and the last line is the end of the run.
`order` there names the case lines that make up the record, in its order, by their numbers from 0: cases end in another
order than they are selected in, and a line may be replaced by a later one. Their form is fixed by
report_lines.schema.json beside this file; read_json_lines reads them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from reports.fingerprint import fingerprint
from reports.record import Case, Record, summarize
from reports.visible import inert_json

LINES_SCHEMA = "holdfast-report-lines/1"

# What is known before the first case, and what may be different or known at the end only.
HEAD_FIELDS = (
    "version", "command", "seed", "driver", "driver_library", "interpreter", "subject", "plan_digest", "started",
    "options",
)  # fmt: skip
END_FIELDS = (
    "driver_version", "device", "duration_ms", "exit_code", "interrupted", "notes", "detection", "operations", "fuzz",
)  # fmt: skip


def render(record: Record) -> bytes:
    """All lines of a record."""
    cases = [case_line(case) for case in record.cases]
    return b"".join([head_line(record), *cases, end_line(record, range(len(cases)))])


def head_line(record: Record) -> bytes:
    return _line({"schema": LINES_SCHEMA, "head": {name: getattr(record, name) for name in HEAD_FIELDS}})


def case_line(case: Case) -> bytes:
    findings = [{**vars(finding), "fingerprint": fingerprint(case.scenario, finding)} for finding in case.findings]
    return _line({"case": {**vars(case), "findings": findings}})


def end_line(record: Record, order: Sequence[int]) -> bytes:
    fields = {name: getattr(record, name) for name in END_FIELDS}
    summary = {**summarize(record), "not_run": record.not_run}
    return _line({"end": {**fields, "summary": summary, "order": list(order)}})


def _line(fields: dict[str, Any]) -> bytes:
    """Pure ASCII, without a line end inside."""
    text = json.dumps(fields, default=_members, allow_nan=False, separators=(",", ":"))
    return f"{inert_json(text)}\n".encode("ascii")


def _members(value: Any) -> dict[str, Any]:
    """Of a dataclass, with or without slots."""
    return vars(value) if hasattr(value, "__dict__") else {name: getattr(value, name) for name in value.__slots__}
