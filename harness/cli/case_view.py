"""Everything that a report has of one case, as lines for a terminal. What a report says is shown, never obeyed."""

from __future__ import annotations

import itertools

from harness.cli.table import Paint, columns
from reports.case_name import case_name
from reports.counted import count_of
from reports.finding_text import minimised_line
from reports.fingerprint import fingerprint
from reports.record import Case, Fault, Finding, Moment, Record, Timeline
from reports.visible import for_log, lines_for_log


def head_lines(record: Record) -> list[str]:
    """What concerns all cases."""
    built = f", built with {' and '.join(record.subject.sanitizers)} sanitizer" if record.subject.sanitizers else ""
    device = f", {record.device}" if record.device else ""
    lines = [
        f"holdfast {record.version} {record.command}, seed {record.seed}, {record.started}",
        f"plan: digest {record.plan_digest or 'none'}",
        f"subject: {record.subject.program}, build {record.subject.build_id}{built}",
        f"driver: {record.driver}{device}",
    ]
    ended = f"exit code {record.exit_code}" if record.exit_code is not None else "the run never came to its end"
    lines.append(f"ended: {ended}" + (f", interrupted by {record.interrupted}" if record.interrupted else ""))
    return [for_log(line) for line in (*lines, *(f"note: {note}" for note in record.notes))]


def case_lines(case: Case, paint: Paint) -> list[str]:
    """The case: verdict, reason, findings, faults, counters, timeline, output."""
    lines = [f"{paint.verdict(case.verdict, case.verdict)} {paint('bold', for_log(case_name(case)))}"]
    lines += [f"  {for_log(case.reason)}"] if case.reason else []
    facts = [f"{case.duration_ms:.0f} ms"]
    facts += [f"{case.peak_rss_mb:.0f} MB"] if case.peak_rss_mb is not None else []
    facts.append(f"seed {case.seed}")
    facts += [f"plan {case.plan_digest}"] if case.plan_digest else []
    facts += [f"{case.file}:{case.line}"] if case.file else []
    facts += [case.interpreter] if case.interpreter else []
    lines.append(f"  {for_log(', '.join(facts))}")
    for title, text in (("replay", case.replay), ("schedule", case.schedule), ("artifacts", case.artifacts)):
        lines += [f"  {title}: {for_log(text)}"] if text else []
    lines += [f"  {for_log(minimised_line(case.minimised))}"] if case.minimised else []
    for finding in case.findings:
        lines += _finding(case, finding, paint)
    lines += _faults(case)
    if case.counters:
        width = max(len(for_log(name)) for name in case.counters)
        lines += ["  counters:", *(f"    {for_log(name):<{width}}  {value}" for name, value in case.counters.items())]
    lines += [f"  the model driver lacks: {for_log(', '.join(case.unsupported))}"] if case.unsupported else []
    lines += _timeline(case.timeline, paint) if case.timeline else []
    if case.output_tail:
        lines += ["  output:", *(f"    {line}" for line in lines_for_log(case.output_tail))]
    return lines


def _finding(case: Case, finding: Finding, paint: Paint) -> list[str]:
    print_ = fingerprint(case.scenario, finding)
    lines = [f"  {paint('red', for_log(finding.kind))} [{print_}]: {for_log(finding.message)}"]
    lines += [f"    at {for_log(finding.place)}"] if finding.place else []
    lines += [f"      {for_log(frame)}" for frame in finding.stack]
    return lines + [f"    {for_log(command)}" for command in finding.reproduce]


def _faults(case: Case) -> list[str]:
    lines = []
    if case.rules:
        lines.append("  faults asked for:")
        lines += [
            f"    {for_log(rule.text)} ({for_log(rule.origin)}, fired {count_of(rule.fired, 'time')})"
            for rule in case.rules
        ]
    if case.faults:
        lines.append("  faults that fired:")
        lines += [f"    {for_log(_fault(fault))}" for fault in case.faults]
    return lines


def _fault(fault: Fault) -> str:
    result = "" if fault.result is None else f" {fault.result}"
    return f"{fault.site} call {fault.ordinal} on {fault.thread}: {fault.action}{result}, by rule {fault.rule}"


def _timeline(timeline: Timeline, paint: Paint) -> list[str]:
    left_out = f", after {timeline.left_out} that are left out" if timeline.left_out else ""
    lines = [f"  timeline: {count_of(len(timeline.moments), 'moment')}{left_out}"]
    head = ("us", "took", "thread", "what", "name", "result", "object", "refs", "queue")
    shown: list[tuple[Moment, int]] = []
    for plain, run in itertools.groupby(timeline.moments, _plain_call):
        alike = list(run)
        shown += [(alike[0], len(alike))] if plain else [(moment, 1) for moment in alike]
    table = columns(head, [_moment(moment, times) for moment, times in shown])
    lines.append(f"    {paint('bold', table[0])}")
    colors = {"fault": "yellow", "finding": "red"}
    for (moment, _), line in zip(shown, table[1:], strict=True):
        lines.append(f"    {paint(colors[moment.kind], line) if moment.kind in colors else line}")
    return lines


def _plain_call(moment: Moment) -> tuple[str, str] | None:
    """Which calls look alike: several of them in a row are one line."""
    says_more = moment.result or moment.object or moment.references is not None or moment.queue is not None
    return None if moment.kind != "call" or says_more else (moment.thread, moment.name)


def _moment(moment: Moment, times: int) -> tuple[str, ...]:
    took = "" if moment.duration_us is None or times > 1 else f"{moment.duration_us:.1f}"
    name = f"{moment.name} ({count_of(times, 'time')})" if times > 1 else moment.name
    counts = ("" if count is None else str(count) for count in (moment.references, moment.queue))
    return (f"{moment.at_us:.1f}", took, moment.thread, moment.kind, name, moment.result, moment.object, *counts)
