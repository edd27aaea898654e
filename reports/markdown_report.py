"""Markdown for the summary page of a GitHub Actions step: counts, then the findings with what takes each again.

GitHub refuses more than 1 MiB, so this ends at 900 KiB, or earlier if asked to, with what is left out. Text of a
subject stands in fenced code only, behind a fence longer than any in the text, or between <code> tags with its own <
and & written as entities: nothing in it can end the block, make a link, a picture or a tag, or mention anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reports.case_name import case_name
from reports.counted import count_of
from reports.distinct_findings import DistinctFinding, distinct_findings
from reports.finding_text import finding_lines, minimised_line
from reports.plain_text import one_line, plain, shortened
from reports.record import Detection, Record, summarize
from reports.shrunk_sequences import shrunk_of
from reports.visible import inert

MOST_BYTES = 900 * 1024

_ROOM_AT_THE_END = 1024
_MOST_TITLE = 300
_MOST_BLOCK = 110_000  # of a finding: message, stack, commands and replay string are each bounded
_MOST_LISTED = 200


def render(record: Record, most_bytes: int = MOST_BYTES) -> bytes:
    """The record as Markdown in UTF-8; empty if there is not even room for its head."""
    page = _Page(min(most_bytes, MOST_BYTES))
    if not all(page.add(block) for block in _head(record)):
        return b""
    found = distinct_findings(record)
    if found:
        page.add("### Findings")
        page.add_all((_finding(record, one) for one in found), len(found), "findings")
    for title, lines in _lists(record):
        shown = [*lines[:_MOST_LISTED], *([f"{len(lines) - _MOST_LISTED} more"] if len(lines) > _MOST_LISTED else [])]
        page.add_all([_details(f"{title}: {len(lines)}", _fenced("\n".join(shown)))], 1, "list")
    return page.content()


class _Page:
    """Blocks, with an empty line between any two, up to the limit."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes - _ROOM_AT_THE_END
        self._blocks: list[str] = []
        self._size = 0

    def add(self, block: str) -> bool:
        """Whether there was room for it."""
        size = len(block.encode()) + 2
        if self._size + size > self._most:
            return False
        self._blocks.append(block)
        self._size += size
        return True

    def add_all(self, blocks: Iterable[str], count: int, what: str) -> None:
        """As many as there is room for, and how many are left out."""
        for number, block in enumerate(blocks):
            if not self.add(block):
                self._blocks.append(f"{count - number} more {what}: the page is full; the full report has them.")
                return

    def content(self) -> bytes:
        return ("\n\n".join(self._blocks) + "\n").encode()


def _head(record: Record) -> Iterable[str]:
    counts = {**summarize(record), "not run": record.not_run}
    yield f"## holdfast {_code(record.command)}: {_verdict(record)}"
    yield "\n".join(
        (
            f"| {' | '.join(counts)} |",
            f"|{'---:|' * len(counts)}",
            f"| {' | '.join(str(count) for count in counts.values())} |",
        )
    )
    facts = {
        "seed": record.seed,
        "driver": f"{record.driver} {record.device or ''}".strip(),
        "subject": " ".join((record.subject.program, record.subject.build_id, *record.subject.sanitizers)),
        "version": record.version,
    }
    yield ", ".join(f"{name} {_code(fact)}" for name, fact in facts.items())
    if record.notes:
        yield _fenced("\n".join(record.notes[:_MOST_LISTED]))


def _verdict(record: Record) -> str:
    if record.exit_code is None:
        return "not at its end yet"
    return f"exit code {record.exit_code}" + (", interrupted" if record.interrupted else "")


def _finding(record: Record, one: DistinctFinding) -> str:
    case, finding = one.case, one.finding
    more = f" (and in {count_of(one.cases - 1, 'more case')})" if one.cases > 1 else ""
    title = f"{finding.kind} in {case_name(case)}: {finding.message}"
    smaller = [minimised_line(case.minimised)] if case.minimised else []
    sequences = [line for each in shrunk_of(record, finding)[:1] for line in each.sequence[:_MOST_LISTED]]
    facts = [f"seed: {case.seed}", f"replay: {case.replay}", *sequences]
    body = _fenced("\n".join([*finding_lines(finding), *smaller, *facts]))
    return _details(f"{_code(title)}{more}", body)


def _lists(record: Record) -> Iterable[tuple[str, list[str]]]:
    """What is no finding and still not as it should be."""
    for verdict, title in (("error", "Errors"), ("inconclusive", "Inconclusive"), ("skipped", "Skipped")):
        cases = [case for case in record.cases if case.verdict == verdict]
        if cases:
            yield title, [one_line(f"{case_name(case)}: {case.reason}", _MOST_TITLE) for case in cases]
    missed = [cell for cell in record.detection if not cell.caught]
    if missed:
        yield "Seeded bugs missed", [_missed(cell) for cell in missed]


def _missed(cell: Detection) -> str:
    return one_line(f"{cell.bug} by {cell.scenario}: {cell.reason}", _MOST_TITLE)


def _details(summary: str, body: str) -> str:
    """Something to open. The empty line before the body makes it Markdown again."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _code(text: str) -> str:
    """Text in the middle of a line. Everything that Markdown or HTML could take for its own is an entity."""
    line = one_line(text, _MOST_TITLE)
    return f"<code>{re.sub('[^A-Za-z0-9 ,.:/()=-]', lambda match: f'&#{ord(match[0])};', line)}</code>"


def _fenced(text: str) -> str:
    shown = inert(plain(shortened(text, _MOST_BLOCK)))
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"
