"""Every behaviour of scenarios/behaviours.tsv is covered by a scenario or a test, or says why it makes no sense here.

Method: ask the command, as anybody would. The table itself is checked against how many behaviours of each kind there
are, so that none can be dropped from it unseen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

TREE = Path(__file__).absolute().parents[1]

# How many there are of each kind.
NUMBERED = {
    "IH": 16, "AP": 24, "RP": 3, "DL": 7, "CL": 7, "EM": 8, "CU": 9, "CB": 10, "TS": 6, "AC": 6, "GB": 25, "EX": 7,
    "EA": 10, "XU": 4, "HC": 8, "DC": 11, "SH": 5, "ER": 5,
}  # fmt: skip
ACCEPTANCE = 13
NODE_UPDATES = ("K", "S", "C", "G", "R", "W", "H", "1", "2", "3")

# What scenarios may name beside behaviours: hazards, bug reports, and facts of the driver and of interpreters.
OTHERS = re.compile(r"D-\d{2}|BR-\d{2}|[UNCP]\d{1,2}b?")


def ask(*words: str) -> Any:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TEST", "HOLDFAST_"))}
    answer = subprocess.run(
        [sys.executable, str(TREE / "harness/cli/__main__.py"), "list", "--json", *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


class CoverageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.coverage: dict[str, dict[str, Any]] = ask("--coverage")
        cls.entries: list[dict[str, Any]] = ask()

    def test_the_table_has_every_behaviour(self) -> None:
        expected = {f"A{number}" for number in range(1, ACCEPTANCE + 1)}
        expected |= {f"{kind}-{number:02}" for kind, count in NUMBERED.items() for number in range(1, count + 1)}
        expected |= {f"NU-{name}" for name in NODE_UPDATES}
        self.assertEqual(expected, set(self.coverage))

    def test_every_behaviour_is_covered_or_says_why_not(self) -> None:
        missing = [
            f"{name}: {entry['what']}"
            for name, entry in self.coverage.items()
            if not entry["by"] and not entry["reason"]
        ]
        self.assertEqual([], missing, "\n" + "\n".join(missing))

    def test_no_behaviour_is_covered_that_says_why_not(self) -> None:
        both = [f"{name}: {entry['by'][0]}" for name, entry in self.coverage.items() if entry["by"] and entry["reason"]]
        self.assertEqual([], both)

    def test_nothing_covers_what_there_is_not(self) -> None:
        unknown = [
            f"{entry['name']} covers {name}"
            for entry in self.entries
            for name in entry["covers"]
            if name not in self.coverage and not OTHERS.fullmatch(name)
        ]
        self.assertEqual([], unknown)

    def test_the_list_says_the_same_by_scenario_and_test(self) -> None:
        self.assertEqual({"scenario", "test"}, {entry["kind"] for entry in self.entries})
        by_entry = {
            (name, entry["name"]) for entry in self.entries for name in entry["covers"] if name in self.coverage
        }
        by_behaviour = {(name, by) for name, entry in self.coverage.items() for by in entry["by"]}
        self.assertEqual(by_behaviour, by_entry)


if __name__ == "__main__":
    unittest.main()
