"""The sweep of one case: which points there are, which one comes next, and what became of them.

A clean run tells which sites the operation visits. Each site is then swept in up to four forms, before or after it
takes effect and transient or persistent; in each form the 1st, 2nd, 3rd ... call fails, one run a point, until a run
ends in which no fault fired. A transient fault may lead to sites that the clean run never saw, those of a rollback:
these are swept in the same way behind it, two faults a run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from harness.cli.case_task import CaseTask, Setting
from harness.cli.cases import Case
from harness.cli.events import Visits
from harness.cli.plans import Plan
from harness.cli.verdict import Verdict
from reports import record

STEP = "operation"
ALLOCATION = "alloc"
PENDING_CALL = "Py_AddPendingCall"
MOST_POINTS = 1000  # of one site in one form; an operation that makes as many calls is repeating itself

# What a call of each kind plausibly answers, before and after it took effect.
_RESULTS = {
    "creation": ("CUDA_ERROR_OUT_OF_MEMORY", ""),
    "change": ("CUDA_ERROR_OUT_OF_MEMORY", ""),
    "query": ("CUDA_ERROR_INVALID_CONTEXT", ""),
    "release": ("CUDA_ERROR_NOT_PERMITTED", "CUDA_ERROR_LAUNCH_FAILED"),
    "wait": ("CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_LAUNCH_FAILED"),
    "work": ("CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_LAUNCH_FAILED"),
}
# Where a subject is known to look at the result (facts N4, N7, U8).
_RESULTS_OF_SITE = {
    "cuGraphDestroyNode": "CUDA_ERROR_NOT_SUPPORTED",
    "cuGraphExecUpdate": "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
    "cuGraphNodeSetParams": "CUDA_ERROR_INVALID_VALUE",
}


@dataclasses.dataclass(frozen=True)
class Form:
    """One way to fail the calls of a site."""

    after: bool
    persistent: bool


@dataclasses.dataclass(frozen=True)
class Point:
    """The `nth` call of a site within the operation, failed in one form; `first` is a fault that leads there."""

    site: Visits
    form: Form
    nth: int
    first: str = ""

    @property
    def rule(self) -> str:
        """The fault in its one-line form."""
        number = f"nth={self.nth}," if not self.form.persistent else f"after={self.nth - 1}," if self.nth > 1 else ""
        count = "count=step," if number else ""
        return f"{self.site.site}:{number}step={self.site.step},{count}thread={self.site.thread},{self._action()}"

    @property
    def rules(self) -> tuple[str, ...]:
        return (self.first, self.rule) if self.first else (self.rule,)

    def next(self) -> Point:
        return dataclasses.replace(self, nth=self.nth + 1)

    def _action(self) -> str:
        if self.site.site == ALLOCATION:
            return "fail"
        if self.site.site == PENDING_CALL:
            return "return=-1"
        before, after = _RESULTS.get(self.site.kind, ("CUDA_ERROR_UNKNOWN", "CUDA_ERROR_UNKNOWN"))
        if self.form.after:
            return f"return={after},after"
        return f"return={_RESULTS_OF_SITE.get(self.site.site, before)}"


class PointTask(CaseTask):
    """One run of a sweep: the clean one, or one with the faults of a point. One that the user gave has rules alone."""

    def __init__(
        self,
        sweep: Sweep,
        case: Case,
        setting: Setting,
        number: int,
        rules: tuple[str, ...] = (),
        point: Point | None = None,
    ) -> None:
        super().__init__(case, setting, number)
        self.sweep = sweep
        self.rules = rules
        self.point = point

    @property
    def fired(self) -> bool:
        """Whether the faults of the point fired, which for two means the second."""
        return bool(self.rules) and any(fault.rule == len(self.rules) - 1 for fault in self.events.faults)

    def _make_plan(self) -> Plan:
        plans = self._setting.plans
        return plans.for_point(self.rules, self.case.plan) if self.rules else plans.for_rules(self.case.plan)

    def _reproduction(self) -> tuple[str, ...]:
        return self._setting.reproducer.sweep_commands(self.case, self.rules)

    def _replay(self, verdict: Verdict) -> str:
        return self._setting.reproducer.sweep_string(self.case, self.rules)

    def _with_timeline(self, result: record.Case) -> record.Case:
        # The points that passed are counted in the report, and not among its cases.
        counted = self.rules and result.verdict == Verdict.PASSED.value
        return result if counted else super()._with_timeline(result)

    def _artifact_name(self) -> str:
        return f"{super()._artifact_name()}_{self._plan.digest}"

    def _empty_record(self, verdict: Verdict) -> record.Case:
        return dataclasses.replace(super()._empty_record(verdict), point=self.rules)


class Sweep:
    """The runs of one case, each made from what those before it showed."""

    def __init__(
        self,
        case: Case,
        setting: Setting,
        next_number: Callable[[], int],
        only: tuple[str, ...] = (),
        stop_at_finding: bool = False,
    ) -> None:
        """With `only` there is one run, with these faults."""
        self._case = case
        self._setting = setting
        self._next_number = next_number
        self._only = only
        self._stop_at_finding = stop_at_finding
        self._found = False
        self._swept: dict[str, Visits] = {}
        self.points: list[Point] = []  # those that fired
        self.fired_anything = False
        self.runs = 0
        self.failed = 0

    @property
    def name(self) -> str:
        """The scenario's."""
        return self._case.scenario.name

    def start(self) -> PointTask:
        """The clean run, or the only one."""
        return self._task(self._only, None)

    def after(self, task: PointTask) -> Sequence[PointTask]:
        """The runs that a run which is done leads to."""
        assert task.result is not None
        self.runs += 1
        self.failed += task.result.verdict == Verdict.FAILED.value
        self._found = self._found or task.result.verdict == Verdict.FAILED.value
        self.fired_anything = self.fired_anything or task.fired
        if self._only:
            return ()
        if self._stop_at_finding and self._found:
            return ()
        points = self._after_clean(task) if task.point is None else self._after_point(task, task.point)
        return [self._task(point.rules, point) for point in points]

    def _after_clean(self, task: PointTask) -> list[Point]:
        assert task.result is not None
        if task.result.verdict != Verdict.PASSED.value:
            return []  # nothing can be learnt from faults where there is trouble without them
        visits = _visits_of_operation(task)
        if not visits:
            task.result = dataclasses.replace(
                task.result,
                verdict=Verdict.ERROR.value,
                reason="it opened no OperationWindow, or made no call in it, so there is nothing to sweep",
            )
            return []
        self._swept = visits
        return [point for site in visits.values() for point in _first_points(site)]

    def _after_point(self, task: PointTask, point: Point) -> list[Point]:
        assert task.result is not None
        if not task.fired:
            return []
        self.points.append(point)
        if task.result.verdict in (Verdict.FAILED.value, Verdict.ERROR.value):
            return []  # the calls behind it would most likely tell the same
        following = [point.next()] if point.nth < MOST_POINTS else []
        if not following:
            task.result = dataclasses.replace(
                task.result,
                verdict=Verdict.ERROR.value,
                reason=f"after {MOST_POINTS} faults at {point.site.site} the operation still makes that call",
            )
        if point.first or point.form.persistent:
            return following
        fresh = [site for name, site in _visits_of_operation(task).items() if name not in self._swept]
        return [*following, *(second for site in fresh for second in _first_points(site, point.rule))]

    def _task(self, rules: tuple[str, ...], point: Point | None) -> PointTask:
        return PointTask(self, self._case, self._setting, self._next_number(), rules, point)


def _visits_of_operation(task: PointTask) -> dict[str, Visits]:
    """The sites that a run visited within the operation and that can fail at all, by name."""
    return {
        visits.site: visits
        for visits in task.events.visits
        if visits.step == STEP and (visits.before or visits.after or visits.site in (ALLOCATION, PENDING_CALL))
    }


def _first_points(site: Visits, first: str = "") -> list[Point]:
    """The first point of each form in which the site can fail."""
    ways = [after for after, possible in ((False, site.before or not site.after), (True, site.after)) if possible]
    return [Point(site, Form(after, persistent), 1, first) for after in ways for persistent in (False, True)]


def operation_of(sweeps: Sequence[Sweep]) -> record.Operation:
    """What the sweeps of one scenario, a variant each, came to. REQUIRES: there is at least one."""
    points = [point for sweep in sweeps for point in sweep.points]
    not_after = [point for point in points if not point.form.after and not point.form.persistent and not point.first]
    not_after = [point for point in not_after if not point.site.after]
    reasons: dict[str, list[str]] = {}
    for point in not_after:
        sites = reasons.setdefault(_reason(point.site), [])
        if point.site.site not in sites:
            sites.append(point.site.site)
    return record.Operation(
        scenario=sweeps[0].name,
        sites=tuple(dict.fromkeys(point.site.site for point in points)),
        points=len(points),
        before=sum(not point.form.after for point in points),
        after=sum(point.form.after for point in points),
        transient=sum(not point.form.persistent for point in points),
        persistent=sum(point.form.persistent for point in points),
        alloc=sum(point.site.site == ALLOCATION for point in points),
        double=sum(bool(point.first) for point in points),
        not_after=len(not_after),
        not_after_reasons={reason: tuple(sites) for reason, sites in reasons.items()},
        runs=sum(sweep.runs for sweep in sweeps),
        failed=sum(sweep.failed for sweep in sweeps),
    )


def _reason(site: Visits) -> str:
    return "an allocation that failed has allocated nothing" if site.site == ALLOCATION else site.reason
