"""Makes cases with findings smaller, for `holdfast run --minimise`: fewer and simpler rules of the user, and fewer
switches from one thread to another.

Each variation is a run of the same case, judged like any other. It is kept if its findings are the same, by their
fingerprints: not fewer, so that nothing gets lost, and no others, since that would be another failure. Of threads in an
order, what the run took is kept, which need not be what it was asked to take. Which variations are tried depends on the
plan, the schedule and the answers alone.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import shutil
import time
from collections.abc import Callable, Iterable, Sequence

from harness.cli.case_task import CaseTask, Setting
from harness.cli.cases import Case
from harness.cli.delta_debugging import TimeIsUp, reduce_items
from harness.cli.engine import Engine, Searching
from harness.cli.interrupt import Interrupt
from harness.cli.problems import HarnessError, UsageError
from harness.cli.progress import Progress
from harness.cli.schedule import following, replaying, runs_of, switches_of, with_runs
from harness.cli.smaller_rules import Rule, one_line, select, simpler
from harness.cli.timeline import TimelineShare
from harness.cli.verdict import Verdict
from reports import record
from reports.fingerprint import fingerprint

MINIMISE_SECONDS = 60.0  # for all cases, unless the command line says how long everything may take
LAST_RUN_SECONDS = 10.0  # behind that, to run the smallest as its command says
MOST_CASES = 10
_FIRST_RUNS = 3  # of the case as it was, to see how often its findings show again
_MOST_ATTEMPTS = 8  # at one variation, if they do not always
_MOST_AT_ONCE = 64
# What a variation gets of a case's time, unless so many times what the case took is more.
_PART_OF_THE_LIMIT = 4
_TIMES_AS_LONG = 3


def may_get_smaller(case: record.Case) -> bool:
    """Whether a case has findings, and something that can be left out."""
    return bool(case.findings) and (bool(case.schedule) or _user_rules(case) > 0)


def is_worth_minimising(case: record.Case) -> bool:
    """Whether there may well be much."""
    return bool(case.findings) and (bool(case.schedule) or _user_rules(case) > 1)


def _user_rules(case: record.Case) -> int:
    return sum(rule.origin == "user" for rule in case.rules)


def _fingerprints(case: record.Case) -> frozenset[str]:
    return frozenset(fingerprint(case.scenario, finding) for finding in case.findings)


class Minimiser:
    """Makes one case after the other smaller until the time is up."""

    def __init__(
        self,
        setting: Setting,
        width: int,
        interrupt: Interrupt,
        progress: Progress,
        seconds: float,
        most_seconds: float,
    ) -> None:
        """Nothing more is tried after `seconds`; after `most_seconds` nothing runs at all."""
        self.setting = dataclasses.replace(setting, scratch=setting.scratch / "minimise")
        self._width = width
        self._interrupt = interrupt
        self._progress = progress
        self._deadline = time.monotonic() + seconds
        self._last_deadline = time.monotonic() + most_seconds
        self._numbers = itertools.count()

    def minimise(self, tasks: Sequence[CaseTask]) -> None:
        """Puts a smaller run in the place of a task's result, of the first one with the same findings."""
        seen: set[frozenset[str]] = set()
        for task in tasks:
            if task.result is None or not may_get_smaller(task.result) or len(seen) == MOST_CASES:
                continue
            found = _fingerprints(task.result)
            if found not in seen:
                seen.add(found)
                task.result = _Reduction(self, task.case, task.result).run()

    def task(self, case: Case, setting: Setting) -> CaseTask:
        return CaseTask(case, setting, next(self._numbers))

    def first_with(
        self,
        tasks: Sequence[CaseTask],
        is_wanted: Callable[[CaseTask], bool],
        how_far: str,
        at_the_end: bool = False,
    ) -> int | None:
        """Runs the tasks until one is wanted. The index of the first that is; raises TimeIsUp if none was in time."""
        deadline = self._last_deadline if at_the_end else self._deadline
        watcher = Searching[CaseTask](
            is_wanted, lambda: time.monotonic() > deadline, lambda: self._progress.tell(how_far)
        )
        Engine[CaseTask](self._width, self._interrupt, watcher).run(tasks)
        # All before the first that is wanted were started before it, and have ended: the answer is no matter of timing.
        found = next((index for index, task in enumerate(tasks) if task.result and is_wanted(task)), None)
        if found is None and self._interrupt.signal:
            raise TimeIsUp("it was interrupted")
        if found is None and time.monotonic() > deadline:
            raise TimeIsUp("the time was up")
        return found


@dataclasses.dataclass(frozen=True)
class _Variation:
    """`order` is the value of --schedule, or one that only the harness has; empty: as the system runs the threads."""

    rules: tuple[Rule, ...]
    order: str


class _Reduction:
    """Makes one case smaller. `_best` is the smallest variation so far, and `_result` a run of it."""

    def __init__(self, minimiser: Minimiser, case: Case, before: record.Case) -> None:
        self._minimiser = minimiser
        self._case = case
        self._before = before
        self._wanted = _fingerprints(before)
        self._rules: tuple[Rule, ...] = tuple(minimiser.setting.plans.user.document["rules"])
        self._best = _Variation(self._rules, replaying(before.schedule) if before.schedule else "")
        self._result = before
        self._runs = 0
        self._attempts = 1
        self._notes: list[str] = []

    def run(self) -> record.Case:
        """What takes the place of the case."""
        try:
            if not self._shows_again():
                return self._as_it_was(f"it did not show again in {_FIRST_RUNS} runs as it was")
            self._reduce()
        except (TimeIsUp, HarnessError) as problem:  # whatever came in the way, what was found stays
            self._notes.append(str(problem))
        return self._conclude()

    def _shows_again(self) -> bool:
        """Whether the findings show when the case is run as it was. If not always, each variation is run so often that
        they would show in 95 of 100 cases.
        """
        tasks = self._tasks([self._best] * _FIRST_RUNS)
        self._first_with(tasks, lambda task: False)
        good = sum(self._is_good(task) for task in tasks)
        if 0 < good < len(tasks):
            self._notes.append(f"it showed again in {good} of {len(tasks)} runs as it was")
            self._attempts = min(_MOST_ATTEMPTS, math.ceil(3 * len(tasks) / good))
        return good > 0

    def _reduce(self) -> None:
        has_lines = self._rules_have_lines()
        if not has_lines:
            self._notes.append("its rules stay, since one of them has no form in one line")
        if self._best.order:
            self._leave_out_order()
        while True:
            before = self._best
            if has_lines:
                self._leave_out_rules()
                self._simplify_rules()
            if self._best.order:
                self._leave_out_switches()
            if self._best == before:
                return

    def _rules_have_lines(self) -> bool:
        """Whether the lines of all rules are these rules again."""
        plans = self._minimiser.setting.plans
        try:
            return plans.with_faults([one_line(rule) for rule in self._rules]).user.digest == plans.user.digest
        except UsageError:
            return False

    def _leave_out_order(self) -> None:
        """Runs the threads as the system does, if that shows the findings each time."""
        free = dataclasses.replace(self._best, order="")
        tasks = self._tasks([free] * _FIRST_RUNS)
        if self._first_with(tasks, lambda task: not self._is_good(task)) is None:
            self._keep(free, tasks[0])

    def _leave_out_rules(self) -> None:
        rules = self._best.rules
        reduce_items(range(len(rules)), lambda kept: self._try_rules(select(rules, indices) for indices in kept))

    def _simplify_rules(self) -> None:
        for index in range(len(self._best.rules)):
            found: int | None = 0
            while found is not None:
                rules = self._best.rules
                fired = [fault for fault in self._result.faults if fault.rule == index]
                found = self._try_rules(
                    (*rules[:index], rule, *rules[index + 1 :]) for rule in simpler(rules[index], fired)
                )

    def _try_rules(self, choices: Iterable[tuple[Rule, ...] | None]) -> int | None:
        order = following(self._result.schedule) if self._best.order else ""
        return self._try(None if rules is None else _Variation(rules, order) for rules in choices)

    def _leave_out_switches(self) -> None:
        runs = runs_of(self._result.schedule)
        rules = self._best.rules
        reduce_items(
            range(len(runs)),
            lambda kept: self._try(
                (_Variation(rules, following(with_runs(runs, indices))) for indices in kept),
                lambda task: self._switches(task.result) < self._switches(self._result),
            ),
        )

    def _try(
        self, variations: Iterable[_Variation | None], is_smaller: Callable[[CaseTask], bool] = lambda task: True
    ) -> int | None:
        """Keeps the first variation that has the findings and is smaller. The number of it. Only a few are there at a
        time: each may have a long schedule.
        """
        numbered = enumerate(variations)
        while batch := list(itertools.islice(numbered, _MOST_AT_ONCE)):
            tried = [(*one, task) for one in batch if one[1] for task in self._tasks([one[1]] * self._attempts)]
            tasks = [task for _, _, task in tried]
            found = self._first_with(tasks, lambda task: self._is_good(task) and is_smaller(task))
            if found is not None:
                number, variation, task = tried[found]
                self._keep(variation, task)
                return number
        return None

    def _keep(self, variation: _Variation, task: CaseTask) -> None:
        assert task.result
        self._result = task.result
        self._best = dataclasses.replace(variation, order=following(task.result.schedule) if variation.order else "")

    def _tasks(self, variations: Sequence[_Variation]) -> list[CaseTask]:
        """Of those whose rules load. One that takes too long has no finding that is looked for, or is a hang, which
        shows sooner than the case's own limit says.
        """
        usual = self._minimiser.setting.limits(self._case).seconds
        took = math.ceil(_TIMES_AS_LONG * self._before.duration_ms / 1000)
        limit = min(usual, max(math.ceil(usual / _PART_OF_THE_LIMIT), took))
        setting = dataclasses.replace(self._minimiser.setting, artifacts=None, timelines=None, timeout_seconds=limit)
        tasks = []
        for variation, alike in itertools.groupby(variations):
            try:
                own = self._with(variation, setting)
            except UsageError:
                continue
            tasks += [self._minimiser.task(self._case, own) for _ in alike]
        return tasks

    def _with(self, variation: _Variation, setting: Setting) -> Setting:
        """Raises UsageError if the rules do not load."""
        reproducer, plans, order = setting.reproducer, setting.plans, setting.order
        if variation.rules != self._rules:
            faults = [one_line(rule) for rule in variation.rules]
            reproducer, plans = reproducer.with_faults(faults), plans.with_faults(faults)
        if order and variation.order:
            order = dataclasses.replace(order, value=variation.order)
            reproducer = reproducer.with_schedule(order.value) if order.replayed else reproducer
        elif self._before.schedule:
            reproducer, order = reproducer.without_schedule(), None
        return dataclasses.replace(setting, reproducer=reproducer, plans=plans, order=order)

    def _first_with(
        self, tasks: Sequence[CaseTask], is_wanted: Callable[[CaseTask], bool], at_the_end: bool = False
    ) -> int | None:
        try:
            return self._minimiser.first_with(tasks, is_wanted, self._how_far(), at_the_end)
        finally:
            self._runs += sum(task.result is not None for task in tasks)

    def _how_far(self) -> str:
        switches = f", {self._switches(self._result)} of {self._switches(self._before)} switches of threads"
        return (
            f"making {self._case.label} smaller: {len(self._best.rules)} of {len(self._rules)} rules"
            f"{switches if self._before.schedule else ''}, {self._runs} runs"
        )

    def _switches(self, result: record.Case | None) -> int:
        return switches_of(result.schedule) if result else 0

    def _is_good(self, task: CaseTask) -> bool:
        result = task.result
        return result is not None and result.verdict == Verdict.FAILED.value and _fingerprints(result) == self._wanted

    def _conclude(self) -> record.Case:
        if self._result is self._before or not self._is_smaller():
            return self._as_it_was("; ".join(self._notes))
        if self._best.order and not self._minimiser.setting.reproducer.can_say(self._case, self._result.schedule):
            return self._as_it_was("; ".join([*self._notes, "its schedule stays too long for a command"]))
        shown = self._run_at_the_end()
        if shown is None:
            return self._as_it_was("; ".join([*self._notes, "what was left did not show it again"]))
        return self._described(shown, "; ".join(self._notes))

    def _is_smaller(self) -> bool:
        return self._best.rules != self._rules or self._switches(self._result) < self._switches(self._before)

    def _run_at_the_end(self) -> record.Case | None:
        """A run of the best variation as its commands say, with all that is kept of a case; None if it has not the
        findings. If there is no time for that, the run that showed them.
        """
        order = replaying(self._result.schedule) if self._best.order else ""
        setting = dataclasses.replace(
            self._minimiser.setting, timelines=TimelineShare() if self._before.timeline else None
        )
        # Only what is kept in the end may stand among the artifacts.
        folders = [setting.scratch / f"kept{number}" for number in range(self._attempts)]
        try:
            last = self._with(dataclasses.replace(self._best, order=order), setting)
            artifacts = folders if setting.artifacts else [None] * len(folders)
            tasks = [self._minimiser.task(self._case, dataclasses.replace(last, artifacts=one)) for one in artifacts]
            found = self._first_with(tasks, self._is_good, at_the_end=True)
        except (TimeIsUp, HarnessError) as problem:
            self._notes.append(f"{problem} before the smallest was run once more")
            return self._result
        shown = None if found is None else tasks[found].result
        if found is not None and shown and setting.artifacts and shown.artifacts:
            shutil.copytree(folders[found] / shown.artifacts, setting.artifacts / shown.artifacts, dirs_exist_ok=True)
        return shown

    def _as_it_was(self, note: str) -> record.Case:
        self._best, self._result = _Variation(self._rules, self._best.order), self._before
        return self._described(self._before, note)

    def _described(self, case: record.Case, note: str) -> record.Case:
        before = self._switches(self._before) if self._before.schedule else None
        minimised = record.Minimised(
            rules_before=len(self._rules),
            rules_after=_user_rules(case),
            switches_before=before,
            switches_after=self._switches(case) if case.schedule else None,
            runs=self._runs,
            complete=not note,
            note=note,
        )
        return dataclasses.replace(case, minimised=minimised)
