"""report.json: the full record. Its form is fixed by report.schema.json beside this file."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from reports.fingerprint import fingerprint
from reports.record import SCHEMA, Case, Moment, Record, summarize

_MOMENT_FIELDS = tuple(field.name for field in dataclasses.fields(Moment))


def render(record: Record) -> bytes:
    """The record as JSON, pure ASCII, with a summary of its cases."""
    return (json.dumps(document(record), indent=2, allow_nan=False) + "\n").encode("ascii")


def document(record: Record) -> dict[str, Any]:
    """The same before it is written down."""
    fields = dataclasses.asdict(dataclasses.replace(record, cases=()))
    del fields["passed_points"]
    summary = {**summarize(record), "not_run": fields.pop("not_run")}
    cases = {"cases": [_case(case) for case in record.cases]}
    del fields["cases"]
    last = {name: fields.pop(name) for name in ("detection", "operations", "fuzz")}
    return {"schema": SCHEMA, **fields, "summary": summary, **cases, **last}


def _case(case: Case) -> dict[str, Any]:
    fields = dataclasses.asdict(dataclasses.replace(case, timeline=None))
    if case.timeline:
        # Far more of these than of anything else, and asdict takes its time.
        moments = [{name: getattr(moment, name) for name in _MOMENT_FIELDS} for moment in case.timeline.moments]
        fields["timeline"] = {"moments": moments, "left_out": case.timeline.left_out}
    for finding, written in zip(case.findings, fields["findings"], strict=True):
        written["fingerprint"] = fingerprint(case.scenario, finding)
    return fields
