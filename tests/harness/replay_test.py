"""`holdfast replay` and its strings: a case is taken again with all that shaped it, from one line or from a file, and
what is no whole string, or none of this version, is refused with a reason.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import shlex
import subprocess
import sys
import unittest
import zlib
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).absolute().parent), str(Path(__file__).absolute().parents[2])]

import jsonschema
from command import TREE, Answer, CommandTest, FakeTree, scenario

from harness.cli.problems import UsageError
from harness.cli.replay_string import MOST_CHARACTERS, Replay, decode, encode
from reports.read_report import read_report

SCHEMA = json.loads((TREE / "reports" / "report.schema.json").read_text())
SEQUENCE = "holdfast-fuzz 1 seed=0x1\nfault cuGraphAddHostNode nth=1\n0 add 1\n"
RUN = Replay("run", "A1.a-b", "cp311-held", "model", 0x1C0FFEE, 3, ("--fault=alloc:fail",), ({"site": "alloc"},))


def forged(*fields: str, packed: object = None) -> str:
    """A string with a right checksum, whatever is in it."""
    data = packed if isinstance(packed, bytes) else json.dumps(packed).encode()
    more = "" if packed is None else base64.urlsafe_b64encode(zlib.compress(data)).decode().rstrip("=")
    text = "~".join(("hf2", *fields, more))
    return f"{text}~{zlib.crc32(text.encode()):08x}"


class StringTest(unittest.TestCase):
    def refused(self, string: str) -> str:
        with self.assertRaises(UsageError) as caught:
            decode(string)
        return str(caught.exception)

    def test_what_is_written_is_read(self) -> None:
        for replay in (
            RUN,
            Replay("run", "A1.a", "inline", "real", 2**64 - 1),
            Replay("sweep", "sweep.a", "only", "model", 0, options=("--fault=a:fail", "--fault=b:fail", "--bug=x")),
            Replay("fuzz", "fuzz", "job-1", "model", 7, options=("--timeout=3s",), sequence=SEQUENCE),
            Replay("explore", "queue.a", "pct", "none", 1, options=("--replay=x1:a3b2a#5f3a9c01",)),
        ):
            self.assertEqual(replay, decode(encode(replay)))

    def test_it_is_safe_in_a_shell_and_in_an_address(self) -> None:
        self.assertRegex(encode(RUN), r"^hf2~run~A1\.a-b~cp311-held~model~0000000001c0ffee~3~[\w~-]+$")

    def test_any_letter_that_is_lost_or_another_is_noticed(self) -> None:
        string = encode(RUN)
        for place in range(4, len(string)):
            for wrong in (string[:place], string[:place] + string[place + 1 :], f"{string[:place]}!{string[place:]}"):
                self.assertIn("is not whole", self.refused(wrong), wrong)
        self.assertIn("a log that breaks or shortens long lines", self.refused(string[:-1]))

    def test_another_format_is_told_from_a_broken_string(self) -> None:
        self.assertIn("old format hf1", self.refused("hf1~A1.a~inline~model~0123456789abcdef~0123456789abcdef"))
        self.assertIn("the format hf12, and this version of holdfast reads hf2", self.refused("hf12~what~ever"))

    def test_what_is_too_long_or_has_no_plain_name_has_no_string(self) -> None:
        rules = tuple({"site": "alloc", "when": {"nth": number**9}} for number in range(9000))
        self.assertEqual("", encode(dataclasses.replace(RUN, rules=rules)))
        self.assertLessEqual(len(encode(dataclasses.replace(RUN, rules=rules[:100]))), MOST_CHARACTERS)
        for name in ("", "a/b", "a~b", "a b", "*", "-a", "ä"):
            self.assertEqual("", encode(dataclasses.replace(RUN, variant=name)))

    def test_a_string_that_unpacks_to_very_much_is_refused(self) -> None:
        bomb = forged("run", "A1.a", "inline", "model", "0" * 16, "0", packed=b"[" + b" " * (1 << 28))
        self.assertLess(len(bomb), 400_000)
        self.assertIn("more than 1 MiB", self.refused(bomb))
        nested = forged("run", "A1.a", "inline", "model", "0" * 16, "0", packed=b"[" * 200_000)
        self.assertIn("cannot be used", self.refused(nested))
        deep = forged(
            "run", "A1.a", "inline", "model", "0" * 16, "0", packed=b'{"rules":' + b"[" * 60 + b"]" * 60 + b"}"
        )
        self.assertIn("is nested too deeply", self.refused(deep))

    def test_each_field_is_checked_although_the_checksum_is_right(self) -> None:
        good = ("run", "A1.a", "inline", "model", "0" * 16, "0")
        self.assertEqual(Replay("run", "A1.a", "inline", "model", 0), decode(forged(*good)))
        for place, wrong, sentence in (
            (0, "exec", "the command 'exec'"),
            (1, "A1*", "'A1*' is the name of no scenario"),
            (2, "../a", "'../a' is the name of no scenario and no variant"),
            (3, "/lib/x.so", "'/lib/x.so' is no kind of driver"),
            (4, "0x1", "'0x1' is no seed"),
            (5, "-1", "'-1' is no number of a run"),
            (5, "9" * 19, "is no number of a run"),
        ):
            self.assertIn(sentence, self.refused(forged(*good[:place], wrong, *good[place + 1 :])))
        self.assertIn("'1' is no number of a run of sweep", self.refused(forged("sweep", *good[1:5], "1")))

    def test_what_is_packed_is_checked(self) -> None:
        run = ("run", "A1.a", "inline", "model", "0" * 16, "0")
        fuzz = ("fuzz", "fuzz", "a", "model", "0" * 16, "0")
        for fields, packed, sentence in (
            (run, [], "no object of JSON"),
            (run, {"option": []}, "it has 'option', which this version does not know"),
            (run, {"options": "--bug=x"}, "its options are no list of words"),
            (run, {"options": [7]}, "its options are no list of words"),
            (run, {"options": ["--bug=a\0b"]}, "its options are no list of words"),
            (run, {"options": ["--report=json:/etc/passwd"]}, "is no option that the string of a run may have"),
            (run, {"options": ["--help"]}, "is no option"),
            (run, {"options": ["--bug"]}, "is no option"),
            (run, {"options": ["A2*"]}, "is no option"),
            (run, {"rules": [1]}, "its rules are no list of rules"),
            (run, {"sequence": SEQUENCE}, "belongs to the command fuzz"),
            (run, b'{"rules":[],"rules":[]}', "a name stands twice"),
            (run, b"{", "cannot be used"),
            (fuzz, {"options": []}, "belongs to the command fuzz"),
            (fuzz, {"sequence": SEQUENCE, "rules": [{}]}, "takes no plan"),
            (fuzz, {"sequence": "holdfast-fuzz 9\n"}, "of another version"),
            (fuzz, {"sequence": "holdfast-fuzz 1\n0 \x1b[2J\n"}, "its sequence is no text"),
        ):
            self.assertIn(sentence, self.refused(forged(*fields, packed=packed)), packed)


class ReplayTest(CommandTest):
    def report(self, tree: FakeTree, *words: str, **variables: str) -> tuple[Answer, dict[str, Any]]:
        answer, report = tree.report(*words, **variables)
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        return answer, report

    def with_plan(self, tree: FakeTree) -> tuple[Path, list[str]]:
        """A plan file, and a run of one case in which everything shapes the case."""
        rules = b'[{"site": "event", "do": {"drop": true}}]'
        plan = tree.file("plan.json", b'{"version": 1, "seed": "0x2a", "rules": ' + rules + b"}")
        tree.scripted_runner(
            "scenarios/bugs/early_runner",
            [
                scenario("A1.bad", "finds", sites=["alloc", "event", "own"], plan=["own:fail"]),
                scenario("A2.bad", "finds"),
            ],
        )
        words = ["run", "--driver=model", "--bug=early", f"--plan={plan}", "--fault=alloc:fail", "--timeout=7s"]
        return plan, [*words, "--first-run=2", "--filter=A1*"]

    def test_a_case_is_taken_again_without_the_file_of_its_plan(self) -> None:
        tree = self.tree(scenario("A1.bad"))
        plan, words = self.with_plan(tree)
        answer, first = self.report(tree, *words, f"--artifact-dir={self.root}/kept")
        (case,) = first["cases"]
        ours, bazel = case["findings"][0]["reproduce"]
        self.assertEqual(["holdfast", "replay", case["replay"]], shlex.split(ours))
        self.assertEqual(["bazel", "run", "//harness:holdfast", "--", "replay", case["replay"]], shlex.split(bazel))
        self.assertNotIn(str(plan), answer.out)
        plan.unlink()
        again, second = self.report(tree, *shlex.split(ours)[1:])
        self.assert_ended(again, 1, ours)
        for key in ("seed", "plan_digest", "command"):
            self.assertEqual(first[key], second[key])
        for key in ("scenario", "variant", "run", "seed", "plan_digest", "rules", "faults", "findings", "replay"):
            self.assertEqual(case[key], second["cases"][0][key], key)
        self.assertEqual(["user", "user", "scenario"], [rule["origin"] for rule in second["cases"][0]["rules"]])
        self.assertEqual({"value": "7s", "source": "replay string"}, second["options"]["timeout"])

    def test_the_report_of_a_replay_under_a_plan_can_be_read(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds", sites=["event"]))
        plan = tree.file("plan.json", b'{"version": 1, "rules": [{"site": "event", "do": {"drop": true}}]}')
        string = self.report(tree, "run", "--driver=model", f"--plan={plan}")[1]["cases"][0]["replay"]
        _, report = self.report(tree, "replay", string)
        self.assertEqual({"value": "replay string", "source": "replay string"}, report["options"]["plan"])
        self.assertEqual(string, read_report(json.dumps(report).encode()).cases[0].replay)

    def test_options_beside_the_string_have_the_last_word(self) -> None:
        tree = self.tree(scenario("A1.bad"))
        _, words = self.with_plan(tree)
        string = self.report(tree, *words)[1]["cases"][0]["replay"]
        _, report = self.report(tree, "replay", "--timeout=9s", string, "--quiet", "--timelines")
        self.assertEqual({"value": "9s", "source": "command line"}, report["options"]["timeout"])
        self.assertEqual([True, True], [report["options"][name]["value"] for name in ("quiet", "timelines")])
        self.assert_ended(tree.holdfast("replay", string, "--driver=/nope"), 2, "--driver=/nope")
        self.assert_ended(tree.holdfast("replay", string, "--seed=1"), 2, "holdfast replay has no option --seed")

    def test_a_test_runner_changes_nothing_about_the_case(self) -> None:
        tree = self.tree(scenario("A1.luck", "seed-decides"), scenario("A2.luck", "seed-decides"))
        _, report = self.report(tree, "run", "--driver=model", "--runs=4", TEST_RANDOM_SEED="3")
        for case in report["cases"]:
            variables = {"TEST_RANDOM_SEED": "5", "HOLDFAST_SEED": "1", "TESTBRIDGE_TEST_ONLY": "A3*"}
            shards = {"TEST_TOTAL_SHARDS": "2", "TEST_SHARD_INDEX": "0"}
            _, again = self.report(tree, "replay", case["replay"], **variables, **shards)
            keys = ("scenario", "run", "seed", "verdict")
            self.assertEqual([[case[key] for key in keys]], [[one[key] for key in keys] for one in again["cases"]])

    def test_a_string_that_a_log_broke_is_whole_again_in_quotes(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds"))
        string = self.report(tree, "run", "--driver=model")[1]["cases"][0]["replay"]
        self.assert_ended(tree.holdfast("replay", f"{string[:30]}\n    {string[30:]}\n"), 1)
        self.assert_ended(tree.holdfast("replay", string[:30]), 2, "is not whole")
        self.assert_ended(tree.holdfast("replay", string[:30], string[30:]), 2, "and 2 words are given")

    def test_a_point_of_a_sweep_is_taken_again(self) -> None:
        calls = {"operation": [["cuCreate", "creation"]] * 2, "breaks": ["cuCreate before 2"]}
        tree = self.tree(scenario("sweep.a", suites=["sweep"], **calls))
        _, report = self.report(tree, "sweep", "--driver=model", "--seed=4")
        failed = [case for case in report["cases"] if case["verdict"] == "failed"]
        self.assertTrue(failed)
        for case in failed:
            answer, again = self.report(tree, "replay", case["replay"])
            self.assert_ended(answer, 1)
            self.assertEqual(("sweep", [case["point"]]), (again["command"], [one["point"] for one in again["cases"]]))

    def test_a_report_has_its_only_finding_taken_again(self) -> None:
        tree = self.tree(scenario("A1.good"), scenario("A2.bad", "finds"))
        for form in ("json", "jsonl"):
            tree.holdfast("run", "--driver=model", f"--report={form}:{self.root}/first.{form}")
            answer, report = self.report(tree, "replay", f"{self.root}/first.{form}")
            self.assert_ended(answer, 1)
            self.assertEqual(["A2.bad"], [case["scenario"] for case in report["cases"]])

    def test_a_report_with_several_findings_asks_which(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds"), scenario("A2.bad", "finds"), scenario("A3.good"))
        first = f"{self.root}/first.json"
        tree.holdfast("run", "--driver=model", "--runs=2", f"--report=json:{first}")
        answer = tree.holdfast("replay", first)
        self.assert_ended(answer, 2, "has several such cases", "=SCENARIO/VARIANT: A1.bad/only, A2.bad/only")
        self.assertNotIn("A3.good", answer.err)
        answer, report = self.report(tree, "replay", first, "--filter=A2*")
        self.assert_ended(answer, 1, "has 2 such cases of A2.bad/only; this is the first")
        self.assertEqual([("A2.bad", 0)], [(case["scenario"], case["run"]) for case in report["cases"]])
        self.assert_ended(tree.holdfast("replay", first, "--filter=A3.good/only"), 0)
        self.assert_ended(tree.holdfast("replay", first, "--filter=A4*"), 4, "selects no case of")

    def test_a_report_without_a_finding_or_of_an_old_version_says_so(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds"), scenario("A2.good"))
        first = self.root / "first.json"
        tree.holdfast("run", "--driver=model", "A2.good", f"--report=json:{first}")
        self.assert_ended(tree.holdfast("replay", str(first)), 4, "has no finding")
        tree.holdfast("run", "--driver=model", f"--report=json:{first}")
        report = json.loads(first.read_text())
        report["cases"][0]["replay"] = "hf1~A1.bad~only~model~0123456789abcdef~0123456789abcdef"
        first.write_text(json.dumps(report))
        self.assert_ended(
            tree.holdfast("replay", str(first)), 2, "its own command is: holdfast run --driver=model", "A1.bad/only"
        )

    def test_a_file_or_the_standard_input_may_begin_with_the_string(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds"))
        string = self.report(tree, "run", "--driver=model")[1]["cases"][0]["replay"]
        file = tree.file("string.txt", f"# of last night\n\n  {string} and more\n".encode())
        self.assert_ended(tree.holdfast("replay", str(file)), 1)
        done = subprocess.run(
            tree.command_line("replay", "-"),
            env=tree.environment(),
            input=f"{string}\n",
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(1, done.returncode, done.stderr)

    def test_a_log_is_taken_again_by_the_string_in_it(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds", sites=["event"]), scenario("A2.bad", "finds", sites=["event"]))
        plan = tree.file("plan.json", b'{"version": 1, "rules": [{"site": "event", "do": {"drop": true}}]}')
        log = tree.file("log.txt", tree.holdfast("run", "--driver=model", f"--plan={plan}").out.encode())
        self.assert_ended(tree.holdfast("replay", str(log)), 2, "has 2 replay strings", "A1.bad/only, A2.bad/only")
        again = tree.holdfast("replay", str(log), "--filter=A2*")
        self.assert_ended(again, 1, "contract in A2.bad/only")
        (line,) = [line for line in again.out.splitlines() if line.startswith("  holdfast replay ")]
        self.assert_ended(tree.holdfast("replay", line.strip()), 1, "contract in A2.bad/only")
        wrapped = tree.file("wrapped.txt", f"{line[:60]}\n  {line[60:90]}\n{line[90:]}\n".encode())
        self.assert_ended(tree.holdfast("replay", str(wrapped)), 1, "contract in A2.bad/only")
        cut = tree.file("cut.txt", f"{line[:60]}\n".encode())
        self.assert_ended(tree.holdfast("replay", str(cut)), 2, "is not whole")

    def test_a_report_whose_string_is_of_another_case_is_refused(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds"), scenario("A2.good"))
        report = self.report(tree, "run", "--driver=model", "--seed=7")[1]
        bad, good = report["cases"]
        others = (good["replay"], encode(Replay("run", "A1.bad", "only", "model", 8)))
        for other in (*others, encode(Replay("fuzz", "fuzz", "a", "model", 7, sequence=SEQUENCE))):
            forged_one = {**report, "cases": [{**bad, "replay": other}, good]}
            file = tree.file("forged.json", json.dumps(forged_one).encode())
            self.assert_ended(tree.holdfast("replay", str(file)), 2, "the replay string of A1.bad/only is of another")
        self.assert_ended(tree.holdfast("replay", bad["replay"], "--filter=A2*"), 4, "selects no replay string")

    def test_a_folder_of_artifacts_is_taken_again(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds"))
        tree.holdfast("run", "--driver=model", f"--artifact-dir={self.root}/kept")
        for folder in ("kept", "kept/A1.bad_only_0"):
            self.assert_ended(tree.holdfast("replay", f"{self.root}/{folder}"), 1, "contract in A1.bad/only")

    def test_what_cannot_be_taken_again_is_refused(self) -> None:
        tree = self.tree(scenario("A1.a-b"))
        for content in (b"", b"nothing of ours\n", b"\xff\xfe\0", b"# a comment\n"):
            file = tree.file("what", content)
            self.assert_ended(tree.holdfast("replay", str(file)), 2, "no text with a replay string in it")
        plan = tree.file("what", b'{"version": 1, "rules": []}')
        self.assert_ended(tree.holdfast("replay", str(plan)), 2, f"holdfast run --plan={plan}")
        self.assert_ended(tree.holdfast("replay", str(self.root)), 2, "neither replay.txt")
        self.assert_ended(tree.holdfast("replay", str(tree.file("what", b"{}"))), 2, "what cannot be used")
        self.assert_ended(tree.holdfast("replay", "/no/such/file"), 2, "No such file")
        self.assert_ended(tree.holdfast("replay"), 2, "takes one replay string or one file")
        gone = encode(Replay("run", "A1.a-b-c", "only", "model", 1))
        self.assert_ended(tree.holdfast("replay", gone), 4, "'A1.a-b-c/only' is no suite", "did you mean A1.a-b?")
        for options, sentence in (
            (("--timeout=soon",), "the replay string does not fit this version of holdfast: --timeout: 'soon'"),
            (("--schedule=best",), "--schedule: 'best' is none of"),
            (("--bug=none-such",), "there is no such seeded bug"),
        ):
            string = encode(Replay("run", "A1.a-b", "only", "model", 1, options=options))
            self.assert_ended(tree.holdfast("replay", string), 2, sentence)
        string = encode(Replay("run", "A1.a-b", "only", "model", 1, rules=({"site": "nowhere"},)))
        self.assert_ended(tree.holdfast("replay", string), 2, "the plan of the replay string: /rules/0/site")


if __name__ == "__main__":
    unittest.main()
