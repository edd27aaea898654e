"""The full record of a run, from which every report is made.

Plain data: no field refers to anything outside, and equal runs have equal records up to times. Seeds are strings,
since JSON readers lose digits of large numbers. Durations are in the unit that ends their name.
"""

from __future__ import annotations

import dataclasses
from typing import Any

SCHEMA = "holdfast-report/1"

# The verdicts of a case, in the order in which summaries name them, with the summary's word for each.
SUMMARY_WORDS = {
    "passed": "passed",
    "failed": "failed",
    "error": "errors",
    "skipped": "skipped",
    "inconclusive": "inconclusive",
}


@dataclasses.dataclass(frozen=True)
class Finding:
    """A broken contract: its kind is a stable word, its place `file:line` or empty."""

    kind: str
    message: str
    place: str = ""
    stack: tuple[str, ...] = ()
    reproduce: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault that fired. `ordinal` counts the calls of the site on that thread; `rule` is an index into the plan."""

    site: str
    ordinal: int
    thread: str
    rule: int
    action: str
    result: str | int | None


@dataclasses.dataclass(frozen=True)
class Rule:
    """A fault that was asked for: the text of its rule, who brought it (user, scenario), and how often it fired."""

    text: str
    origin: str
    fired: int


@dataclasses.dataclass(frozen=True)
class Case:
    """One run of one variant of one scenario. `reason` says why a case was skipped, inconclusive or an error."""

    scenario: str
    variant: str
    run: int
    seed: str
    verdict: str
    plan_digest: str
    replay: str
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    faults: tuple[Fault, ...] = ()
    rules: tuple[Rule, ...] = ()
    counters: dict[str, int | float] = dataclasses.field(default_factory=dict)
    unsupported: tuple[str, ...] = ()
    duration_ms: float = 0.0
    peak_rss_mb: float = 0.0
    file: str = ""
    line: int = 0
    output_tail: str = ""
    artifacts: str = ""  # folder with its output, events and plan, relative to the artifact folder


@dataclasses.dataclass(frozen=True)
class Detection:
    """One cell of the detection matrix: did this scenario notice this seeded bug, and by which kinds of finding."""

    bug: str
    scenario: str
    caught: bool
    kinds: tuple[str, ...]
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Option:
    """A resolved option, and who gave its value."""

    value: Any
    source: str


@dataclasses.dataclass(frozen=True)
class Subject:
    """What ran: the program, the digest of its bytes, and the sanitizers that it was built with."""

    program: str
    build_id: str
    sanitizers: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Record:
    """A run. `started` is in UTC by ISO 8601; `interrupted` names the signal that ended the run, if one did."""

    version: str
    command: str
    seed: str
    driver: str
    driver_library: str
    interpreter: str
    subject: Subject
    plan_digest: str
    started: str
    driver_version: int | None = None
    device: str | None = None
    duration_ms: float = 0.0
    exit_code: int | None = None  # None while the run goes on
    interrupted: str = ""
    not_run: int = 0
    notes: tuple[str, ...] = ()
    options: dict[str, Option] = dataclasses.field(default_factory=dict)
    cases: tuple[Case, ...] = ()
    detection: tuple[Detection, ...] = ()


def summarize(cases: tuple[Case, ...]) -> dict[str, int]:
    """How many cases had each verdict."""
    summary = dict.fromkeys(SUMMARY_WORDS.values(), 0)
    for case in cases:
        summary[SUMMARY_WORDS[case.verdict]] += 1
    return summary
