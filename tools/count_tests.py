"""Adds up what the steps of tools/test left behind and prints the closing line.

A folder holds one file of Bazel's build events for each configuration, and `exit_codes` with one line a step:
its name and its exit code. Exit code: 0 if every test passed and every step succeeded, else 1.
"""

import json
import sys
from collections import Counter
from pathlib import Path

# Bazel's exit code for "the tests were built and some failed": the failures are counted one by one then.
BAZEL_TESTS_FAILED = 3

STEPS_WITHOUT_TESTS = ("clang", "lint")


def count_events(path: Path) -> tuple[Counter[str], list[str]]:
    """The number of test targets by Bazel's overall status, and the labels of those that did not pass."""
    statuses: Counter[str] = Counter()
    failed: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        summary = event.get("testSummary")
        if summary is None:
            continue
        status = summary["overallStatus"]
        statuses[status] += 1
        if status not in ("PASSED", "FLAKY"):
            failed.append(f"{event['id']['testSummary']['label']} ({status})")
    return statuses, failed


def main() -> int:
    folder = Path(sys.argv[1])
    passed = failed = skipped = 0
    for line in (folder / "exit_codes").read_text(encoding="utf-8").splitlines():
        step, code_text = line.rsplit(" ", 1)
        code = int(code_text)
        if step in STEPS_WITHOUT_TESTS:
            passed, failed = (passed + 1, failed) if code == 0 else (passed, failed + 1)
            print(f"{step}: {'passed' if code == 0 else f'failed with exit code {code}'}")
            continue
        statuses, failures = count_events(folder / f"{step}.json")
        passed += statuses["PASSED"] + statuses["FLAKY"]
        failed += len(failures)
        if code not in (0, BAZEL_TESTS_FAILED):
            failed += 1
            failures.append(f"bazel itself failed with exit code {code}")
        print(f"{step}: {statuses['PASSED']} test targets passed" + "".join(f"\n  FAILED {name}" for name in failures))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
