"""`holdfast sweep`: fails the 1st, 2nd, 3rd ... call of every site within the one operation of each sweep scenario."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from harness.cli import cases as case_selection
from harness.cli.case_task import CaseTask
from harness.cli.cases import Case
from harness.cli.conclusion import conclude
from harness.cli.engine import Engine
from harness.cli.interrupt import Interrupt
from harness.cli.problems import NothingSelected, UsageError
from harness.cli.progress import Progress
from harness.cli.report_files import ReportFiles
from harness.cli.run_command import (
    failure_limit,
    make_setting,
    print_header,
    progress_level,
    time_budget,
    width_of,
)
from harness.cli.session import Session, open_reports
from harness.cli.sweep import PointTask, Sweep, operation_of
from harness.cli.table import Paint, closing_lines, columns, details, note_lines
from harness.cli.verdict import ExitCode, Verdict, exit_code_of
from reports import record
from reports.counted import count_of
from reports.visible import for_log

SWEEP_SUITE = "sweep"


class SweepState:
    """What the sweeps have come to, and how far they may still go. Watches the engine."""

    def __init__(
        self, session: Session, sweeps: Sequence[Sweep], only: bool, progress: Progress, files: ReportFiles
    ) -> None:
        """With `only` there is no sweep, but one run with faults that the user gave."""
        self._session = session
        self._sweeps = sweeps
        self._only = only
        self._progress = progress
        self._files = files
        self._most_failures = failure_limit(session.invocation)
        self._failures = 0
        self._listed: list[record.Case] = []
        self._passed_points = 0
        self.unfinished = 0
        self.out_of_time = False

    def may_start(self) -> bool:
        if self._most_failures is not None and self._failures >= self._most_failures:
            return False
        budget = time_budget(self._session)
        self.out_of_time = self.out_of_time or (budget is not None and self._session.elapsed() > budget)
        return not self.out_of_time

    def must_stop(self) -> bool:
        budget = self._session.bazel.budget_seconds
        self.out_of_time = self.out_of_time or (budget is not None and self._session.elapsed() > budget)
        return self.out_of_time and budget is not None

    def after_each(self, task: CaseTask) -> Sequence[CaseTask]:
        assert isinstance(task, PointTask)
        following = task.sweep.after(task)
        assert task.result is not None  # after the sweep has looked at it: it may find fault with the run
        self._failures += task.result.verdict == Verdict.FAILED.value
        if task.point is not None and task.result.verdict == Verdict.PASSED.value:
            self._passed_points += 1
        else:
            self._listed.append(task.result)
            self._files.case_ended(task.result)
        self._progress.expect_more(len(following))
        self._progress.case_ended(task.result)
        self._files.write_sometimes(self.record)
        return following

    def look(self, running: Sequence[CaseTask]) -> None:
        self._progress.look([task.case.label for task in running])

    def record(self) -> record.Record:
        """The sweep so far: its operations in the order of selection, and the runs that did not pass."""
        by_scenario = itertools.groupby(sorted(self._sweeps, key=lambda sweep: sweep.name), lambda sweep: sweep.name)
        return dataclasses.replace(
            self._session.base_record(),
            duration_ms=round(self._session.elapsed() * 1000, 3),
            not_run=self.unfinished,
            cases=tuple(sorted(self._listed, key=lambda case: (case.scenario, case.variant, case.point))),
            operations=() if self._only else tuple(operation_of(list(sweeps)) for _, sweeps in by_scenario),
            passed_points=self._passed_points,
        )


def run(session: Session) -> int:
    """Sweeps what the command line selects and reports it. Raises a Problem if that cannot be done."""
    invocation = session.invocation
    pairs = _select(session)
    mine = case_selection.shard(pairs, session.bazel.shard_index, session.bazel.shard_count)
    cases = case_selection.expand(mine, session.seed, first_run=0, runs=1)
    rules = tuple(invocation["--fault"])
    if rules:
        session.plans.refuse_unless_loadable(rules)
        if len(cases) != 1:
            raise UsageError(f"--fault names one point of one case, and {len(cases)} are selected; add --filter")
    files = open_reports(session)
    print_header(session)
    with (
        Interrupt() as interrupt,
        tempfile.TemporaryDirectory(
            prefix="holdfast-", dir=session.bazel.scratch_folder, ignore_cleanup_errors=True
        ) as scratch,
    ):
        return _run_sweeps(session, cases, rules, files, Path(scratch), interrupt)


def _select(session: Session) -> list[case_selection.Pair]:
    """What the command line selects. Raises NothingSelected."""
    invocation = session.invocation
    try:
        return case_selection.select(
            session.scenarios, invocation.positionals, invocation["--filter"], default_suite=SWEEP_SUITE
        )
    except NothingSelected as problem:
        bug = invocation["--bug"]
        if not bug or any(SWEEP_SUITE in scenario.suites for scenario in session.scenarios):
            raise
        claiming = ", ".join(scenario.name for scenario in session.scenarios)
        raise NothingSelected(
            f"{problem}: the build of the seeded bug {bug} has those that claim it, which are {claiming}; "
            f"take holdfast run --bug={bug}"
        ) from None


def _run_sweeps(
    session: Session,
    cases: Sequence[Case],
    rules: tuple[str, ...],
    files: ReportFiles,
    scratch: Path,
    interrupt: Interrupt,
) -> int:
    setting = make_setting(session, scratch)
    numbers = itertools.count()
    sweeps = [Sweep(case, setting, lambda: next(numbers), only=rules) for case in cases]
    progress = Progress(session.console.err, len(sweeps), progress_level(session.invocation))
    state = SweepState(session, sweeps, bool(rules), progress, files)
    files.write(state.record(), final=False)
    first: list[CaseTask] = [sweep.start() for sweep in sweeps]
    state.unfinished = len(Engine[CaseTask](width_of(session), interrupt, state).run(first))
    progress.close()
    code, notes = _outcome(state, sweeps, interrupt)
    final = dataclasses.replace(
        state.record(),
        exit_code=int(code),
        notes=tuple(notes),
        interrupted=interrupt.signal.name if interrupt.signal else "",
    )
    return conclude(final, files, session.console, session.bazel, functools.partial(_told, session))


def _outcome(state: SweepState, sweeps: Sequence[Sweep], interrupt: Interrupt) -> tuple[int, list[str]]:
    """The exit code, and what else a reader has to know."""
    so_far = state.record()
    verdicts = [Verdict(case.verdict) for case in so_far.cases]
    code: int = exit_code_of(verdicts)
    notes = []
    if state.out_of_time:
        notes.append(
            f"the time was up with {count_of(so_far.not_run, 'run')} begun or waiting, and points behind them not swept"
        )
    skipped = bool(verdicts) and all(verdict is Verdict.SKIPPED for verdict in verdicts)
    if not skipped and not so_far.not_run:
        silent = dict.fromkeys(sweep.name for sweep in sweeps if not sweep.fired_anything and not sweep.failed)
        notes += [f"{name}: a fault had to fire and none did" for name in silent]
    if notes and code == ExitCode.ALL_MET:
        code = ExitCode.INCONCLUSIVE
    if interrupt.signal:
        return interrupt.exit_code, [f"interrupted by {interrupt.signal.name}", *notes]
    if not verdicts and not so_far.not_run:
        notes.append("this shard has no case")
    if skipped:
        notes.append("every case was skipped")
    return code, notes


def table_of(operations: Sequence[record.Operation]) -> list[str]:
    """One line an operation, and below the table why some points could not fail after they took effect."""
    counted = ("points", "before", "after", "not after", "transient", "persistent", "alloc", "double")
    rows = [
        (
            operation.scenario,
            *(str(getattr(operation, column.replace(" ", "_"))) for column in counted),
            str(len(operation.sites)),
        )
        for operation in operations
    ]
    reasons: dict[str, dict[str, None]] = {}
    for operation in operations:
        for reason, sites in operation.not_after_reasons.items():
            reasons.setdefault(reason, {}).update(dict.fromkeys(sites))
    lines = columns(("operation", *counted, "sites"), rows)
    lines += ["", "not after, since"] if reasons else []
    lines += [f"  {for_log(reason)}: {for_log(', '.join(sorted(sites)))}" for reason, sites in sorted(reasons.items())]
    return lines


def _told(session: Session, final: record.Record, stream: TextIO) -> list[str]:
    paint = Paint(session.invocation["--color"], stream, session.environment)
    lines = table_of(final.operations) if final.operations and not session.invocation["--quiet"] else []
    lines += details(final.cases, paint)
    lines += note_lines(final.notes)
    lines += session.annotation_lines(final)
    return [*lines, "", *closing_lines(record.summarize(final), final.not_run)]
