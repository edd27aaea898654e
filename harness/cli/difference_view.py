"""What changed between two reports, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.cli.table import Paint
from reports.case_name import case_name
from reports.compare import Change, Difference
from reports.counted import count_of
from reports.distinct_findings import DistinctFinding
from reports.visible import for_log


def difference_lines(difference: Difference, paint: Paint) -> list[str]:
    """A block for each sort of change that there is, and a closing line with their numbers."""
    return [
        *_block("new findings", _findings(difference.new, lambda text: paint("red", text))),
        *_block("gone findings", _findings(difference.gone, lambda text: paint("green", text))),
        *_block("findings that are still there", _findings(difference.still, lambda text: paint("yellow", text))),
        *_block("other verdicts", [_verdict(change, paint) for change in difference.verdicts]),
        *_block("cases that appeared", [for_log(name) for name in difference.appeared]),
        *_block("cases that vanished", [for_log(name) for name in difference.vanished]),
        *_block("other counters", [_counter(change) for change in difference.counters]),
        *_block("other durations, which make no difference", [_duration(change) for change in difference.durations]),
        f"{len(difference.new)} new, {len(difference.gone)} gone, {len(difference.still)} still; "
        f"{count_of(len(difference.verdicts), 'verdict')} and {count_of(len(difference.counters), 'counter')} changed, "
        f"{count_of(len(difference.appeared), 'case')} appeared and {len(difference.vanished)} vanished",
    ]


def _block(title: str, lines: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"  {line}" for line in lines), ""] if lines else []


def _findings(findings: Mapping[str, DistinctFinding], painted: Callable[[str], str]) -> list[str]:
    return [
        f"{painted(for_log(one.finding.kind))} in {for_log(case_name(one.case))} [{key}]: "
        f"{for_log(one.finding.message)}" + (f" (in {one.cases} cases)" if one.cases > 1 else "")
        for key, one in findings.items()
    ]


def _verdict(change: Change, paint: Paint) -> str:
    old, new = str(change.old), str(change.new)
    return f"{for_log(change.case)}: {paint.verdict(old, old)} -> {paint.verdict(new, new)}"


def _counter(change: Change) -> str:
    return f"{for_log(change.case)}: {for_log(change.name)} {_number(change.old)} -> {_number(change.new)}"


def _number(value: str | float | None) -> str:
    return "none" if value is None else f"{value}"


def _duration(change: Change) -> str:
    return f"{for_log(change.case)}: {float(change.old or 0):.0f} ms -> {float(change.new or 0):.0f} ms"
