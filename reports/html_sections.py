"""The parts of the page that are plain HTML: summary, comparison, detection matrix, sweep, facts of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from reports.compare import Change, Difference
from reports.counted import count_of
from reports.distinct_findings import DistinctFinding
from reports.html_terms import term
from reports.html_text import Budget, anchor_of, escape, more, table
from reports.record import Detection, Operation, Record, summarize

# What a summary counts, with the class that gives it its colour and sign, the word, and its entry.
_TILES = (
    ("failed", "failed", "failed", "failed"),
    ("errors", "error", "errors", "error"),
    ("inconclusive", "inconclusive", "inconclusive", "inconclusive"),
    ("skipped", "skipped", "skipped", "skipped"),
    ("passed", "passed", "passed", "passed"),
    ("not_run", "skipped", "not run", "not-run"),
)

_MOST_CELLS = 2_000  # of the detection matrix as a list
_MOST_BUGS, _MOST_COLUMNS = 300, 150  # of the matrix as a grid
_MOST_OPERATIONS = 500

_MOST_CHANGES = 100  # of counters, and of durations


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
        f'<span class="verdict {kind}">{term(entry, word)}</span></li>'
        for key, kind, word, entry in _TILES
    )
    notes = "".join(f"<li>{escape(note, 400)}</li>" for note in record.notes[:50])
    notes = f'<ul class="notes">{notes}</ul>' if notes else ""
    return f'<ul class="tiles">{tiles}</ul>{_bar(counts)}{notes}{more(len(record.notes) - 50, "notes")}'


def _bar(counts: dict[str, int]) -> str:
    """The shares of the verdicts, as one bar. The tiles above say the same in numbers."""
    total = sum(counts.values())
    if not total:
        return ""
    parts, x = [], 0.0
    for key, kind, *_ in _TILES:
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


def about_html(record: Record) -> str:
    """Everything about the run that is the same for all its cases."""
    return _facts(record) + _options(record)


def _facts(record: Record) -> str:
    exit_code = "the run goes on" if record.exit_code is None else str(record.exit_code)
    sanitizers = ", ".join(record.subject.sanitizers[:5])
    facts = {
        "Command": f"holdfast {record.command}",
        "Started": record.started,
        "Took": duration(record.duration_ms),
        term("exit-code"): exit_code + (f", interrupted by {record.interrupted}" if record.interrupted else ""),
        term("seed"): record.seed,
        term("plan-digest"): record.plan_digest,
        term("driver"): record.driver
        + (f", version {record.driver_version}" if record.driver_version is not None else ""),
        "Driver library": record.driver_library,
        "Device": record.device or "",
        term("subject"): f"{record.subject.program}, build {record.subject.build_id}"
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
        f"<h3>{count_of(len(record.options), 'option')}, as they were resolved</h3>"
        f"{table('Options', ('Option', 'Value', term('option-source')), rows)}"
    )


def _option_value(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(map(str, value[:20])) or "none"
    return str(value)


def comparison_html(difference: Difference, baseline: Record) -> str:
    """What compare.py says, drawn."""
    room = Budget(2_000_000)
    head = (
        f"<p>Against a run of {escape(baseline.started, 40)} with seed <code>{escape(baseline.seed, 40)}</code>: "
        f"{count_of(len(difference.appeared), 'case')} only here, {len(difference.vanished):,} only there.</p>"
    )
    tiles = "".join(
        f'<li class="tile {kind}{"" if groups else " none"}"><b>{len(groups):,}</b> '
        f"<span>{term(entry, word)}</span></li>"
        for groups, kind, word, entry in (
            (difference.new, "failed", "new findings", "new"),
            (difference.still, "inconclusive", "still there", "still"),
            (difference.gone, "passed", "gone", "gone"),
        )
    )
    return (
        f'{head}<ul class="tiles">{tiles}</ul>'
        + _groups("New findings", difference.new, room, linked=True)
        + _groups("Still there", difference.still, room, linked=True)
        + _groups("Gone", difference.gone, room, linked=False)
        + _verdict_changes(difference.verdicts, room)
        + _names("Only here", difference.appeared, room)
        + _names("Only there", difference.vanished, room)
        + _changes("Durations", "ms", difference.durations, room)
        + _changes("Counters", "", difference.counters, room)
    )


def _groups(title: str, groups: Mapping[str, DistinctFinding], room: Budget, linked: bool) -> str:
    if not groups:
        return ""
    rows = []
    for key, one in list(groups.items())[:200]:
        message = room.html(one.finding.message, 200)
        where = f'<a href="#{anchor_of(key)}">{message}</a>' if linked else message
        rows.append((f'<span class="kind">{room.html(one.finding.kind, 40)}</span>', where, f"{one.cases:,}"))
    return (
        f"<h3>{title}</h3>{table(title, (term('kind'), term('finding'), term('cases-with-it', 'cases')), rows, (2,))}"
        + more(len(groups) - 200, "findings")
    )


def _verdict_changes(verdicts: Sequence[Change], room: Budget) -> str:
    if not verdicts:
        return ""
    rows = (
        (
            room.html(change.case, 160),
            f'<span class="verdict {change.old}">{change.old}</span>',
            f'<span class="verdict {change.new}">{change.new}</span>',
        )
        for change in verdicts[:500]
    )
    title = "Changed verdicts"
    return f"<h3>{title}</h3>{table(title, (term('case'), 'Before', 'Now'), rows)}" + more(len(verdicts) - 500, "cases")


def _names(title: str, names: Sequence[str], room: Budget) -> str:
    if not names:
        return ""
    lines = "".join(f"<li>{room.html(name, 200)}</li>" for name in names[:200])
    return (
        f"<details><summary>{title}: {count_of(len(names), 'case')}</summary>"
        f'<ul class="names">{lines}</ul>{more(len(names) - 200, "cases")}</details>'
    )


def _changes(title: str, unit: str, changes: Sequence[Change], room: Budget) -> str:
    """The largest first. Of durations a change is what compare.py takes for one."""
    if not changes:
        return ""
    rows = (
        (
            room.html(change.case, 160),
            *([] if unit else [room.html(change.name, 80)]),
            _figure(change.old),
            _figure(change.new),
            "" if _ratio(change) is None else f"{_ratio(change):,.2f}",
            _ratio_bar(_ratio(change)),
        )
        for change in sorted(changes, key=_weight, reverse=True)[:_MOST_CHANGES]
    )
    measure = f" ({unit})" if unit else ""
    drawn = '<span class="unseen">Ratio, drawn</span>'
    names = (term("case"), *([] if unit else ["Counter"]))
    headings = (*names, f"Before{measure}", f"Now{measure}", term("ratio"), drawn)
    body = table(title, headings, rows, range(len(names), len(names) + 3))
    return f"<h3>{title}</h3><p>The largest change first.</p>{body}{more(len(changes) - _MOST_CHANGES, 'changes')}"


def _figure(value: str | float | None) -> str:
    return "none" if value is None else f"{float(value):,.6g}"


def _ratio(change: Change) -> float | None:
    old, new = float(change.old or 0), float(change.new or 0)
    return new / old if old else None


def _weight(change: Change) -> float:
    """How far the ratio is from one, either way; more than any ratio if it cannot be told."""
    ratio = _ratio(change)
    return max(ratio, 1 / ratio) if ratio and ratio > 0 else math.inf


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
    return f"<h3>Not noticed</h3>{table('Not noticed', (term('seeded-bug'), term('scenario'), 'Why'), rows)}" + more(
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
    body = table("All claims", (term("seeded-bug"), term("scenario"), "Result", "By findings of kind"), rows)
    return f"<details><summary>{count_of(len(cells), 'claim')}, with the kinds of finding</summary>{body}" + (
        more(len(cells) - _MOST_CELLS, "claims") + "</details>"
    )


def operations_html(operations: Sequence[Operation]) -> str:
    """Which points of which operation a sweep failed."""
    points, failed = sum(each.points for each in operations), sum(each.failed for each in operations)
    room = Budget(1_000_000)
    rows = (_operation(each, room) for each in operations[:_MOST_OPERATIONS])
    keys = (
        "operation",
        "sites",
        "points",
        "before",
        "after",
        "transient",
        "persistent",
        "allocations",
        "double",
        "runs",
    )
    headings = (*(term(key) for key in keys), term("failed-points"))
    body = table("Fault points", headings, rows, range(1, 11))
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
