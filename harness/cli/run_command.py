"""`holdfast run`: the selected cases, each in a child process, judged and reported."""

from __future__ import annotations

import dataclasses
import functools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from harness.cli import cases as case_selection
from harness.cli import layout
from harness.cli.case_task import CaseTask, Setting, fired_user_rules
from harness.cli.cases import Case
from harness.cli.conclusion import conclude
from harness.cli.engine import Engine, default_width
from harness.cli.interrupt import Interrupt
from harness.cli.minimise import LAST_RUN_SECONDS, MINIMISE_SECONDS, Minimiser, is_worth_minimising
from harness.cli.options import Invocation
from harness.cli.progress import Progress
from harness.cli.report_files import ReportFiles
from harness.cli.reproduce import Reproducer
from harness.cli.schedule import ThreadOrder, refuse_unorderable
from harness.cli.session import Session, open_reports
from harness.cli.table import Paint, case_table, closing_lines, details, note_lines
from harness.cli.timeline import TimelineShare
from harness.cli.values import format_duration
from harness.cli.verdict import ExitCode, Verdict, exit_code_of
from reports import record
from reports.counted import count_of
from reports.visible import for_log


class RunState:
    """The cases that are done, and how far the run may still go. Watches the engine."""

    def __init__(self, session: Session, tasks: Sequence[CaseTask], progress: Progress, files: ReportFiles) -> None:
        self._session = session
        self._tasks = tasks
        self._progress = progress
        self._files = files
        self._failures = 0
        self._most_failures = failure_limit(session.invocation)
        self.out_of_time = False

    def may_start(self) -> bool:
        if self._most_failures is not None and self._failures >= self._most_failures:
            return False
        budget = time_budget(self._session)
        if budget is not None and self._elapsed() > budget:
            self.out_of_time = True
            return False
        return True

    def must_stop(self) -> bool:
        """Under a test runner's time limit even the running cases end in time for the report."""
        budget = self._session.bazel.budget_seconds
        if budget is not None and self._elapsed() > budget:
            self.out_of_time = True
            return True
        return False

    def after_each(self, task: CaseTask) -> Sequence[CaseTask]:
        assert task.result is not None
        self._failures += task.result.verdict == Verdict.FAILED.value
        self._progress.case_ended(task.result)
        self._files.case_ended(task.result)
        self._files.write_sometimes(self.record)
        return ()

    def look(self, running: Sequence[CaseTask]) -> None:
        self._progress.look([task.case.label for task in running])

    def record(self) -> record.Record:
        """The run so far, in the order of selection."""
        results = [task.result for task in self._tasks if task.result]
        base = self._session.base_record()
        events = [task.events for task in self._tasks if task.events.driver_version is not None]
        return dataclasses.replace(
            base,
            driver_version=events[0].driver_version if events else base.driver_version,
            device=events[0].device or base.device if events else base.device,
            duration_ms=round(self._elapsed() * 1000, 3),
            not_run=len(self._tasks) - len(results),
            cases=tuple(results),
        )

    def _elapsed(self) -> float:
        return time.monotonic() - self._session.started


def run(session: Session) -> int:
    """Runs what the command line selects and reports it. Raises a Problem if that cannot be done."""
    pairs = case_selection.select(session.scenarios, session.invocation.positionals, session.invocation["--filter"])
    mine = case_selection.shard(pairs, session.bazel.shard_index, session.bazel.shard_count)
    first, runs = session.invocation["--first-run"], session.invocation["--runs"]
    case_selection.refuse_too_many(len(mine) * runs)
    cases = case_selection.expand(mine, session.seed, first, runs)
    if session.invocation["--shuffle"]:
        cases = case_selection.shuffled(cases)
    if session.invocation["--list"]:
        session.console.out.writelines(f"{case.label}\n" for case in cases)
        return ExitCode.ALL_MET
    if session.invocation["--schedule"]:
        refuse_unorderable(cases, session.invocation["--schedule"], session.driver.kind, session.sanitizers)
    files = open_reports(session)
    print_header(session)
    with (
        Interrupt() as interrupt,
        tempfile.TemporaryDirectory(
            prefix="holdfast-", dir=session.bazel.scratch_folder, ignore_cleanup_errors=True
        ) as scratch,
    ):
        return _run_cases(session, cases, files, Path(scratch), interrupt)


def _run_cases(session: Session, cases: Sequence[Case], files: ReportFiles, scratch: Path, interrupt: Interrupt) -> int:
    setting = make_setting(session, scratch)
    tasks = [CaseTask(case, setting, number) for number, case in enumerate(cases)]
    progress = Progress(session.console.err, len(tasks), progress_level(session.invocation))
    state = RunState(session, tasks, progress, files)
    files.write(state.record(), final=False)
    Engine[CaseTask](width_of(session), interrupt, state).run(tasks)
    progress.close()
    so_far = state.record()  # of what ran as it was asked for, which is what faults had to fire in
    if session.invocation["--minimise"]:
        _minimise(session, setting, tasks, interrupt)
    code, notes = _outcome(session, so_far, state.out_of_time, interrupt)
    final = dataclasses.replace(
        state.record(),
        exit_code=int(code),
        notes=tuple(notes),
        interrupted=interrupt.signal.name if interrupt.signal else "",
    )
    return conclude(final, files, session.console, session.bazel, functools.partial(_told, session))


def _minimise(session: Session, setting: Setting, tasks: Sequence[CaseTask], interrupt: Interrupt) -> None:
    """Makes what was found smaller, for as long as there is time."""
    asked: float | None = session.invocation["--max-total-time"]
    budget = session.bazel.budget_seconds
    seconds = MINIMISE_SECONDS if asked is None else asked - session.elapsed()
    most = seconds + LAST_RUN_SECONDS
    if budget is not None:
        most = min(most, budget - session.elapsed())
        seconds = min(seconds, most)
    progress = Progress(session.console.err, 0, progress_level(session.invocation))
    Minimiser(setting, width_of(session), interrupt, progress, seconds, most).minimise(tasks)
    progress.close()


def _advice(session: Session, case: record.Case) -> str:
    """What else can be done about a finding."""
    if session.invocation["--minimise"] or not is_worth_minimising(case):
        return ""
    return "to make it smaller: add --minimise"


def make_setting(session: Session, scratch: Path) -> Setting:
    """What all cases share."""
    invocation = session.invocation
    return Setting(
        environment=session.environment,
        shim=session.shim,
        driver=session.driver,
        plans=session.plans,
        reproducer=Reproducer(
            session.seed,
            session.driver.option,
            session.driver.kind,
            _case_options(invocation),
            session.plans.file_rules,
        ),
        scratch=scratch,
        artifacts=session.artifacts,
        timeout_seconds=invocation["--timeout"],
        resident_bytes=invocation["--rss-limit-mb"] << 20,
        sanitizers=session.sanitizers,
        order=_thread_order(session),
        timelines=TimelineShare(of_all=invocation["--timelines"]),
    )


def _thread_order(session: Session) -> ThreadOrder | None:
    value = session.invocation.values.get("--schedule")
    if value is None:
        return None
    return ThreadOrder(value, session.layout.need(layout.SCHEDULE_LIBRARY, "what puts threads in order"))


def _case_options(invocation: Invocation) -> tuple[str, ...]:
    """The options of this command line that change what a case meets."""
    options = []
    if invocation.values.get("--bug"):
        options.append(f"--bug={invocation['--bug']}")
    if invocation.values.get("--plan"):
        options.append(f"--plan={invocation['--plan']}")
    if invocation.command == "run":
        options += [f"--fault={fault}" for fault in invocation["--fault"]]
        options += [f"--schedule={invocation['--schedule']}"] if invocation["--schedule"] else []
    if invocation.was_given("--timeout"):
        options.append(f"--timeout={format_duration(invocation['--timeout'])}")
    if invocation.was_given("--rss-limit-mb"):
        options.append(f"--rss-limit-mb={invocation['--rss-limit-mb']}")
    return tuple(options)


def width_of(session: Session) -> int:
    given: int | None = session.invocation["--jobs"]
    return given or default_width(session.driver.kind == "real", session.bazel.is_test)


def progress_level(invocation: Invocation) -> str:
    return "quiet" if invocation["--quiet"] else "verbose" if invocation["--verbose"] else "normal"


def print_header(session: Session) -> None:
    lines = session.header()[: 1 if session.invocation["--quiet"] else None]
    session.console.err.writelines(f"{for_log(line)}\n" for line in lines)
    session.console.err.flush()


def failure_limit(invocation: Invocation) -> int | None:
    """After how many failures to stop. What stands on the command line outweighs the environment."""
    limit: int | None = invocation["--max-failures"]
    return limit if limit is not None else 1 if invocation["--fail-fast"] else None


def time_budget(session: Session) -> float | None:
    """How long cases may be started."""
    budget: float | None = session.invocation["--max-total-time"]
    return budget if budget is not None else session.bazel.budget_seconds


def _outcome(session: Session, so_far: record.Record, out_of_time: bool, interrupt: Interrupt) -> tuple[int, list[str]]:
    """The exit code, and what else a reader has to know."""
    verdicts = [Verdict(case.verdict) for case in so_far.cases]
    code: int = exit_code_of(verdicts)
    notes = [
        f"the fault {rule} had to fire in at least one case and did not"
        for rule, fired in fired_user_rules(list(so_far.cases))
        if not fired
    ]
    if out_of_time:
        notes.append(f"the time was up with {count_of(so_far.not_run, 'case')} not run")
    if notes and code == ExitCode.ALL_MET:
        code = ExitCode.INCONCLUSIVE
    if interrupt.signal:
        return interrupt.exit_code, [f"interrupted by {interrupt.signal.name}", *notes]
    if not verdicts and not so_far.not_run:
        notes.append("this shard has no case")
    elif verdicts and all(verdict is Verdict.SKIPPED for verdict in verdicts):
        code = _code_of_all_skipped(session.invocation, code)
        notes.append("every case was skipped")
    return code, notes


def _code_of_all_skipped(invocation: Invocation, otherwise: int) -> int:
    if invocation["--require-run"]:
        return ExitCode.NOTHING_RAN
    given: int | None = invocation["--skip-exit-code"]
    return given if given is not None else otherwise


def _told(session: Session, final: record.Record, stream: TextIO) -> list[str]:
    paint = Paint(session.invocation["--color"], stream, session.environment)
    shown = [case for case in final.cases if not session.invocation["--quiet"] or case.verdict != "passed"]
    lines = case_table(shown, paint) if shown else []
    lines += details(final.cases, paint, lambda case: _advice(session, case))
    lines += note_lines(final.notes)
    lines += session.annotation_lines(final)
    return [*lines, "", *closing_lines(record.summarize(final), final.not_run)]
