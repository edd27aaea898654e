"""JUnit XML in GoogleTest's shape, as the subset that GitLab, Jenkins, Bazel and GitHub's actions all read.

One testsuite a scenario, one testcase a run of a variant. A finding is a `failure`; trouble of the harness and an
inconclusive case are an `error`, since no reader knows a third word. Seed, replay string and plan digest stand in
the properties and again in the first lines of the failure's text, because GitLab drops properties. The cells of a
detection matrix are test cases too: class `selftest.BUG`, name SCENARIO.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reports.record import Case, Detection, Finding, Record

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(record: Record) -> bytes:
    """The record as JUnit XML in UTF-8."""
    groups: dict[str, list[_Test]] = {}
    for case in record.cases:
        groups.setdefault(case.scenario, []).append(_test_of_case(case))
    for cell in record.detection:
        groups.setdefault(f"selftest.{cell.bug}", []).append(_test_of_detection(cell))
    tests = [test for group in groups.values() for test in group]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    when = f'timestamp="{_attribute(record.started.removesuffix("Z"))}"'
    lines.append(f'<testsuites {_counts(tests)} {when} name="holdfast {_attribute(record.command)}">')
    for name, group in groups.items():
        lines.append(f'  <testsuite name="{_attribute(name)}" {_counts(group)} {when}>')
        for test in group:
            lines += test.lines(name)
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return ("\n".join(lines) + "\n").encode()


class _Test:
    """A testcase element: its outcome is one of passed, failure, error, skipped."""

    def __init__(self, name: str, outcome: str, seconds: float = 0.0) -> None:
        self.name = name
        self.outcome = outcome
        self.seconds = seconds
        self.type = ""
        self.message = ""
        self.body: list[str] = []
        self.place = ""
        self.properties: dict[str, str] = {}

    def lines(self, suite: str) -> Iterable[str]:
        result = "skipped" if self.outcome == "skipped" else "completed"
        yield (
            f'    <testcase name="{_attribute(self.name)}"{self.place} status="run" result="{result}" '
            f'time="{self.seconds:.3f}" classname="{_attribute(suite)}">'
        )
        if self.properties:
            yield "      <properties>"
            for key, value in self.properties.items():
                yield f'        <property name="{_attribute(key)}" value="{_attribute(value)}"/>'
            yield "      </properties>"
        if self.outcome == "skipped":
            yield f'      <skipped message="{_attribute(self.message)}"/>'
        elif self.outcome != "passed":
            head = f'      <{self.outcome} message="{_attribute(self.message)}" type="{_attribute(self.type)}">'
            yield head + _text("\n".join(self.body)) + f"</{self.outcome}>"
        yield "    </testcase>"


def _test_of_case(case: Case) -> _Test:
    outcomes = {"failed": "failure", "error": "error", "inconclusive": "error", "skipped": "skipped"}
    name = f"{case.variant}/run {case.run}" if case.run else case.variant
    test = _Test(name, outcomes.get(case.verdict, "passed"), case.duration_ms / 1000)
    test.properties = {"seed": case.seed, "replay": case.replay, "plan_digest": case.plan_digest}
    if case.file:
        test.place = f' file="{_attribute(case.file)}" line="{case.line}"'
    test.message = case.reason
    test.type = case.verdict
    if case.findings:
        more = f" (and {len(case.findings) - 1} more)" if len(case.findings) > 1 else ""
        test.type = case.findings[0].kind
        test.message = f"{case.findings[0].kind}: {case.findings[0].message}{more}"
    test.body = [f"{key}: {value}" for key, value in test.properties.items()]
    test.body += [case.reason] if case.reason else []
    for finding in case.findings:
        test.body += ["", *_finding_lines(finding)]
    if case.output_tail and test.outcome != "passed":
        test.body += ["", "output:", case.output_tail]
    return test


def _finding_lines(finding: Finding) -> list[str]:
    lines = [f"{finding.kind}: {finding.message}"]
    if finding.place:
        lines.append(f"at {finding.place}")
    lines += [f"    {frame}" for frame in finding.stack]
    lines += [f"reproduce: {command}" for command in finding.reproduce]
    return lines


def _test_of_detection(cell: Detection) -> _Test:
    test = _Test(cell.scenario, "passed" if cell.caught else "failure")
    test.type = "missed"
    test.message = cell.reason or f"{cell.scenario} did not notice the seeded bug {cell.bug}"
    test.body = [test.message]
    return test


def _counts(tests: Sequence[_Test]) -> str:
    def number(outcome: str) -> int:
        return sum(test.outcome == outcome for test in tests)

    seconds = sum(test.seconds for test in tests)
    return (
        f'tests="{len(tests)}" failures="{number("failure")}" disabled="0" errors="{number("error")}" '
        f'skipped="{number("skipped")}" time="{seconds:.3f}"'
    )


def _text(text: str) -> str:
    """Text for an element: what XML cannot hold is shown as \\x1b. No ']]>' survives, since no bare '>' does."""
    visible = _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
    return re.sub('[&<>"\r]', lambda match: _ESCAPES[match[0]], visible)


def _attribute(text: str) -> str:
    """Text for an attribute, in which readers turn bare line ends into spaces."""
    return _text(text).replace("\t", "&#9;").replace("\n", "&#10;")
