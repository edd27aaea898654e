"""`holdfast explore`: the interleavings of the lock-free code under the C++11 memory model.

A program of C++ holds the programs to explore (harness/explore); each is explored in a process of its own, so that one
that crashes ends nothing else.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import platform
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from harness.cli import layout
from harness.cli.bazel_environment import BazelEnvironment
from harness.cli.conclusion import conclude
from harness.cli.options import Invocation
from harness.cli.problems import HarnessError, NothingSelected, UsageError
from harness.cli.replay_string import OPTIONS, Replay, encode
from harness.cli.report_files import ReportFiles
from harness.cli.reproduce import MOST_OF_A_SCHEDULE, command_pair, replay_pair
from harness.cli.seed import format_seed
from harness.cli.session import Console, build_id, utc_now
from harness.cli.table import Paint, closing_lines, columns, note_lines
from harness.cli.values import format_duration
from harness.cli.verdict import ExitCode, Verdict, exit_code_of
from harness.cli.version import VERSION
from reports import record
from reports.counted import count_of
from reports.github_annotations import annotations
from reports.name_glob import matches_glob
from reports.nearest import nearest
from reports.visible import for_log

DEFAULT_SECONDS = 600.0
DEFAULT_SEED = 1

# What a program may need beyond its time: to start, and to shorten what it found.
GRACE_SECONDS = 60.0


@dataclasses.dataclass(frozen=True)
class Program:
    """One program to explore. `expected` is the verdict that a specimen must end with; empty for all others."""

    name: str
    summary: str
    expected: str


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What exploring one program came to. `told` is what its process said; empty if it did not come to say anything."""

    program: Program
    verdict: Verdict
    reason: str
    told: Mapping[str, Any]
    duration_ms: float


def run(invocation: Invocation, environment: Mapping[str, str], bazel: BazelEnvironment, console: Console) -> int:
    """Explores the programs that the command line names, or all. Raises a Problem if that cannot be done."""
    places = layout.find_layout(environment)
    runner = places.need(layout.EXPLORE_RUNNER, "the program with the programs to explore")
    programs = _select(_list(runner), invocation.positionals)
    if invocation["--list"]:
        console.out.writelines(f"{line}\n" for line in columns(("program", "summary"), _summaries(programs)))
        return ExitCode.ALL_MET
    replay = invocation["--replay"]
    if replay and len(programs) != 1:
        raise UsageError(f"--replay takes one program again, and {len(programs)} are named")
    reports = ReportFiles(invocation["--report"])
    started, began = utc_now(), time.monotonic()
    head = f"holdfast {VERSION}, seed {format_seed(_seed(invocation))}, {_search_text(invocation)}"
    console.err.write(f"{head}\n")
    outcomes = _explore_all(runner, programs, invocation, bazel)
    code = exit_code_of(outcome.verdict for outcome in outcomes)
    final = record.Record(
        version=VERSION,
        command="explore",
        seed=format_seed(_seed(invocation)),
        driver="none",
        driver_library="",
        interpreter=f"{platform.python_implementation()} {platform.python_version()}",
        subject=record.Subject(runner.name, build_id(runner), ()),
        plan_digest="",
        started=started,
        duration_ms=round((time.monotonic() - began) * 1000, 3),
        exit_code=int(code),
        options=_options(invocation),
        cases=tuple(_case(outcome, invocation) for outcome in outcomes),
    )

    def told(final: record.Record, stream: TextIO) -> list[str]:
        return _report_lines(outcomes, final, invocation, Paint(invocation["--color"], stream, environment))

    return conclude(final, reports, console, bazel, told)


def _list(runner: Path) -> list[Program]:
    done = subprocess.run([runner, "--list"], capture_output=True, text=True, check=False)
    try:
        entries = json.loads(done.stdout)
        return [Program(entry["name"], entry["summary"], entry["expected"] or "") for entry in entries]
    except (ValueError, KeyError, TypeError):
        raise HarnessError(f"{runner} --list said nothing that can be read; exit code {done.returncode}") from None


def _select(programs: Sequence[Program], words: Sequence[str]) -> list[Program]:
    """The programs that match a glob of `words`, in their own order; all if there is none. Raises NothingSelected."""
    for word in words:
        if not any(matches_glob(word, program.name, "") for program in programs):
            raise NothingSelected(f"{word!r} matches no program{nearest(word, [program.name for program in programs])}")
    return [program for program in programs if not words or any(matches_glob(word, program.name, "") for word in words)]


def _summaries(programs: Sequence[Program]) -> list[tuple[str, str]]:
    return [
        (program.name, program.summary + (f" (must be found: {program.expected})" if program.expected else ""))
        for program in programs
    ]


def _seed(invocation: Invocation) -> int:
    return DEFAULT_SEED if invocation["--seed"] is None else int(invocation["--seed"])


def _seconds(invocation: Invocation) -> float:
    return float(invocation["--max-total-time"] or DEFAULT_SECONDS)


def _search_text(invocation: Invocation) -> str:
    return f"{invocation['--search']} search under {invocation['--memory-model'].upper()}"


def _options(invocation: Invocation) -> dict[str, record.Option]:
    resolved = {}
    for name, value in invocation.values.items():
        shown = value
        if name == "--seed":
            shown = format_seed(_seed(invocation))
        elif name == "--report":
            shown = [str(target) for target in value]
        elif name == "--max-total-time":
            shown = format_duration(_seconds(invocation))
        resolved[name.removeprefix("--")] = record.Option(shown, invocation.sources[name])
    return resolved


def _arguments(invocation: Invocation) -> list[str]:
    """What the command line says to each process."""
    arguments = [
        f"--search={invocation['--search']}",
        f"--model={invocation['--memory-model']}",
        f"--seed={_seed(invocation)}",
        f"--milliseconds={round(_seconds(invocation) * 1000)}",
        f"--events={invocation['--max-steps']}",
    ]
    if invocation["--spurious-failures"] is not None:
        arguments.append(f"--spurious-failures={invocation['--spurious-failures']}")
    if invocation["--max-executions"]:
        arguments.append(f"--executions={invocation['--max-executions']}")
    if invocation["--max-preemptions"] is not None:
        arguments.append(f"--preemptions={invocation['--max-preemptions']}")
    if invocation["--replay"]:
        arguments.append(f"--replay={invocation['--replay']}")
    return arguments


def _explore_all(
    runner: Path, programs: Sequence[Program], invocation: Invocation, bazel: BazelEnvironment
) -> list[Outcome]:
    width = invocation["--jobs"] or (1 if bazel.is_test else 2)
    arguments = _arguments(invocation)
    limit_seconds = _seconds(invocation) + GRACE_SECONDS
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        futures = [pool.submit(_explore, runner, program, arguments, limit_seconds) for program in programs]
        return [future.result() for future in futures]


def _explore(runner: Path, program: Program, arguments: Sequence[str], limit_seconds: float) -> Outcome:
    began = time.monotonic()

    def outcome(verdict: Verdict, reason: str, told: Mapping[str, Any] | None = None) -> Outcome:
        return Outcome(program, verdict, reason, told or {}, round((time.monotonic() - began) * 1000, 3))

    command = [runner, f"--program={program.name}", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit_seconds)
    except subprocess.TimeoutExpired:
        return outcome(Verdict.FAILED, f"hang: it did not end within {format_duration(limit_seconds)}")
    if done.returncode == 2:
        raise UsageError(done.stderr.strip())
    if done.returncode == 3:
        return outcome(Verdict.ERROR, done.stderr.strip())
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        return outcome(Verdict.FAILED, f"crash: exit status {done.returncode}" + (f", {said[-1]}" if said else ""))
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return outcome(Verdict.ERROR, "its process said nothing that can be read")
    verdict, reason = _judge(program, told)
    return outcome(verdict, reason, told)


def _judge(program: Program, told: Mapping[str, Any]) -> tuple[Verdict, str]:
    failure = told["failure"]
    if failure and not failure["is_fault"]:
        return Verdict.ERROR, f"{failure['verdict']}: {failure['text']}"
    if program.expected:
        if failure and failure["verdict"] == program.expected:
            return Verdict.PASSED, ""
        return Verdict.FAILED, f"missed: the specimen has {program.expected}, and it was not found"
    if failure:
        return Verdict.FAILED, ""
    if told["is_out_of_time"]:
        return Verdict.INCONCLUSIVE, "the time was over before all executions were visited: give --max-total-time"
    return Verdict.PASSED, ""


def _certificate(outcome: Outcome, invocation: Invocation) -> str:
    """What the search has to show for itself."""
    told = outcome.told
    if not told:
        return "none"
    if invocation["--search"] != "exhaustive" or invocation["--replay"]:
        return f"{count_of(told['executions'], 'execution')}, a sample"
    state = "complete" if told["is_complete"] else "not complete"
    blocked = f", {told['blocked']} blocked" if told["blocked"] else ""
    spurious = told["spurious_failures_max"]
    bound = f", at most {count_of(spurious, 'spurious failure')} in each" if spurious else ""
    preemptions = invocation["--max-preemptions"]
    within = "" if preemptions is None else f" within {count_of(preemptions, 'preemption')}"
    return f"{state}{within}: {count_of(told['executions'], 'distinct execution')}{blocked}{bound}"


def _replay_options(outcome: Outcome, invocation: Invocation) -> tuple[str, ...]:
    """The options that take an outcome again: the execution that failed, else the search."""
    failure = outcome.told.get("failure")
    names = ("--memory-model", "--max-steps", "--spurious-failures") if failure else OPTIONS["explore"]
    given = [name for name in names if invocation.was_given(name)]
    options = [
        f"{name}={format_duration(invocation[name]) if name == '--max-total-time' else invocation[name]}"
        for name in given
    ]
    return (*options, f"--replay={failure['schedule']}") if failure else tuple(options)


def _replay_string(outcome: Outcome, invocation: Invocation) -> str:
    """What takes an outcome again on any machine."""
    options = _replay_options(outcome, invocation)
    fields = ("explore", outcome.program.name, invocation["--search"], "none", _seed(invocation))
    return encode(Replay(*fields, options=options))


def _replay_commands(outcome: Outcome, invocation: Invocation) -> tuple[str, ...]:
    options = _replay_options(outcome, invocation)
    string = _replay_string(outcome, invocation)
    failure = outcome.told.get("failure")
    if failure and len(failure["schedule"]) > MOST_OF_A_SCHEDULE and string:
        return replay_pair(string)
    search = () if failure else (f"--search={invocation['--search']}", f"--seed={format_seed(_seed(invocation))}")
    return command_pair(["explore", outcome.program.name, *search, *options])


def _case(outcome: Outcome, invocation: Invocation) -> record.Case:
    failure = outcome.told.get("failure")
    commands = _replay_commands(outcome, invocation)
    findings: tuple[record.Finding, ...] = ()
    if outcome.verdict is Verdict.FAILED and failure and not outcome.reason:
        table = tuple(outcome.told["table"].splitlines())
        findings = (record.Finding(failure["verdict"], failure["text"], stack=table, reproduce=commands),)
    elif outcome.verdict is Verdict.FAILED:
        kind, _, message = outcome.reason.partition(": ")
        findings = (record.Finding(kind, message, reproduce=commands),)
    counters = {
        name: outcome.told[name] for name in ("executions", "blocked", "inconsistent", "faulty") if outcome.told
    }
    return record.Case(
        scenario=outcome.program.name,
        variant=invocation["--search"],
        run=0,
        seed=format_seed(_seed(invocation)),
        verdict=outcome.verdict.value,
        plan_digest="",
        replay=_replay_string(outcome, invocation),
        schedule=failure["schedule"] if failure else "",
        reason="" if findings else outcome.reason,
        findings=findings,
        counters=counters,
        duration_ms=outcome.duration_ms,
    )


def _report_lines(outcomes: Sequence[Outcome], final: record.Record, invocation: Invocation, paint: Paint) -> list[str]:
    rows = []
    for outcome in outcomes:
        failure = outcome.told.get("failure")
        rows.append(
            (
                outcome.program.name,
                outcome.verdict.value,
                failure["verdict"] if failure else outcome.reason.partition(":")[0] or "-",
                _certificate(outcome, invocation),
                f"{outcome.duration_ms:.0f}",
            )
        )
    lines = columns(("program", "verdict", "found", "certificate", "ms"), rows)
    lines += ["", f"a thread that has more than {invocation['--max-steps']} operations is taken to loop for ever"]
    for outcome in outcomes:
        failure = outcome.told.get("failure")
        shows = failure and (outcome.verdict is not Verdict.PASSED or len(outcomes) == 1)
        if outcome.reason:
            lines += ["", f"{paint.verdict(outcome.verdict.value, outcome.program.name)}: {for_log(outcome.reason)}"]
        if outcome.reason and outcome.verdict is Verdict.FAILED and not shows:
            lines += [f"  {command}" for command in _replay_commands(outcome, invocation)]
        if shows:
            head = f"{failure['verdict']} in {outcome.program.name}"
            switches = count_of(failure["switches"], "switch of threads", "switches of threads")
            shape = f"{switches}, {count_of(failure['faults'], 'fault')}"
            lines += ["", f"{paint('red', for_log(head))}: {for_log(failure['text'])}", f"  {shape}"]
            lines += [f"  {for_log(command)}" for command in _replay_commands(outcome, invocation)]
        if shows or (invocation["--replay"] and outcome.told):
            lines += ["", *map(for_log, outcome.told["table"].splitlines())]
    lines += note_lines(final.notes)
    lines += annotations(final) if invocation["--annotations"] else []
    return [*lines, "", *closing_lines(record.summarize(final), final.not_run)]
