"""What a run resolves before its first case: options, test variables, programs, driver, seed, plan. And the record
that grows while it runs.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from harness.cli import layout
from harness.cli.artifacts import REPORT_FILE
from harness.cli.bazel_environment import BazelEnvironment
from harness.cli.catalogue import Scenario, list_all_scenarios
from harness.cli.child_environment import loader_environment
from harness.cli.drivers import Driver, choose_driver, file_contains
from harness.cli.layout import Layout
from harness.cli.options import Invocation
from harness.cli.output_places import refuse_unwritable_folder
from harness.cli.plans import PlanBuilder
from harness.cli.problems import HarnessError, UsageError
from harness.cli.replay_string import SOURCE
from harness.cli.report_files import ReportFiles
from harness.cli.seed import format_seed, fresh_seed, mix
from harness.cli.values import ReportTarget, format_duration
from harness.cli.version import VERSION
from reports import record
from reports.counted import count_of
from reports.github_annotations import annotations
from reports.nearest import nearest

_SANITIZER_MARKS = {"address": b"__asan_init", "thread": b"__tsan_init", "undefined": b"__ubsan_handle"}


def utc_now() -> str:
    """By ISO 8601, as reports have it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclasses.dataclass(frozen=True)
class Console:
    """The two streams of the command."""

    out: TextIO
    err: TextIO


@dataclasses.dataclass(frozen=True)
class Session:
    """Everything that is fixed once a run begins."""

    invocation: Invocation
    environment: Mapping[str, str]
    bazel: BazelEnvironment
    layout: Layout
    console: Console
    driver: Driver
    runners: tuple[Path, ...]  # at least one; the first gives the run its name
    shim: Path
    scenarios: tuple[Scenario, ...]
    plans: PlanBuilder
    seed: int
    sanitizers: tuple[str, ...]
    artifacts: Path | None
    started: float = dataclasses.field(default_factory=time.monotonic)
    started_at: str = dataclasses.field(default_factory=utc_now)

    @property
    def runner(self) -> Path:
        return self.runners[0]

    def annotation_lines(self, final: record.Record) -> list[str]:
        """The findings once more, for whatever reads the log."""
        return annotations(final) if self.invocation["--annotations"] else []

    def elapsed(self) -> float:
        """Seconds since the command started."""
        return time.monotonic() - self.started

    def header(self) -> list[str]:
        """The first lines of a run. The seed is in the very first."""
        plan = self.plans.user
        built = f", built with {' and '.join(self.sanitizers)} sanitizer" if self.sanitizers else ""
        return [
            f"holdfast {VERSION}, seed {format_seed(self.seed)}",
            f"plan: {count_of(len(plan.labels), 'rule') if plan.labels else 'no rules'}, digest {plan.digest}",
            f"subject: {self.runner.name}, build {build_id(self.runner)}{built}",
            f"driver: {self.driver.describe()}",
        ]

    def base_record(self) -> record.Record:
        """The record of a run that has not had a case yet."""
        return record.Record(
            version=VERSION,
            command=self.invocation.command,
            seed=format_seed(self.seed),
            driver=self.driver.kind,
            driver_library=str(self.driver.library),
            driver_version=self.driver.version,
            device=self.driver.device,
            interpreter=f"{platform.python_implementation()} {platform.python_version()}",
            subject=record.Subject(self.runner.name, build_id(self.runner), self.sanitizers),
            plan_digest=self.plans.user.digest,
            started=self.started_at,
            options=self._options(),
        )

    def _options(self) -> dict[str, record.Option]:
        durations = ("--timeout", "--max-total-time")
        resolved = {}
        for name, given in self.invocation.values.items():
            value = given
            source = self.invocation.sources[name]
            if name == "--seed":
                value = format_seed(self.seed)
                source = "operating system" if source == "default" and self.plans.seed() is None else source
            elif name == "--plan" and self.invocation.replay and self.invocation.replay.rules:
                value = source = SOURCE
            elif name == "--report":
                value = [str(target) for target in value]
            elif name in durations and value is not None:
                value = format_duration(value)
            resolved[name.removeprefix("--")] = record.Option(value, source)
        return resolved


def open_session(
    invocation: Invocation, environment: Mapping[str, str], bazel: BazelEnvironment, console: Console
) -> Session:
    """Resolves everything. Raises a Problem before anything has run."""
    _refuse_too_long(invocation, bazel)
    places = layout.find_layout(environment)
    # Only a run has faults of the user's own; those that a sweep is given name one of its points.
    plan_file = invocation["--plan"] if invocation.command == "run" else None
    faults: Sequence[str] = invocation["--fault"] if invocation.command == "run" else ()
    brought = invocation.replay.rules if invocation.replay else ()
    plans = PlanBuilder(places.need(layout.PLAN_TOOL, "the checker of plans"), plan_file, faults, brought)
    runners = _runners(invocation, places)
    shim = places.need(layout.SHIM, "the shim")
    try:
        driver = choose_driver(_driver_option(invocation), places)
    except HarnessError as problem:
        bazel.report_infrastructure_failure("holdfast driver", str(problem))
        raise
    artifacts = invocation["--artifact-dir"]
    return Session(
        invocation=invocation,
        environment=environment,
        bazel=bazel,
        layout=places,
        console=console,
        driver=driver,
        runners=runners,
        shim=shim,
        scenarios=tuple(_scenarios(invocation, runners, loader_environment(environment, shim))),
        plans=plans,
        seed=_base_seed(invocation, plans, bazel),
        sanitizers=sanitizers_of(runners[0]),
        artifacts=Path(artifacts).absolute() if artifacts else None,
    )


def open_reports(session: Session) -> ReportFiles:
    """The reports of the run. Raises UsageError if one of them, or what goes with them, cannot be written."""
    if session.artifacts:
        refuse_unwritable_folder(f"the artifact folder {session.artifacts}", session.artifacts)
    return ReportFiles(_report_targets(session))


def _report_targets(session: Session) -> list[ReportTarget]:
    """What --report asks for, and what a test runner expects where."""
    targets: list[ReportTarget] = list(session.invocation["--report"])
    expected = []
    if session.bazel.xml_output_file:
        expected.append(ReportTarget("junit", str(session.bazel.xml_output_file)))
    if session.artifacts:
        expected.append(ReportTarget("json", str(session.artifacts / REPORT_FILE)))
    asked = {target.place: target for target in targets}
    for target in expected:
        there = asked.get(target.place)
        if there is None:
            targets.append(target)
        elif there.format != target.format:
            raise UsageError(f"--report={there}: the {target.format} report goes there")
    return targets


def build_id(program: Path) -> str:
    """Sixteen digits that stand for the bytes of a program."""
    with program.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def sanitizers_of(program: Path) -> tuple[str, ...]:
    """How a program was built, from the names in it."""
    return tuple(name for name, mark in _SANITIZER_MARKS.items() if file_contains(program, mark))


def _runners(invocation: Invocation, places: Layout) -> tuple[Path, ...]:
    """The programs of the command: as the library is, or with a seeded bug in it."""
    bug = invocation["--bug"] if "--bug" in invocation.values else None
    fuzzes = invocation.command == "fuzz"
    if bug is None and fuzzes:
        return (places.need(layout.FUZZ_RUNNER, "the program that draws sequences"),)
    if bug is None:
        return (places.need(layout.SCENARIO_RUNNER, "the program with the scenarios"), *places.python_runners())
    runners = places.bug_runners()
    if fuzzes:
        runners = {name: (program,) for name, program in places.bug_fuzz_runners().items()}
    if bug not in runners:
        what = "seeded bug that the fuzzer claims" if fuzzes else "seeded bug"
        raise UsageError(f"--bug={bug}: there is no such {what}{nearest(bug, runners)}")
    return runners[bug]


def _scenarios(invocation: Invocation, runners: Sequence[Path], environment: Mapping[str, str]) -> list[Scenario]:
    return [] if invocation.command == "fuzz" else list_all_scenarios(runners, environment)


def _driver_option(invocation: Invocation) -> str:
    """Claims about seeded bugs are claims about the model driver, so a selftest takes that unless told otherwise."""
    chosen: str = invocation["--driver"]
    return "model" if invocation.command == "selftest" and chosen == "auto" else chosen


def _base_seed(invocation: Invocation, plans: PlanBuilder, bazel: BazelEnvironment) -> int:
    """The seed of the run: given, else the plan's, else fresh. Bazel's number of the run is mixed in."""
    seed = invocation["--seed"]
    if seed is None:
        seed = plans.seed()
    if seed is None:
        seed = fresh_seed()
    return seed if bazel.random_seed is None else mix(seed, "TEST_RANDOM_SEED", bazel.random_seed)


def _refuse_too_long(invocation: Invocation, bazel: BazelEnvironment) -> None:
    """A budget that the test's time limit cannot hold would end in a kill instead of a report."""
    for option in ("--max-total-time", "--timeout"):
        asked = invocation[option]
        if asked and bazel.budget_seconds is not None and asked > bazel.budget_seconds:
            left = format_duration(round(bazel.budget_seconds, 3))
            over = format_duration(round(asked - bazel.budget_seconds, 3))
            raise UsageError(
                f"{option}={format_duration(asked)} is {over} more than TEST_TIMEOUT leaves ({left}); "
                "raise the test's timeout or lower the option"
            )
