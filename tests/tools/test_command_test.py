"""tools/test as a whole, with stand-ins for its steps: a step that fails fails the command, whichever it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).absolute().parents[2] / "tools"

EVENT = '{"id": {"testSummary": {"label": "//a:a"}}, "testSummary": {"overallStatus": "PASSED"}}'

# Says what it did as Bazel does; exits with FAIL if its configuration is the one that is to fail.
BAZEL = f"""#!/bin/sh
for argument; do
  case $argument in
    --build_event_json_file=*) file=${{argument#*=}} ;;
  esac
done
printf '%s\\n' '{EVENT}' > "$file"
case $(basename "$file" .json) in
  "$FAILING") exit 1 ;;
esac
"""

STEP = """#!/bin/sh
[ "$(basename "$0")" != "$FAILING" ]
"""


class TestCommandTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        tools = self.root / "tools"
        tools.mkdir()
        for name in ("test", "count_tests.py"):
            shutil.copy(TOOLS / name, tools / name)
        for path, text in ((tools / "setup", STEP), (tools / "lint", STEP), (self.root / "bin" / "bazel", BAZEL)):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)

    def run_test_command(self, failing: str) -> tuple[int, list[str]]:
        environment = os.environ | {"PATH": f"{self.root / 'bin'}:/usr/bin:/bin", "FAILING": failing}
        command = [self.root / "tools" / "test"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def test_all_steps_pass(self) -> None:
        code, lines = self.run_test_command(failing="none")
        self.assertEqual((0, "6 passed, 0 failed, 0 skipped"), (code, lines[-1]))

    def test_any_step_fails(self) -> None:
        for step in ("default", "clang", "asan", "tsan", "ubsan", "lint"):
            with self.subTest(step=step):
                code, lines = self.run_test_command(failing=step)
                self.assertEqual(1, code)
                self.assertIn(" 1 failed,", lines[-1])

    def test_nothing_runs_without_the_set_up(self) -> None:
        self.assertEqual((3, []), self.run_test_command(failing="setup"))


if __name__ == "__main__":
    unittest.main()
