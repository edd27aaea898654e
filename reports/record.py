"""The full record of a run, from which every report is made.

Plain data: no field refers to anything outside, and equal runs have equal records up to times. Seeds are strings,
since JSON readers lose digits of large numbers. Durations are in the unit that ends their name.

What a field has to be like beyond its type stands with it: readers refuse anything else (structure.py).
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

COMMANDS = ("run", "selftest", "sweep", "fuzz", "explore")

# The digest of a plan without a rule.
NO_PLAN = "09612b07b5ecb5a5"

FINDING_KIND = "[a-z][a-z0-9-]*"

_MOST_MS = 1e12  # some thirty years


def _field(default: Any = dataclasses.MISSING, **bounds: Any) -> Any:
    return dataclasses.field(default=default, metadata=bounds)


def _name() -> Any:
    return _field(least=1)


def _seed() -> Any:
    return _field(pattern="0x[0-9a-f]{16}", form="0x and sixteen hexadecimal digits")


def _digest() -> Any:
    return _field(pattern="([0-9a-f]{16})?", form="sixteen hexadecimal digits")


def _count(default: Any = dataclasses.MISSING) -> Any:
    return _field(default, minimum=0)


def _milliseconds() -> Any:
    return _field(0.0, minimum=0, maximum=_MOST_MS)


def _kind() -> Any:
    return _field(pattern=FINDING_KIND, form="a word in small letters")


@dataclasses.dataclass(frozen=True)
class Finding:
    """A broken contract: its kind is a stable word, its place `file:line` or empty."""

    kind: str = _kind()
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
    """A fault that was asked for: the text of its rule, who brought it (user, sweep, scenario), how often it fired."""

    text: str
    origin: str = _field(words=("user", "sweep", "scenario"))
    fired: int = _count()


MOMENT_KINDS = (
    "call", "destructor", "host-function", "pending-call", "drain", "context", "step", "fault", "finding", "release"
)  # fmt: skip

NOT_OVER = "not over"  # the result of a moment that had not come to its end when the process ended


@dataclasses.dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened while a case ran. One without a duration is a point in time, or, with the result
    `not over`, a stretch that had no end when the process ended.

    Kinds: `call` (of the driver), `destructor` and `host-function` (callbacks that the driver made), `pending-call`
    (handed to the interpreter's queue: a wakeup), `drain` (the time in which cleanup ran), `context` (another stretch
    that the subject announced), `step` (announced, a point), `fault`, `finding`, `release` (an owner's, a point).
    """

    at_us: float = _count()  # since the first moment of the process
    thread: str
    kind: str = _field(words=MOMENT_KINDS)
    name: str  # of a call its entry point; of a destructor and a release what is released
    duration_us: float | None = _count(None)
    result: str = ""  # of a call that did not succeed, its answer; of a fault, what it did
    object: str = ""  # the user object that it is about, such as "object 3"
    references: int | None = None  # that the subject and its graphs hold of the object afterwards
    queue: int | None = None  # how many calls the interpreter's queue, or cleanups ours, had afterwards


@dataclasses.dataclass(frozen=True)
class Timeline:
    """The last moments of a case, by their beginnings; `left_out` counts those that came before."""

    moments: tuple[Moment, ...]
    left_out: int = _count(0)


@dataclasses.dataclass(frozen=True)
class Minimised:
    """How a case with findings was made smaller: rules of the user, and switches from one thread to another. It is
    `complete` if nothing that was tried is left to leave out; otherwise `note` says what came in the way.
    """

    rules_before: int = _count()
    rules_after: int = _count()
    switches_before: int | None = _count()  # None: the order of threads was not controlled
    switches_after: int | None = _count()  # None: nor need it be
    runs: int = _count()
    complete: bool
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Case:
    """One run of one variant of one scenario. `reason` says why a case was skipped, inconclusive or an error; `point`
    has the faults that a sweep put into it, each as a rule in its one-line form.
    """

    scenario: str = _name()
    variant: str = _name()
    run: int = _count()
    seed: str = _seed()
    verdict: str = _field(words=tuple(SUMMARY_WORDS))
    plan_digest: str = _digest()
    replay: str
    schedule: str = ""  # which thread went on at each step, if the order of threads was controlled
    point: tuple[str, ...] = ()
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    faults: tuple[Fault, ...] = ()
    rules: tuple[Rule, ...] = ()
    counters: dict[str, int | float] = dataclasses.field(default_factory=dict)
    unsupported: tuple[str, ...] = ()
    duration_ms: float = _milliseconds()
    peak_rss_mb: float | None = _count(None)  # None: it was not measured
    file: str = ""
    line: int = _count(0)
    interpreter: str = ""  # that ran it, e.g. cp312; empty for a scenario in C++
    output_tail: str = ""
    artifacts: str = ""  # folder with its output, events and plan, relative to the artifact folder
    timeline: Timeline | None = None  # of a case that did not pass
    minimised: Minimised | None = None  # then all else here is of the smallest run with the findings


@dataclasses.dataclass(frozen=True)
class Detection:
    """One cell of the detection matrix: did this scenario notice this seeded bug, and by which kinds of finding."""

    bug: str = _name()
    scenario: str = _name()
    caught: bool
    kinds: tuple[str, ...]
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Operation:
    """What a sweep made of one operation, over all variants of its scenario: the points at which a fault fired, by
    form, and those that cannot fail after they took effect, with the reasons. A double point has a second fault, at a
    site that only the first one leads to.
    """

    scenario: str = _name()
    sites: tuple[str, ...]
    points: int = _count()
    before: int = _count()
    after: int = _count()
    transient: int = _count()
    persistent: int = _count()
    alloc: int = _count()
    double: int = _count()
    not_after: int = _count()
    not_after_reasons: dict[str, tuple[str, ...]]  # reason: sites
    runs: int = _count()
    failed: int = _count()


TAKEN_AGAIN = "taken again as it was"  # the note of a sequence that nobody made shorter


@dataclasses.dataclass(frozen=True)
class Shrunk:
    """A sequence that a fuzzer found something with, made as short as it goes. It is `complete` if no line can go any
    more; otherwise `note` says what came in the way.
    """

    fingerprint: str = _field(pattern="[0-9a-f]{12}", form="twelve hexadecimal digits")
    kind: str = _kind()
    message: str
    operations: int = _count()
    faults: int = _count()
    operations_before: int = _count()
    faults_before: int = _count()
    replays: int = _count()
    complete: bool
    note: str
    file: str
    sequence: tuple[str, ...] = ()  # its lines: a file of them is what `holdfast replay` takes


@dataclasses.dataclass(frozen=True)
class Fuzz:
    """What a fuzzer did: the work of all jobs together. A core's rate counts the time in which it worked for them."""

    operations: int = _count()
    sequences: int = _count()
    core_seconds: float = _count()
    operations_per_core_second: float = _count()
    shrunk: tuple[Shrunk, ...] = ()


@dataclasses.dataclass(frozen=True)
class Option:
    """A resolved option, and who gave its value."""

    value: Any
    source: str


@dataclasses.dataclass(frozen=True)
class Subject:
    """What ran: the program, the digest of its bytes, and the sanitizers that it was built with."""

    program: str = _name()
    build_id: str = _field(pattern="[0-9a-f]{16}", form="sixteen hexadecimal digits")
    sanitizers: tuple[str, ...] = _field((), words=("address", "thread", "undefined"))


@dataclasses.dataclass(frozen=True)
class Record:
    """A run. `started` is in UTC by ISO 8601; `interrupted` names the signal that ended the run, if one did. Of a
    sweep, `cases` has the clean runs and those that did not pass; `passed_points` counts the others.
    """

    version: str
    command: str = _field(words=COMMANDS)
    seed: str = _seed()
    driver: str = _field(words=("model", "real", "none"))
    driver_library: str
    interpreter: str
    subject: Subject
    plan_digest: str = _digest()
    started: str
    driver_version: int | None = None
    device: str | None = None
    duration_ms: float = _milliseconds()
    exit_code: int | None = None  # None while the run goes on
    interrupted: str = _field("", words=("", "SIGINT", "SIGTERM"))
    not_run: int = _count(0)
    notes: tuple[str, ...] = ()
    options: dict[str, Option] = dataclasses.field(default_factory=dict)
    cases: tuple[Case, ...] = ()
    detection: tuple[Detection, ...] = ()
    operations: tuple[Operation, ...] = ()
    passed_points: int = _count(0)
    fuzz: Fuzz | None = None


def summarize(record: Record) -> dict[str, int]:
    """How many runs had each verdict."""
    summary = dict.fromkeys(SUMMARY_WORDS.values(), 0)
    for case in record.cases:
        summary[SUMMARY_WORDS[case.verdict]] += 1
    summary["passed"] += record.passed_points
    return summary
