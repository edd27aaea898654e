"""The parts of the page that are plain HTML: summary, comparison, detection matrix, sweep, fuzzer, options. They can be
read without any script.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from reports.case_name import case_name
from reports.counted import count_of
from reports.distinct_findings import DistinctFinding
from reports.html_comparison import Change, Comparison
from reports.html_findings import reasons_html
from reports.html_text import Budget, anchor_of, escape, more, table
from reports.record import Detection, Fuzz, Operation, Record, Shrunk, summarize

# What a summary counts, with the class that gives it its colour and sign.
_TILES = (
    ("failed", "failed", "failed"),
    ("errors", "error", "errors"),
    ("inconclusive", "inconclusive", "inconclusive"),
    ("skipped", "skipped", "skipped"),
    ("passed", "passed", "passed"),
    ("not_run", "skipped", "not run"),
)

_MOST_CELLS = 2_000  # of the detection matrix as a list
_MOST_BUGS, _MOST_COLUMNS = 300, 150  # of the matrix as a grid
_MOST_OPERATIONS = 500

# A ratio that is nearer to one, either way, is no change.
_NOTICEABLE = 1.02


def headline(record: Record, groups: Sequence[DistinctFinding]) -> tuple[str, str]:
    """The state of the run in a word, and in a sentence."""
    summary = summarize(record)
    runs = sum(summary.values())
    if record.exit_code is None:
        return "inconclusive", f"The run goes on: {count_of(runs, 'case')} so far"
    if summary["failed"]:
        what = count_of(len(groups), "finding")
        return "failed", f"{what} in {summary['failed']:,} of {count_of(runs, 'case')}"
    missed = sum(not cell.caught for cell in record.detection)
    if missed:
        return "failed", f"{count_of(missed, 'seeded bug')} went unnoticed by a scenario that claims to catch it"
    if summary["errors"]:
        return "error", f"{count_of(summary['errors'], 'case')} ended in trouble of the harness"
    if summary["inconclusive"]:
        return "inconclusive", f"{count_of(summary['inconclusive'], 'case')} of {runs:,} inconclusive"
    if record.interrupted:
        return "inconclusive", f"Interrupted after {count_of(runs, 'case')}"
    if not summary["passed"]:
        return "inconclusive", "Nothing ran"
    return "passed", "The one case passed" if runs == 1 else f"All {summary['passed']:,} cases that ran passed"


def summary_html(record: Record) -> str:
    counts = {**summarize(record), "not_run": record.not_run}
    tiles = "".join(
        f'<li class="tile {kind}{"" if counts[key] else " none"}"><b>{counts[key]:,}</b> '
        f'<span class="verdict {kind}">{word}</span></li>'
        for key, kind, word in _TILES
    )
    notes = "".join(f"<li>{escape(note, 400)}</li>" for note in record.notes[:50])
    notes = f'<ul class="notes">{notes}</ul>' if notes else ""
    return (
        f'<ul class="tiles">{tiles}</ul>{_bar(counts)}{notes}{more(len(record.notes) - 50, "notes")}'
        f"{_facts(record)}{_options(record)}{reasons_html(record)}"
    )


def _bar(counts: dict[str, int]) -> str:
    """The shares of the verdicts, as one bar. The tiles above say the same in numbers."""
    total = sum(counts.values())
    if not total:
        return ""
    parts, x = [], 0.0
    for key, kind, _ in _TILES:
        if counts[key]:
            # What is there can be seen, however small its share.
            width = max(counts[key] / total * 1000, 4)
            parts.append(f'<rect class="{kind}" x="{x:.1f}" width="{max(width - 2, 2):.1f}" height="10"/>')
            x += width
    return (
        f'<svg class="share" viewBox="0 0 {x:.0f} 10" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def duration(milliseconds: float) -> str:
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 120_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


def _facts(record: Record) -> str:
    exit_code = "the run goes on" if record.exit_code is None else str(record.exit_code)
    sanitizers = ", ".join(record.subject.sanitizers[:5])
    facts = {
        "Command": f"holdfast {record.command}",
        "Started": record.started,
        "Took": duration(record.duration_ms),
        "Exit code": exit_code + (f", interrupted by {record.interrupted}" if record.interrupted else ""),
        "Seed": record.seed,
        "Plan digest": record.plan_digest,
        "Driver": record.driver + (f", version {record.driver_version}" if record.driver_version is not None else ""),
        "Driver library": record.driver_library,
        "Device": record.device or "",
        "Subject": f"{record.subject.program}, build {record.subject.build_id}"
        + (f", with {sanitizers} sanitizer" if sanitizers else ""),
        "Interpreter": record.interpreter,
        "Holdfast": record.version,
    }
    cells = (f"<div><dt>{name}</dt><dd>{escape(text, 300)}</dd></div>" for name, text in facts.items() if text)
    return f'<dl class="grid">{"".join(cells)}</dl>'


def _options(record: Record) -> str:
    room = Budget(100_000)
    rows = [
        (
            f"<code>--{room.html(name, 60)}</code>",
            f"<code>{room.html(_option_value(option.value), 300)}</code>",
            room.html(option.source, 80),
        )
        for name, option in list(record.options.items())[:200]
    ]
    if not rows:
        return ""
    return (
        f"<details><summary>{count_of(len(record.options), 'option')}, as they were resolved</summary>"
        f"{table('Options', ('Option', 'Value', 'From'), rows)}</details>"
    )


def _option_value(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(map(str, value[:20])) or "none"
    return str(value)


def comparison_html(comparison: Comparison, baseline: Record) -> str:
    room = Budget(2_000_000)
    head = (
        f"<p>Against a run of {escape(baseline.started, 40)} with seed <code>{escape(baseline.seed, 40)}</code>: "
        f"{comparison.common:,} cases are in both, {comparison.appeared:,} only here, "
        f"{comparison.disappeared:,} only there.</p>"
    )
    tiles = "".join(
        f'<li class="tile {kind}{"" if groups else " none"}"><b>{len(groups):,}</b> <span>{word}</span></li>'
        for groups, kind, word in (
            (comparison.new, "failed", "new findings"),
            (comparison.still, "inconclusive", "still there"),
            (comparison.gone, "passed", "gone"),
        )
    )
    return (
        f'{head}<ul class="tiles">{tiles}</ul>'
        + _groups("New findings", comparison.new, room, linked=True)
        + _groups("Still there", comparison.still, room, linked=True)
        + _groups("Gone", comparison.gone, room, linked=False)
        + _verdict_changes(comparison, room)
        + _changes("Durations, by scenario", "ms", comparison.durations, room)
        + _changes("Counters", "sum", comparison.counters, room)
    )


def _groups(title: str, groups: Sequence[DistinctFinding], room: Budget, linked: bool) -> str:
    if not groups:
        return ""
    rows = []
    for group in groups[:200]:
        message = room.html(group.finding.message, 200)
        where = f'<a href="#{anchor_of(group.fingerprint)}">{message}</a>' if linked else message
        rows.append(
            (f'<span class="kind">{room.html(group.finding.kind, 40)}</span>', where, f"{len(group.indices):,}")
        )
    return f"<h3>{title}</h3>{table(title, ('Kind', 'Finding', 'Cases'), rows, (2,))}" + more(
        len(groups) - 200, "findings"
    )


def _verdict_changes(comparison: Comparison, room: Budget) -> str:
    if not comparison.verdicts:
        return ""
    rows = (
        (
            room.html(case_name(after), 160),
            f'<span class="verdict {before.verdict}">{before.verdict}</span>',
            f'<span class="verdict {after.verdict}">{after.verdict}</span>',
        )
        for before, after in comparison.verdicts[:500]
    )
    title = "Changed verdicts"
    return f"<h3>{title}</h3>{table(title, ('Case', 'Before', 'Now'), rows)}" + more(
        len(comparison.verdicts) - 500, "cases"
    )


def _changes(title: str, unit: str, changes: Sequence[Change], room: Budget) -> str:
    changed = [change for change in changes if change.weight > _NOTICEABLE]
    shown = changed[:25]
    if not changes:
        return ""
    rows = (
        (
            room.html(change.name, 120),
            f"{change.before:,.6g}",
            f"{change.after:,.6g}",
            "" if change.ratio is None else f"{change.ratio:,.2f}",
            _ratio_bar(change.ratio),
        )
        for change in shown
    )
    headings = ("Name", f"Before ({unit})", f"Now ({unit})", "Ratio", '<span class="unseen">Ratio, drawn</span>')
    same = len(changes) - len(changed)
    says = "Over the cases that both have, the largest change first"
    says += f"; {count_of(same, 'figure')} stayed within {_NOTICEABLE - 1:.0%}." if same else "."
    body = table(title, headings, rows, (1, 2, 3)) if shown else ""
    return f"<h3>{title}</h3><p>{says}</p>{body}{more(len(changed) - len(shown), 'that changed less')}"


def _ratio_bar(ratio: float | None) -> str:
    """A bar from the middle: to the right if it grew, on a scale of logarithms that ends at fourfold."""
    if not ratio or ratio <= 0:
        return ""
    length = max(-1.0, min(1.0, math.log(ratio, 4))) * 40
    x, kind = (50.0, "more-now") if length >= 0 else (50 + length, "less-now")
    return (
        '<svg class="ratio" viewBox="0 0 100 10" aria-hidden="true">'
        f'<rect class="{kind}" x="{x:.1f}" y="2" width="{abs(length):.1f}" height="6"/><path d="M50 0v10"/></svg>'
    )


def detection_html(cells: Sequence[Detection]) -> str:
    """The matrix as a grid, if it is not too large for one, and as a list with the reasons."""
    caught = {cell.bug for cell in cells if cell.caught}
    bugs = dict.fromkeys(cell.bug for cell in cells)
    missed = [cell for cell in cells if not cell.caught]
    says = f"{len(caught):,} of {count_of(len(bugs), 'seeded bug')} noticed"
    says += f"; {count_of(len(missed), 'claim')} not met." if missed else "; every claim is met."
    return f"<p>{says}</p>" + _grid(cells) + _missed(missed) + _all_cells(cells)


def _grid(cells: Sequence[Detection]) -> str:
    bugs = list(dict.fromkeys(cell.bug for cell in cells))
    scenarios = sorted(dict.fromkeys(cell.scenario for cell in cells))
    if len(bugs) > _MOST_BUGS or len(scenarios) > _MOST_COLUMNS:
        return ""
    known = {(cell.bug, cell.scenario): cell for cell in cells}
    head = "".join(f'<th scope="col"><span>{escape(name, 80)}</span></th>' for name in scenarios)
    lines = []
    for bug in bugs:
        row = "".join(_grid_cell(known.get((bug, scenario))) for scenario in scenarios)
        lines.append(f'<tr><th scope="row">{escape(bug, 80)}</th>{row}</tr>')
    return (
        '<div class="box" tabindex="0" role="region" aria-label="Detection matrix"><table class="matrix">'
        '<caption class="unseen">Detection matrix: seeded bugs by scenarios</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
        '<p class="key"><span class="caught">●</span> noticed <span class="missed">✕</span> claimed, not noticed'
        " &nbsp; (empty: not claimed)</p>"
    )


def _grid_cell(cell: Detection | None) -> str:
    if cell is None:
        return "<td></td>"
    kinds = escape(", ".join(cell.kinds[:5]), 100) if cell.caught else escape(cell.reason or "not noticed", 100)
    sign, kind, word = ("●", "caught", "noticed") if cell.caught else ("✕", "missed", "not noticed")
    seen, read = f'<span aria-hidden="true">{sign}</span>', f'<span class="unseen">{word}</span>'
    return f'<td class="{kind}" title="{kinds}">{seen}{read}</td>'


def _missed(missed: Sequence[Detection]) -> str:
    if not missed:
        return ""
    room = Budget(300_000)
    rows = (
        (room.html(cell.bug, 80), room.html(cell.scenario, 120), room.html(cell.reason or "no finding", 300))
        for cell in missed[:200]
    )
    return f"<h3>Not noticed</h3>{table('Not noticed', ('Seeded bug', 'Scenario', 'Why'), rows)}" + more(
        len(missed) - 200, "claims"
    )


def _all_cells(cells: Sequence[Detection]) -> str:
    room = Budget(1_000_000)
    rows = (
        (
            room.html(cell.bug, 80),
            room.html(cell.scenario, 120),
            "noticed" if cell.caught else "not noticed",
            room.html(", ".join(cell.kinds[:10]), 120),
        )
        for cell in cells[:_MOST_CELLS]
    )
    body = table("All claims", ("Seeded bug", "Scenario", "Result", "By findings of kind"), rows)
    return f"<details><summary>{count_of(len(cells), 'claim')}, with the kinds of finding</summary>{body}" + (
        more(len(cells) - _MOST_CELLS, "claims") + "</details>"
    )


def operations_html(operations: Sequence[Operation]) -> str:
    """Which points of which operation a sweep failed."""
    points, failed = sum(each.points for each in operations), sum(each.failed for each in operations)
    room = Budget(1_000_000)
    rows = (_operation(each, room) for each in operations[:_MOST_OPERATIONS])
    headings = ("Operation", "Sites", "Points", "Before", "After", "Transient", "Persistent", "Allocations", "Double")
    body = table("Fault points", (*headings, "Runs", "Failed"), rows, range(1, 11))
    return (
        f"<p>{count_of(points, 'point')} at which a fault fired, in {count_of(len(operations), 'operation')}; "
        f"{failed:,} failed. A fault comes before the call or after it took effect, once or from then on.</p>"
        f"{body}{more(len(operations) - _MOST_OPERATIONS, 'operations')}{_not_after(operations)}"
    )


def _operation(each: Operation, room: Budget) -> tuple[str, ...]:
    numbers = (each.points, each.before, each.after, each.transient, each.persistent, each.alloc, each.double)
    failed = f'<b class="bad">{each.failed:,}</b>' if each.failed else "0"
    sites = f'<span title="{room.html(", ".join(each.sites[:30]), 600)}">{len(each.sites):,}</span>'
    return (room.html(each.scenario, 120), sites, *(f"{number:,}" for number in numbers), f"{each.runs:,}", failed)


def _not_after(operations: Sequence[Operation]) -> str:
    reasons: dict[str, set[str]] = {}
    for each in operations:
        for reason, sites in each.not_after_reasons.items():
            reasons.setdefault(reason, set()).update(sites)
    if not reasons:
        return ""
    room = Budget(200_000)
    rows = [
        (room.html(reason, 300), f"<code>{room.html(', '.join(sorted(sites)[:40]), 1000)}</code>")
        for reason, sites in list(reasons.items())[:100]
    ]
    points = sum(each.not_after for each in operations)
    title = "Points that cannot fail after they took effect"
    return f"<details><summary>{title}: {points:,}</summary>{table(title, ('Reason', 'Sites'), rows)}</details>"


def _sequence(shrunk: Shrunk, room: Budget) -> str:
    """The lines themselves: the file is on the machine that ran."""
    if not shrunk.sequence:
        return ""
    lines = room.html("\n".join(shrunk.sequence[:200]), 8_000)
    return f"<details><summary>its lines, for a file for --replay</summary><pre>{lines}</pre></details>"


def fuzz_html(fuzz: Fuzz) -> str:
    facts = {
        "Operations": f"{fuzz.operations:,}",
        "Sequences": f"{fuzz.sequences:,}",
        "Core seconds": f"{fuzz.core_seconds:,.1f}",
        "Operations per core and second": f"{fuzz.operations_per_core_second:,.0f}",
    }
    cells = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in facts.items())
    room = Budget(500_000)
    rows = [
        (
            f'<span class="kind">{room.html(each.kind, 40)}</span>',
            room.html(each.message, 300),
            f"{each.operations_before:,} → {each.operations:,}",
            f"{each.faults_before:,} → {each.faults:,}",
            f"{each.replays:,}",
            "yes" if each.complete else room.html(each.note or "no", 200),
            f"<code>{room.html(each.file, 200)}</code>{_sequence(each, room)}",
        )
        for each in fuzz.shrunk[:200]
    ]
    headings = ("Kind", "Finding", "Operations", "Faults", "Replays", "Minimal", "File")
    title = "Sequences with a finding, made short"
    shrunk = f"<h3>{title}</h3>{table(title, headings, rows, (2, 3, 4))}" if rows else ""
    return f'<dl class="grid">{cells}</dl>{shrunk}{more(len(fuzz.shrunk) - 200, "sequences")}'
