"""`holdfast run` from the outside: exit codes, selection, reports, test variables, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).absolute().parent))

import jsonschema
from command import TREE, Answer, CommandTest, await_condition, scenario

SCHEMA = json.loads((TREE / "reports" / "report.schema.json").read_text())
RUN = ("run", "--driver=model", "--color=no")


def _names(report: dict[str, Any]) -> list[str]:
    return [case["scenario"] for case in report["cases"]]


class VerdictAndExitCodeTest(CommandTest):
    def test_0_when_everything_passed(self) -> None:
        answer, report = self.tree(scenario("A1.good"), scenario("A2.good")).report(*RUN)
        self.assert_ended(answer, 0)
        self.assertEqual("2 passed, 0 failed, 0 skipped", answer.closing_line)
        self.assertEqual(0, report["exit_code"])
        jsonschema.Draft202012Validator(SCHEMA).validate(report)

    def test_1_when_something_was_found(self) -> None:
        answer, report = self.tree(scenario("A1.bad", "finds"), scenario("A2.good")).report(*RUN)
        self.assert_ended(answer, 1, "contract in A1.bad/only: it broke", "at lib/a.cc:1")
        self.assertEqual(["A1.bad", "A2.good"], _names(report))
        jsonschema.Draft202012Validator(SCHEMA).validate(report)

    def test_2_for_a_rule_that_does_not_load_before_anything_runs(self) -> None:
        answer = self.tree(scenario("A1.good")).holdfast(*RUN, "--fault=alloc:fail", "--fault=nowhere:fail")
        self.assert_ended(answer, 2, "--fault[1]/site: there is no site 'nowhere'")
        self.assertNotIn("passed", answer.out)

    def test_2_for_a_plan_that_does_not_load_or_is_not_there(self) -> None:
        tree = self.tree(scenario("A1.good"))
        plan = tree.file("plan.json", b'{"version": 1, "rules": [{"site": "nowhere", "do": {"fail": true}}]}')
        self.assert_ended(tree.holdfast(*RUN, f"--plan={plan}"), 2, "/rules/0/site")
        self.assert_ended(tree.holdfast(*RUN, "--plan=/no/such/plan"), 2, "/no/such/plan", "No such file")

    def test_2_for_a_plan_that_is_no_regular_file(self) -> None:
        tree = self.tree(scenario("A1.good"))
        os.mkfifo(self.root / "pipe")
        for plan in (self.root / "pipe", self.root, "/dev/zero"):
            self.assert_ended(tree.holdfast(*RUN, f"--plan={plan}"), 2, f"--plan={plan} is no regular file")

    def test_2_for_more_cases_than_anybody_waits_for(self) -> None:
        answer = self.tree(scenario("A1.a"), scenario("A1.b")).holdfast(*RUN, "--runs=500001")
        self.assert_ended(answer, 2, "--runs makes 1000002 cases, and 1000000 are the most")

    def test_a_scratch_folder_that_cannot_be_made_does_not_end_the_run(self) -> None:
        # The first case meets a full disk, and the second does not.
        tree = self.tree(scenario("A1.a"), scenario("A2.b"))
        script = (
            "import pathlib, runpy, sys\n"
            "make = pathlib.Path.mkdir\n"
            "def full(path, *rest, **named):\n"
            "    if '00000' in path.parts: raise OSError(28, 'No space left on device')\n"
            "    make(path, *rest, **named)\n"
            "pathlib.Path.mkdir = full\n"
            "sys.argv = sys.argv[1:]\n"
            "runpy.run_path(sys.argv[0], run_name='__main__')\n"
        )
        command = [sys.executable, "-c", script, *tree.command_line(*RUN)[1:]]
        done = subprocess.run(command, env=tree.environment(), capture_output=True, text=True, check=False)
        answer = Answer(done.returncode, done.stdout, done.stderr)
        self.assert_ended(answer, 3, "its scratch folder could not be made", "1 error", "1 passed")

    def test_the_plan_among_the_artifacts_can_be_given_again(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds", sites=["alloc", "event"], plan=["event:fail"]))
        kept = f"--artifact-dir={self.root}/kept"
        _, first = tree.report(*RUN, "--seed=7", "--fault=alloc:fail", kept)
        folder = self.root / "kept" / first["cases"][0]["artifacts"]
        merged = json.loads((folder / "merged_plan.json").read_text())
        self.assertEqual(["alloc", "event"], [rule["site"] for rule in merged["rules"]])
        _, again = tree.report(*RUN, f"--plan={folder}/plan.json")
        for key in ("seed", "plan_digest", "faults"):
            self.assertEqual(first["cases"][0][key], again["cases"][0][key], key)

    def test_artifacts_that_cannot_be_kept_do_not_end_the_run(self) -> None:
        tree = self.tree(scenario("A1.bad", "finds"), scenario("A2.skips", "skips"), scenario("A3.good"))
        for name in ("A1.bad_only_0", "A2.skips_only_0"):
            tree.file(f"kept/{name}", b"in the way")
        answer, report = tree.report(*RUN, f"--artifact-dir={self.root}/kept")
        self.assert_ended(answer, 1, "its artifacts could not be kept")
        self.assertEqual(["failed", "error", "passed"], [case["verdict"] for case in report["cases"]])

    def test_3_when_a_program_of_ours_is_missing(self) -> None:
        tree = self.tree(scenario("A1.good"))
        (self.root / "fault/shim/libcuda.so.1").unlink()
        self.assert_ended(tree.holdfast(*RUN), 3, "fault/shim/libcuda.so.1", "the shim")

    def test_3_when_the_real_driver_is_asked_for_and_the_library_is_none(self) -> None:
        tree = self.tree(scenario("A1.good"))
        fake = tree.file("libcuda.so.580", b"not a library")
        failure = self.root / "failure"
        answer = tree.holdfast("run", f"--driver={fake}", TEST_INFRASTRUCTURE_FAILURE_FILE=str(failure))
        self.assert_ended(answer, 3, "cannot be used")
        self.assertEqual("holdfast driver", failure.read_text().splitlines()[0])

    def test_a_pipe_stays_a_pipe_and_a_link_stays_a_link(self) -> None:
        tree = self.tree(scenario("A1.good"))
        pipe, link, target = (tree.root / name for name in ("pipe", "link", "target"))
        os.mkfifo(pipe)
        link.symlink_to(target)
        received: list[str] = []
        reader = threading.Thread(target=lambda: received.append(pipe.read_text(encoding="utf-8")))
        reader.start()
        answer = tree.holdfast(*RUN, f"--report=json:{pipe}", f"--report=junit:{link}")
        reader.join()
        self.assertEqual(0, answer.code, answer.err)
        self.assertTrue(pipe.is_fifo() and link.is_symlink() and target.is_file())
        self.assertEqual(1, json.loads(received[0])["summary"]["passed"])

    def test_2_for_a_place_at_which_nothing_can_be_written_before_anything_runs(self) -> None:
        tree = self.tree(scenario("A1.good"))
        file = tree.file("file", b"")
        for option, why in (
            (f"--report=json:{self.root}", "Is a directory"),
            (f"--report=json:{file}/x.json", "Not a directory"),
            (f"--report=jsonl:{file}/a/b.jsonl", "Not a directory"),
            (f"--report=markdown+:{self.root}", "Is a directory"),
            (f"--report=html:{self.root}/{'x' * 300}", "File name too long"),
            ("--report=json:/proc/report.json", "No such file or directory"),
            (f"--artifact-dir={file}", "Not a directory"),
            ("--artifact-dir=/dev/null", "Not a directory"),
            ("--artifact-dir=/proc/no/folder", "No such file or directory"),
        ):
            with self.subTest(option=option):
                answer = tree.holdfast(*RUN, option)
                self.assertEqual((2, "", 1), (answer.code, answer.out, answer.err.count("\n")), answer)
                self.assertIn(option.partition("=")[2], answer.err)
                self.assertIn(why, answer.err)
        self.assert_ended(tree.holdfast(*RUN, XML_OUTPUT_FILE=str(self.root)), 2, f"junit:{self.root} cannot be")
        self.assertEqual(b"", file.read_bytes())

    def test_folders_are_made_and_the_longest_name_is_one(self) -> None:
        longest = self.root / "new" / "folder" / ("x" * 255)
        self.assert_ended(self.tree(scenario("A1.good")).holdfast(*RUN, f"--report=json:{longest}"), 0)
        self.assertEqual([longest], list(longest.parent.iterdir()))

    def test_a_report_that_could_not_be_written_is_in_all_others(self) -> None:
        tree = self.tree(scenario("A1.good"))
        lines = self.root / "run.jsonl"
        answer, report = tree.report(*RUN, "--report=junit:/dev/full", f"--report=jsonl:{lines}")
        sentence = "the report /dev/full was not written: No space left on device"
        self.assert_ended(answer, 3, f"holdfast: {sentence}\n", "1 passed, 0 failed, 0 skipped")
        end = json.loads(lines.read_text().splitlines()[-1])["end"]
        for told in (report, end):
            self.assertEqual((3, [sentence]), (told["exit_code"], told["notes"]))

    def test_a_disk_that_becomes_full_names_the_file(self) -> None:
        tree = self.tree(*(scenario(f"A{number}.good") for number in range(20)))
        limit = (
            "import os, resource, sys\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))\n"
            "os.execv(sys.argv[1], sys.argv[1:])\n"
        )
        for name in ("json", "jsonl"):
            path = self.root / name
            command = tree.command_line(*RUN, "--jobs=1", f"--report={name}:{path}")
            done = subprocess.run(
                [sys.executable, "-c", limit, *command],
                env=tree.environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(3, done.returncode, done)
            self.assertIn(f"holdfast: the report {path} was not written: File too large\n", done.stderr)
            self.assertNotIn("the harness itself failed", done.stderr)

    def test_3_when_the_runner_lists_what_is_no_scenario(self) -> None:
        tree = self.tree({"scenario": "A1.nameless"})
        self.assert_ended(tree.holdfast(*RUN), 3, "line 1 of scenario_runner --list", "'variants'")

    def test_4_when_nothing_is_selected(self) -> None:
        tree = self.tree(scenario("A1.good"))
        self.assert_ended(tree.holdfast(*RUN, "--filter=B*"), 4, "--filter=B*")
        self.assert_ended(tree.holdfast(*RUN, "A1.goot"), 4, "did you mean A1.good?")

    def test_5_when_a_rule_of_the_user_fired_nowhere(self) -> None:
        tree = self.tree(scenario("A1.good", sites=["alloc"]))
        answer, report = tree.report(*RUN, "--fault=alloc:fail", "--fault=event:fail")
        self.assert_ended(answer, 5, "the fault event:fail had to fire in at least one case and did not")
        self.assertEqual("passed", report["cases"][0]["verdict"])

    def test_5_when_the_time_is_up(self) -> None:
        tree = self.tree(*(scenario(f"A{number}.good") for number in range(40)))
        answer, report = tree.report(*RUN, "--max-total-time=1ms", "--jobs=1")
        self.assert_ended(answer, 5, "the time was up", "not run")
        self.assertEqual(40, report["summary"]["passed"] + report["summary"]["not_run"])

    def test_all_skipped_is_0_unless_asked_otherwise(self) -> None:
        tree = self.tree(scenario("A1.not-here", "skips"))
        self.assert_ended(tree.holdfast(*RUN), 0, "every case was skipped", "0 passed, 0 failed, 1 skipped")
        self.assert_ended(tree.holdfast(*RUN, "--require-run"), 4)
        self.assert_ended(tree.holdfast(*RUN, "--skip-exit-code=77"), 77)

    def test_a_scenario_for_another_driver_is_skipped(self) -> None:
        answer, report = self.tree(scenario("A1.gpu", drivers=["real"])).report(*RUN)
        self.assert_ended(answer, 0)
        self.assertEqual("it runs on the real driver only", report["cases"][0]["reason"])
        self.assertIsNone(report["cases"][0]["peak_rss_mb"], "nothing was measured")


class SelectionTest(CommandTest):
    def test_without_a_name_the_default_suite_runs(self) -> None:
        tree = self.tree(scenario("A1.good"), scenario("S1.long", suites=["stress"]))
        self.assertEqual(["A1.good"], _names(tree.report(*RUN)[1]))
        self.assertEqual(["S1.long"], _names(tree.report(*RUN, "stress")[1]))
        self.assertEqual(["S1.long"], _names(tree.report(*RUN, "--filter=S1.long/only")[1]))
        self.assertEqual(["A1.good", "S1.long"], _names(tree.report(*RUN, "default", "S*")[1]))

    def test_list_names_the_cases_and_runs_none(self) -> None:
        answer = self.tree(scenario("A1.bad", "finds"), scenario("A2.good")).holdfast(*RUN, "--list")
        self.assertEqual((0, "A1.bad/only\nA2.good/only\n"), (answer.code, answer.out))

    def test_fail_fast_and_max_failures_stop(self) -> None:
        tree = self.tree(*(scenario(f"A{number}.bad", "finds") for number in range(5)))
        for options, count in ((("--fail-fast",), 1), (("--max-failures=3",), 3)):
            answer, report = tree.report(*RUN, "--jobs=1", *options)
            self.assert_ended(answer, 1)
            self.assertEqual((count, 5 - count), (len(report["cases"]), report["summary"]["not_run"]))

    def test_runs_have_seeds_of_their_own_and_one_can_be_taken_again(self) -> None:
        tree = self.tree(scenario("A1.luck", "seed-decides"))
        _, report = tree.report(*RUN, "--runs=6", "--seed=5")
        by_run = {case["run"]: (case["seed"], case["verdict"]) for case in report["cases"]}
        self.assertEqual(6, len({seed for seed, _ in by_run.values()}))
        self.assertEqual({"passed", "failed"}, {verdict for _, verdict in by_run.values()})
        _, again = tree.report(*RUN, "--seed=5", "--first-run=4")
        self.assertEqual([(4, *by_run[4])], [(case["run"], case["seed"], case["verdict"]) for case in again["cases"]])

    def test_shuffling_depends_on_the_seed_alone(self) -> None:
        tree = self.tree(*(scenario(f"A{number}.good") for number in range(8)))
        orders = [tree.holdfast(*RUN, "--list", "--shuffle", f"--seed={seed}").out for seed in (1, 1, 2)]
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])

    def test_equal_runs_have_equal_reports_up_to_times(self) -> None:
        variants = [{"name": "plain", "plan": []}, {"name": "late", "plan": ["destructor:deliver=thread"]}]
        tree = self.tree(scenario("A1.good", sites=["alloc", "destructor"], plan=["alloc:fail"], variants=variants))
        reports = [tree.report(*RUN, "--seed=9", "--jobs=2")[1] for _ in range(2)]
        for report in reports:
            for case in report["cases"]:
                del case["duration_ms"], case["peak_rss_mb"]
        self.assertEqual(reports[0]["cases"], reports[1]["cases"])
        self.assertEqual([1, 2], [len(case["faults"]) for case in reports[0]["cases"]])

    def test_rules_of_the_user_come_before_those_of_the_scenario(self) -> None:
        tree = self.tree(scenario("A1.good", sites=["alloc", "event"], plan=["alloc:fail"]))
        plan = tree.file(
            "plan.json", b'{"version": 1, "seed": "0x2a", "rules": [{"site": "event", "do": {"drop": true}}]}'
        )
        answer, report = tree.report(*RUN, f"--plan={plan}", "--fault=event:fail")
        self.assert_ended(answer, 0)
        rules = [(rule["text"], rule["origin"]) for rule in report["cases"][0]["rules"]]
        event = '{"site":"event","do":{"drop":true}}'
        self.assertEqual([("event:fail", "user"), (event, "user"), ("alloc:fail", "scenario")], rules)
        self.assertEqual("0x000000000000002a", report["seed"], "the plan's own seed")


class OutputTest(CommandTest):
    def test_the_first_line_has_version_and_seed(self) -> None:
        answer = self.tree(scenario("A1.good")).holdfast(*RUN, "--seed=255")
        lines = answer.err.splitlines()
        self.assertRegex(lines[0], r"^holdfast \d+\.\d+\.\d+, seed 0x00000000000000ff$")
        self.assertRegex(lines[1], r"^plan: no rules, digest [0-9a-f]{16}$")
        self.assertIn("driver: model", lines[3])

    def test_without_a_seed_a_fresh_one_is_printed(self) -> None:
        tree = self.tree(scenario("A1.good"))
        self.assertNotEqual(*(tree.holdfast(*RUN).err.splitlines()[0] for _ in range(2)))

    def test_quiet_leaves_the_seed_the_failures_and_the_closing_line(self) -> None:
        answer = self.tree(scenario("A1.good"), scenario("A2.bad", "finds")).holdfast(*RUN, "--quiet", "--seed=1")
        self.assertEqual(1, len(answer.err.splitlines()))
        self.assertNotIn("A1.good", answer.out)
        self.assertIn("A2.bad", answer.out)

    def test_nothing_that_a_subject_says_acts_on_a_terminal_or_a_forge(self) -> None:
        lines = (
            "::error::a",
            "  ::set-output name=b::",
            "##[error]c",
            "##vso[d]",
            "##teamcity[e]",
            "section_start:1:f",
        )
        said = "\n".join(lines) + "\r\x1b[0K\x1b[31m\u202e"
        tree = self.tree(
            scenario("A1.bad", "finds", message=said, stack=list(lines)), scenario("A2.skips", "skips", message=said)
        )
        report, summary = f"{self.root}/r.json", f"{self.root}/summary.md"
        policy = tree.file("policy.json", b'{"version": 1, "rules": {"no-new-findings": {}}}')
        first = tree.holdfast(*RUN, "--verbose", f"--report=json:{report}", f"--report=markdown:{summary}")
        clean = tree.file("clean.json", tree.holdfast(*RUN, "--filter=A2*", "--report=json:-").out.encode())
        answers = [first, *(tree.holdfast(*words) for words in (
            (*RUN, "--report=markdown:-"),
            (*RUN, "--report=junit:-"),
            (*RUN, "--report=tap:-"),
            ("report", "show", report, "*"),
            ("report", "diff", str(clean), report),
            ("gate", report, f"--policy={policy}"),
        ))]  # fmt: skip
        for answer in answers:
            told = answer.out + answer.err
            self.assertIn("error", told)
            self.assertNotRegex(told, r"(?m)^\s*(?:::|section_start)|##[a-z]*\[")
            self.assertNotRegex(told, "[\x00-\x08\x0b-\x1f\u202e]")
        self.assertIn("contract in A1.bad/only: \\x3a:error::a\n", first.out)
        self.assertIn("      \\x3a:set-output name=b::\n", first.out)

    def test_color_is_off_without_a_terminal_and_on_by_request(self) -> None:
        tree = self.tree(scenario("A1.good"))
        self.assertNotIn("\x1b", tree.holdfast("run", "--driver=model").out)
        self.assertIn("\x1b[32mpassed", tree.holdfast("run", "--driver=model", "--color=yes", NO_COLOR="1").out)

    def test_a_report_on_the_standard_output_has_it_alone(self) -> None:
        answer = self.tree(scenario("A1.good")).holdfast(*RUN, "--report=json:-")
        self.assertEqual(1, json.loads(answer.out)["summary"]["passed"])
        self.assertIn("1 passed, 0 failed, 0 skipped", answer.err)

    def test_the_junit_report_is_xml(self) -> None:
        self.tree(scenario("A1.bad", "finds")).holdfast(*RUN, f"--report=junit:{self.root}/out.xml")
        case = ElementTree.parse(self.root / "out.xml").getroot().find("testsuite/testcase")
        assert case is not None
        self.assertEqual(
            ("A1.bad", "only", "scenarios/A1.bad.cc"), (case.get("classname"), case.get("name"), case.get("file"))
        )

    def test_options_say_who_gave_their_value(self) -> None:
        _, report = self.tree(scenario("A1.good")).report(*RUN, "--timeout=90s", HOLDFAST_SEED="0x10")
        self.assertEqual({"value": "90s", "source": "command line"}, report["options"]["timeout"])
        self.assertEqual("environment HOLDFAST_SEED", report["options"]["seed"]["source"])
        self.assertEqual("default", report["options"]["runs"]["source"])


class ContinuousIntegrationTest(CommandTest):
    def test_markdown_is_appended_once_and_only_when_asked(self) -> None:
        summary = self.root / "summary.md"
        summary.write_text("# of another step\n")
        tree = self.tree(scenario("a"))
        self.assertEqual(0, tree.holdfast(*RUN, f"--report=markdown+:{summary}").code)
        text = summary.read_text()
        self.assertTrue(text.startswith("# of another step\n\n\n## holdfast <code>run</code>: exit code 0\n"), text)
        self.assertEqual(1, text.count("## holdfast"))
        tree.holdfast(*RUN, f"--report=markdown+:{summary}")
        self.assertEqual(2, summary.read_text().count("## holdfast"))
        tree.holdfast(*RUN, f"--report=markdown:{summary}")
        self.assertTrue(summary.read_text().startswith("## holdfast"))

    def test_what_markdown_is_appended_to_stays_below_a_mebibyte(self) -> None:
        summary = self.root / "summary.md"
        tree = self.tree(*(scenario(f"a{number}", "finds") for number in range(30)))
        summary.write_bytes(b"x" * ((1 << 20) - 8_000))
        self.assertEqual(1, tree.holdfast(*RUN, f"--report=markdown+:{summary}").code)
        self.assertLess(summary.stat().st_size, 1 << 20)
        self.assertIn("more findings: the page is full", summary.read_text())
        summary.write_bytes(b"x" * (1 << 20))
        answer = tree.holdfast(*RUN, f"--report=markdown+:{summary}")
        self.assert_ended(answer, 3, "leave no room")
        self.assertEqual("", answer.out)  # known before anything ran
        self.assertEqual(1 << 20, summary.stat().st_size)

    def test_annotations_stand_before_the_last_line_and_only_when_asked(self) -> None:
        tree = self.tree(scenario("a"), scenario("b", "finds"))
        answer = tree.holdfast(*RUN, "--seed=1", "--annotations=github")
        self.assertEqual("1 passed, 1 failed, 0 skipped", answer.closing_line)
        (line,) = [line for line in answer.out.splitlines() if line.startswith("::")]
        self.assertRegex(
            line, r"^::error file=[\w/.]+,line=\d+,title=[\w-]+ in b/only::.*%0Aholdfast run .*--filter=b/only"
        )
        self.assertNotIn("::error", tree.holdfast(*RUN).out)
        answer = tree.holdfast(*RUN, "--annotations=github", "--report=tap:-")
        self.assertNotIn("::error", answer.out)
        self.assertIn("\n::error file=", answer.err)


class BazelTest(CommandTest):
    def test_the_test_variables_are_the_defaults(self) -> None:
        files = {
            name: self.root / name.lower()
            for name in (
                "XML_OUTPUT_FILE",
                "TEST_SHARD_STATUS_FILE",
                "TEST_PREMATURE_EXIT_FILE",
                "TEST_WARNINGS_OUTPUT_FILE",
            )
        }
        outputs = self.root / "outputs"
        tree = self.tree(scenario("A1.good"), scenario("A2.bad", "finds"))
        answer = tree.holdfast(
            *RUN,
            "--fault=alloc:fail",
            TESTBRIDGE_TEST_ONLY="A1*",
            TEST_UNDECLARED_OUTPUTS_DIR=str(outputs),
            **{name: str(path) for name, path in files.items()},
        )
        self.assert_ended(answer, 5)
        suite = ElementTree.parse(files["XML_OUTPUT_FILE"]).getroot().find("testsuite")
        self.assertEqual("A1.good", suite.get("name") if suite is not None else None)
        self.assertTrue(files["TEST_SHARD_STATUS_FILE"].exists())
        self.assertFalse(files["TEST_PREMATURE_EXIT_FILE"].exists())
        self.assertIn("alloc:fail", files["TEST_WARNINGS_OUTPUT_FILE"].read_text())
        self.assertEqual(["A1.good"], _names(json.loads((outputs / "report.json").read_text())))

    def test_each_place_gets_its_report(self) -> None:
        other, expected = self.root / "other.xml", self.root / "expected.xml"
        tree = self.tree(scenario("A1.good"))
        answer = tree.holdfast(*RUN, f"--report=junit:{other}", XML_OUTPUT_FILE=str(expected))
        self.assert_ended(answer, 0)
        self.assertTrue(other.is_file() and expected.is_file())
        answer = tree.holdfast(*RUN, f"--report=json:{other}", XML_OUTPUT_FILE=str(other))
        self.assert_ended(answer, 2, "the junit report goes there")

    def test_shards_part_the_cases(self) -> None:
        tree = self.tree(*(scenario(f"A{number}.good") for number in range(12)))
        listed = [
            tree.holdfast(*RUN, "--list", TEST_TOTAL_SHARDS="3", TEST_SHARD_INDEX=str(index)).out.split()
            for index in range(3)
        ]
        self.assertEqual(12, len({name for part in listed for name in part}))
        self.assertEqual(12, sum(map(len, listed)))

    def test_an_empty_shard_is_no_failure(self) -> None:
        tree = self.tree(scenario("A1.good"))
        answers = [tree.holdfast(*RUN, TEST_TOTAL_SHARDS="2", TEST_SHARD_INDEX=str(index)) for index in range(2)]
        self.assertEqual([0, 0], [answer.code for answer in answers])
        self.assertEqual(1, sum("this shard has no case" in answer.out for answer in answers))

    def test_the_number_of_the_run_is_mixed_into_the_seed(self) -> None:
        tree = self.tree(scenario("A1.good"))
        seeds = {tree.report(*RUN, "--seed=1", TEST_RANDOM_SEED=number)[1]["seed"] for number in ("1", "2")}
        self.assertEqual(2, len(seeds))
        self.assertNotIn("0x0000000000000001", seeds)

    def test_bad_values_are_usage_errors(self) -> None:
        tree = self.tree(scenario("A1.good"))
        mark = self.root / "mark"
        for name, value in (
            ("TEST_RANDOM_SEED", "x"),
            ("TEST_SHARD_INDEX", "1"),
            ("TEST_TIMEOUT", "soon"),
            ("TEST_TIMEOUT", "9" * 5000),
            ("TESTBRIDGE_TEST_RUNNER_FAIL_FAST", "maybe"),
            ("HOLDFAST_SEED", "seed"),
            ("TEST_TMPDIR", "/no/such/folder"),
        ):
            with self.subTest(variable=name):
                answer = tree.holdfast(*RUN, TEST_PREMATURE_EXIT_FILE=str(mark), **{name: value})
                self.assert_ended(answer, 2, name)
                self.assertFalse(mark.exists())

    def test_half_a_shard_is_a_usage_error(self) -> None:
        tree = self.tree(scenario("A1.good"))
        for total, index, says in (
            ("2", "", "TEST_TOTAL_SHARDS=2 and no TEST_SHARD_INDEX: a shard needs both"),
            ("1", "", "TEST_TOTAL_SHARDS=1 and no TEST_SHARD_INDEX: a shard needs both"),
            ("", "0", "TEST_SHARD_INDEX=0 and no TEST_TOTAL_SHARDS: a shard needs both"),
            ("2", "2", "TEST_SHARD_INDEX=2 and TEST_TOTAL_SHARDS=2 name no shard"),
            ("0", "0", "name no shard"),
            ("two", "0", "TEST_TOTAL_SHARDS='two' is no number"),
            ("2", "-1", "TEST_SHARD_INDEX='-1' is no number"),
        ):
            with self.subTest(total=total, index=index):
                answer = tree.holdfast(*RUN, TEST_TOTAL_SHARDS=total, TEST_SHARD_INDEX=index)
                self.assert_ended(answer, 2, says)
                self.assertEqual("", answer.out)

    def test_a_budget_that_the_test_cannot_hold_is_refused_with_numbers(self) -> None:
        answer = self.tree(scenario("A1.good")).holdfast(*RUN, "--max-total-time=2m", TEST_TIMEOUT="60")
        self.assert_ended(answer, 2, "--max-total-time=120s is 69s more than TEST_TIMEOUT leaves (51s)")

    def test_running_cases_end_before_the_test_is_killed(self) -> None:
        answer, report = self.tree(scenario("A1.waits", "waits")).report(*RUN, TEST_TIMEOUT="1")
        self.assert_ended(answer, 5, "the time was up with 1 case not run")
        self.assertEqual([], report["cases"])


class InterruptTest(CommandTest):
    def test_a_signal_in_the_first_moments_leaves_quietly(self) -> None:
        tree = self.tree(scenario("A1.good"))
        # An import of the command's own, which no start file of the machine's Python makes before it, waits for the
        # signal.
        slow = self.root / "slow" / "json.py"
        slow.parent.mkdir()
        slow.write_text(f"open({str(self.root / 'reached')!r}, 'w').close()\nimport signal\nsignal.pause()\n")
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen(
                tree.command_line("list"),
                env=tree.environment(PYTHONPATH=str(slow.parent)),
                stderr=subprocess.PIPE,
                text=True,
            )
            await_condition((self.root / "reached").exists, "the imports have begun")
            process.send_signal(number)
            self.assertEqual((code, ""), (process.wait(), process.communicate()[1]))
            (self.root / "reached").unlink()

    def interrupted(self, number: signal.Signals) -> tuple[int, dict[str, Any]]:
        tree = self.tree(scenario("A1.good"), scenario("A2.waits", "waits"), scenario("A3.good"))
        report = self.root / "report.json"
        process = subprocess.Popen(
            tree.command_line(*RUN, "--jobs=1", "--verbose", f"--report=json:{report}"),
            env=tree.environment(TEST_TMPDIR=str(self.root)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr
        for line in process.stderr:
            if line.startswith("passed: A1.good"):
                break
        await_condition(lambda: bool(list(self.root.glob("holdfast-*/*/*.waiting"))), "the second case waits")
        process.send_signal(number)
        process.stderr.read()
        process.stderr.close()
        return process.wait(), json.loads(report.read_text())

    def test_sigint_writes_what_there_is(self) -> None:
        code, report = self.interrupted(signal.SIGINT)
        self.assertEqual((130, "SIGINT", ["A1.good"]), (code, report["interrupted"], _names(report)))
        self.assertEqual(2, report["summary"]["not_run"])
        self.assertEqual([], list(self.root.glob("holdfast-*")))
        jsonschema.Draft202012Validator(SCHEMA).validate(report)

    def test_sigterm_writes_what_there_is(self) -> None:
        code, report = self.interrupted(signal.SIGTERM)
        self.assertEqual((143, "SIGTERM", ["A1.good"]), (code, report["interrupted"], _names(report)))


if __name__ == "__main__":
    unittest.main()
