"""Where the programs that the command needs lie: in a runfiles tree, in a bundle folder, or below bazel-bin.

All three have the same paths inside, those of the source tree, so only the root differs. HOLDFAST_ROOT overrides
every other place.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness.cli.problems import HarnessError

SCENARIO_RUNNER = "scenarios/scenario_runner"
FUZZ_RUNNER = "scenarios/fuzz/fuzz_runner"
EXPLORE_RUNNER = "scenarios/explore/explore_runner"
FUZZ_CORPUS = "scenarios/fuzz/corpus"
BEHAVIOURS = "scenarios/behaviours.tsv"
TESTS_COVER = "tests/covers.tsv"
PYTHON_FOLDER = "scenarios/python"
PYTHON_RUNNER_PREFIX = "runner_"
BUG_FOLDER = "scenarios/bugs"
BUG_RUNNER_SUFFIX = "_runner"
BUG_FUZZ_RUNNER_SUFFIX = "_fuzz_runner"
SHIM = "fault/shim/libcuda.so.1"
MODEL_DRIVER = "fault/model/libcuda.so.1"
PLAN_TOOL = "fault/plan/holdfast_plan"
SCHEDULE_LIBRARY = "fault/schedule/libholdfast_schedule.so"

_WORKSPACE = "holdfast"


class Layout:
    """Finds programs by their path in the tree. The first root that has one wins."""

    def __init__(self, roots: list[Path]) -> None:
        self._roots = roots

    def find(self, relative: str) -> Path | None:
        """The absolute path of a file, or None. Symbolic links are kept: a library's name is its link's name."""
        for root in self._roots:
            path = root / relative
            if path.is_file():
                return path.absolute()
        return None

    def need(self, relative: str, purpose: str) -> Path:
        """Like find; raises HarnessError if there is no such file."""
        path = self.find(relative)
        if path is None:
            places = ", ".join(str(root) for root in self._roots)
            raise HarnessError(f"there is no {relative}, which is {purpose}; looked below {places}")
        return path

    def files(self, folder: str, pattern: str) -> list[Path]:
        """The files in the first root's folder that has any, by name."""
        for root in self._roots:
            found = sorted(path.absolute() for path in (root / folder).glob(pattern) if path.is_file())
            if found:
                return found
        return []

    def python_runners(self) -> list[Path]:
        """The programs with the scenarios in Python, one an interpreter: runner_cp312 and so on."""
        return [path for path in self.files(PYTHON_FOLDER, f"{PYTHON_RUNNER_PREFIX}*") if os.access(path, os.X_OK)]

    def bug_runners(self) -> dict[str, tuple[Path, ...]]:
        """The scenario programs of the seeded bugs, by the name of the bug: BUG_runner for the scenarios in C++,
        BUG_cp312_runner and so on for those in Python. No name of a bug has an underscore.
        """
        fuzz = BUG_FUZZ_RUNNER_SUFFIX.removesuffix(BUG_RUNNER_SUFFIX)
        runners: dict[str, tuple[Path, ...]] = {}
        for name, path in self._programs(BUG_RUNNER_SUFFIX).items():
            if not name.endswith(fuzz):
                bug = name.partition("_")[0]
                runners[bug] = (*runners.get(bug, ()), path)
        return runners

    def bug_fuzz_runners(self) -> dict[str, Path]:
        """The fuzz programs of the seeded bugs, by the name of the bug."""
        return self._programs(BUG_FUZZ_RUNNER_SUFFIX)

    def _programs(self, suffix: str) -> dict[str, Path]:
        programs: dict[str, Path] = {}
        for root in self._roots:
            for path in sorted((root / BUG_FOLDER).glob(f"*{suffix}")):
                if path.is_file() and os.access(path, os.X_OK):
                    programs.setdefault(path.name.removesuffix(suffix), path.absolute())
        return programs


def find_layout(environment: Mapping[str, str]) -> Layout:
    """The roots to look under, most specific first."""
    override = environment.get("HOLDFAST_ROOT")
    if override:
        return Layout([Path(override).absolute()])
    # Not resolved: in a runfiles tree this file is a link, and its siblings lie beside the link.
    above = Path(__file__).absolute().parents[2]
    roots = [above]
    for variable in ("RUNFILES_DIR", "TEST_SRCDIR"):
        folder = environment.get(variable)
        if folder:
            roots.append(Path(folder) / environment.get("TEST_WORKSPACE", _WORKSPACE))
    roots.append(above / "bazel-bin")
    return Layout(roots)
