"""The judgement over one case, from everything that its child left behind.

Nothing is read from the exit code alone. In order: what the harness had to stop, what the events and the sanitizers
say, then what the signal, the code and the absence of a finish say that nothing before explained. A case without a
finding still has to show that its faults fired and that an oracle ran.
"""

from __future__ import annotations

import dataclasses

from harness.cli.child import Ending, Limits, Stop, signal_name
from harness.cli.events import Events, parse_events
from harness.cli.plans import Plan
from harness.cli.sanitizer import SanitizerReports, read_reports
from harness.cli.values import format_duration
from harness.cli.verdict import Verdict
from reports.record import Finding

_TAIL_LINES = 20
# A refused plan; no shim; not executable; a library that the loader does not find.
_COULD_NOT_START = (2, 3, 126, 127)


@dataclasses.dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    findings: tuple[Finding, ...]
    reason: str
    events: Events


def judge(ending: Ending, limits: Limits, plan: Plan, needs_oracle: bool = True) -> Judgement:
    """Without `needs_oracle` whoever asks knows by itself whether anything was checked.

    REQUIRES: the run was not interrupted while the child ran; there is nothing to judge then.
    """
    reports = read_reports(ending.sanitizer_logs + "\n" + ending.output)
    died = ending.stop is not None or ending.code < 0 or bool(reports.findings)
    events = parse_events(ending.events, died)
    trouble = _trouble(ending, reports, events)
    if trouble:
        return Judgement(Verdict.ERROR, (), trouble, events)
    findings = _findings(ending, limits, reports, events)
    if findings:
        return Judgement(Verdict.FAILED, tuple(findings), "", events)
    if events.skips:
        return Judgement(Verdict.SKIPPED, (), "; ".join(events.skips), events)
    doubts = _doubts(events, plan, needs_oracle)
    if doubts:
        return Judgement(Verdict.INCONCLUSIVE, (), "; ".join(doubts), events)
    return Judgement(Verdict.PASSED, (), "", events)


def _trouble(ending: Ending, reports: SanitizerReports, events: Events) -> str:
    """Why this says nothing about the subject, or an empty string."""
    if reports.broken:
        return reports.broken
    if events.out_of_order:
        return f"the order of its threads could not be kept, diverged {events.out_of_order}"
    if not events.started and ending.code in _COULD_NOT_START and not reports.findings:
        return f"the case did not start, exit code {ending.code}: {' '.join(tail_of(ending.output, 5)) or 'no output'}"
    return ""


def _findings(ending: Ending, limits: Limits, reports: SanitizerReports, events: Events) -> list[Finding]:
    findings = [*_stopped(ending, limits), *events.findings, *reports.findings]
    if ending.leftovers:
        findings.append(Finding("leftover-process", f"it left behind: {'; '.join(ending.leftovers)}"))
    if events.problems:
        findings.append(Finding("bad-events", "; ".join(events.problems)))
    if ending.stop is None:
        findings += _by_exit(ending, events, reports)
    return findings


def _stopped(ending: Ending, limits: Limits) -> list[Finding]:
    if ending.stop is Stop.TIME:
        tail = tuple(tail_of(ending.output, _TAIL_LINES)) if not ending.stacks else ()
        return [Finding("hang", f"it did not end within {format_duration(limits.seconds)}", "", ending.stacks or tail)]
    if ending.stop is Stop.MEMORY:
        used, limit = ending.peak_resident_bytes >> 20, limits.resident_bytes >> 20
        return [Finding("memory-limit", f"its processes held {used} MiB, and {limit} MiB is the limit")]
    if ending.stop is Stop.OUTPUT:
        return [Finding("output-limit", "it wrote without end, and was stopped")]
    return []


def _by_exit(ending: Ending, events: Events, reports: SanitizerReports) -> list[Finding]:
    """What the way in which the process ended says, beyond what has been said already.

    Only a sanitizer's report explains a signal: a scenario that records a finding and then crashes did both.
    """
    tail = tuple(tail_of(ending.output, _TAIL_LINES))
    if ending.code < 0 and not reports.findings:
        return [Finding("crash", f"it was ended by {signal_name(-ending.code)}", "", tail)]
    if ending.code == 0 and not events.finished:
        return [Finding("early-exit", "it exited with 0 before the scenario had finished", "", tail)]
    told = events.findings or reports.findings or events.skips or events.inconclusive
    if ending.code > 0 and not told:
        return [Finding("exit-code", f"it exited with {ending.code} and nothing says why", "", tail)]
    return []


def _doubts(events: Events, plan: Plan, needs_oracle: bool) -> list[str]:
    """Why a case without a finding still proves nothing."""
    doubts = list(events.inconclusive)
    fired = {fault.rule for fault in events.faults}
    for index, label in enumerate(plan.labels):
        if plan.has_to_fire(index) and index not in fired:
            doubts.append(f"the fault {label} had to fire and did not")
    if needs_oracle and not events.oracles:
        doubts.append("no oracle ran")
    return doubts


def tail_of(output: str, lines: int) -> list[str]:
    """The last lines that are not empty."""
    return [line.rstrip() for line in output.splitlines() if line.strip()][-lines:]
