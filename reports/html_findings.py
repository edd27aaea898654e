"""The findings of a run for its page: those that are the same fault stand together, with what is needed to take one
again. Plain HTML that works without any script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from reports.case_name import case_name
from reports.counted import count_of
from reports.distinct_findings import DistinctFinding
from reports.finding_kinds import kind_of
from reports.finding_text import minimised_line
from reports.fingerprint import fingerprint
from reports.html_data import DRAWN, MOST_FOCUSES, MOST_MOMENTS
from reports.html_focus import END, NAMED, Focus, focus_of
from reports.html_fuzz import sequence_html
from reports.html_terms import term
from reports.html_text import Budget, anchor_of, joined, more, table
from reports.record import Case, Finding, Record
from reports.shrunk_sequences import shrunk_of

MOST_FINDINGS = 5_000
MOST_STACK = 64 * 1024
_MOST_OUTPUT = 16 * 1024
_MOST_COMMAND = 64 * 1024  # with the schedule of a long case
_MOST_LINES = 50  # of a table inside a finding
_MOST_CASES = 20
_ROOM = 8_000_000  # characters, of all findings


def findings_html(
    record: Record, groups: list[DistinctFinding], new: frozenset[str], timelines: Mapping[int, int]
) -> str:
    """`new` has the fingerprints that a baseline lacks; `timelines` the number of a case's timeline by its index."""
    if not groups:
        return '<p class="calm">No contract was broken.</p>'
    room = Budget(_ROOM)
    open_first = " open" if len(groups) == 1 else ""
    parts = []
    for group in groups[:MOST_FINDINGS]:
        body = _LEFT_OUT if room.used_up else _body(record, group, timelines, room)
        parts.append(
            f'<article class="finding" id="{anchor_of(group.fingerprint)}"><details{open_first}>'
            f"<summary>{_head(record, group, group.fingerprint in new, room)}</summary>"
            f'<div class="body">{body}</div></details></article>\n'
        )
    return "".join(parts) + more(len(groups) - MOST_FINDINGS, "findings; report.json has them all")


_LEFT_OUT = "<p>Its details are left out, since the page would grow too large; report.json has them.</p>"


def _head(record: Record, group: DistinctFinding, new: bool, room: Budget) -> str:
    case = record.cases[group.indices[0]]
    others = f" and {count_of(len(group.indices) - 1, 'more case')}" if len(group.indices) > 1 else ""
    mark = ' <span class="mark">new</span>' if new else ""
    return (
        f'<h3><span class="kind">{room.html(group.finding.kind, 60)}</span> '
        f'<span class="message">{room.html(group.finding.message, 300)}</span>{mark}</h3>'
        f'<p class="where">{room.html(case_name(case), 200)}{others}</p>'
    )


def _body(record: Record, group: DistinctFinding, timelines: Mapping[int, int], room: Budget) -> str:
    """What is needed first comes first; what is seldom needed is folded."""
    case = record.cases[group.indices[0]]
    finding = group.finding
    long_message = [_block("The whole message", [finding.message], room)] if len(finding.message) > 300 else []
    kind = kind_of(finding.kind)
    parts = [
        *long_message,
        f'<p class="meaning">{room.html(kind.description, 600)} {room.html(kind.help, 600)}</p>',
        _commands(finding, room),
        *(sequence_html(each, room) for each in shrunk_of(record, finding)),
        _way_to_timeline(record, group, timelines, room),
        _block(term("stack"), finding.stack, room, MOST_STACK),
        _faults(case, room),
        _block(term("output", "Output, its end"), [case.output_tail] if case.output_tail else [], room),
        _cases(record, group, room),
        _rest(case, group, room),
    ]
    return "\n".join(part for part in parts if part)


def _rest(case: Case, group: DistinctFinding, room: Budget) -> str:
    plan, counters = _plan(case, room), _counters(case, room)
    names = [*(["plan"] if plan else []), *(["counters"] if counters else []), "facts"]
    title = ", ".join(names).capitalize()
    return f"<details><summary>{title}</summary>{plan}{counters}{_facts(case, group, room)}</details>"


def _block(title: str, lines: Iterable[str], room: Budget, most: int = _MOST_OUTPUT) -> str:
    """`title` is markup."""
    text, left_out = joined(lines, most)
    if not text:
        return ""
    return f'<h4>{title}</h4><pre tabindex="0">{room.html(text, most)}</pre>' + more(left_out, "characters")


def _commands(finding: Finding, room: Budget) -> str:
    if not finding.reproduce:
        return ""
    # A part of a command is none: one of any length is better taken from another report.
    shown = [command for command in finding.reproduce[:4] if len(command) <= _MOST_COMMAND]
    lines = "".join(
        f'<div class="command"><code tabindex="0">{room.html(command, _MOST_COMMAND)}</code></div>' for command in shown
    )
    return f"<h4>Take it again</h4>{lines}" + more(len(finding.reproduce) - len(shown), "commands")


def _way_to_timeline(record: Record, group: DistinctFinding, timelines: Mapping[int, int], room: Budget) -> str:
    """A button that opens the timeline where this finding is, with what is to be known of it beforehand."""
    for index in group.indices:
        case = record.cases[index]
        if index not in timelines or not case.timeline:
            continue
        number = next(
            n for n, each in enumerate(case.findings) if fingerprint(case.scenario, each) == group.fingerprint
        )
        focus = focus_of(case, number, case.timeline.moments[-MOST_MOMENTS:])
        says = [_HOW.get(focus.how, ""), _addresses(case.findings[number], focus)]
        says += [DRAWN] if record.fuzz else []
        button = (
            f'<button type="button" data-timeline="{timelines[index]}" data-finding="{min(number, MOST_FOCUSES - 1)}">'
            "Show its timeline</button>"
        )
        text = room.html(" ".join(each for each in says if each), 1000)
        return f'<p class="needs-script">{button}</p>' + (f'<p class="help">{text}</p>' if text else "")
    return ""


# Where a timeline opens if the process noted no moment.
_HOW = {
    NAMED: "The process did not note the moment; the timeline opens at the last call that the message names.",
    END: "The process did not note the moment; the timeline opens at the end of the record.",
}
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
_NO_HANDLES = "Addresses are handles of the driver; timelines number user objects instead, and do not keep handles."


def _addresses(finding: Finding, focus: Focus) -> str:
    """How a handle in the message is called in the timeline."""
    message = finding.message[:4000]
    if not _ADDRESS.search(message):
        return ""
    if "user object 0x" in message and len(focus.objects) == 1:
        return f"The user object of the message is {focus.objects[0]} in the timeline."
    return _NO_HANDLES


def _plan(case: Case, room: Budget) -> str:
    if not case.rules and not case.point:
        return ""
    rows = [(f"<code>{room.html(text, 400)}</code>", "the point of the sweep", "") for text in case.point[:_MOST_LINES]]
    rows += [
        (f"<code>{room.html(rule.text, 400)}</code>", room.html(rule.origin, 40), f"{rule.fired:,}")
        for rule in case.rules[:_MOST_LINES]
    ]
    left_out = max(len(case.rules) - _MOST_LINES, 0) + max(len(case.point) - _MOST_LINES, 0)
    title = "Plan: the faults that were asked for"
    headings = (term("rule"), term("origin"), term("fired"))
    return f"<h4>{title}</h4>{table(title, headings, rows, (2,))}" + more(left_out, "rules")


def _faults(case: Case, room: Budget) -> str:
    if not case.faults:
        return ""
    rows = (
        (
            f"<code>{room.html(fault.site, 200)}</code>",
            f"{fault.ordinal:,}",
            room.html(fault.thread, 60),
            room.html(fault.action, 60),
            f"<code>{room.html('' if fault.result is None else str(fault.result), 200)}</code>",
        )
        for fault in case.faults[:_MOST_LINES]
    )
    headings = (term("site"), term("ordinal"), term("thread"), term("action"), term("result"))
    body = table("Faults that fired", headings, rows, (1,))
    return f"<h4>Faults that fired</h4>{body}" + more(len(case.faults) - _MOST_LINES, "faults")


def _counters(case: Case, room: Budget) -> str:
    if not case.counters:
        return ""
    items = list(case.counters.items())
    cells = "".join(
        f"<div><dt>{room.html(name, 80)}</dt><dd>{value:,}</dd></div>" for name, value in items[:_MOST_LINES]
    )
    return f'<h4>{term("counter")}</h4><dl class="counters">{cells}</dl>' + more(len(items) - _MOST_LINES, "counters")


def _facts(case: Case, group: DistinctFinding, room: Budget) -> str:
    facts = {
        "place": group.finding.place,
        "scenario": f"{case.file}:{case.line}" if case.file else "",
        "seed": case.seed,
        "replay-string": case.replay,
        "plan-digest": case.plan_digest,
        "schedule": case.schedule,
        "minimised": minimised_line(case.minimised).removeprefix("minimised: ") if case.minimised else "",
        "interpreter": case.interpreter,
        "artifacts": case.artifacts,
        "unsupported": ", ".join(case.unsupported[:20]),
        "fingerprint": group.fingerprint,
    }
    most = {"replay-string": _MOST_COMMAND}  # a part of it is of no use
    cells = (
        f"<dt>{term(key)}</dt><dd><code>{room.html(text, most.get(key, 600))}</code></dd>"
        for key, text in facts.items()
        if text
    )
    return f'<h4>Facts</h4><dl class="facts">{"".join(cells)}</dl>'


def _cases(record: Record, group: DistinctFinding, room: Budget) -> str:
    if len(group.indices) < 2:
        return ""
    names = (f"<li>{room.html(case_name(record.cases[index]), 200)}</li>" for index in group.indices[:_MOST_CASES])
    return f'<h4>Cases with this finding</h4><ul class="names">{"".join(names)}</ul>' + more(
        len(group.indices) - _MOST_CASES, "cases"
    )


def reasons_html(record: Record) -> str:
    """Why cases were skipped, inconclusive or errors: each reason once, with how often and one example."""
    reasons: dict[tuple[str, str], list[int]] = {}
    for index, case in enumerate(record.cases):
        if case.verdict in ("error", "inconclusive", "skipped"):
            reasons.setdefault((case.verdict, case.reason), []).append(index)
    if not reasons:
        return ""
    room = Budget(200_000)
    shown = sorted(reasons.items(), key=lambda entry: entry[0][0])[:100]
    rows = (
        (
            f'<span class="verdict {verdict}">{verdict}</span>',
            room.html(reason or "no reason was given", 400),
            f"{len(indices):,}",
            room.html(case_name(record.cases[indices[0]]), 120),
        )
        for (verdict, reason), indices in shown
    )
    title = "Cases without a verdict on the contract"
    return (
        f"<h3>{title}</h3>"
        + table(title, ("Verdict", "Reason", term("case", "Cases"), "For example"), rows, (2,))
        + more(len(reasons) - len(shown), "reasons")
    )
