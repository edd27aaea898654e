"""`holdfast selftest`: proves the oracles. Every seeded bug against every scenario that claims to catch it.

A claim holds if at least one variant of the scenario has a finding on the build with the bug; a scenario of the suite
sweep is swept for it. The same cases on the library as it is have to be clean. A claimed bug without a build, and a
build that nobody claims, are errors: either would leave a hole that looks like coverage.

A bug with a fuzz program is a claim of the fuzzer's: it holds if drawing sequences finds something in time and shrinks
it to a few operations.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from harness.cli import fuzz_task
from harness.cli.case_task import CaseTask, Setting
from harness.cli.cases import Pair, expand, refuse_too_many
from harness.cli.catalogue import Scenario, list_all_scenarios
from harness.cli.child_environment import loader_environment
from harness.cli.conclusion import conclude
from harness.cli.engine import Engine
from harness.cli.fuzzer import Fuzzer
from harness.cli.interrupt import Interrupt
from harness.cli.name_filter import parse_filter
from harness.cli.problems import HarnessError, NothingSelected
from harness.cli.progress import Progress
from harness.cli.report_files import ReportFiles
from harness.cli.run_command import make_setting, print_header, progress_level, time_budget, width_of
from harness.cli.session import Session, open_reports
from harness.cli.sweep import PointTask, Sweep
from harness.cli.sweep_command import SWEEP_SUITE
from harness.cli.table import Paint, closing_lines, columns, details, note_lines
from harness.cli.verdict import ExitCode, Verdict
from reports import record
from reports.counted import count_of
from reports.nearest import nearest
from reports.visible import for_log

MISSED = "MISSED"
FUZZ_SECONDS = 60.0  # within which the fuzzer has to find what it claims
MOST_OPERATIONS = 8  # that may be left of it


@dataclasses.dataclass(frozen=True)
class Claim:
    """A scenario says that it catches a bug; its variants are those of the build with that bug."""

    bug: str
    scenario: Scenario


class SelftestState:
    """The tasks of a selftest: those of the library as it is, and those of each claim. Watches the engine.

    Those of a claim grow while it is swept. `of_fuzzer` are the cells of the fuzzer's claims, tried after all others.
    """

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
        self._claim_of_sweep = {
            task.sweep: claim for claim, tasks in claimed.items() for task in tasks if isinstance(task, PointTask)
        }
        self.of_fuzzer: list[record.Detection] = []
        self.fuzz_waiting = 0

    def may_start(self) -> bool:
        budget = time_budget(self._session)
        return budget is None or self._elapsed() <= budget

    def must_stop(self) -> bool:
        budget = self._session.bazel.budget_seconds
        return budget is not None and self._elapsed() > budget

    def after_each(self, task: CaseTask) -> Sequence[CaseTask]:
        following = task.sweep.after(task) if isinstance(task, PointTask) else ()
        if isinstance(task, PointTask):
            self._claimed[self._claim_of_sweep[task.sweep]] += following
            self._progress.expect_more(len(following))
        assert task.result is not None
        # A finding on a build with a bug is what it is for; only those of the library as it is are news.
        expected = task.case.program not in self._session.runners
        self._progress.case_ended(dataclasses.replace(task.result, findings=()) if expected else task.result)
        if not expected:
            self._files.case_ended(task.result)
        self._files.write_sometimes(self.record)
        return following

    def look(self, running: Sequence[CaseTask]) -> None:
        self._progress.look([task.case.label for task in running])

    def record(self) -> record.Record:
        results = [task.result for task in self._clean if task.result]
        everything = [*self._clean, *(task for tasks in self._claimed.values() for task in tasks)]
        return dataclasses.replace(
            self._session.base_record(),
            duration_ms=round(self._elapsed() * 1000, 3),
            not_run=sum(task.result is None for task in everything) + self.fuzz_waiting,
            cases=tuple(results),
            detection=(
                *(_detection(claim, tasks) for claim, tasks in self._claimed.items() if all(_results(tasks))),
                *self.of_fuzzer,
            ),
        )

    def _elapsed(self) -> float:
        return time.monotonic() - self._session.started


def run(session: Session) -> int:
    """Runs the selftest and prints the detection matrix. Raises a Problem if the catalogue is not whole."""
    claims, fuzzed = _select(_claims(session), session)
    files = open_reports(session)
    print_header(session)
    with (
        Interrupt() as interrupt,
        tempfile.TemporaryDirectory(
            prefix="holdfast-", dir=session.bazel.scratch_folder, ignore_cleanup_errors=True
        ) as scratch,
    ):
        return _run_claims(session, claims, fuzzed, files, Path(scratch), interrupt)


def _run_claims(
    session: Session,
    claims: Sequence[Claim],
    fuzzed: dict[str, Path],
    files: ReportFiles,
    scratch: Path,
    interrupt: Interrupt,
) -> int:
    setting = make_setting(session, scratch)
    # What runs with a bug in it is not among the cases of the report.
    with_bug = dataclasses.replace(setting, timelines=None)
    numbers = itertools.count()

    def tasks_of(pairs: list[Pair], setting: Setting = with_bug) -> list[CaseTask]:
        first, runs = session.invocation["--first-run"], session.invocation["--runs"]
        return [CaseTask(case, setting, next(numbers)) for case in expand(pairs, session.seed, first, runs)]

    def tasks_of_claim(claim: Claim) -> list[CaseTask]:
        if SWEEP_SUITE not in claim.scenario.suites:
            return tasks_of(_pairs(claim.scenario))
        cases = expand(_pairs(claim.scenario), session.seed, first_run=0, runs=1)
        return [Sweep(case, with_bug, lambda: next(numbers), stop_at_finding=True).start() for case in cases]

    scenarios = _as_they_are(session, claims)
    with_and_without = [*scenarios.values(), *(claim.scenario for claim in claims)]
    refuse_too_many(sum(len(one.variants) for one in with_and_without) * session.invocation["--runs"])
    clean = [task for scenario in scenarios.values() for task in tasks_of(_pairs(scenario), setting)]
    claimed = {claim: tasks_of_claim(claim) for claim in claims}
    everything = [*clean, *(task for tasks in claimed.values() for task in tasks)]
    progress = Progress(session.console.err, len(everything), progress_level(session.invocation))
    state = SelftestState(session, clean, claimed, progress, files)
    files.write(state.record(), final=False)
    Engine[CaseTask](width_of(session), interrupt, state).run(everything)
    progress.close()
    state.fuzz_waiting = len(fuzzed)
    for bug, program in fuzzed.items():
        if not interrupt.signal and state.may_start():
            fuzzer = Fuzzer(program, with_bug, session.seed, width_of(session), interrupt)
            state.of_fuzzer.append(_detection_by_fuzz(bug, fuzzer))
            state.fuzz_waiting -= 1
    code = interrupt.exit_code if interrupt.signal else _code(state)
    final = dataclasses.replace(
        state.record(), exit_code=int(code), interrupted=interrupt.signal.name if interrupt.signal else ""
    )
    return conclude(final, files, session.console, session.bazel, functools.partial(_told, session))


def _as_they_are(session: Session, claims: Sequence[Claim]) -> dict[str, Scenario]:
    """The claimed scenarios without a bug, in those variants that a build with one has."""
    tried: dict[str, set[str]] = {}
    for claim in claims:
        tried.setdefault(claim.scenario.name, set()).update(variant.name for variant in claim.scenario.variants)
    return {
        scenario.name: dataclasses.replace(
            scenario, variants=tuple(variant for variant in scenario.variants if variant.name in tried[scenario.name])
        )
        for scenario in session.scenarios
        if scenario.name in tried
    }


def _is_in_python(scenario: Scenario) -> bool:
    return any(variant.interpreter for variant in scenario.variants)


def _pairs(scenario: Scenario) -> list[Pair]:
    return [(scenario, variant) for variant in scenario.variants]


def _claims(session: Session) -> list[Claim]:
    """Every claim, by bug. Raises HarnessError if claims and builds do not match."""
    runners = session.layout.bug_runners()
    claimed = {bug for scenario in session.scenarios for bug in scenario.catches}
    # A scenario in Python claims what it catches on interpreters that may not be there; then there is no build either.
    everywhere = {bug for scenario in session.scenarios if not _is_in_python(scenario) for bug in scenario.catches}
    problems = [f"no build has the seeded bug {bug} that a scenario claims" for bug in everywhere - runners.keys()]
    problems += [f"no scenario claims the seeded bug {bug} that has a build" for bug in runners.keys() - claimed]
    claims = []
    environment = loader_environment(session.environment, session.shim)
    for bug in sorted(claimed & runners.keys()):
        there = {scenario.name: scenario for scenario in list_all_scenarios(runners[bug], environment)}
        for scenario in session.scenarios:
            if bug in scenario.catches and scenario.name not in there and not _is_in_python(scenario):
                problems.append(f"the build of {bug} lacks the scenario {scenario.name}, which claims to catch it")
            elif bug in scenario.catches and scenario.name in there:
                claims.append(Claim(bug, there[scenario.name]))
    if problems:
        raise HarnessError("; ".join(sorted(problems)))
    return claims


def _select(claims: Sequence[Claim], session: Session) -> tuple[list[Claim], dict[str, Path]]:
    """The claims about the bugs on the command line, by the scenarios that --filter leaves; and the fuzzer's, which a
    filter leaves if it names `fuzz`.
    """
    words = session.invocation.positionals
    fuzzed = session.layout.bug_fuzz_runners()
    bugs = sorted({claim.bug for claim in claims} | fuzzed.keys())
    for word in words:
        if not fnmatch.filter(bugs, word):
            raise NothingSelected(f"{word!r} matches no seeded bug{nearest(word, bugs)}")

    def is_named(bug: str) -> bool:
        return not words or any(fnmatch.fnmatchcase(bug, word) for word in words)

    chosen = [claim for claim in claims if is_named(claim.bug)]
    fuzzed = {bug: program for bug, program in fuzzed.items() if is_named(bug)}
    text = session.invocation["--filter"]
    if text:
        names = [(scenario.name, variant.name) for scenario in session.scenarios for variant in scenario.variants]
        selects = parse_filter(text, [*names, (fuzz_task.NAME, "job-0")])
        fuzzed = fuzzed if selects(fuzz_task.NAME, "job-0") else {}
        chosen = [
            claim
            for claim in chosen
            if any(selects(claim.scenario.name, variant.name) for variant in claim.scenario.variants)
        ]
    if not chosen and not fuzzed:
        raise NothingSelected("no claim about a seeded bug is selected")
    return chosen, fuzzed


def _detection(claim: Claim, tasks: Sequence[CaseTask]) -> record.Detection:
    """REQUIRES: every task is done."""
    results = [task.result for task in tasks if task.result]
    kinds = tuple(dict.fromkeys(finding.kind for result in results for finding in result.findings))
    reasons = "; ".join(dict.fromkeys(f"{result.verdict}: {result.reason}" for result in results if result.reason))
    return record.Detection(claim.bug, claim.scenario.name, bool(kinds), kinds, "" if kinds else reasons)


def _results(tasks: Sequence[CaseTask]) -> list[record.Case | None]:
    return [task.result for task in tasks]


def _detection_by_fuzz(bug: str, fuzzer: Fuzzer) -> record.Detection:
    """Whether the fuzzer finds the bug in time and shrinks what it found to a few operations."""
    ended = fuzzer.draw(FUZZ_SECONDS)
    with_finding = [task for task in ended if task.finding]
    found = fuzzer.steadiest(with_finding) if with_finding else None
    if found is None or found.finding is None:
        reasons = "; ".join(dict.fromkeys(task.result.reason for task in ended if task.result and task.result.reason))
        return record.Detection(bug, fuzz_task.NAME, False, (), reasons or f"no finding within {FUZZ_SECONDS:.0f} s")
    reduction = fuzzer.reduce(found)
    kinds = (found.finding.kind,)
    if reduction is None:
        return record.Detection(bug, fuzz_task.NAME, False, kinds, "the finding left no sequence behind")
    if reduction.summary.operations > MOST_OPERATIONS:
        note = f" ({reduction.summary.note})" if reduction.summary.note else ""
        reason = (
            f"shrunk to {count_of(reduction.summary.operations, 'operation')}, and {MOST_OPERATIONS} are the most{note}"
        )
        return record.Detection(bug, fuzz_task.NAME, False, kinds, reason)
    return record.Detection(bug, fuzz_task.NAME, True, kinds)


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
    legend = [f"{number:>3}  {for_log(scenario)}" for number, scenario in enumerate(scenarios, start=1)]
    return [*columns(head, rows), "", *legend]


def _told(session: Session, final: record.Record, stream: TextIO) -> list[str]:
    paint = Paint(session.invocation["--color"], stream, session.environment)
    lines = matrix(final.detection) if final.detection else []
    lines += [
        f"{paint('red', MISSED)} {for_log(cell.bug)} by {for_log(cell.scenario)}"
        + (f": {for_log(cell.reason)}" if cell.reason else "")
        for cell in final.detection
        if not cell.caught
    ]
    lines += details(final.cases, paint)
    lines += note_lines(final.notes)
    lines += session.annotation_lines(final)
    caught = sum(cell.caught for cell in final.detection)
    lines += ["", f"{caught} of {count_of(len(final.detection), 'claim holds', 'claims hold')}; the library as it is:"]
    return lines + closing_lines(record.summarize(final), final.not_run)
