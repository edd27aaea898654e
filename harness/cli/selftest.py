"""`holdfast selftest`: proves the oracles. Every seeded bug against every scenario that claims to catch it.

A claim holds if at least one variant of the scenario has a finding on the build with the bug. The same cases on the
library as it is have to be clean. A claimed bug without a build, and a build that nobody claims, are errors: either
would leave a hole that looks like coverage.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from harness.cli.case_task import CaseTask
from harness.cli.cases import Pair, expand, refuse_too_many
from harness.cli.catalogue import Scenario, list_scenarios
from harness.cli.child_environment import loader_environment
from harness.cli.engine import Engine
from harness.cli.interrupt import Interrupt
from harness.cli.name_filter import parse_filter
from harness.cli.problems import HarnessError, NothingSelected, nearest
from harness.cli.progress import Progress
from harness.cli.report_files import ReportFiles
from harness.cli.run_command import make_setting, print_header, progress_level, time_budget, width_of
from harness.cli.session import Session, report_targets
from harness.cli.table import Paint, closing_lines, columns, details
from harness.cli.verdict import ExitCode, Verdict
from reports import record

MISSED = "MISSED"


@dataclasses.dataclass(frozen=True)
class Claim:
    """A scenario says that it catches a bug; `runner` is the build with that bug."""

    bug: str
    scenario: Scenario
    runner: Path


class SelftestState:
    """The tasks of a selftest: those of the library as it is, and those of each claim. Watches the engine."""

    def __init__(
        self,
        session: Session,
        clean: Sequence[CaseTask],
        claimed: dict[Claim, list[CaseTask]],
        progress: Progress,
        files: ReportFiles,
    ) -> None:
        self._session = session
        self._clean = clean
        self._claimed = claimed
        self._progress = progress
        self._files = files

    def may_start(self) -> bool:
        budget = time_budget(self._session)
        return budget is None or self._elapsed() <= budget

    def must_stop(self) -> bool:
        budget = self._session.bazel.budget_seconds
        return budget is not None and self._elapsed() > budget

    def after_each(self, task: CaseTask) -> None:
        assert task.result is not None
        # A finding on a build with a bug is what it is for; only those of the library as it is are news.
        expected = task.case.program != self._session.runner
        self._progress.case_ended(dataclasses.replace(task.result, findings=()) if expected else task.result)
        self._files.write_sometimes(self.record)

    def look(self, running: Sequence[CaseTask]) -> None:
        self._progress.look([task.case.label for task in running])

    def record(self) -> record.Record:
        results = [task.result for task in self._clean if task.result]
        everything = [*self._clean, *(task for tasks in self._claimed.values() for task in tasks)]
        return dataclasses.replace(
            self._session.base_record(),
            duration_ms=round(self._elapsed() * 1000, 3),
            not_run=sum(task.result is None for task in everything),
            cases=tuple(results),
            detection=tuple(
                _detection(claim, tasks) for claim, tasks in self._claimed.items() if all(task.result for task in tasks)
            ),
        )

    def _elapsed(self) -> float:
        return time.monotonic() - self._session.started


def run(session: Session) -> ExitCode:
    """Runs the selftest and prints the detection matrix. Raises a Problem if the catalogue is not whole."""
    claims = _select(_claims(session), session)
    print_header(session)
    with (
        Interrupt() as interrupt,
        tempfile.TemporaryDirectory(
            prefix="holdfast-", dir=session.bazel.scratch_folder, ignore_cleanup_errors=True
        ) as scratch,
    ):
        return _run_claims(session, claims, Path(scratch), interrupt)


def _run_claims(session: Session, claims: Sequence[Claim], scratch: Path, interrupt: Interrupt) -> ExitCode:
    setting = make_setting(session, scratch)
    numbers = iter(range(1 << 30))

    def tasks_of(pairs: list[Pair], program: Path) -> list[CaseTask]:
        first, runs = session.invocation["--first-run"], session.invocation["--runs"]
        return [CaseTask(case, setting, next(numbers)) for case in expand(pairs, program, session.seed, first, runs)]

    scenarios = {claim.scenario.name: claim.scenario for claim in claims}
    with_and_without = [*scenarios.values(), *(claim.scenario for claim in claims)]
    refuse_too_many(sum(len(one.variants) for one in with_and_without) * session.invocation["--runs"])
    clean = [task for scenario in scenarios.values() for task in tasks_of(_pairs(scenario), session.runner)]
    claimed = {claim: tasks_of(_pairs(claim.scenario), claim.runner) for claim in claims}
    everything = [*clean, *(task for tasks in claimed.values() for task in tasks)]
    files = ReportFiles(report_targets(session))
    progress = Progress(session.console.err, len(everything), progress_level(session.invocation))
    state = SelftestState(session, clean, claimed, progress, files)
    files.write(state.record(), final=False)
    Engine[CaseTask](width_of(session), interrupt, state).run(everything)
    progress.close()
    code = interrupt.exit_code if interrupt.signal else _code(state)
    final = dataclasses.replace(
        state.record(), exit_code=int(code), interrupted=interrupt.signal.name if interrupt.signal else ""
    )
    files.write(final, final=True)
    _print_end(session, final, files)
    return code


def _pairs(scenario: Scenario) -> list[Pair]:
    return [(scenario, variant) for variant in scenario.variants]


def _claims(session: Session) -> list[Claim]:
    """Every claim, by bug. Raises HarnessError if claims and builds do not match."""
    runners = session.layout.bug_runners()
    claimed = {bug for scenario in session.scenarios for bug in scenario.catches}
    problems = [f"no build has the seeded bug {bug} that a scenario claims" for bug in claimed - runners.keys()]
    problems += [f"no scenario claims the seeded bug {bug} that has a build" for bug in runners.keys() - claimed]
    claims = []
    environment = loader_environment(session.environment, session.shim)
    for bug in sorted(claimed & runners.keys()):
        there = {scenario.name for scenario in list_scenarios(runners[bug], environment)}
        for scenario in session.scenarios:
            if bug in scenario.catches and scenario.name not in there:
                problems.append(f"the build of {bug} lacks the scenario {scenario.name}, which claims to catch it")
            elif bug in scenario.catches:
                claims.append(Claim(bug, scenario, runners[bug]))
    if problems:
        raise HarnessError("; ".join(sorted(problems)))
    return claims


def _select(claims: Sequence[Claim], session: Session) -> list[Claim]:
    """The claims about the bugs on the command line, by the scenarios that --filter leaves."""
    words = session.invocation.positionals
    bugs = sorted({claim.bug for claim in claims})
    for word in words:
        if not fnmatch.filter(bugs, word):
            raise NothingSelected(f"{word!r} matches no seeded bug{nearest(word, bugs)}")
    chosen = [claim for claim in claims if not words or any(fnmatch.fnmatchcase(claim.bug, word) for word in words)]
    text = session.invocation["--filter"]
    if text:
        names = [(scenario.name, variant.name) for scenario in session.scenarios for variant in scenario.variants]
        selects = parse_filter(text, names)
        chosen = [
            claim
            for claim in chosen
            if any(selects(claim.scenario.name, variant.name) for variant in claim.scenario.variants)
        ]
    if not chosen:
        raise NothingSelected("no claim about a seeded bug is selected")
    return chosen


def _detection(claim: Claim, tasks: Sequence[CaseTask]) -> record.Detection:
    """REQUIRES: every task is done."""
    results = [task.result for task in tasks if task.result]
    kinds = tuple(dict.fromkeys(finding.kind for result in results for finding in result.findings))
    reasons = "; ".join(dict.fromkeys(f"{result.verdict}: {result.reason}" for result in results if result.reason))
    return record.Detection(claim.bug, claim.scenario.name, bool(kinds), kinds, "" if kinds else reasons)


def _code(state: SelftestState) -> ExitCode:
    """A missed bug or a finding on the library as it is fails the selftest."""
    final = state.record()
    verdicts = {Verdict(case.verdict) for case in final.cases}
    if Verdict.FAILED in verdicts or not all(cell.caught for cell in final.detection):
        return ExitCode.FINDING
    if Verdict.ERROR in verdicts:
        return ExitCode.HARNESS_FAILED
    if final.not_run or Verdict.INCONCLUSIVE in verdicts:
        return ExitCode.INCONCLUSIVE
    return ExitCode.ALL_MET


def matrix(cells: Sequence[record.Detection]) -> list[str]:
    """The detection matrix: a row a bug, a column a scenario; the kinds of finding, MISSED, or blank.

    Scenario names are long, so columns carry numbers that a list below explains.
    """
    scenarios = list(dict.fromkeys(cell.scenario for cell in cells))
    rows = []
    for bug in dict.fromkeys(cell.bug for cell in cells):
        own = {cell.scenario: ", ".join(cell.kinds) if cell.caught else MISSED for cell in cells if cell.bug == bug}
        rows.append((bug, *(own.get(scenario, "") for scenario in scenarios)))
    head = ("seeded bug", *(str(number) for number in range(1, len(scenarios) + 1)))
    legend = [f"{number:>3}  {scenario}" for number, scenario in enumerate(scenarios, start=1)]
    return [*columns(head, rows), "", *legend]


def _print_end(session: Session, final: record.Record, files: ReportFiles) -> None:
    stream = session.console.err if files.take_standard_output else session.console.out
    paint = Paint(session.invocation["--color"], stream, session.environment)
    lines = matrix(final.detection) if final.detection else []
    lines += [
        f"{paint('red', MISSED)} {cell.bug} by {cell.scenario}{': ' + cell.reason if cell.reason else ''}"
        for cell in final.detection
        if not cell.caught
    ]
    lines += details(final.cases, paint)
    caught = sum(cell.caught for cell in final.detection)
    lines += ["", f"{caught} of {len(final.detection)} claims hold; the library as it is:"]
    lines += closing_lines(record.summarize(final.cases), final.not_run)
    stream.writelines(f"{line}\n" for line in lines)
    stream.flush()
