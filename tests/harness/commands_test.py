"""`holdfast list`, `doctor` and `selftest`, and what is common to all commands."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

import jsonschema
from command import TREE, Answer, CommandTest, FakeTree, scenario

from harness.cli.cli import main
from harness.cli.session import Console

SCHEMA = json.loads((TREE / "reports" / "report.schema.json").read_text())
SELFTEST = ("selftest", "--driver=model", "--color=no", "--seed=1")


class CommonTest(CommandTest):
    def test_help_and_version_go_to_the_standard_output(self) -> None:
        tree = self.tree()
        for arguments, word in (
            (("--help",), "Exit codes"),
            (("run", "--help"), "--filter"),
            (("-h",), "doctor"),
            (("--version",), "holdfast "),
            (("list", "--version"), "holdfast "),
        ):
            answer = tree.holdfast(*arguments)
            self.assertEqual((0, ""), (answer.code, answer.err))
            self.assertIn(word, answer.out)

    def test_usage_errors(self) -> None:
        tree = self.tree()
        self.assert_ended(tree.holdfast("rum"), 2, "unknown command rum; did you mean run?")
        self.assert_ended(tree.holdfast("qqqq"), 2, "unknown command qqqq; holdfast --help has them all")
        self.assert_ended(tree.holdfast("help", "polices"), 2, "there is no topic 'polices'; did you mean")
        self.assert_ended(tree.holdfast("help", "qqqq"), 2, "there is no topic 'qqqq'; holdfast help has them all")
        self.assert_ended(tree.holdfast("--seeds=1"), 2, "unknown option --seeds")
        self.assert_ended(tree.holdfast(), 2, "usage: holdfast", "name a command")

    def test_a_failure_of_our_own_is_exit_3_and_never_1(self) -> None:
        errors = io.StringIO()
        with mock.patch("harness.cli.cli._dispatch", side_effect=RuntimeError("ours")):
            self.assertEqual(3, main(["list"], {}, Console(io.StringIO(), errors)))
        self.assertRegex(errors.getvalue(), r"^holdfast: the harness itself failed: RuntimeError: ours \(.*\)\n$")

    def test_streams_that_are_closed_or_full_are_exit_3(self) -> None:
        tree = self.tree(scenario("A1.a"))
        full = "the standard output was not written: No space left on device"
        run = ("run", "--driver=model", f"--report=json:{self.root}/r.json")
        for redirection, sentence, arguments in (
            (">&-", "is closed", run),
            ("2>&-", "", run),
            ("2>/dev/full", "", run),
            (">/dev/full", full, run),
            (">/dev/full", full, ("list",)),
            (">/dev/full", full, ("--help",)),
            (">/dev/full", full, ("report", "show", f"{self.root}/r.json")),
            (">/dev/full", full, ("report", "convert", f"{self.root}/r.json", "--report=json:-")),
            (">/dev/full", full, ("report", "convert", f"{self.root}/r.json", "--report=jsonl:-")),
        ):
            with self.subTest(redirection=redirection, arguments=arguments):
                done = subprocess.run(
                    ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *tree.command_line(*arguments)],
                    env=tree.environment(),
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(3, done.returncode, done)
                self.assertIn(sentence, done.stderr)
                self.assertNotIn("Traceback", done.stderr)
                self.assertNotIn("the harness itself failed", done.stderr)
        self.assertEqual(3, json.loads((self.root / "r.json").read_text())["exit_code"])

    def test_files_of_the_test_runner_that_cannot_be_written_are_exit_3(self) -> None:
        tree = self.tree(scenario("A1.a", drivers=["real"]))
        bad = "/proc/no/file"
        run = ("run", "--driver=model", "--fault=alloc:fail")
        for name in ("TEST_PREMATURE_EXIT_FILE", "TEST_SHARD_STATUS_FILE", "TEST_WARNINGS_OUTPUT_FILE"):
            self.assert_ended(tree.holdfast(*run, **{name: bad}), 3, f"{name}={bad} was not written")
        library = tree.file("libcuda.so.580", b"not a library")
        answer = tree.holdfast("run", f"--driver={library}", TEST_INFRASTRUCTURE_FAILURE_FILE=bad)
        self.assert_ended(answer, 3, "cannot be used", "TEST_INFRASTRUCTURE_FAILURE_FILE")

    def test_a_reader_that_goes_away_is_no_finding(self) -> None:
        tree = self.tree(scenario("A1.a"))
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w") as out:
            done = subprocess.run(
                tree.command_line("list"),
                env=tree.environment(),
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        self.assertEqual((141, ""), (done.returncode, done.stderr))

    def test_paths_are_relative_to_where_the_user_is_under_bazel_run(self) -> None:
        tree = self.tree(scenario("A1.a"))
        plan = tree.file("here/plan.json", b'{"version": 1, "rules": []}')
        arguments = ("run", "--driver=model", f"--plan={plan.name}")
        self.assert_ended(tree.holdfast(*arguments), 2, "No such file")
        self.assert_ended(tree.holdfast(*arguments, BUILD_WORKING_DIRECTORY=str(plan.parent)), 0)

    def test_commands_that_are_not_built_yet_are_not_listed(self) -> None:
        tree = self.tree()
        text = tree.holdfast("--help").out
        self.assertNotIn("\n  exec ", text)
        self.assert_ended(tree.holdfast("exec"), 2, "unknown command exec")


class ListTest(CommandTest):
    def test_json_has_the_agreed_names_and_all_suites(self) -> None:
        tree = self.tree(
            scenario("A1.a", covers=["A1", "DL-04"], catches=["early-release"]), scenario("S1.b", suites=["stress"])
        )
        first, second = json.loads(tree.holdfast("list", "--json").out)
        self.assertEqual(
            ("A1.a", ["A1", "DL-04"], ["early-release"], ["default"]),
            (first["name"], first["covers"], first["catches"], first["suites"]),
        )
        self.assertEqual(
            (["stress"], ["only"], "scenarios/S1.b.cc"), (second["suites"], second["variants"], second["file"])
        )

    def with_coverage(self, *scenarios: dict[str, Any]) -> FakeTree:
        tree = self.tree(*scenarios)
        table = (
            "# said\nA1\tthe first\tcovered\nIH-01\tthe second\tcovered\nER-04\tthe third\tthe compiler sees to it\n"
        )
        tree.file("scenarios/behaviours.tsv", table.encode())
        tree.file("tests/covers.tsv", b"//tests/lib/graph:graph_test#Graph.Adds\tA1 D-12\n")
        return tree

    def test_tests_that_cover_something_are_among_the_entries(self) -> None:
        tree = self.with_coverage(scenario("A1.a", covers=["A1"]))
        first, second = json.loads(tree.holdfast("list", "--json").out)
        self.assertEqual(("scenario", "test"), (first["kind"], second["kind"]))
        self.assertEqual(
            ("//tests/lib/graph:graph_test#Graph.Adds", ["A1", "D-12"], [], []),
            tuple(second[key] for key in ("name", "covers", "catches", "suites")),
        )
        self.assertEqual(1, len(json.loads(tree.holdfast("list", "--json", "A1*").out)), "a name selects scenarios")

    def test_coverage_tells_by_what_each_behaviour_is_covered(self) -> None:
        tree = self.with_coverage(scenario("A1.a", covers=["A1"]))
        self.assertEqual(
            {
                "A1": {
                    "what": "the first",
                    "by": ["A1.a", "//tests/lib/graph:graph_test#Graph.Adds"],
                    "reason": "",
                },
                "IH-01": {"what": "the second", "by": [], "reason": ""},
                "ER-04": {"what": "the third", "by": [], "reason": "the compiler sees to it"},
            },
            json.loads(tree.holdfast("list", "--coverage", "--json").out),
        )
        answer = tree.holdfast("list", "--coverage")
        self.assert_ended(answer, 0, "3 behaviours, 1 of them not covered")
        self.assertRegex(answer.out, r"(?m)^IH-01 +the second +NOT COVERED$")
        self.assertRegex(answer.out, r"(?m)^ER-04 +the third +none: the compiler sees to it$")
        self.assert_ended(tree.holdfast("list", "--coverage", "A1*"), 2, "leave names and --filter out")
        tree.file("scenarios/behaviours.tsv", b"A1\tthe first\n")
        self.assert_ended(tree.holdfast("list", "--coverage"), 3, "behaviours.tsv, line 1: not 3 columns")
        (self.root / "scenarios/behaviours.tsv").unlink()
        self.assert_ended(tree.holdfast("list", "--coverage"), 3, "there is no scenarios/behaviours.tsv")

    def test_words_and_filters_select(self) -> None:
        tree = self.tree(scenario("A1.a"), scenario("S1.b", suites=["stress"]))
        for words in (("stress",), ("S*",), ("--filter=S1*",)):
            self.assertEqual(
                ["S1.b"], [entry["name"] for entry in json.loads(tree.holdfast("list", "--json", *words).out)]
            )
        self.assert_ended(tree.holdfast("list", "Z*"), 4)

    def test_the_table_has_a_line_a_scenario(self) -> None:
        answer = self.tree(scenario("A1.a", covers=["A1"], catches=["early-release"])).holdfast("list")
        self.assertRegex(answer.out, r"A1\.a +default +only +A1 +early-release")
        self.assertIn("1 scenario\n", answer.out)


class DoctorTest(CommandTest):
    def test_a_driver_that_is_no_file_is_a_usage_error_as_in_run(self) -> None:
        self.assert_ended(self.tree().holdfast("doctor", "--driver=/nope"), 2, "--driver=/nope")

    def test_what_is_missing_switches_something_off(self) -> None:
        (self.root / "empty").mkdir()
        checks = json.loads(self.tree().holdfast("doctor", "--json", HOLDFAST_ROOT=str(self.root / "empty")).out)[
            "checks"
        ]
        by_name = {check["name"]: check for check in checks}
        self.assertFalse(by_name["fault/shim/libcuda.so.1"]["present"])
        for check in checks:
            self.assertEqual(check["present"], not check["missing_means"], check)

    def test_programs_that_are_there_are_found(self) -> None:
        answer = self.tree().holdfast("doctor")
        self.assert_ended(answer, 0, str(self.root / "scenarios/scenario_runner"))

    def test_interpreters_are_listed_and_missing_ones_told(self) -> None:
        tree = self.tree()
        headers = tree.file("include/Python.h", b"").parent
        tree.program("bin/python3.10", ["false"])
        tree.interpreter("bin/python3.13t", version=(3, 13, 5), include=str(headers), free_threaded=True)
        tree.interpreter("bin/python3.12", version=(3, 12, 1), include="/nowhere")
        places = {
            "PATH": f"{self.root}/bin:/usr/bin:/bin",
            "HOME": str(self.root),
            "PYENV_ROOT": "",
            "XDG_CACHE_HOME": "",
        }
        answer = tree.holdfast("doctor", "--json", **places)
        by_name = {check["name"]: check for check in json.loads(answer.out)["checks"]}
        self.assertTrue(by_name["cp313t"]["present"])
        for words in (f"3.13.5, {self.root}/bin/python3.13t, free-threaded", f"headers in {headers}", "without pytest"):
            self.assertIn(words, by_name["cp313t"]["detail"])
        self.assertIn("/nowhere/Python.h", by_name[f"{self.root}/bin/python3.12"]["detail"])
        self.assertIn("put python3.10 with its headers on PATH", by_name["cp310"]["detail"])
        self.assertFalse(by_name["cp310"]["present"])


class SelftestTest(CommandTest):
    def with_bug(self, tree: FakeTree, bug: str, *scenarios: dict[str, Any]) -> None:
        tree.scripted_runner(f"scenarios/bugs/{bug}_runner", scenarios)

    def selftest(self, tree: FakeTree, *arguments: str) -> tuple[Answer, dict[str, Any]]:
        answer, report = tree.report(*SELFTEST, *arguments)
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        return answer, report

    def test_every_claim_holds(self) -> None:
        tree = self.tree(
            scenario("A1.a", catches=["early"]), scenario("A2.b", catches=["early", "lost"]), scenario("A3.c")
        )
        self.with_bug(tree, "early", scenario("A1.a", "finds"), scenario("A2.b", "finds", kind="leak"))
        self.with_bug(tree, "lost", scenario("A2.b", "finds", kind="hang"))
        answer, report = self.selftest(tree)
        self.assert_ended(answer, 0, "3 of 3 claims hold", "2 passed, 0 failed, 0 skipped")
        self.assertRegex(answer.out, r"(?m)^early +contract +leak$")
        self.assertRegex(answer.out, r"(?m)^lost +hang$")
        self.assertEqual(["A1.a", "A2.b"], [case["scenario"] for case in report["cases"]])
        self.assertEqual(
            [("early", ["contract"]), ("early", ["leak"]), ("lost", ["hang"])],
            [(cell["bug"], cell["kinds"]) for cell in report["detection"]],
        )

    def test_one_variant_that_notices_is_enough(self) -> None:
        variants = [{"name": "a", "plan": []}, {"name": "b", "plan": []}]
        tree = self.tree(scenario("A1.a", catches=["early"], variants=variants))
        # The seed of a case depends on its variant, and with this one the second variant finds something.
        self.with_bug(tree, "early", scenario("A1.a", "seed-decides", variants=variants))
        codes = {seed: tree.holdfast("selftest", "--driver=model", f"--seed={seed}").code for seed in range(6)}
        self.assertEqual({0, 1}, set(codes.values()), codes)

    def test_a_missed_bug_fails(self) -> None:
        tree = self.tree(scenario("A1.a", catches=["early"]))
        self.with_bug(tree, "early", scenario("A1.a"))
        junit = self.root / "out.xml"
        answer, report = self.selftest(tree, f"--report=junit:{junit}")
        self.assert_ended(answer, 1, "MISSED early by A1.a", "0 of 1 claim holds")
        self.assertFalse(report["detection"][0]["caught"])
        self.assertEqual("1", ElementTree.parse(junit).getroot().get("failures"))

    def test_a_scenario_that_skips_has_not_caught_anything(self) -> None:
        tree = self.tree(scenario("A1.a", catches=["early"]))
        self.with_bug(tree, "early", scenario("A1.a", "skips"))
        self.assert_ended(tree.holdfast(*SELFTEST), 1, "MISSED early by A1.a: skipped: not here")

    def test_a_finding_on_the_library_as_it_is_fails(self) -> None:
        tree = self.tree(scenario("A1.a", "finds", catches=["early"]))
        self.with_bug(tree, "early", scenario("A1.a", "finds"))
        answer = tree.holdfast(*SELFTEST, "--annotations=github")
        self.assert_ended(answer, 1, "1 of 1 claim holds", "0 passed, 1 failed, 0 skipped")
        self.assertRegex(answer.out, "(?m)^::error file=")

    def test_claims_and_builds_have_to_match(self) -> None:
        tree = self.tree(scenario("A1.a", catches=["early", "gone"]))
        self.with_bug(tree, "early", scenario("A2.other", "finds"))
        self.with_bug(tree, "stray", scenario("A1.a", "finds"))
        self.assert_ended(
            tree.holdfast(*SELFTEST),
            3,
            "no build has the seeded bug gone",
            "no scenario claims the seeded bug stray",
            "the build of early lacks the scenario A1.a",
        )

    def test_a_sweep_scenario_is_swept_for_its_claim(self) -> None:
        sweep = scenario("sweep.a", catches=["early"], suites=["sweep"], operation=[["cuCreate", "creation"]] * 3)
        tree = self.tree(sweep)
        self.with_bug(tree, "early", {**sweep, "breaks": ["cuCreate before 2"]})
        answer, report = self.selftest(tree, "--jobs=1")
        self.assert_ended(answer, 0, "1 of 1 claim holds", "1 passed, 0 failed, 0 skipped")
        self.assertEqual(["contract"], report["detection"][0]["kinds"])
        self.with_bug(tree, "early", sweep)
        self.assert_ended(tree.holdfast(*SELFTEST), 1, "MISSED early by sweep.a")

    def with_fuzz_bug(self, tree: FakeTree, bug: str, fails_by: str) -> None:
        shared = tree.file(f"fuzz/{bug}/bug", fails_by.encode()).parent
        command = ["env", f"SCRIPTED_FUZZER={shared}", sys.executable, str(TESTS / "scripted_fuzzer.py")]
        tree.program(f"scenarios/bugs/{bug}_fuzz_runner", command)

    def test_the_fuzzer_has_to_find_its_bugs_and_to_shrink_them(self) -> None:
        tree = self.tree(scenario("A1.a", catches=["early"]))
        self.with_bug(tree, "early", scenario("A1.a", "finds"))
        self.with_fuzz_bug(tree, "early", "contract")
        self.with_fuzz_bug(tree, "forgetful", "crash")
        answer, report = self.selftest(tree)
        self.assert_ended(answer, 0, "3 of 3 claims hold")
        self.assertEqual(
            [("early", "A1.a"), ("early", "fuzz"), ("forgetful", "fuzz")],
            [(cell["bug"], cell["scenario"]) for cell in report["detection"]],
        )
        self.assertRegex(answer.out, r"(?m)^forgetful +crash$")
        self.with_fuzz_bug(tree, "early", "once")
        _, report = self.selftest(tree, "--filter=fuzz", "ear*")
        (cell,) = report["detection"]
        self.assertFalse(cell["caught"])
        self.assertIn("shrunk to 40 operations, and 8 are the most (it did not happen again", cell["reason"])

    def test_bugs_and_scenarios_can_be_named(self) -> None:
        tree = self.tree(scenario("A1.a", catches=["early"]), scenario("A2.b", catches=["lost"]))
        self.with_bug(tree, "early", scenario("A1.a", "finds"))
        self.with_bug(tree, "lost", scenario("A2.b", "finds"))
        for words in (("lo*",), ("--filter=A2*",)):
            _, report = self.selftest(tree, *words)
            self.assertEqual(["lost"], [cell["bug"] for cell in report["detection"]])
        self.assert_ended(tree.holdfast(*SELFTEST, "lots"), 4, "did you mean lost?")


if __name__ == "__main__":
    unittest.main()
