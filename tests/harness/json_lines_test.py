"""JSON lines while a run goes on: what is in the file when, and after the command was killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from command import FakeTree, await_condition, scenario

from reports.read_json_lines import read_json_lines
from reports.read_report import read_report

RUN = ("run", "--driver=model", "--color=no", "--seed=7")


class JsonLinesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.lines = self.root / "out" / "run.jsonl"

    def test_the_lines_say_what_the_report_says(self) -> None:
        tree = FakeTree(self.root, [scenario(f"A{number}.x", does) for number, does in enumerate(("passes", "finds"))])
        answer, _ = tree.report(*RUN, "--runs=5", "--shuffle", "--jobs=4", f"--report=jsonl:{self.lines}")
        self.assertEqual(1, answer.code, answer)
        report = read_report((self.root / "out" / "report.json").read_bytes())
        self.assertEqual((report, False), read_json_lines(self.lines.read_bytes()))

    def test_a_case_is_in_the_file_as_soon_as_it_has_ended(self) -> None:
        tree = FakeTree(self.root, [scenario("A1.good"), scenario("A2.bad", "finds"), scenario("A3.long", "waits")])
        command = tree.command_line(*RUN, "--jobs=1", f"--report=jsonl:{self.lines}")
        run = subprocess.Popen(command, env=tree.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            await_condition(lambda: self.lines.exists() and self.lines.read_bytes().count(b"\n") == 3, "two cases")
        finally:
            run.send_signal(signal.SIGKILL)
            run.wait()
        record, is_cut_off = read_json_lines(self.lines.read_bytes())
        self.assertTrue(is_cut_off)
        self.assertEqual([("A1.good", "passed"), ("A2.bad", "failed")], [(c.scenario, c.verdict) for c in record.cases])

    def test_the_standard_output_gets_lines_and_nothing_else(self) -> None:
        answer = FakeTree(self.root, [scenario("A1.good")]).holdfast(*RUN, "--report=jsonl:-")
        self.assertEqual(0, answer.code, answer)
        record, is_cut_off = read_json_lines(answer.out.encode())
        self.assertEqual((0, 1, False), (record.exit_code, len(record.cases), is_cut_off))

    def test_lines_that_cannot_be_written_are_known_before_anything_runs(self) -> None:
        answer = FakeTree(self.root, [scenario("A1.good")]).holdfast(*RUN, "--report=jsonl:/proc/run.jsonl")
        self.assertEqual(2, answer.code, answer)
        self.assertIn("/proc/run.jsonl", answer.err)


if __name__ == "__main__":
    unittest.main()
