"""report.json: the full record. Its form is fixed by report.schema.json beside this file.

Each entry of a list, and so each case, is one line: that is fast, and lets tools of lines find one.
"""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import typing
from collections.abc import Iterable
from typing import Any

from reports.fingerprint import fingerprint
from reports.record import SCHEMA, Case, Record, summarize
from reports.visible import inert_json


def render(record: Record) -> bytes:
    """The record as JSON, pure ASCII, with a summary of its cases."""
    content = io.BytesIO()
    content.writelines(inert_json(piece).encode("ascii") for piece in _pieces(record))
    return content.getvalue()


def _pieces(record: Record) -> Iterable[str]:
    before = "{\n"
    for name, value in _members(record).items():
        yield f"{before}  {json.dumps(name)}: "
        before = ",\n"
        if name == "cases":
            yield from _lines(case_document(case) for case in record.cases)
        elif isinstance(value, list):
            yield from _lines(value)
        else:
            yield _text(value)
    yield "\n}\n"


def _lines(entries: Iterable[Any]) -> Iterable[str]:
    """An array with an entry a line."""
    before = "[\n"
    for entry in entries:
        yield f"{before}    {_text(entry)}"
        before = ",\n"
    yield "[]" if before == "[\n" else "\n  ]"


_text = json.JSONEncoder(allow_nan=False).encode


def document(record: Record) -> dict[str, Any]:
    """The same before it is written down."""
    return {**_members(record), "cases": [case_document(case) for case in record.cases]}


def _members(record: Record) -> dict[str, Any]:
    """The members of the document in their order, without the cases themselves."""
    fields = _plain(dataclasses.replace(record, cases=()))
    del fields["passed_points"]
    summary = {**summarize(record), "not_run": fields.pop("not_run")}
    del fields["cases"]
    last = {name: fields.pop(name) for name in ("detection", "operations", "fuzz")}
    return {"schema": SCHEMA, **fields, "summary": summary, "cases": [], **last}


def case_document(case: Case) -> dict[str, Any]:
    """A case before it is written down."""
    fields: dict[str, Any] = _plain(case)
    for finding, written in zip(case.findings, fields["findings"], strict=True):
        written["fingerprint"] = fingerprint(case.scenario, finding)
    return fields


def _plain(value: Any) -> Any:
    """Dictionaries and lists instead of dataclasses and tuples; like dataclasses.asdict, and five times as fast."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is tuple or kind is list:
        return [_plain(entry) for entry in value]
    if kind is dict:
        return {name: _plain(entry) for name, entry in value.items()}
    return {name: getattr(value, name) if atomic else _plain(getattr(value, name)) for name, atomic in _fields(kind)}


_ATOMS = frozenset((str, int, float, bool, type(None)))


@functools.cache
def _fields(kind: Any) -> tuple[tuple[str, bool], ...]:
    """The fields of a dataclass, and whether each can only hold a text, a number or nothing."""
    hints = typing.get_type_hints(kind)
    return tuple(
        (field.name, {*(typing.get_args(hints[field.name]) or (hints[field.name],))} <= _ATOMS)
        for field in dataclasses.fields(kind)
    )
