"""What `holdfast help TOPIC` tells beyond the commands, and the man page in its later part: one text for both.

Whatever a table of the program already knows is taken from there.
"""

from __future__ import annotations

import dataclasses

from harness.cli import options
from reports.finding_kinds import KINDS


@dataclasses.dataclass(frozen=True)
class Topic:
    """A paragraph is a text, a pair is a term with what it means."""

    name: str
    summary: str
    parts: tuple[str | tuple[str, str], ...]


_EXIT_CODES = Topic(
    "exit-codes",
    "what the exit code says",
    (
        "Whoever reads only the code learns the worst thing that is certain. No sanitizer's code is ever passed on.",
        ("0", "everything that was selected ran and met its expectation; skips are allowed and reported"),
        ("1", "at least one finding, or a gate that is not met"),
        ("2", "usage: an option, a plan, a test variable or a place for a report that cannot be used; nothing has run"),
        ("3", "the harness itself failed: something is missing, a report was not written, a replay diverged"),
        ("4", "nothing ran: no case was selected, or all were skipped under --require-run"),
        ("5", "inconclusive: the time was up, or a fault that had to fire did not"),
        ("130, 143", "interrupted by SIGINT or SIGTERM, after what there is was reported"),
        ("141", "whoever read the output has gone, as head does once it has its lines"),
    ),
)

_PLANS = Topic(
    "plans",
    "plans of faults, and rules in one line",
    (
        "A plan is JSON with comments: a version, a seed, and rules. A rule has a site, which is a driver entry point, "
        "destructor, Py_AddPendingCall or alloc; when it fires; and what it does there. Its schema is "
        "fault/plan/plan.schema.json, and docs/fault-model.md says which faults there are. A rule that could never act "
        "is refused before anything runs, with a JSON pointer to it.",
        "--fault takes one rule in one line: SITE:KEY=VALUE,KEY=VALUE...",
        ("cuGraphAddHostNode:nth=2,return=CUDA_ERROR_OUT_OF_MEMORY", "the second such call of a thread fails"),
        ("cuGraphLaunch:every=3,delay=5ms", "each third launch is late"),
        ("alloc:probability=1/64,fail", "an allocation in 64 fails, drawn from the seed"),
        ("destructor:deliver=thread,order=lifo", "destructors run on another thread, the newest first"),
        ("Py_AddPendingCall:first=40,return=-1", "the interpreter's queue is full for the first forty attempts"),
    ),
)

_SEEDS = Topic(
    "seeds",
    "seeds, and how a run is taken again",
    (
        "A seed is a number of 64 bits, as 0x and hexadecimal digits, in decimal, or the low bits of a 40-digit hash. "
        "Every decision is a function of the seed, the site, the thread and the number of the call, so the timing of "
        "threads moves none, and selecting other cases changes nothing for those that stay.",
        "Without --seed a fresh one is drawn and printed first. Under bazel test --runs_per_test the number of the run "
        "is mixed in.",
        "Each finding ends with two commands that take it again, fault for fault: one for this program and one for "
        "Bazel. They need no file, so they work wherever the same library is built. What would be in a file, or is too "
        "long for a line, is then packed into a replay string; each case of a report has one. It is all that holdfast "
        "replay needs, and one that was cut off is refused.",
        "holdfast replay takes a file as well, where - is the standard input:",
        ("report.json, report.jsonl", "its only case with a finding, or the one that --filter selects"),
        ("NAME.fuzz", "the sequence that holdfast fuzz left of a finding"),
        ("a log, or another text", "the replay string in it"),
        ("a folder", "of --artifact-dir: its report.json, or the replay.txt of a case"),
        "For an order of threads, run --schedule=replay:STRING or explore --replay=SCHEDULE takes it again, too.",
    ),
)

_FILTERS = Topic(
    "filters",
    "how cases are selected by name",
    (
        "A case is SCENARIO/VARIANT. Words behind the command are suites or globs of scenarios. --filter has "
        "GoogleTest's grammar: POSITIVE[-NEGATIVE], each a list of globs joined by ':', where * and ? stand for any "
        "letters. A selection that matches nothing ends with exit code 4.",
        ("--filter='A1*:A2*-*/thread'", "the scenarios A1 and A2 but for their variants on another thread"),
    ),
)

_REPORTS = Topic(
    "reports",
    "formats of reports",
    (
        "--report=FORMAT:PATH writes a report and may be given several times. The path - is the standard output; "
        "tables then go to the standard error. Folders are made; a place at which nothing can be written is refused "
        "before anything runs. All formats are made from the same record. If one of them cannot be written in the end, "
        "the run ends with exit code 3, and the others say so.",
        (
            "html",
            "one file to look at in a browser, without a network: findings, timelines, plots, an earlier run beside "
            "it, if `holdfast report convert` has a --baseline",
        ),
        ("json", "the full record; its schema is reports/report.schema.json"),
        (
            "jsonl",
            "the same a line at a time, while the run goes on; without a last line the run was cut off; its schema is "
            "reports/report_lines.schema.json",
        ),
        ("junit", "JUnit XML as GitLab, Jenkins, Bazel and GitHub's actions read it; at most 30 MB"),
        (
            "markdown",
            "for the summary of a step on GitHub; at most 900 KiB. --report=markdown+:PATH appends to the file instead "
            "of replacing it, as $GITHUB_STEP_SUMMARY wants it, and keeps it below 1 MiB",
        ),
        ("sarif", "SARIF 2.1.0 for code scanning: findings with a line of source, one result for each distinct fault"),
        ("tap", "the Test Anything Protocol, for prove and its like"),
        ("trace", "the timelines as a trace for Perfetto and Chrome: a track a thread, faults, findings and counts"),
    ),
)

_SCHEDULES = Topic(
    "schedules",
    "orders of threads",
    (
        "Without --schedule the threads of a case run as the machine lets them. With it they run one at a time, in an "
        "order that is drawn from the case's seed:",
        ("random", "any thread that can go on, at each step"),
        ("pct", "by priorities that change a few times, which finds rare orders soonest"),
        ("bursts", "one thread for a while, then another"),
        ("starvation", "one thread waits for as long as others can go on"),
        ("replay:STRING", "the order of an earlier run"),
        "--minimise looks for an order with fewer switches from one thread to another that shows the same findings, "
        "and for fewer and simpler rules of a plan. The commands below the finding then take what is left again.",
        "holdfast explore visits every order of the small programs that the lock-free code is checked with.",
    ),
)

_FINDINGS = Topic(
    "findings",
    "every kind of finding, and what to do about it",
    tuple((word, f"{kind.title}. {kind.description} {kind.help}") for word, kind in KINDS.items()),
)


def _environment() -> Topic:
    defaults = [
        (option.variable, f"the default of {option.name} ({', '.join(option.commands)})")
        for option in options.OPTIONS
        if option.variable
    ]
    return Topic(
        "environment",
        "variables that are read",
        (
            "An option's value comes from its default, a variable or the command line, in rising order; reports say "
            "which. The variables of Bazel's test contract work by hand too.",
            *defaults,
            ("XML_OUTPUT_FILE", "where a JUnit report goes besides"),
            ("TEST_TOTAL_SHARDS, TEST_SHARD_INDEX", "run only the cases of this shard, by a hash of their names"),
            ("TEST_SHARD_STATUS_FILE", "is touched to say that sharding is understood"),
            ("TEST_RANDOM_SEED", "the number of the run, which is mixed into the seed"),
            ("TEST_TIMEOUT", "seconds for everything; a part of them is kept for the report"),
            ("TEST_TMPDIR, TMPDIR", "where scratch files go"),
            ("TEST_PREMATURE_EXIT_FILE", "exists until the end, to catch whatever leaves too early"),
            ("TEST_INFRASTRUCTURE_FAILURE_FILE", "gets a line about a driver that is missing although it is needed"),
            ("TEST_WARNINGS_OUTPUT_FILE", "gets what a reader of the run has to know"),
            ("HOLDFAST_ROOT", "the folder with the programs, instead of the one that this command is in"),
            ("HOLDFAST_PYTHONS", "interpreters to test the Python module on, joined by ':'"),
            ("NO_COLOR", "if not empty, no colour unless --color=yes"),
        ),
    )


TOPICS = (_EXIT_CODES, _PLANS, _SEEDS, _FILTERS, _SCHEDULES, _REPORTS, _FINDINGS, _environment())
