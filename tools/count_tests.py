"""Adds up what the steps of tools/test left behind and prints the closing line.

A folder holds one file of Bazel's build events for each configuration, and `exit_codes` with one line a step:
its name and its exit code. A Bazel target counts as one test. Where pytest ran each of its cases does, and each
interpreter gets a line of its own.
Exit code: 0 if every test passed and every step succeeded, else 1.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import urllib.parse
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

# Bazel's exit code for "the tests were built and some failed": the failures are counted one by one then.
BAZEL_TESTS_FAILED = 3

STEPS_WITHOUT_TESTS = ("clang", "lint")

# What pytest calls the root of its results; Bazel's own and GoogleTest's have other names.
PYTEST_ROOT = "pytest tests"


@dataclasses.dataclass
class Tally:
    """The outcomes of some tests; of those that failed, what to say of them."""

    passed: int = 0
    skipped: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.passed += other.passed
        self.skipped += other.skipped
        self.failed += other.failed


@dataclasses.dataclass
class Step:
    """What one configuration ran: Bazel targets, and the cases that pytest ran on each interpreter, by its name."""

    targets: Tally = dataclasses.field(default_factory=Tally)
    interpreters: dict[str, Tally] = dataclasses.field(default_factory=dict)


def read_events(path: Path) -> Step:
    """Reads a file of Bazel's events and the results that it points to."""
    statuses: dict[str, str] = {}
    # By label, run and shard: the last attempt is the one that counts.
    results: dict[tuple[str, int, int], dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if "testSummary" in event:
            statuses[event["id"]["testSummary"]["label"]] = event["testSummary"]["overallStatus"]
        elif "testResult" in event:
            identity = event["id"]["testResult"]
            results[identity["label"], identity.get("run", 1), identity.get("shard", 1)] = event["testResult"]
    step = Step()
    for label, status in statuses.items():
        runs = [pytest_cases(label, result) for (of_label, _, _), result in results.items() if of_label == label]
        tallies = [(interpreter, tally) for run in runs for interpreter, tally in run.items()]
        for interpreter, tally in tallies:
            step.interpreters.setdefault(interpreter, Tally()).add(tally)
        if status not in ("PASSED", "FLAKY"):
            # An interpreter that crashes at its end has written its cases by then, all of them passed.
            if not any(tally.failed for _, tally in tallies):
                step.targets.failed.append(f"{label} ({status})")
        elif not tallies:
            step.targets.passed += 1
    return step


def pytest_cases(label: str, result: dict[str, Any]) -> dict[str, Tally]:
    """The cases of one run of a target, by interpreter; empty if it was not pytest that ran, or it did not end."""
    files = {output["name"]: output["uri"] for output in result.get("testActionOutput", ())}
    try:
        path = urllib.parse.unquote(urllib.parse.urlparse(files["test.xml"]).path)
        root = ElementTree.parse(path).getroot()
    except (KeyError, OSError, ElementTree.ParseError):
        return {}
    if root.get("name") != PYTEST_ROOT:
        return {}
    tallies: dict[str, Tally] = {}
    for suite in root.iter("testsuite"):
        tally = tallies.setdefault(suite.get("name", ""), Tally())
        for case in suite.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                tally.failed.append(f"{label} {case.get('name')}")
            elif case.find("skipped") is not None:
                tally.skipped += 1
            else:
                tally.passed += 1
    return tallies


def report(name: str, tally: Tally, what: str) -> None:
    """Prints a line for some tests, and one for each that failed."""
    also = [f"{len(tally.failed)} failed"] if tally.failed else []
    also += [f"{tally.skipped} skipped"] if tally.skipped else []
    print(", ".join([f"{name}: {tally.passed} {what} passed", *also]))
    for failure in tally.failed:
        print(f"  FAILED {failure}")


def main() -> int:
    folder = Path(sys.argv[1])
    total = Tally()
    for line in (folder / "exit_codes").read_text(encoding="utf-8").splitlines():
        name, code_text = line.rsplit(" ", 1)
        code = int(code_text)
        if name in STEPS_WITHOUT_TESTS:
            total.add(Tally(passed=1) if code == 0 else Tally(failed=[name]))
            print(f"{name}: {'passed' if code == 0 else f'failed with exit code {code}'}")
            continue
        step = read_events(folder / f"{name}.json")
        if code not in (0, BAZEL_TESTS_FAILED):
            step.targets.failed.append(f"bazel itself failed with exit code {code}")
        report(name, step.targets, "test targets")
        total.add(step.targets)
        for interpreter, tally in sorted(step.interpreters.items()):
            report(f"{name}, {interpreter}", tally, "pytest cases")
            total.add(tally)
    print(f"{total.passed} passed, {len(total.failed)} failed, {total.skipped} skipped")
    return 0 if not total.failed and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
