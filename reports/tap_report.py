"""TAP, the Test Anything Protocol: a line a case, the plan last, in what versions 13 and 14 have in common.

The first line says 13: readers of 14 take that as well, and `prove` before Perl 5.38 calls any later number an error.
What is no pass has a YAML block of JSON's strings and lists, which every reader of YAML reads. A report of a run that
still goes on has no plan, by which readers see that it is not whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from reports.case_name import case_name
from reports.finding_text import MOST_COMMAND, MOST_FINDINGS, MOST_MESSAGE, stack_lines
from reports.plain_text import one_line, plain, shortened, tail
from reports.record import Case, Detection, Finding, Record
from reports.visible import inert

_MOST_NAME = 500
_MOST_OUTPUT = 20_000


def render(record: Record) -> bytes:
    """The record as TAP in UTF-8."""
    lines = ["TAP version 13"]
    number = 0
    for case in record.cases:
        number += 1
        lines += _case_lines(number, case)
    for cell in record.detection:
        number += 1
        lines += _detection_lines(number, cell)
    lines += [f"# {inert(one_line(note, MOST_MESSAGE))}" for note in record.notes]
    if record.exit_code is not None:
        lines.append(f"1..{number}" if number else "1..0 # SKIP no case ran")
    if record.interrupted:
        lines.append(f"Bail out! interrupted by {inert(one_line(record.interrupted, _MOST_NAME))}")
    return ("\n".join(lines) + "\n").encode()


def _case_lines(number: int, case: Case) -> Iterator[str]:
    name = _description(case_name(case))
    if case.verdict == "skipped":
        yield f"ok {number} - {name} # SKIP {_description(case.reason)}"
        return
    if case.verdict == "passed":
        yield f"ok {number} - {name}"
        return
    yield f"not ok {number} - {name}"
    yield "  ---"
    yield from _scalar("  ", "severity", case.verdict)
    if case.reason:
        yield from _scalar("  ", "reason", shortened(case.reason, MOST_MESSAGE))
    yield from _scalar("  ", "seed", case.seed)
    yield from _scalar("  ", "replay", shortened(case.replay, MOST_COMMAND))
    if case.findings:
        yield "  findings:"
        for finding in case.findings[:MOST_FINDINGS]:
            yield from _finding_lines(finding)
    if len(case.findings) > MOST_FINDINGS:
        yield from _scalar("  ", "more_findings", str(len(case.findings) - MOST_FINDINGS))
    if case.output_tail:
        yield from _scalar("  ", "output", tail(case.output_tail, _MOST_OUTPUT))
    yield "  ..."


def _finding_lines(finding: Finding) -> Iterator[str]:
    yield from _scalar("    - ", "kind", shortened(finding.kind, MOST_MESSAGE))
    yield from _scalar("      ", "message", shortened(finding.message, MOST_MESSAGE))
    if finding.place:
        yield from _scalar("      ", "at", shortened(finding.place, MOST_MESSAGE))
    yield from _list("      ", "stack", stack_lines(finding))
    yield from _list("      ", "reproduce", [shortened(command, MOST_COMMAND) for command in finding.reproduce])


def _detection_lines(number: int, cell: Detection) -> Iterator[str]:
    name = _description(f"selftest.{cell.bug}/{cell.scenario}")
    yield f"{'ok' if cell.caught else 'not ok'} {number} - {name}"
    if not cell.caught:
        yield "  ---"
        yield from _scalar("  ", "severity", "missed")
        yield from _scalar("  ", "reason", shortened(cell.reason, MOST_MESSAGE))
        yield "  ..."


def _scalar(indent: str, key: str, text: str) -> Iterator[str]:
    yield f"{indent}{key}: {_quoted(text)}"


def _list(indent: str, key: str, texts: Sequence[str]) -> Iterator[str]:
    if texts:
        yield f"{indent}{key}:"
        yield from (f"{indent}  - {_quoted(text)}" for text in texts)


def _quoted(text: str) -> str:
    """A string of JSON, which is one of YAML: what JSON would escape in a way of its own is written out before."""
    return json.dumps(inert(plain(text)), ensure_ascii=False)


def _description(text: str) -> str:
    """Text behind the number of a test. Some readers take any # for the start of a directive, escaped or not."""
    return one_line(text, _MOST_NAME).replace("\\", "\\\\").replace("#", "\\\\x23").strip() or "(empty)"
