"""The fuzz runner as a program, over the shim and the model driver: what it finds, leaves behind and refuses.

Method: whole runs in processes. A library that is wrong is played by the shim's plan: one that loses a destructor makes
the owners behind it live for ever, which the reference model must notice.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[3]))

from harness.cli.timeline import read_timeline

RUNFILES = Path(os.environ.get("TEST_SRCDIR", ".")) / os.environ.get("TEST_WORKSPACE", "")
BINARIES = Path(os.environ.get("HOLDFAST_BINARIES", RUNFILES))
RUNNER = BINARIES / "scenarios/fuzz/fuzz_runner"
CORPUS = Path(os.environ.get("HOLDFAST_TREE", RUNFILES)) / "scenarios/fuzz/corpus"
HEADER = "holdfast-fuzz 1 seed=0x1 reuse=at-once delivery=inline settle=4\n"
LOSES_A_DESTRUCTOR = {"version": 1, "rules": [{"site": "destructor", "when": {"nth": 3}, "do": {"drop": True}}]}
LONG = 600


class FuzzRunnerTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.events = self.folder / "events"
        self.timeline = self.folder / "timeline"
        self.failure = self.folder / "failure.fuzz"

    def environment(self, plan: dict[str, object] | None = None) -> dict[str, str]:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")},
            "LD_LIBRARY_PATH": str(BINARIES / "fault/shim"),
            "HOLDFAST_DRIVER": str(BINARIES / "fault/model/libcuda.so.1"),
            "HOLDFAST_EVENTS": str(self.events),
            "HOLDFAST_TIMELINE": str(self.timeline),
        }
        if plan:
            file = self.folder / "plan.json"
            file.write_text(json.dumps(plan))
            environment["HOLDFAST_PLAN"] = str(file)
        return environment

    def run_runner(self, *arguments: str, plan: dict[str, object] | None = None) -> subprocess.CompletedProcess[str]:
        self.events.unlink(missing_ok=True)
        return subprocess.run(
            [RUNNER, *arguments], env=self.environment(plan), capture_output=True, text=True, timeout=LONG, check=False
        )

    def replay(self, text: str, plan: dict[str, object] | None = None) -> subprocess.CompletedProcess[str]:
        file = self.folder / "replayed.fuzz"
        file.write_text(text)
        return self.run_runner(f"--replay={file}", plan=plan)

    def recorded(self, event: str) -> list[dict[str, object]]:
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        return [entry for entry in map(json.loads, lines) if entry["event"] == event]

    def counters(self) -> dict[str, int]:
        return {str(entry["name"]): int(str(entry["value"])) for entry in self.recorded("counter")}

    def test_drawn_sequences_show_no_difference(self) -> None:
        ended = self.run_runner("--seed=0x1c0ffee", "--max-time=5", f"--failure-out={self.failure}")
        self.assertEqual(0, ended.returncode, ended.stderr[-2000:])
        counters = self.counters()
        self.assertGreater(counters["operations"], 1000)
        self.assertGreater(counters["sequences"], 10)
        self.assertGreater(counters["faults"], 10)
        self.assertEqual(1, len(self.recorded("oracle")))

    def test_the_same_seed_draws_the_same_sequence(self) -> None:
        texts = []
        for _ in range(2):
            self.run_runner("--seed=5", "--max-time=0", f"--failure-out={self.failure}")
            texts.append(self.failure.read_text())
        self.assertEqual(texts[0], texts[1])
        self.assertIn("0 create g", texts[0])

    def test_a_drawn_sequence_settles_by_operations_of_its_own(self) -> None:
        texts = []
        for seed in range(8):
            self.run_runner(f"--seed={seed}", "--max-time=0", f"--failure-out={self.failure}")
            texts.append(self.failure.read_text())
        self.assertTrue(all(" settle=1000\n" in text for text in texts))
        self.assertTrue(any("\n0 settle\n" in text for text in texts))

    def test_any_lines_of_a_drawn_sequence_are_a_sequence(self) -> None:
        draw = random.Random(17)
        for seed in range(24):
            self.run_runner(f"--seed={seed}", "--max-time=0", f"--failure-out={self.failure}")
            header, *lines = self.failure.read_text().splitlines(keepends=True)
            share = draw.random()
            text = header + "".join(line for line in lines if draw.random() < share)
            ended = self.replay(text)
            self.assertEqual(0, ended.returncode, f"{ended.stderr[-2000:]}\n{text}")

    def test_a_difference_is_a_finding_with_its_sequence(self) -> None:
        text = HEADER + "".join(f"0 create g{i}\n0 add_host g{i} n{i} o{i} - - -\n0 destroy n{i}\n" for i in range(4))
        self.assertEqual(0, self.replay(text).returncode)
        ended = self.replay(text, LOSES_A_DESTRUCTOR)
        self.assertEqual(1, ended.returncode, ended.stderr)
        finding = self.recorded("finding")[0]
        self.assertEqual("contract", finding["kind"])
        self.assertEqual("owner 2 is still alive, though nothing needs it any more", finding["message"])
        self.assertIn("at 0 destroy n2:", ended.stderr)
        timeline = read_timeline(self.timeline)
        assert timeline
        self.assertEqual(("finding", "contract"), (timeline.moments[-1].kind, timeline.moments[-1].name))

    def test_what_was_drawn_up_to_a_difference_is_replayed_to_it(self) -> None:
        ended = self.run_runner("--seed=3", "--max-time=60", f"--failure-out={self.failure}", plan=LOSES_A_DESTRUCTOR)
        self.assertEqual(1, ended.returncode, ended.stderr)
        self.assertGreater(self.counters()["operations"], 0)
        found = self.recorded("finding")[0]["message"]
        text = self.failure.read_text()
        self.assertNotIn("\n\n", text)
        self.assertEqual(1, self.replay(text, LOSES_A_DESTRUCTOR).returncode)
        self.assertEqual(found, self.recorded("finding")[0]["message"])
        self.assertEqual(0, self.replay(text).returncode)

    def test_a_process_that_dies_leaves_its_sequence(self) -> None:
        command = [RUNNER, "--seed=9", "--max-time=600", f"--failure-out={self.failure}"]
        with subprocess.Popen(command, env=self.environment(), stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + LONG
            while not self.failure.exists() or not self.failure.read_bytes().startswith(b"holdfast-fuzz 1 "):
                self.assertLess(time.monotonic(), deadline)
            process.send_signal(signal.SIGKILL)
        self.assertEqual(0, self.replay(self.failure.read_text()).returncode)

    def test_the_corpus_shows_no_difference(self) -> None:
        files = list(CORPUS.glob("*.fuzz"))
        self.assertGreater(len(files), 0)
        ended = self.run_runner(f"--corpus={CORPUS}")
        self.assertEqual(0, ended.returncode, ended.stderr[-2000:])
        self.assertEqual(len(files), self.counters()["sequences"])

    def test_bad_input_is_refused_with_its_place(self) -> None:
        ended = self.replay(HEADER + "0 create g0\n0 fly g0\n")
        self.assertEqual(2, ended.returncode)
        self.assertIn('replayed.fuzz: line 3: there is no operation "fly"', ended.stderr)
        ended = self.replay(HEADER + "fault cuGraphAddHostNode nth=1 after\n0 drain\n")
        self.assertEqual(2, ended.returncode)
        self.assertIn("line 2: no call can fail that way", ended.stderr)
        for arguments in ((), ("--seed=1",), ("--seed=x", "--max-time=1"), ("--fly",), ("--corpus=no-such-folder",)):
            ended = self.run_runner(*arguments)
            self.assertEqual(2, ended.returncode, arguments)
            self.assertTrue(ended.stderr.startswith("fuzz_runner: "), ended.stderr)
        ended = self.run_runner(f"--replay={self.folder / 'none'}")
        self.assertEqual(2, ended.returncode)
        self.assertIn("cannot be read", ended.stderr)


if __name__ == "__main__":
    unittest.main()
