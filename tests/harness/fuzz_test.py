"""`holdfast fuzz` over a scripted fuzz program: what it runs, what it shrinks, what it says and writes.

Method: the program fails for a reason that is known line by line, so what has to be left after shrinking is known too.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

import jsonschema
from command import TREE, Answer, FakeTree

from harness.cli.fuzz_sequence import FuzzSequence, Step, parse_sequence
from harness.cli.fuzz_task import fingerprint
from harness.cli.shrink import TimeIsUp, shrink
from reports.record import Finding

SCHEMA = json.loads((TREE / "reports" / "report.schema.json").read_text())
HEADER = "holdfast-fuzz 1 seed=0x1"


def sequence_of(*lines: str) -> FuzzSequence:
    return parse_sequence("\n".join((HEADER, *lines)))


class SequenceTest(unittest.TestCase):
    def test_a_fault_belongs_to_the_operation_below_it(self) -> None:
        sequence = sequence_of("0 add 1", "# said", "", "fault a nth=1", "fault b nth=1", "0 destroy 1")
        self.assertEqual(
            (Step("0 add 1"), Step("0 destroy 1", ("fault a nth=1", "fault b nth=1"))),
            sequence.steps,
        )
        self.assertEqual((2, 2), (sequence.operations, sequence.faults))
        self.assertEqual(2, sequence_of("parallel 2", "0 add 1", "1 add 2").operations)
        self.assertEqual(sequence, parse_sequence(sequence.text(["a comment"])))

    def test_what_a_dead_program_left_is_read(self) -> None:
        sequence = parse_sequence(f"{HEADER}\n0 add 1\nfault a nth=1\n\0\0\0rest of an older one\n")
        self.assertEqual((Step("0 add 1"),), sequence.steps)

    def test_what_is_no_sequence_is_refused(self) -> None:
        for text, sentence in (("", "no header"), ("0 add 1\n", "no header"), ("holdfast-fuzz 2\n", "another version")):
            with self.assertRaisesRegex(ValueError, sentence):
                parse_sequence(text)


class ShrinkTest(unittest.TestCase):
    def shrink(self, sequence: FuzzSequence, operations: set[str], faults: set[str]) -> tuple[FuzzSequence, int]:
        """Shrinks a sequence that fails while all of these are in it; with the number of candidates tried."""
        tried = 0

        def ask(candidates: Sequence[FuzzSequence]) -> int | None:
            nonlocal tried
            for index, candidate in enumerate(candidates):
                tried += 1
                present = {step.operation for step in candidate.steps}
                if operations <= present and faults <= {fault for step in candidate.steps for fault in step.faults}:
                    return index
            return None

        result = shrink(sequence, ask)
        self.assertTrue(result.complete)
        return result.sequence, tried

    def test_exactly_what_the_finding_needs_is_left(self) -> None:
        steps = [Step(f"0 do {number}", (f"fault a{number} nth=1", f"fault b{number} nth=1")) for number in range(200)]
        left, tried = self.shrink(
            FuzzSequence(HEADER, tuple(steps)), {"0 do 3", "0 do 77", "0 do 199"}, {"fault b77 nth=1"}
        )
        self.assertEqual(sequence_of("0 do 3", "fault b77 nth=1", "0 do 77", "0 do 199"), left)
        self.assertLess(tried, 400)

    def test_a_finding_that_needs_nothing_leaves_the_header(self) -> None:
        left, _ = self.shrink(sequence_of("0 do 1", "0 do 2"), set(), set())
        self.assertEqual(0, left.operations)

    def test_what_cannot_shrink_stays(self) -> None:
        sequence = sequence_of("fault a nth=1", "0 do 1")
        self.assertEqual(sequence, self.shrink(sequence, {"0 do 1"}, {"fault a nth=1"})[0])

    def test_when_the_time_is_up_the_best_so_far_is_left(self) -> None:
        asked = 0

        def ask(candidates: Sequence[FuzzSequence]) -> int | None:
            nonlocal asked
            asked += 1
            if asked > 4:
                raise TimeIsUp
            return next((index for index, one in enumerate(candidates) if Step("0 do 9") in one.steps), None)

        result = shrink(sequence_of(*(f"0 do {number}" for number in range(64))), ask)
        self.assertFalse(result.complete)
        self.assertLess(result.sequence.operations, 64)
        self.assertIn(Step("0 do 9"), result.sequence.steps)


class FingerprintTest(unittest.TestCase):
    def test_numbers_make_no_difference_and_words_do(self) -> None:
        def of(message: str, kind: str = "contract") -> str:
            return fingerprint(Finding(kind, message))

        self.assertEqual(of("owner 3 of 0x1f2a"), of("owner 17 of 0x2"))
        self.assertNotEqual(of("owner 3"), of("node 3"))
        self.assertNotEqual(of("owner 3"), of("owner 3", "leak"))


class FuzzTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.tree = FakeTree(self.root, [])
        self.tree.program("scenarios/fuzz/fuzz_runner", [sys.executable, str(TESTS / "scripted_fuzzer.py")])

    def fuzz(self, bug: str, *arguments: str) -> tuple[Answer, dict[str, Any]]:
        self.tree.file("bug", bug.encode())
        answer, report = self.tree.report(
            "fuzz",
            "--driver=model",
            "--seed=1",
            *arguments,
            SCRIPTED_FUZZER=str(self.root),
            BUILD_WORKING_DIRECTORY=str(self.root),
        )
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        return answer, report

    def draw(self, bug: str, *arguments: str) -> tuple[Answer, dict[str, Any]]:
        return self.fuzz(bug, "--max-total-time=2s", *arguments)

    def shrunk(self, report: dict[str, Any]) -> dict[str, Any]:
        (shrunk,) = report["fuzz"]["shrunk"]
        return dict(shrunk)

    def test_a_clean_run_tells_its_work(self) -> None:
        answer, report = self.fuzz("none", "--max-total-time=500ms", "--jobs=2")
        self.assertEqual(0, answer.code, answer)
        self.assertRegex(answer.out, r"^\d+ operations in \d+ sequences, \d+ operations a second a core\n")
        self.assertEqual("2 passed, 0 failed, 0 skipped", answer.closing_line)
        fuzz = report["fuzz"]
        self.assertEqual(fuzz["operations"], 40 * fuzz["sequences"])
        self.assertGreater(fuzz["operations_per_core_second"], 0)
        self.assertEqual(2, len({case["seed"] for case in report["cases"]}), "each job has a seed of its own")

    def test_a_finding_is_shrunk_written_and_can_be_taken_again(self) -> None:
        answer, report = self.draw("contract")
        self.assertEqual(1, answer.code, answer)
        shrunk = self.shrunk(report)
        self.assertEqual((2, 1, True), (shrunk["operations"], shrunk["faults"], shrunk["complete"]))
        self.assertGreater(shrunk["operations_before"], 2)
        path = self.root / "out" / "fuzz" / f"{shrunk['fingerprint']}.fuzz"
        self.assertEqual(str(path.relative_to(self.root)), shrunk["file"])
        left = parse_sequence(path.read_text())
        self.assertEqual({"3", "5"}, {step.operation.split()[1] for step in left.steps})
        for line in left.lines():
            self.assertIn(f"    {line}\n", answer.out)
        ours, bazel = report["cases"][-1]["findings"][0]["reproduce"]
        self.assertEqual(f"holdfast fuzz --driver=model --replay={shrunk['file']}", ours)
        self.assertEqual("bazel run //harness:holdfast -- " + ours.removeprefix("holdfast "), bazel)
        again, replayed = self.fuzz("contract", *shlex.split(ours)[3:])
        self.assertEqual((1, None), (again.code, replayed["fuzz"]))
        self.assertEqual(0, self.fuzz("none", *shlex.split(ours)[3:])[0].code)

    def test_the_same_seed_draws_and_shrinks_the_same(self) -> None:
        first, second = (self.shrunk(self.draw("contract", "--jobs=1")[1]) for _ in range(2))
        self.assertEqual(
            [first[key] for key in ("fingerprint", "operations_before", "replays")],
            [second[key] for key in ("fingerprint", "operations_before", "replays")],
        )

    def test_a_crash_is_shrunk_to_the_operation_that_crashes(self) -> None:
        answer, report = self.draw("crash")
        self.assertEqual(1, answer.code, answer)
        self.assertEqual(("crash", 1, 0), tuple(self.shrunk(report)[key] for key in ("kind", "operations", "faults")))

    def test_a_sequence_that_hangs_is_noticed_by_its_own_limit(self) -> None:
        answer, report = self.fuzz("hang", "--max-total-time=600s", "--timeout=1s")
        self.assertEqual(1, answer.code, answer)
        self.assertEqual(("hang", 1), tuple(self.shrunk(report)[key] for key in ("kind", "operations")))

    def test_a_child_that_goes_on_to_other_sequences_does_not_hang(self) -> None:
        self.assertEqual(0, self.fuzz("none", "--max-total-time=3s", "--timeout=1s", "--jobs=1")[0].code)

    def test_what_does_not_happen_again_is_told_and_kept_whole(self) -> None:
        answer, report = self.draw("once")
        self.assertEqual(1, answer.code, answer)
        shrunk = self.shrunk(report)
        self.assertEqual((40, False), (shrunk["operations"], shrunk["complete"]))
        self.assertIn("did not happen again", answer.out)

    def test_a_finding_without_a_sequence_has_the_commands_that_draw_again(self) -> None:
        answer, report = self.draw("no-file", "--jobs=1")
        self.assertEqual((1, []), (answer.code, report["fuzz"]["shrunk"]))
        self.assertEqual(
            "holdfast fuzz --driver=model --seed=0x0000000000000001 --jobs=1 --max-total-time=2s",
            report["cases"][0]["findings"][0]["reproduce"][0],
        )

    def test_nothing_drawn_proves_nothing(self) -> None:
        self.assertEqual(5, self.draw("idle")[0].code)

    def test_a_finding_ends_the_run_unless_it_is_to_keep_going(self) -> None:
        _, once = self.draw("contract", "--jobs=1")
        _, often = self.draw("contract", "--jobs=1", "--keep-going")
        self.assertEqual(1, len(once["cases"]))
        self.assertGreater(len(often["cases"]), 1)
        self.assertEqual(1, len(often["fuzz"]["shrunk"]), "findings of one kind are shrunk once")

    def test_the_corpus_is_taken_again(self) -> None:
        for name, operation in (("first", "3"), ("second", "4")):
            self.tree.file(f"scenarios/fuzz/corpus/{name}.fuzz", f"{HEADER}\n0 {operation} 1\n".encode())
        answer, report = self.fuzz("crash", "--corpus")
        self.assertEqual((1, "1 passed, 1 failed, 0 skipped"), (answer.code, answer.closing_line))
        verdicts = {case["variant"]: case["verdict"] for case in report["cases"]}
        self.assertEqual({"first": "failed", "second": "passed"}, verdicts)

    def test_what_cannot_be_taken_again_is_refused(self) -> None:
        bad = self.tree.file("bad.fuzz", b"nothing\n")
        for words, code, sentence in (
            ((f"--replay={bad}",), 2, "no header"),
            (("--replay=/no/such/file",), 2, "No such file"),
            (("--corpus",), 4, "no sequence in scenarios/fuzz/corpus"),
            (("--bug=none-such",), 2, "no such seeded bug"),
        ):
            answer = self.tree.holdfast("fuzz", "--driver=model", *words)
            self.assertEqual(code, answer.code, answer)
            self.assertIn(sentence, answer.err)

    def test_a_seeded_bug_has_a_program_of_its_own(self) -> None:
        self.tree.file("bug", b"crash")
        script = [sys.executable, str(TESTS / "scripted_fuzzer.py")]
        self.tree.program("scenarios/bugs/forgets-all_fuzz_runner", script)
        (self.root / "scenarios/fuzz/fuzz_runner").unlink()
        answer, report = self.draw("crash", "--bug=forgets-all")
        self.assertEqual(1, answer.code, answer)
        self.assertIn("--bug=forgets-all", report["cases"][-1]["findings"][0]["reproduce"][0])


if __name__ == "__main__":
    unittest.main()
