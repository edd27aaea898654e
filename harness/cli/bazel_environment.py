"""The variables of the Bazel test contract that are not plain defaults of an option.

All of them work by hand, too. A value that makes no sense is a usage error, never ignored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from harness.cli.problems import HarnessError, UsageError, writing

_MOST_DIGITS = 18  # of a number; Python itself refuses to read thousands of them
_KEPT_FOR_REPORT = 0.15  # of TEST_TIMEOUT: time to stop the children and write the reports


@dataclasses.dataclass(frozen=True)
class BazelEnvironment:
    """What a test runner asks of this process. The defaults mean: nobody asks anything."""

    shard_index: int = 0
    shard_count: int = 1
    shard_status_file: Path | None = None
    random_seed: int | None = None
    xml_output_file: Path | None = None
    scratch_folder: Path | None = None
    budget_seconds: float | None = None
    premature_exit_file: Path | None = None
    infrastructure_failure_file: Path | None = None
    warnings_file: Path | None = None
    is_test: bool = False

    def begin(self) -> None:
        """Says that sharding is understood, and marks the run as not ended. Call it first."""
        if self.shard_status_file:
            with _writing("TEST_SHARD_STATUS_FILE", self.shard_status_file):
                self.shard_status_file.touch()
        if self.premature_exit_file:
            with _writing("TEST_PREMATURE_EXIT_FILE", self.premature_exit_file):
                self.premature_exit_file.touch()

    def end(self) -> None:
        """Takes the mark of `begin` away. Call it last: whoever leaves in between has left too early."""
        if self.premature_exit_file:
            with _writing("TEST_PREMATURE_EXIT_FILE", self.premature_exit_file):
                self.premature_exit_file.unlink(missing_ok=True)

    def for_one_case(self) -> BazelEnvironment:
        """For a case that is named already, with the seed that it had: there is nothing to divide, and to mix in."""
        return dataclasses.replace(self, shard_index=0, shard_count=1, random_seed=None)

    def report_infrastructure_failure(self, component: str, description: str) -> None:
        """Raises HarnessError, with `description` in it, if the file cannot be written."""
        if self.infrastructure_failure_file:
            try:
                with _writing("TEST_INFRASTRUCTURE_FAILURE_FILE", self.infrastructure_failure_file):
                    self.infrastructure_failure_file.write_text(f"{component}\n{description}\n")
            except HarnessError as problem:
                raise HarnessError(f"{description}; and {problem}") from None

    def warn(self, warnings: list[str]) -> None:
        if self.warnings_file and warnings:
            with _writing("TEST_WARNINGS_OUTPUT_FILE", self.warnings_file), self.warnings_file.open("a") as file:
                file.writelines(f"{warning}\n" for warning in warnings)


def _writing(name: str, path: Path) -> AbstractContextManager[None]:
    """Turns a file that cannot be written into a sentence that names its variable."""
    return writing(f"{name}={path}")


def read_bazel_environment(environment: Mapping[str, str]) -> BazelEnvironment:
    """Reads and checks the variables. Raises UsageError."""
    _refuse_half_a_shard(environment)
    count = _number(environment, "TEST_TOTAL_SHARDS", 1)
    index = _number(environment, "TEST_SHARD_INDEX", 0)
    if count < 1 or index >= count:
        raise UsageError(f"TEST_SHARD_INDEX={index} and TEST_TOTAL_SHARDS={count} name no shard")
    scratch = environment.get("TEST_TMPDIR") or environment.get("TMPDIR")
    if scratch and not Path(scratch).is_dir():
        raise UsageError(f"the scratch folder {scratch} is no folder (TEST_TMPDIR, then TMPDIR)")
    has_seed = bool(environment.get("TEST_RANDOM_SEED"))
    return BazelEnvironment(
        shard_index=index,
        shard_count=count,
        shard_status_file=_path(environment, "TEST_SHARD_STATUS_FILE"),
        random_seed=_number(environment, "TEST_RANDOM_SEED", 0) if has_seed else None,
        xml_output_file=_path(environment, "XML_OUTPUT_FILE"),
        scratch_folder=Path(scratch) if scratch else None,
        budget_seconds=_budget(environment),
        premature_exit_file=_path(environment, "TEST_PREMATURE_EXIT_FILE"),
        infrastructure_failure_file=_path(environment, "TEST_INFRASTRUCTURE_FAILURE_FILE"),
        warnings_file=_path(environment, "TEST_WARNINGS_OUTPUT_FILE"),
        is_test=bool(environment.get("TEST_SRCDIR")),
    )


def _refuse_half_a_shard(environment: Mapping[str, str]) -> None:
    """One of the two variables alone would run everything in each shard, or in none."""
    names = ("TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX")
    for name, other in (names, names[::-1]):
        if environment.get(name) and not environment.get(other):
            raise UsageError(f"{name}={environment[name]} and no {other}: a shard needs both")


def _budget(environment: Mapping[str, str]) -> float | None:
    """The part of TEST_TIMEOUT that cases may use. It says nothing under `bazel run`, where nobody enforces it."""
    if environment.get("BUILD_WORKSPACE_DIRECTORY") or not environment.get("TEST_TIMEOUT"):
        return None
    seconds = _number(environment, "TEST_TIMEOUT", 0)
    if seconds == 0:
        raise UsageError("TEST_TIMEOUT=0 leaves no time for anything")
    return seconds * (1 - _KEPT_FOR_REPORT)


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"{name}={text!r} is no number")
    if len(text) > _MOST_DIGITS:
        raise UsageError(f"{name} is a number of {len(text)} digits, and {_MOST_DIGITS} are the most")
    return int(text)


def _path(environment: Mapping[str, str], name: str) -> Path | None:
    text = environment.get(name, "")
    return Path(text) if text else None
