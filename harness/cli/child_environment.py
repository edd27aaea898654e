"""The environment of a case's process: what the harness sets, what it takes away, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.cli.cases import Case
from harness.cli.child import EVENTS_FILE, SANITIZER_LOG
from harness.cli.drivers import Driver
from harness.cli.sanitizer import environment_options
from harness.cli.seed import format_seed
from harness.cli.timeline import TIMELINE_FILE

PLAN_FILE = "plan.json"

# Files of the test runner that only the harness may write.
_HARNESS_ONLY = (
    "XML_OUTPUT_FILE",
    "TEST_PREMATURE_EXIT_FILE",
    "TEST_SHARD_STATUS_FILE",
    "TEST_WARNINGS_OUTPUT_FILE",
    "TEST_INFRASTRUCTURE_FAILURE_FILE",
    "TESTBRIDGE_TEST_ONLY",
)


def loader_environment(inherited: Mapping[str, str], shim: Path) -> dict[str, str]:
    """The environment in which a program finds the shim as its libcuda.so.1, and nothing asks anything of it."""
    environment = {
        name: value
        for name, value in inherited.items()
        if not name.startswith("HOLDFAST_") and name not in _HARNESS_ONLY
    }
    others = inherited.get("LD_LIBRARY_PATH", "")
    environment["LD_LIBRARY_PATH"] = f"{shim.parent}:{others}" if others else str(shim.parent)
    return environment


def child_environment(
    inherited: Mapping[str, str], case: Case, shim: Path, driver: Driver, folder: Path, user_faults: int
) -> dict[str, str]:
    """The environment of one case, whose scratch folder is `folder`.

    The first `user_faults` rules of the plan are none that the scenario knows of: once one has fired, an exception
    proves nothing.
    """
    environment = loader_environment(inherited, shim)
    environment.update(environment_options(str(folder / SANITIZER_LOG), inherited))
    environment.update(
        {
            "HOLDFAST_DRIVER": str(driver.library),
            "HOLDFAST_PLAN": str(folder / PLAN_FILE),
            "HOLDFAST_EVENTS": str(folder / EVENTS_FILE),
            "HOLDFAST_TIMELINE": str(folder / TIMELINE_FILE),
            "HOLDFAST_SEED": format_seed(case.seed),
            "HOLDFAST_MODEL": f"seed={format_seed(case.seed)}",
            "TMPDIR": str(folder),
        }
    )
    if user_faults:
        environment["HOLDFAST_USER_FAULTS"] = str(user_faults)
    return environment
