"""report.json: the full record. Its form is fixed by report.schema.json beside this file."""

from __future__ import annotations

import dataclasses
import json

from reports.record import SCHEMA, Record, summarize


def render(record: Record) -> bytes:
    """The record as JSON, pure ASCII, with a summary of its cases."""
    fields = dataclasses.asdict(record)
    cases = fields.pop("cases")
    detection = fields.pop("detection")
    summary = {**summarize(record.cases), "not_run": fields.pop("not_run")}
    document = {"schema": SCHEMA, **fields, "summary": summary, "cases": cases, "detection": detection}
    return (json.dumps(document, indent=2, allow_nan=False) + "\n").encode("ascii")
