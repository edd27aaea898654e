"""Records by somebody who means harm to whoever opens the page: markup in every text, and too much of everything."""

from __future__ import annotations

import dataclasses
from typing import Any

from reports import record
from tests.reports.realistic_record import realistic_record

# Ways out of a script, an element, an attribute, a comment, a template; and what nobody can see.
HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'><svg onload=window.hacked=1>"
    "<!--<script>]]>${title}$data&lt;\u2028\u2029\u202e\ud800\x00\x1b[31m"
)

# What the page takes as words of its own, not as texts.
_WORDS = ("verdict", "started")


def hostile_record() -> record.Record:
    """The realistic record, with `HOSTILE` before every text, names of options and counters among them."""
    poisoned: record.Record = _poison(realistic_record())
    return poisoned


def _poison(value: Any) -> Any:
    if isinstance(value, str):
        return HOSTILE + value
    if isinstance(value, tuple):
        return tuple(_poison(each) for each in value)
    if isinstance(value, dict):
        return {_poison(name): _poison(each) for name, each in value.items()}
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    moment = isinstance(value, record.Moment)
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    kept = ("kind",) if moment and len(fields["name"]) % 2 else ()
    return type(value)(**{name: each if name in (*_WORDS, *kept) else _poison(each) for name, each in fields.items()})


def huge_record(cases: int) -> record.Record:
    """Every case failed, each with findings and long names of its own, stacks of 10 MB, endless texts, long timelines.
    What is endless is shared, so that the record itself fits into memory.
    """
    template = realistic_record()
    frames = tuple("#0 <&>" + "x" * 100_000 for _ in range(100))
    endless = "<" * 1_000_000
    made = tuple(_huge_case(template.cases[0], index, frames, endless) for index in range(cases))
    operations = tuple(dataclasses.replace(template.operations[0], scenario=f"<{index}>") for index in range(20_000))
    detection = tuple(record.Detection(f"<{index}>", f"<{index % 500}>", True, ("leak",)) for index in range(20_000))
    return dataclasses.replace(
        template, cases=made, operations=operations, detection=detection, notes=(endless,) * 1000
    )


def _huge_case(template: record.Case, index: int, frames: tuple[str, ...], endless: str) -> record.Case:
    finding = record.Finding("contract", endless, "", (f"{_letters(index)}()", *frames))
    timeline = (
        dataclasses.replace(template.timeline, moments=template.timeline.moments * 40) if template.timeline else None
    )
    return dataclasses.replace(
        template,
        scenario=f"{_letters(index)}{endless[:400]}",
        findings=(finding, dataclasses.replace(finding, kind="leak", message=endless, stack=(f"{_letters(index)}",))),
        rules=template.rules * 300,
        faults=template.faults * 300,
        output_tail=endless,
        timeline=timeline if index % 100 == 0 else None,
    )


def _letters(number: int) -> str:
    """A number in letters: digits have no part in a fingerprint."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
