"""The example programs do what they say: each is explored, and found at fault or not as it expects of itself.

The programs are built by Bazel, at harness/explore/examples.
"""

from __future__ import annotations

import json
import subprocess
import unittest
from pathlib import Path

EXAMPLES = Path(__file__).absolute().parents[3] / "harness" / "explore" / "examples"


def run(example: str, *arguments: str) -> object:
    """What the example prints."""
    result = subprocess.run([EXAMPLES / example, *arguments], check=True, capture_output=True, text=True, timeout=50)
    return json.loads(result.stdout)


class ExamplesTest(unittest.TestCase):
    def explore(self, example: str) -> dict[str, int]:
        """Explores the programs of an example, and gives the distinct executions of those that are complete."""
        executions = {}
        for program in run(example, "--list"):
            with self.subTest(program["name"]):
                result = run(example, f"--program={program['name']}")
                failure = result["failure"]
                self.assertEqual(program["expected"], failure and failure["verdict"])
                if failure:
                    again = run(example, f"--program={program['name']}", f"--replay={failure['schedule']}")
                    self.assertEqual(result["table"], again["table"])
                else:
                    self.assertTrue(result["is_complete"])
                    executions[program["name"]] = result["executions"]
        return executions

    def test_store_buffering(self) -> None:
        self.assertEqual({"sb.sequential": 3, "sb.fenced": 3}, self.explore("sb"))

    def test_message_passing(self) -> None:
        self.assertEqual({"mp.released": 2}, self.explore("mp"))

    def test_stack(self) -> None:
        self.assertEqual(["stack.take-all"], list(self.explore("stack")))


if __name__ == "__main__":
    unittest.main()
