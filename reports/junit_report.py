"""JUnit XML in GoogleTest's shape, as the subset that GitLab, Jenkins, Bazel and GitHub's actions all read.

One testsuite a scenario, one testcase a run of a variant. A finding is a `failure`; trouble of the harness and an
inconclusive case are an `error`, since no reader knows a third word. Seed, replay string and plan digest stand in
the properties and again in the first lines of the failure's text, because GitLab drops properties. The cells of a
detection matrix are test cases too: class `selftest.BUG`, name SCENARIO.

GitLab refuses a file of more than 30 MB, and libxml2, which it reads with, a text of more than 10 MB. Texts are
bounded, and what makes the file too large goes: first texts and properties, of passed cases before others, then cases
that passed, with one case in their place that says how many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reports.case_name import name_in_scenario
from reports.counted import count_of
from reports.finding_text import MOST_COMMAND, MOST_FINDINGS, MOST_MESSAGE, finding_lines
from reports.plain_text import plain, shortened, tail
from reports.record import Case, Detection, Record
from reports.visible import by_reference, inert

MOST_BYTES = 30_000_000

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_MOST_NAME = 500
_MOST_BODY = 200_000  # characters of a failure's text
_ROOM_AT_THE_END = 2_000
_FIRST_TO_STAY = ("failure", "error", "skipped", "passed")


def render(record: Record) -> bytes:
    """The record as JUnit XML in UTF-8."""
    tests = [_test_of_case(case) for case in record.cases] + [_test_of_detection(cell) for cell in record.detection]
    _make_unique(tests)
    when = f'timestamp="{_attribute(record.started.removesuffix("Z"), _MOST_NAME)}"'
    written, left_out = _fitted(tests, when)
    groups: dict[str, list[_Test]] = {}
    for test in tests:
        if test in written:
            groups.setdefault(test.suite, []).append(test)
    if left_out:
        more = _Test("holdfast", count_of(left_out, "more case"), "skipped")
        more.message = (
            f"{count_of(left_out, 'more case is', 'more cases are')} left out, since the file would be too large"
        )
        written[more] = more.text()
        groups.setdefault(more.suite, []).append(more)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    name = _attribute(f"holdfast {record.command}", _MOST_NAME)
    lines.append(f'<testsuites {_counts([*written])} {when} name="{name}">')
    for suite, group in groups.items():
        lines.append(_suite_head(suite, group, when))
        lines += [written[test] for test in group]
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return ("\n".join(lines) + "\n").encode()


class _Test:
    """A testcase element: its outcome is one of passed, failure, error, skipped."""

    def __init__(self, suite: str, name: str, outcome: str, seconds: float = 0.0) -> None:
        self.suite = shortened(suite, _MOST_NAME) or "(no name)"
        self.name = shortened(name, _MOST_NAME) or "(no name)"
        self.outcome = outcome
        self.seconds = min(max(seconds, 0.0), 1e9)
        self.type = ""
        self.message = ""
        self.body: list[str] = []
        self.place = ""
        self.properties: dict[str, str] = {}

    def text(self, in_full: bool = True) -> str:
        return "\n".join(self._lines(in_full))

    def _lines(self, in_full: bool) -> Iterable[str]:
        result = "skipped" if self.outcome == "skipped" else "completed"
        yield (
            f'    <testcase name="{_attribute(self.name)}"{self.place} status="run" result="{result}" '
            f'time="{self.seconds:.3f}" classname="{_attribute(self.suite)}">'
        )
        if self.properties and in_full:
            yield "      <properties>"
            for key, value in self.properties.items():
                yield f'        <property name="{key}" value="{_attribute(value, MOST_COMMAND)}"/>'
            yield "      </properties>"
        message = _attribute(self.message, MOST_MESSAGE if in_full else _MOST_NAME)
        if self.outcome == "skipped":
            yield f'      <skipped message="{message}"/>'
        elif self.outcome != "passed":
            head = f'      <{self.outcome} message="{message}" type="{_attribute(self.type, _MOST_NAME)}">'
            body = shortened("\n".join(self.body), _MOST_BODY) if in_full else "its text is left out"
            yield f"{head}{_text(body)}</{self.outcome}>"
        yield "    </testcase>"


def _make_unique(tests: Sequence[_Test]) -> None:
    """GitLab takes the first of two cases with equal names only."""
    seen: dict[tuple[str, str], int] = {}
    for test in tests:
        key = (test.suite, test.name)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            test.name += f" #{seen[key]}"


def _fitted(tests: Sequence[_Test], when: str) -> tuple[dict[_Test, str], int]:
    """What each test looks like so that all fit, and how many have to be left out."""
    room = MOST_BYTES - _ROOM_AT_THE_END
    in_full = {test: test.text() for test in tests}
    if sum(map(_size, in_full.values())) + _size_of_suites(tests, when) <= room:
        return in_full, 0
    written: dict[_Test, str] = {}
    suites: set[str] = set()
    by_rank = sorted(tests, key=lambda test: _FIRST_TO_STAY.index(test.outcome))
    for test in by_rank:
        text = test.text(in_full=False)
        size = _size(text) + (0 if test.suite in suites else _size_of_suites([test], when))
        if size <= room:
            room -= size
            written[test] = text
            suites.add(test.suite)
    for test, text in written.items():
        more = _size(in_full[test]) - _size(text)
        if more <= room:
            room -= more
            written[test] = in_full[test]
    return written, len(tests) - len(written)


def _size(text: str) -> int:
    return len(text.encode()) + 1


def _size_of_suites(tests: Sequence[_Test], when: str) -> int:
    """Of what stands around the tests, with room for counts as long as they get."""
    return sum(len(_attribute(suite).encode()) + len(when) + 160 for suite in {test.suite for test in tests})


def _suite_head(suite: str, group: Sequence[_Test], when: str) -> str:
    return f'  <testsuite name="{_attribute(suite)}" {_counts(group)} {when}>'


def _test_of_case(case: Case) -> _Test:
    outcomes = {"failed": "failure", "error": "error", "inconclusive": "error", "skipped": "skipped"}
    test = _Test(case.scenario, name_in_scenario(case), outcomes.get(case.verdict, "passed"), case.duration_ms / 1000)
    test.properties = {"seed": case.seed, "replay": case.replay, "plan_digest": case.plan_digest}
    if case.file:
        test.place = f' file="{_attribute(case.file, _MOST_NAME)}" line="{case.line}"'
    if test.outcome == "passed":
        return test
    test.message = case.reason
    test.type = case.verdict
    if case.findings:
        more = f" (and {len(case.findings) - 1} more)" if len(case.findings) > 1 else ""
        first = case.findings[0]
        test.type = first.kind
        test.message = f"{first.kind}: {shortened(first.message, _MOST_NAME)}{more}"
    test.body = [f"{key}: {shortened(value, MOST_COMMAND)}" for key, value in test.properties.items()]
    test.body += [shortened(case.reason, MOST_MESSAGE)] if case.reason else []
    for finding in case.findings[:MOST_FINDINGS]:
        test.body += ["", *finding_lines(finding)]
    if len(case.findings) > MOST_FINDINGS:
        test.body += ["", count_of(len(case.findings) - MOST_FINDINGS, "more finding")]
    if case.output_tail:
        test.body += ["", "output:", tail(case.output_tail, MOST_MESSAGE)]
    return test


def _test_of_detection(cell: Detection) -> _Test:
    test = _Test(f"selftest.{cell.bug}", cell.scenario, "passed" if cell.caught else "failure")
    test.type = "missed"
    test.message = cell.reason or f"{cell.scenario} did not notice the seeded bug {cell.bug}"
    test.body = [shortened(test.message, MOST_MESSAGE)]
    return test


def _counts(tests: Sequence[_Test]) -> str:
    outcomes = [test.outcome for test in tests]
    seconds = sum(test.seconds for test in tests)
    return (
        f'tests="{len(tests)}" failures="{outcomes.count("failure")}" disabled="0" errors="{outcomes.count("error")}" '
        f'skipped="{outcomes.count("skipped")}" time="{seconds:.3f}"'
    )


def _text(text: str) -> str:
    r"""Text for an element: what XML cannot hold is shown as \x1b. No ']]>' survives, since no bare '>' does."""
    return inert(re.sub('[&<>"]', lambda match: _ESCAPES[match[0]], plain(text)), by_reference)


def _attribute(text: str, most: int = 2 * _MOST_NAME) -> str:
    """Text for an attribute, in which readers turn bare line ends into spaces."""
    return _text(shortened(text, most)).replace("\t", "&#9;").replace("\n", "&#10;")
