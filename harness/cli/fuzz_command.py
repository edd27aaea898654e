"""`holdfast fuzz`: random sequences of operations with faults against the reference model, shrunk on failure."""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from harness.cli import layout
from harness.cli.case_task import Setting
from harness.cli.conclusion import conclude
from harness.cli.fuzz_sequence import FuzzSequence, parse_sequence
from harness.cli.fuzz_task import FuzzTask, fingerprint
from harness.cli.fuzzer import SHRINK_SECONDS, Fuzzer, Reduction
from harness.cli.interrupt import Interrupt
from harness.cli.problems import NothingSelected, UsageError, writing
from harness.cli.progress import Progress
from harness.cli.report_files import ReportFiles
from harness.cli.reproduce import command_pair
from harness.cli.run_command import make_setting, print_header, progress_level, width_of
from harness.cli.seed import format_seed
from harness.cli.session import Session, open_reports
from harness.cli.table import Paint, closing_lines, details, note_lines
from harness.cli.values import format_duration
from harness.cli.verdict import ExitCode, Verdict, exit_code_of
from reports import record
from reports.counted import count_of
from reports.visible import for_log

DEFAULT_SECONDS = 60.0
SHRUNK_FOLDER = Path("out") / "fuzz"


def run(session: Session) -> int:
    """Draws sequences, or takes them again, and reports it. Raises a Problem if that cannot be done."""
    files = _files(session)
    reports = open_reports(session)
    print_header(session)
    with (
        Interrupt() as interrupt,
        tempfile.TemporaryDirectory(
            prefix="holdfast-", dir=session.bazel.scratch_folder, ignore_cleanup_errors=True
        ) as scratch,
    ):
        setting = make_setting(session, Path(scratch))
        fuzzer = Fuzzer(session.runner, setting, session.seed, width_of(session), interrupt)
        files |= _brought(session, Path(scratch))
        reports.write(session.base_record(), final=False)
        if files:
            ended = fuzzer.replay(files, session.invocation["--runs"])
            _refuse_unreadable(ended)
            return _conclude(session, ended, _taken(ended), interrupt, reports, drew=False)
        ended = _draw(session, fuzzer)
        return _conclude(session, ended, _reduce(session, fuzzer, setting, ended), interrupt, reports, drew=True)


def _files(session: Session) -> dict[Path, FuzzSequence]:
    """The sequences to take again; none if some are to be drawn."""
    if session.invocation["--corpus"]:
        corpus = session.layout.files(layout.FUZZ_CORPUS, "*.fuzz")
        if not corpus:
            raise NothingSelected(f"there is no sequence in {layout.FUZZ_CORPUS}")
        return {file: _read(file, str(file)) for file in corpus}
    return {Path(name): _read(Path(name), f"--replay={name}") for name in session.invocation["--replay"]}


def _read(file: Path, called: str) -> FuzzSequence:
    """The sequence in a file. Raises UsageError."""
    try:
        return parse_sequence(file.read_text(errors="replace"))
    except OSError as problem:
        raise UsageError(f"{called}: {problem.strerror}") from None
    except ValueError as problem:
        raise UsageError(f"{called}: {problem}") from None


def _brought(session: Session, scratch: Path) -> dict[Path, FuzzSequence]:
    """The sequence of a replay string, in a file of its own for the child; none without one."""
    replay = session.invocation.replay
    if replay is None:
        return {}
    file = scratch / f"{replay.variant}.fuzz"
    file.write_text(replay.sequence)
    return {file: parse_sequence(replay.sequence)}


def _seconds(session: Session) -> float:
    """How long to draw: as told, else a minute or what a test runner leaves of it."""
    asked: float | None = session.invocation["--max-total-time"]
    budget = session.bazel.budget_seconds
    if asked is not None:
        return asked
    return DEFAULT_SECONDS if budget is None else min(DEFAULT_SECONDS, budget / 2)


def _draw(session: Session, fuzzer: Fuzzer) -> list[FuzzTask]:
    progress = Progress(session.console.err, width_of(session), progress_level(session.invocation))
    budget = session.bazel.budget_seconds
    ended = fuzzer.draw(
        _seconds(session),
        session.invocation["--runs"],
        session.invocation["--keep-going"],
        _fuzz_commands(session),
        lambda running: progress.look([task.case.label for task in running]),
        lambda: budget is not None and session.elapsed() > budget,
    )
    progress.close()
    return ended


def _reduce(session: Session, fuzzer: Fuzzer, setting: Setting, ended: Sequence[FuzzTask]) -> list[Reduction]:
    """Shrinks one finding of each kind, and puts what takes it again in the place of what is longer."""
    kinds: dict[str, list[FuzzTask]] = {}
    for task in ended:
        if task.finding:
            kinds.setdefault(fingerprint(task.finding), []).append(task)
    reductions = []
    for tasks in kinds.values():
        reduction = _kept(session, fuzzer.reduce(fuzzer.steadiest(tasks), _shrink_seconds(session)))
        if reduction is None:
            continue
        reductions.append(reduction)
        name, file = reduction.summary.fingerprint, Path(reduction.summary.file)
        commands = setting.reproducer.sequence_commands(name, reduction.sequence, file)
        string = setting.reproducer.sequence_string(name, reduction.sequence)
        for task in tasks:
            assert task.result is not None
            findings = tuple(dataclasses.replace(finding, reproduce=commands) for finding in task.result.findings)
            task.result = dataclasses.replace(task.result, findings=findings, replay=string)
    return reductions


def _refuse_unreadable(ended: Sequence[FuzzTask]) -> None:
    """Raises UsageError for a sequence of which the program does not know an operation."""
    for task in ended:
        if task.refusal:
            raise UsageError(task.refusal)


def _taken(ended: Sequence[FuzzTask]) -> list[Reduction]:
    """The sequences that were taken again and have a finding, as they are."""
    reductions = {}
    for task in ended:
        if task.finding:
            sequence = parse_sequence(task.sequence)
            summary = record.Shrunk(
                fingerprint=fingerprint(task.finding),
                kind=task.finding.kind,
                message=task.finding.message,
                operations=sequence.operations,
                faults=sequence.faults,
                operations_before=sequence.operations,
                faults_before=sequence.faults,
                replays=0,
                complete=False,
                note=record.TAKEN_AGAIN,
                file="",
                sequence=tuple(sequence.lines()),
            )
            reductions.setdefault(task.sequence, Reduction(summary, sequence))
    return list(reductions.values())


def _shrink_seconds(session: Session) -> float:
    budget = session.bazel.budget_seconds
    return SHRINK_SECONDS if budget is None else max(0.0, min(SHRINK_SECONDS, budget - session.elapsed()))


def _kept(session: Session, reduction: Reduction | None) -> Reduction | None:
    """The reduction with its sequence in a file. Raises HarnessError if that cannot be written."""
    if reduction is None:
        return None
    folder = session.artifacts / "fuzz" if session.artifacts else SHRUNK_FOLDER
    path = folder / f"{reduction.summary.fingerprint}.fuzz"
    said = f"{reduction.summary.kind}: {reduction.summary.message}"
    comments = [line for line in (*said.splitlines(), reduction.summary.note) if line]
    with writing(f"the sequence {path}"):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(reduction.sequence.text(comments))
    return dataclasses.replace(reduction, summary=dataclasses.replace(reduction.summary, file=str(path)))


def _fuzz_commands(session: Session) -> tuple[str, ...]:
    """The commands that draw the same sequences again."""
    bug = session.invocation["--bug"]
    words = ["fuzz", f"--driver={session.driver.option}", *([f"--bug={bug}"] if bug else [])]
    words += [f"--seed={format_seed(session.seed)}", f"--jobs={width_of(session)}"]
    words.append(f"--max-total-time={format_duration(_seconds(session))}")
    runs = session.invocation["--runs"]
    return command_pair([*words, *([f"--runs={runs}"] * (runs > 1))])


def summary_of(ended: Sequence[FuzzTask], shrunk: Sequence[Reduction]) -> record.Fuzz:
    """What the children did together."""
    operations = sum(int(task.events.counters.get("operations", 0)) for task in ended)
    core_seconds = sum(task.core_seconds for task in ended)
    return record.Fuzz(
        operations=operations,
        sequences=sum(int(task.events.counters.get("sequences", 0)) for task in ended),
        core_seconds=round(core_seconds, 3),
        operations_per_core_second=round(operations / core_seconds, 1) if core_seconds else 0.0,
        shrunk=tuple(reduction.summary for reduction in shrunk),
    )


def _conclude(
    session: Session,
    ended: Sequence[FuzzTask],
    reductions: Sequence[Reduction],
    interrupt: Interrupt,
    reports: ReportFiles,
    drew: bool,
) -> int:
    """Reports what there is. Returns the exit code."""
    results = sorted((task.result for task in ended if task.result), key=lambda case: (case.variant, case.run))
    code: int = exit_code_of(Verdict(case.verdict) for case in results)
    notes = []
    if interrupt.signal:
        code, notes = interrupt.exit_code, [f"interrupted by {interrupt.signal.name}"]
    elif not results:
        code, notes = ExitCode.INCONCLUSIVE, ["no child came to an end within the time"]
    base = session.base_record()
    events = [task.events for task in ended if task.events.driver_version is not None]
    final = dataclasses.replace(
        base,
        driver_version=events[0].driver_version if events else base.driver_version,
        device=events[0].device or base.device if events else base.device,
        duration_ms=round(session.elapsed() * 1000, 3),
        exit_code=int(code),
        interrupted=interrupt.signal.name if interrupt.signal else "",
        notes=tuple(notes),
        cases=tuple(results),
        fuzz=summary_of(ended, reductions) if drew or reductions else None,
    )
    told = functools.partial(_told, session, reductions, drew)
    return conclude(final, reports, session.console, session.bazel, told)


def _told(
    session: Session, reductions: Sequence[Reduction], drew: bool, final: record.Record, stream: TextIO
) -> list[str]:
    paint = Paint(session.invocation["--color"], stream, session.environment)
    lines = []
    if drew and final.fuzz:
        fuzz = final.fuzz
        lines.append(
            f"{count_of(fuzz.operations, 'operation')} in {count_of(fuzz.sequences, 'sequence')}, "
            f"{fuzz.operations_per_core_second:,.0f} operations a second a core"
        )
    lines += details(final.cases, paint)
    for reduction in reductions:
        lines += ["", *_describe(reduction)]
    lines += note_lines(final.notes)
    lines += session.annotation_lines(final)
    return [*lines, "", *closing_lines(record.summarize(final), final.not_run)]


def _describe(reduction: Reduction) -> list[str]:
    """The shrunk sequence, and how far it was shrunk."""
    summary = reduction.summary
    if summary.note == record.TAKEN_AGAIN:
        return [for_log(f"{summary.kind} {summary.fingerprint}: the sequence"), *_lines(reduction)]
    note = f"; {summary.note}" if summary.note else ""
    head = (
        f"{summary.kind} {summary.fingerprint}: {count_of(summary.operations_before, 'operation')} and "
        f"{count_of(summary.faults_before, 'fault')}, shrunk to {summary.operations} and {summary.faults} in "
        f"{count_of(summary.replays, 'replay')}{note}"
    )
    return [for_log(head), for_log(f"  {summary.file}"), *_lines(reduction)]


def _lines(reduction: Reduction) -> list[str]:
    return [for_log(f"    {line}") for line in reduction.sequence.lines()]
