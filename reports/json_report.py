"""report.json: the full record. Its form is fixed by report.schema.json beside this file."""

from __future__ import annotations

import dataclasses
import json

from reports.record import SCHEMA, Record, summarize


def render(record: Record) -> bytes:
    """The record as JSON, pure ASCII, with a summary of its cases."""
    fields = dataclasses.asdict(record)
    del fields["passed_points"]
    summary = {**summarize(record), "not_run": fields.pop("not_run")}
    last = {name: fields.pop(name) for name in ("cases", "detection", "operations", "fuzz")}
    document = {"schema": SCHEMA, **fields, "summary": summary, **last}
    return (json.dumps(document, indent=2, allow_nan=False) + "\n").encode("ascii")
