"""Records that nobody would make on purpose: hostile text in each place that holds text, nothing in each, numbers
beyond all use, and far too much of everything. `records` are for the tests of every format; the others, by somebody
who means harm to whoever opens a page, for those of the page.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from reports.record import Case, Detection, Finding, Moment, Record
from reports.structure import StructureError, within
from tests.reports.realistic_record import realistic_record
from tests.reports.sample_record import sample_record

# Each is put into every text of a record.
TEXTS = {
    "control characters": "".join(map(chr, range(32))) + "\x7f\x80\x9b[31m\u2028\u2029\x85",
    "invalid Unicode": " \udfff \ud800 \ufffe\uffff\udcff\U0010ffff",
    "directions and marks": "\u202egnp.exe\u2066\u200b\ufeff",
    "ends of XML": "]]></failure></testcase><testcase/><!-- --> <?x?> <![CDATA[ &amp; &#0; \"'",
    "ends of HTML": "</script></style></pre></code></summary></details><script>alert(1)</script><img src=x onerror=x>",
    "comments of HTML": "<!--<script> --!> <![CDATA[",
    "fences": "a\n```\n# out\n````\n~~~\n\n`````````` <b>\n",
    "Markdown": "[link](https://host.invalid) ![x](y) @somebody #1 <details>\n\n---\n| a | b |\n* x\n> y\n&lt;",
    "directives of TAP": "x # SKIP # TO" + "DO y\n1..0\nBail out!\n  ---\n  ...\nok 99\n\\# SKIP",
    "quotes": '\\" \\n \' " \\u0000 {0} %s %n ${x} $(x) `x`',
    "YAML": "- a: b\n%YAML\n--- !!python/object:os.system\n&a *a",
    "JSON": '"}],"cases":[{"verdict":"passed"}]}\n{"end":{}}',
    "wide": "\u1112\u1161\u11ab \U0001f600\u200d\U0001f4a5 e\u0301\u0301\u0301",
    "results": '"results": []',
    "numbers": "NaN Infinity 1e999",
    "commands of forges": "::error::a\n \t::set-output name=b::\n##[error]c ###[d\n##vso[e]\n##teamcity[f]\n"
    "section_start:1:g\r\x1b[0K\nsection_end:1:g",
}

# Besides what has to be of one form (record.py): what readers refuse in any other.
_KEPT = {("Record", "started")}


def records() -> Iterator[tuple[str, Record]]:
    """Each with what it is about."""
    for name, text in TEXTS.items():
        yield name, _with_texts(sample_record(), lambda _, text=text: text)
        yield f"{name}, after what was there", _with_texts(sample_record(), lambda old, text=text: old + text)
    yield "nothing", _with_texts(sample_record(), lambda _: "")
    yield "spaces", _with_texts(sample_record(), lambda _: " \n\t ")
    yield "no case", dataclasses.replace(sample_record(), cases=(), detection=(), exit_code=4)
    yield "no end", dataclasses.replace(sample_record(), exit_code=None)
    for name, number in (("large", 2**64), ("negative", -(2**63)), ("zero", 0)):
        yield f"{name} whole numbers", _with_numbers(sample_record(), number, 1.0)
    for value in (1.7e308, -1.7e308, -0.0, 5e-324):
        yield f"the number {value}", _with_numbers(sample_record(), 1, value)
    yield "a message of 10 MB", _with_finding(Finding("leak", "m" * 10_000_000))
    yield "a message of 10 MB of escapes", _with_finding(Finding("leak", '\x1b"<`\n' * 2_000_000))
    yield "a stack of 10 MB in one frame", _with_finding(Finding("crash", "", stack=("#0 " + "f<" * 5_000_000,)))
    yield "a stack of 10 MB in 100,000 frames", _with_finding(Finding("crash", "", stack=("#0 frame " * 11,) * 100_000))
    yield "output of 10 MB", _with_case(output_tail="`&\ud800\n" * 2_500_000)
    yield "a name of 1 MB", _with_case(scenario="s" * 1_000_000, variant="/" * 1_000_000)
    yield "10,000 findings in a case", _with_case(findings=tuple(_numbered_findings(10_000)))


def large_record(cases: int) -> Record:
    """A run of so many cases: most pass, a tenth fails, each of these with a finding of its own."""
    passed, failed, _, skipped, inconclusive, error = sample_record().cases
    kinds = (*[passed] * 15, failed, failed, skipped, inconclusive, error)
    return dataclasses.replace(sample_record(), cases=tuple(_large_case(kinds, number) for number in range(cases)))


def _large_case(kinds: tuple[Case, ...], number: int) -> Case:
    case = kinds[number % len(kinds)]
    stack = tuple(f"#{depth} Function{depth}() lib/graph/file{number}.cc:{depth + 1}" for depth in range(20))
    findings = tuple(
        dataclasses.replace(finding, message=f"{finding.message} of {number}", place="", stack=stack)
        for finding in case.findings[:1]
    )
    counters: dict[str, int | float] = {"callbacks": number, "wakeups": 2, "drains": 1}
    return dataclasses.replace(
        case, scenario=f"S{number % 500}.scenario", variant=f"v{number}", findings=findings, counters=counters
    )


def _numbered_findings(count: int) -> Iterator[Finding]:
    return (Finding("contract", f"promise {'abcdefghij'[number % 10] * (1 + number // 10)}") for number in range(count))


def _with_case(**fields: Any) -> Record:
    record = sample_record()
    return dataclasses.replace(record, cases=(dataclasses.replace(record.cases[1], **fields),))


def _with_finding(finding: Finding) -> Record:
    return _with_case(findings=(finding,))


def _with_texts(record: Record, change: Callable[[str], str]) -> Record:
    return _with_different_cases(_changed(record, lambda value: change(value) if isinstance(value, str) else value))


def _with_different_cases(record: Record) -> Record:
    """Without their names cases are one and the same, which no report may have."""
    cases = (dataclasses.replace(case, point=(*case.point, str(index))) for index, case in enumerate(record.cases))
    return dataclasses.replace(record, cases=tuple(cases))


def _with_numbers(record: Record, whole: int, other: float) -> Record:
    def change(value: Any) -> Any:
        if isinstance(value, float):
            return other
        return whole if isinstance(value, int) and not isinstance(value, bool) else value

    return dataclasses.replace(_with_different_cases(_changed(record, change)), passed_points=0, exit_code=1)


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with every text and number in it changed, keys of dictionaries too."""
    if isinstance(value, tuple):
        return tuple(_changed(entry, change) for entry in value)
    if isinstance(value, dict):
        return {change(key): _changed(entry, change) for key, entry in value.items()}
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return change(value)
    kept = {name for kind, name in _KEPT if kind == type(value).__name__}
    fields = [field for field in dataclasses.fields(value) if field.name not in kept]
    changes = {field.name: _within(field, getattr(value, field.name), change) for field in fields}
    return dataclasses.replace(value, **changes)


def _within(field: dataclasses.Field[Any], before: Any, change: Callable[[Any], Any]) -> Any:
    """The changed value of a field, or the old one if no reader would take the new."""
    after = _changed(before, change)
    try:
        within(field.metadata)(after)
    except StructureError:
        return before
    return after


# Ways out of a script, an element, an attribute, a comment, a template; and what nobody can see.
HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'><svg onload=window.hacked=1>"
    "<!--<script>]]>${title}$data&lt;\u2028\u2029\u202e\ud800\x00\x1b[31m"
)

# What the page takes as words of its own, not as texts.
_WORDS = ("verdict", "started")


def hostile_record() -> Record:
    """The realistic record, with `HOSTILE` before every text, names of options and counters among them."""
    poisoned: Record = _poisoned(realistic_record())
    return poisoned


def _poisoned(value: Any) -> Any:
    if isinstance(value, str):
        return HOSTILE + value
    if isinstance(value, tuple):
        return tuple(_poisoned(each) for each in value)
    if isinstance(value, dict):
        return {_poisoned(name): _poisoned(each) for name, each in value.items()}
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    moment = isinstance(value, Moment)
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    kept = ("kind",) if moment and len(fields["name"]) % 2 else ()
    return type(value)(**{name: each if name in (*_WORDS, *kept) else _poisoned(each) for name, each in fields.items()})


def huge_record(cases: int) -> Record:
    """Every case failed, each with findings and long names of its own, stacks of 10 MB, endless texts, long timelines.
    What is endless is shared, so that the record itself fits into memory.
    """
    template = realistic_record()
    frames = tuple("#0 <&>" + "x" * 100_000 for _ in range(100))
    endless = "<" * 1_000_000
    made = tuple(_huge_case(template.cases[0], index, frames, endless) for index in range(cases))
    operations = tuple(dataclasses.replace(template.operations[0], scenario=f"<{index}>") for index in range(20_000))
    detection = tuple(Detection(f"<{index}>", f"<{index % 500}>", True, ("leak",)) for index in range(20_000))
    return dataclasses.replace(
        template, cases=made, operations=operations, detection=detection, notes=(endless,) * 1000
    )


def _huge_case(template: Case, index: int, frames: tuple[str, ...], endless: str) -> Case:
    finding = Finding("contract", endless, "", (f"{_letters(index)}()", *frames))
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
