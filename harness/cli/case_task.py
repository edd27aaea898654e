"""A case as a task of the engine: its scratch folder, its child, and the record of how it ended."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from harness.cli.artifacts import MERGED_PLAN_FILE, REPLAY_FILE
from harness.cli.cases import Case
from harness.cli.child import EVENTS_FILE, WORK_FOLDER, Child, Ending, Limits
from harness.cli.child_environment import PLAN_FILE, child_environment
from harness.cli.classify import Judgement, judge, tail_of
from harness.cli.drivers import Driver
from harness.cli.events import Events
from harness.cli.plans import Plan, PlanBuilder
from harness.cli.problems import HarnessError
from harness.cli.reproduce import Reproducer
from harness.cli.schedule import ThreadOrder
from harness.cli.seed import format_seed
from harness.cli.timeline import TIMELINE_FILE, TimelineShare, read_timeline
from harness.cli.verdict import Verdict
from reports import record

_TAIL_LINES = 60

# Verdicts of cases that nobody has to look into.
_AS_MEANT = (Verdict.PASSED, Verdict.SKIPPED)

# How much longer a scenario may take under a sanitizer than its own limit says.
_SLOWDOWN = {"thread": 5.0, "address": 2.0, "undefined": 2.0}


@dataclasses.dataclass(frozen=True)
class Setting:
    """What all cases of a run share."""

    environment: Mapping[str, str]
    shim: Path
    driver: Driver
    plans: PlanBuilder
    reproducer: Reproducer
    scratch: Path
    artifacts: Path | None
    timeout_seconds: float | None
    resident_bytes: int
    sanitizers: tuple[str, ...] = ()
    order: ThreadOrder | None = None  # of the threads; None: as the system runs them
    timelines: TimelineShare | None = None  # None: no case keeps its own

    def limits(self, case: Case) -> Limits:
        slowdown = max((_SLOWDOWN[name] for name in self.sanitizers), default=1.0)
        return Limits(self.timeout_seconds or case.scenario.timeout_seconds * slowdown, self.resident_bytes)


class CaseTask:
    """One case. `result` is set once it is done; the driver's facts come from the case's own events."""

    def __init__(self, case: Case, setting: Setting, number: int) -> None:
        self.case = case
        self.result: record.Case | None = None
        self.events = Events()
        self._setting = setting
        self._plan = setting.plans.user
        self._folder = setting.scratch / f"{number:05d}"
        self._schedule = ""

    def start(self) -> Child | None:
        """Starts the child, or settles the case without one."""
        drivers = self.case.scenario.drivers
        if self._setting.driver.kind not in drivers:
            self._settle(Verdict.SKIPPED, f"it runs on the {' or '.join(drivers)} driver only")
            return None
        try:
            self._plan = self._make_plan()
        except HarnessError as problem:
            if self._setting.plans.user.of_user > 0:
                self._settle(Verdict.INCONCLUSIVE, f"its own rules do not go with the ones given: {problem}")
            else:
                self._settle(Verdict.ERROR, f"its own rules do not load: {problem}")
            return None
        return self._start_child()

    def _make_plan(self) -> Plan:
        """Raises HarnessError if the rules do not load."""
        return self._setting.plans.for_rules(self.case.plan)

    def _command(self) -> list[str]:
        """What the child runs."""
        return [str(self.case.program), f"--run={self.case.scenario.name}", f"--variant={self.case.variant.name}"]

    def _judge(self, ending: Ending) -> Judgement:
        return judge(ending, self._setting.limits(self.case), self._plan)

    def _judge_with_order(self, ending: Ending) -> Judgement:
        """A replay that left the schedule says nothing, whatever was found."""
        judgement = self._judge(ending)
        order = self._setting.order
        diverged = order.divergence(self._schedule, ending.stop is not None) if order else ""
        if not diverged or judgement.verdict is Verdict.ERROR:
            return judgement
        return dataclasses.replace(judgement, verdict=Verdict.ERROR, findings=(), reason=diverged)

    def _reproduction(self) -> tuple[str, ...]:
        """The commands that take the case again."""
        return self._setting.reproducer.commands(self.case, self._schedule)

    def _replay(self, verdict: Verdict) -> str:
        """The replay string. For a case that passed it is enough that strategy and seed draw the schedule again; a case
        that left the schedule that it had to take is to take that one again.
        """
        order = self._setting.order
        is_enough = verdict in _AS_MEANT or (order is not None and order.replayed)
        return self._setting.reproducer.replay_string(self.case, "" if is_enough else self._schedule)

    def _start_child(self) -> Child | None:
        try:
            (self._folder / WORK_FOLDER).mkdir(parents=True)
            (self._folder / PLAN_FILE).write_text(self._plan.text(self.case.seed))
        except OSError as problem:
            self._settle(Verdict.ERROR, f"its scratch folder could not be made: {problem}")
            shutil.rmtree(self._folder, ignore_errors=True)
            return None
        setting = self._setting
        environment = child_environment(
            setting.environment, self.case, setting.shim, setting.driver, self._folder, self._plan.of_user
        )
        try:
            if setting.order:
                setting.order.prepare(self._folder, environment)
            return Child(self._command(), environment, self._folder, setting.limits(self.case))
        except OSError as problem:
            self._settle(Verdict.ERROR, f"{self.case.program.name} could not be started: {problem}")
            return None

    def finish(self, child: Child) -> None:
        ending = child.ending()
        self._schedule = self._setting.order.recorded(self._folder) if self._setting.order else ""
        judgement = self._judge_with_order(ending)
        self.events = judgement.events
        result = self._record(ending, judgement)
        if judgement.verdict is not Verdict.PASSED and self._setting.artifacts:
            result = self._with_artifacts(result, ending, self._setting.artifacts)
        self.result = self._with_timeline(result)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _settle(self, verdict: Verdict, reason: str) -> None:
        self.result = dataclasses.replace(self._empty_record(verdict), reason=reason)

    def _empty_record(self, verdict: Verdict) -> record.Case:
        case = self.case
        return record.Case(
            scenario=case.scenario.name,
            variant=case.variant.name,
            run=case.run,
            seed=format_seed(case.seed),
            verdict=verdict.value,
            plan_digest=self._plan.digest,
            replay=self._replay(verdict),
            file=case.scenario.file,
            line=case.scenario.line,
            interpreter=case.variant.interpreter,
        )

    def _record(self, ending: Ending, judgement: Judgement) -> record.Case:
        events = judgement.events
        commands = self._reproduction()
        passed = judgement.verdict is Verdict.PASSED
        return dataclasses.replace(
            self._empty_record(judgement.verdict),
            reason=judgement.reason,
            findings=tuple(dataclasses.replace(finding, reproduce=commands) for finding in judgement.findings),
            faults=tuple(events.faults),
            rules=self._rules(events),
            counters=events.counters,
            unsupported=tuple(events.unsupported),
            schedule=self._schedule,
            duration_ms=round(ending.seconds * 1000, 3),
            peak_rss_mb=round(ending.peak_resident_bytes / (1 << 20), 1) if ending.peak_resident_bytes else None,
            output_tail="" if passed else "\n".join(tail_of(ending.output + ending.sanitizer_logs, _TAIL_LINES)),
        )

    def _rules(self, events: Events) -> tuple[record.Rule, ...]:
        fired = [fault.rule for fault in events.faults]
        return tuple(
            record.Rule(label, self._plan.origin(index), fired.count(index))
            for index, label in enumerate(self._plan.labels)
        )

    def _with_artifacts(self, result: record.Case, ending: Ending, artifacts: Path) -> record.Case:
        """The record with its artifacts kept, or with the reason why they are not: an error, unless it is a finding."""
        try:
            return dataclasses.replace(result, artifacts=self._keep(result, ending, artifacts))
        except OSError as problem:
            reason = f"its artifacts could not be kept: {problem}"
            return dataclasses.replace(
                result,
                verdict=result.verdict if result.findings else Verdict.ERROR.value,
                reason=f"{result.reason}; {reason}" if result.reason else reason,
            )

    def _with_timeline(self, result: record.Case) -> record.Case:
        share = self._setting.timelines
        if share is None or not share.take(Verdict(result.verdict) not in _AS_MEANT):
            return result
        return dataclasses.replace(result, timeline=read_timeline(self._folder / TIMELINE_FILE))

    def _artifact_name(self) -> str:
        return f"{self.case.name}_{self.case.run}"

    def _keep(self, result: record.Case, ending: Ending, artifacts: Path) -> str:
        """Copies what tells the story of the case into the artifact folder. Returns the folder's name there."""
        name = re.sub(r"[^\w.-]", "_", self._artifact_name())
        folder = artifacts / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "output.txt").write_text(ending.output + ending.sanitizer_logs)
        (folder / EVENTS_FILE).write_bytes(ending.events)
        (folder / PLAN_FILE).write_text(self._plan.text_of_given(self._setting.reproducer.seed))
        (folder / MERGED_PLAN_FILE).write_text(self._plan.text(self.case.seed))
        if result.replay:
            (folder / REPLAY_FILE).write_text(f"{result.replay}\n")
        return name


def fired_user_rules(results: list[record.Case]) -> list[tuple[str, bool]]:
    """Each rule of the user, in order, and whether any case fired it."""
    fired: dict[int, tuple[str, bool]] = {}
    for result in results:
        for index, rule in enumerate(result.rules):
            if rule.origin == "user":
                fired[index] = (rule.text, rule.fired > 0 or fired.get(index, ("", False))[1])
    return [fired[index] for index in sorted(fired)]
