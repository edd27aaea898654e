"""`holdfast fuzz` over a scripted fuzz program: what it runs, what it shrinks, what it says and writes.

Method: the program fails for a reason that is known line by line, so what has to be left after shrinking is known too.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import unittest
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

import jsonschema
from command import TREE, Answer, FakeTree

from harness.cli.delta_debugging import TimeIsUp
from harness.cli.fuzz_sequence import FuzzSequence, Step, parse_sequence
from harness.cli.fuzz_task import fingerprint
from harness.cli.shrink import shrink
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
        self.assertEqual(sequence, parse_sequence(sequence.text(["a comment"])))

    def test_a_block_has_the_operations_that_are_left_of_it(self) -> None:
        sequence = sequence_of("0 add 1", "parallel 3", "0 add 2", "fault a nth=1", "1 add 3", "2 add 4", "0 add 5")
        self.assertEqual(5, sequence.operations)
        self.assertEqual([False, True, True, True, False], [step.block is not None for step in sequence.steps])
        self.assertEqual(sequence, parse_sequence(sequence.text()))
        first, second, third, fourth, last = sequence.steps
        for steps, lines in (
            ((first, second, fourth, last), ["0 add 1", "parallel 2", "0 add 2", "2 add 4", "0 add 5"]),
            ((third, fourth, last), ["parallel 2", "fault a nth=1", "1 add 3", "2 add 4", "0 add 5"]),
            ((fourth, last), ["2 add 4", "0 add 5"]),
        ):
            self.assertEqual(lines, sequence.with_steps(steps).lines()[1:])

    def test_what_was_inside_of_an_operation_that_is_left_out_is_no_block(self) -> None:
        sequence = sequence_of("parallel 3 inside", "0 end 1", "1 add 2", "1 add 3")
        self.assertEqual(sequence, parse_sequence(sequence.text()))
        self.assertEqual(
            ["parallel 2 inside", "0 end 1", "1 add 3"],
            sequence.with_steps((sequence.steps[0], sequence.steps[2])).lines()[1:],
        )
        self.assertEqual(["1 add 2", "1 add 3"], sequence.with_steps(sequence.steps[1:]).lines()[1:])

    def test_settings_that_the_header_has_are_changed(self) -> None:
        sequence = parse_sequence("holdfast-fuzz 1 seed=0x1 settle=7\n0 add 1\n")
        changed = sequence.with_settings({"settle": "1", "delivery": "inline"})
        self.assertEqual(["holdfast-fuzz 1 seed=0x1 settle=1", "0 add 1"], changed.lines())

    def test_what_a_dead_program_left_is_read(self) -> None:
        sequence = parse_sequence(f"{HEADER}\n0 add 1\nfault a nth=1\n\0\0\0rest of an older one\n")
        self.assertEqual((Step("0 add 1"),), sequence.steps)

    def test_what_is_no_sequence_is_refused(self) -> None:
        for text, sentence in (
            ("", "no header"),
            ("0 add 1\n", "no header"),
            ("holdfast-fuzz 2\n", "another version"),
            (f"{HEADER}\nparallel\n", "how many operations"),
            (f"{HEADER}\nparallel x\n", "how many operations"),
            (f"{HEADER}\nparallel 2 outside\n", "how many operations"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                parse_sequence(text)


def shrink_while(sequence: FuzzSequence, fails: Callable[[FuzzSequence], bool]) -> tuple[FuzzSequence, int]:
    """Shrinks a sequence as long as it fails; with the number of candidates tried."""
    tried = 0

    def ask(candidates: Sequence[FuzzSequence]) -> int | None:
        nonlocal tried
        for index, candidate in enumerate(candidates):
            tried += 1
            if fails(candidate):
                return index
        return None

    assert fails(sequence)
    result = shrink(sequence, ask)
    assert result.complete
    return result.sequence, tried


class ShrinkTest(unittest.TestCase):
    def shrink(self, sequence: FuzzSequence, operations: set[str], faults: set[str]) -> tuple[FuzzSequence, int]:
        """Shrinks a sequence that fails while all of these are in it; with the number of candidates tried."""

        def fails(candidate: FuzzSequence) -> bool:
            present = {step.operation for step in candidate.steps}
            return operations <= present and faults <= {fault for step in candidate.steps for fault in step.faults}

        return shrink_while(sequence, fails)

    def assert_left(self, lines: Sequence[str], sequence: FuzzSequence, fails: Callable[[list[str]], bool]) -> None:
        """What is left of a sequence that fails while `fails` says so of its lines, without the header."""
        left, _ = shrink_while(sequence, lambda candidate: fails(candidate.lines()[1:]))
        self.assertEqual(list(lines), left.lines()[1:])

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

    def test_settings_become_the_simplest_that_have_the_finding(self) -> None:
        sequence = parse_sequence("holdfast-fuzz 1 seed=0x1 reuse=never delivery=held settle=9\n0 do 1\n")
        for needed, header in (
            ("seed=0x1", "holdfast-fuzz 1 seed=0x1 reuse=never delivery=inline settle=1"),
            ("delivery=held", "holdfast-fuzz 1 seed=0x1 reuse=never delivery=held settle=1"),
            ("settle=9", "holdfast-fuzz 1 seed=0x1 reuse=never delivery=inline settle=9"),
        ):
            left, _ = shrink_while(sequence, lambda candidate, needed=needed: needed in candidate.header.split())
            self.assertEqual(header, left.header)

    def test_a_finding_that_comes_with_a_settling_needs_no_operations_to_wait_for_it(self) -> None:
        sequence = parse_sequence("holdfast-fuzz 1 settle=40\n" + "".join(f"0 do {number}\n" for number in range(100)))

        def fails(candidate: FuzzSequence) -> bool:
            settle = int(candidate.header.partition("settle=")[2])
            places = [index for index, step in enumerate(candidate.steps) if step.operation == "0 do 5"]
            return bool(places) and len(candidate.steps) - places[0] >= settle

        self.assertEqual(["holdfast-fuzz 1 settle=1", "0 do 5"], shrink_while(sequence, fails)[0].lines())

    def test_threads_that_the_finding_does_not_need_are_gone(self) -> None:
        mixed = sequence_of(*(f"{number % 3} do {number}" for number in range(30)))
        left, tried = self.shrink(mixed, {"1 do 4", "1 do 22"}, set())
        self.assertEqual(["1 do 4", "1 do 22"], left.lines()[1:])
        self.assertLess(tried, 60)
        self.assert_left(
            ["2 do 2", "2 do 4"],
            sequence_of("2 do 2", "1 do 3", "1 do 4"),
            lambda lines: [line.split()[2] for line in lines if line.split()[2] != "3"] == ["2", "4"],
        )

    def test_a_block_is_taken_apart_unless_the_finding_needs_it(self) -> None:
        sequence = sequence_of("parallel 3", "0 do 1", "1 do 2", "1 do 3", "parallel 2 inside", "0 do 4", "1 do 5")
        self.assert_left(["0 do 1", "1 do 5"], sequence, lambda lines: {"0 do 1", "1 do 5"} <= set(lines))
        self.assert_left(
            ["parallel 2", "0 do 1", "1 do 3"],
            sequence,
            lambda lines: {"0 do 1", "1 do 3"} <= set(lines) and lines[0].startswith("parallel"),
        )
        self.assert_left(
            ["0 do 1", "parallel 2 inside", "0 do 4", "1 do 5"],
            sequence,
            lambda lines: (
                "0 do 1" in lines and "1 do 5" in lines[lines.index("0 do 4") :]
                if "parallel 2 inside" in lines and "0 do 4" in lines
                else False
            ),
        )

    def test_leaving_out_an_operation_of_a_block_does_not_move_what_is_behind_it_into_the_block(self) -> None:
        sequence = sequence_of("parallel 4", "0 do 1", "1 do 2", "0 do 3", "1 do 4", "0 do 5", "1 do 6")
        seen = []
        shrink_while(sequence, lambda candidate: bool(seen.append(candidate.lines()[1:])) or len(seen) == 1)
        for lines in seen:
            for index, line in enumerate(lines):
                if line.startswith("parallel"):
                    inside = lines[index + 1 : index + 1 + int(line.split()[1])]
                    self.assertLessEqual({one.split()[2] for one in inside}, {"1", "2", "3", "4"})

    def test_two_that_only_go_together_are_gone(self) -> None:
        self.assert_left(
            ["0 do 3"],
            sequence_of("0 make 1", "0 do 2", "0 do 3", "0 take 1"),
            lambda lines: "0 do 3" in lines and ("0 make 1" in lines) == ("0 take 1" in lines),
        )

    def test_an_operation_that_another_slot_can_stand_in_for_is_gone(self) -> None:
        behind = (["0 create g1", "0 find g1 g3", "0 add g3 n1 -"], ["0 create g1", "0 add g1 n1 -"])
        self.assert_left(behind[1], sequence_of(*behind[0]), lambda lines: lines in behind)
        before = (
            ["0 create g1", "0 find g1 g3", "0 create g1", "0 add g3 n1 -"],
            ["0 create g3", "0 create g1", "0 add g3 n1 -"],
        )
        self.assert_left(before[1], sequence_of(*before[0]), lambda lines: lines in before)

    def test_a_graph_is_copied_for_itself_if_that_will_do(self) -> None:
        for copy in ("embed g2 n1 g1 - -", "update_child n1 g1"):
            self.assert_left(
                ["0 create g1", "0 clone g1 g0"],
                sequence_of("0 create g2", "0 create g1", f"0 {copy}"),
                lambda lines, copy=copy: (
                    "0 create g1" in lines
                    and (lines[-1] == "0 clone g1 g0" or (lines[-1] == f"0 {copy}" and "0 create g2" in lines))
                ),
            )

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
        return self.holdfast(bug, "fuzz", "--driver=model", "--seed=1", *arguments)

    def holdfast(self, bug: str, *arguments: str) -> tuple[Answer, dict[str, Any]]:
        self.tree.file("bug", bug.encode())
        answer, report = self.tree.report(
            *arguments, SCRIPTED_FUZZER=str(self.root), BUILD_WORKING_DIRECTORY=str(self.root)
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
        self.assertRegex(answer.out, r"^[\d,]+ operations in [\d,]+ sequences, [\d,]+ operations a second a core\n")
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
        self.assertTrue(ours.startswith(f"holdfast replay 'hf2~fuzz~fuzz~{shrunk['fingerprint']}~model~"), ours)
        self.assertEqual("bazel run //harness:holdfast -- " + ours.removeprefix("holdfast "), bazel)
        again, replayed = self.holdfast("contract", *shlex.split(ours)[1:])
        self.assertEqual((1, left.lines()), (again.code, self.shrunk(replayed)["sequence"]))
        for line in left.lines():
            self.assertIn(f"    {line}\n", again.out)
        refused = self.tree.holdfast(*shlex.split(ours)[1:], "--minimise")
        self.assertEqual(2, refused.code)
        self.assertIn("this is one of holdfast fuzz; it was made small when it was found", refused.err)
        self.assertEqual([ours, bazel], replayed["cases"][0]["findings"][0]["reproduce"])
        self.assertEqual(0, self.holdfast("none", *shlex.split(ours)[1:])[0].code)
        path.rename(self.root / "elsewhere.fuzz")
        self.assertEqual(1, self.holdfast("contract", "replay", str(self.root / "elsewhere.fuzz"))[0].code)
        self.assertEqual(1, self.fuzz("contract", f"--replay={self.root}/elsewhere.fuzz")[0].code)

    def test_the_same_seed_draws_and_shrinks_the_same(self) -> None:
        first, second = (self.shrunk(self.draw("contract", "--jobs=1")[1]) for _ in range(2))
        self.assertEqual(
            [first[key] for key in ("fingerprint", "operations_before", "replays")],
            [second[key] for key in ("fingerprint", "operations_before", "replays")],
        )

    def test_a_crash_is_shrunk_to_the_operation_that_crashes(self) -> None:
        answer, report = self.draw("crash", "--annotations=github")
        self.assertEqual(1, answer.code, answer)
        self.assertEqual(("crash", 1, 0), tuple(self.shrunk(report)[key] for key in ("kind", "operations", "faults")))
        self.assertRegex(answer.out, r"(?m)^::error .*title=crash in ")

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

    def test_it_is_drawn_on_until_a_finding_always_happens_again(self) -> None:
        answer, report = self.fuzz("contract-later", "--max-total-time=10s", "--jobs=1")
        self.assertEqual(1, answer.code, answer)
        shrunk = self.shrunk(report)
        self.assertEqual((2, 1, True, ""), tuple(shrunk[key] for key in ("operations", "faults", "complete", "note")))
        self.assertEqual([0, 1], [case["run"] for case in report["cases"]])

    def test_what_happens_again_now_and_then_is_asked_for_several_times(self) -> None:
        answer, report = self.draw("now-and-then", "--jobs=1")
        self.assertEqual(1, answer.code, answer)
        shrunk = self.shrunk(report)
        self.assertEqual((1, False), (shrunk["operations"], shrunk["complete"]))
        self.assertEqual("it happened again in 4 of 8 replays", shrunk["note"])

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

    def test_an_operation_that_the_program_does_not_know_is_no_finding(self) -> None:
        self.tree.file("bug", b"none")
        file = self.tree.file("misspelled.fuzz", b"holdfast-fuzz 1 seed=0x1\n0 unknown 1\n")
        answer = self.tree.holdfast(
            "replay", str(file), SCRIPTED_FUZZER=str(self.root), BUILD_WORKING_DIRECTORY=str(self.root)
        )
        self.assertEqual(2, answer.code, answer)
        self.assertIn('misspelled.fuzz: line 2: there is no operation "unknown"', answer.err)

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
        command = shlex.split(report["cases"][-1]["findings"][0]["reproduce"][0])
        again, replayed = self.holdfast("crash", *command[1:])
        self.assertEqual((1, "forgets-all_fuzz_runner"), (again.code, replayed["subject"]["program"]))
        file = str(self.root / self.shrunk(report)["file"])
        self.assertEqual(1, self.holdfast("crash", "replay", file, "--bug=forgets-all")[0].code)


if __name__ == "__main__":
    unittest.main()
