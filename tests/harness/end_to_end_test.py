"""The command with the real shim, model driver and scenarios: what the whole promises, from one end to the other.

Method: run the command as a user would, and read its exit code, what it printed, and its report.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from harness.cli import layout
from harness.cli.layout import find_layout

TREE = Path(__file__).absolute().parents[2]

_FOREIGN = ("TEST_", "TESTBRIDGE_", "XML_OUTPUT_FILE", "HOLDFAST_")


class EndToEndTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="holdfast-end-to-end-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def holdfast(self, *words: str, root: Path | None = None) -> tuple[int, str, str]:
        """Runs the command to its end, with its programs below `root`, or where they were built."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        environment["TMPDIR"] = str(self.folder)
        environment.update({"HOLDFAST_ROOT": str(root)} if root else {})
        answer = subprocess.run(
            [sys.executable, str(TREE / "harness/cli/__main__.py"), *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return answer.returncode, answer.stdout, answer.stderr

    def run_report(self, *words: str) -> tuple[int, dict[str, Any]]:
        path = self.folder / "report.json"
        code, _, err = self.holdfast("run", "--driver=model", f"--report=json:{path}", *words)
        self.assertTrue(path.exists(), err)
        return code, json.loads(path.read_text(encoding="utf-8"))


class FaultTest(EndToEndTest):
    def test_a_fault_given_in_one_line_fires_and_is_named_in_the_report(self) -> None:
        rule = "cuGraphAddHostNode:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY"
        code, report = self.run_report("--filter=A2*/inline", "--seed=1", f"--fault={rule}")
        self.assertEqual(5, code, "the scenario cannot come to its end")
        (case,) = report["cases"]
        self.assertEqual("inconclusive", case["verdict"])
        (fault,) = case["faults"]
        self.assertEqual(("cuGraphAddHostNode", 1, "main"), (fault["site"], fault["ordinal"], fault["thread"]))

    def test_a_failing_start_of_the_driver_is_no_crash_of_the_library(self) -> None:
        code, report = self.run_report(
            "--filter=A2*/inline", "--fault=cuInit:nth=1,return=CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
        )
        self.assertEqual((5, []), (code, report["cases"][0]["findings"]))
        self.assertIn("cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", report["cases"][0]["reason"])

    def test_the_same_seed_gives_the_same_ordered_faults(self) -> None:
        logs = []
        for _ in range(2):
            # The acceptance criteria's scenarios wait for each destructor. Where the driver's own thread delivers some
            # while a scenario goes on, the faults of each thread are the same and their mix is not.
            code, report = self.run_report("--seed=7", "--filter=A*-AC.*")
            self.assertEqual(0, code)
            logs.append([(case["scenario"], case["variant"], case["faults"]) for case in report["cases"]])
        self.assertEqual(logs[0], logs[1])
        self.assertGreater(sum(len(faults) for _, _, faults in logs[0]), 1000)

    def test_a_plan_that_cannot_act_is_refused_with_its_place_and_nothing_runs(self) -> None:
        places = {
            '{"version": 1, "rules": [], "extra": 0}': "/extra",
            '{"version": 1, "version": 1, "rules": []}': "/version",
            '{"version": 1, "rules": [{"site": "cuNoSuchThing", "do": {"drop": true}}]}': "/rules/0/site",
            '{"version": 1, "rules": [{"site": "cuGraphLaunch", "do": {"return": "CUDA_OK"}}]}': "/rules/0/do/return",
            '{"version": 1, "rules": [{"site": "cuGraphLaunch", "when": {"nth": 0}, '
            '"do": {"return": "CUDA_ERROR_UNKNOWN"}}]}': "/rules/0/when/nth",
            "rules:\n  - site: cuGraphLaunch\n": "line 1",
        }
        for text, place in places.items():
            with self.subTest(place=place):
                plan = self.folder / "plan.json"
                plan.write_text(text, encoding="utf-8")
                code, out, err = self.holdfast("run", "--driver=model", f"--plan={plan}")
                self.assertEqual((2, ""), (code, out))
                self.assertIn(place, err)
                self.assertEqual(1, len(err.strip().splitlines()), err)


class SeededBugTest(EndToEndTest):
    def test_a_seeded_bug_is_a_finding_with_two_commands_that_reproduce_it(self) -> None:
        words = ("run", "--driver=model", "--bug=rollback-forgotten", "--filter=A1*/inline", "--seed=3")
        code, out, _ = self.holdfast(*words)
        self.assertEqual(1, code)
        commands = [line.strip() for line in out.splitlines() if "--bug=rollback-forgotten" in line]
        self.assertEqual(["holdfast", "bazel"], [command.split()[0] for command in commands])
        again, out_again, _ = self.holdfast(*commands[0].split()[1:])
        self.assertEqual(1, again)
        self.assertIn("the owner is released exactly once: its update was refused (0 releases)", out)
        self.assertIn("the owner is released exactly once: its update was refused (0 releases)", out_again)

    def test_an_unknown_bug_is_a_usage_error_that_names_the_nearest(self) -> None:
        code, _, err = self.holdfast("run", "--bug=rollback-forgoten")
        self.assertEqual(2, code)
        self.assertIn("did you mean rollback-forgotten?", err)


class TimelineTest(EndToEndTest):
    def test_a_fault_its_calls_and_the_finding_stand_in_their_order(self) -> None:
        code, report = self.run_report("--bug=rollback-forgotten", "--filter=A5*/inline", "--seed=7")
        self.assertEqual(1, code)
        moments = report["cases"][0]["timeline"]["moments"]
        self.assertEqual(sorted(moments, key=lambda moment: moment["at_us"]), moments)
        fault = max(index for index, moment in enumerate(moments) if moment["kind"] == "fault")
        call = next(index for index in range(fault, -1, -1) if moments[index]["kind"] == "call")
        self.assertEqual("cuGraphAddHostNode", moments[fault]["name"])
        self.assertEqual("return CUDA_ERROR_OUT_OF_MEMORY", moments[fault]["result"])
        self.assertEqual("cuGraphAddHostNode", moments[call]["name"])
        self.assertEqual("CUDA_ERROR_OUT_OF_MEMORY", moments[call]["result"])
        self.assertLessEqual(moments[fault]["at_us"], moments[call]["at_us"] + moments[call]["duration_us"])
        made = next(moment for moment in moments[call::-1] if moment["name"] == "cuUserObjectCreate")
        self.assertEqual(1, made["references"])
        self.assertEqual(("finding", "contract"), (moments[-1]["kind"], moments[-1]["name"]))
        self.assertIn("drain", {moment["kind"] for moment in moments[call:]})

    def test_a_crash_inside_a_call_shows_the_call(self) -> None:
        code, report = self.run_report("--filter=A2*/inline", "--fault=cuGraphLaunch:nth=1,abort", "--seed=7")
        self.assertEqual(1, code)
        call, fault = report["cases"][0]["timeline"]["moments"][-2:]
        self.assertEqual(("call", "cuGraphLaunch", "not over"), (call["kind"], call["name"], call["result"]))
        self.assertEqual(("fault", "cuGraphLaunch", "abort"), (fault["kind"], fault["name"], fault["result"]))

    def test_a_case_that_passed_has_one_when_asked_with_drains_and_releases(self) -> None:
        _, report = self.run_report("--filter=A1.replacement*/inline", "--seed=7")
        self.assertEqual([None], [case["timeline"] for case in report["cases"]])
        _, report = self.run_report("--filter=A1.replacement*/inline", "--seed=7", "--timelines")
        moments = report["cases"][0]["timeline"]["moments"]
        drains = [moment for moment in moments if moment["kind"] == "drain"]
        releases = [moment for moment in moments if moment["kind"] == "release"]
        self.assertIn(0, [drain["queue"] for drain in drains])
        self.assertTrue(releases)
        for release in releases:
            self.assertTrue(release["name"].startswith("owner "))
            inside = [one for one in drains if 0 <= release["at_us"] - one["at_us"] <= one["duration_us"]]
            self.assertTrue(inside, release)


class ThreadOrderTest(EndToEndTest):
    def test_a_seed_gives_one_schedule_and_the_schedule_is_taken_again(self) -> None:
        words = ("--filter=A8.callback-only-enqueues/mixed", "--seed=1")
        schedules = set()
        for _ in range(2):
            code, report = self.run_report(*words, "--schedule=pct")
            self.assertEqual(0, code, report)
            schedules.add(report["cases"][0]["schedule"])
        self.assertEqual(1, len(schedules))
        (schedule,) = schedules
        code, report = self.run_report(*words, f"--schedule=replay:{schedule}")
        self.assertEqual((0, schedule), (code, report["cases"][0]["schedule"]))

    def test_a_schedule_of_another_program_diverges(self) -> None:
        code, report = self.run_report("--filter=A8.callback-only-enqueues/mixed", "--schedule=pct", "--seed=1")
        self.assertEqual(0, code, report)
        schedule = report["cases"][0]["schedule"]
        code, report = self.run_report("--filter=A4.reused-node-handle/thread", f"--schedule=replay:{schedule}")
        self.assertEqual(3, code)
        self.assertRegex(report["cases"][0]["reason"], "diverged at step [0-9]+:")
        code, out, _ = self.holdfast("replay", report["cases"][0]["replay"])
        self.assertEqual(3, code)
        self.assertIn(report["cases"][0]["reason"], out)

    def test_the_command_of_a_finding_takes_its_schedule_again(self) -> None:
        words = ("--bug=rollback-forgotten", "--filter=A1*/inline", "--seed=3", "--schedule=random")
        code, out, _ = self.holdfast("run", "--driver=model", *words)
        self.assertEqual(1, code)
        commands = [line.strip() for line in out.splitlines() if line.startswith("  holdfast run ")]
        self.assertIn("--schedule=replay:x1:", commands[0])
        again, out_again, _ = self.holdfast(*shlex.split(commands[0])[1:])
        self.assertEqual(1, again, out_again)
        self.assertIn(commands[0], out_again)


class MinimiseTest(EndToEndTest):
    """Over a program with one scenario, whose finding takes a fault on one of two threads and a certain order."""

    RULES = (
        "cuDeviceGetCount:every=2,thread=subject-2,return=CUDA_ERROR_UNKNOWN",
        "cuInit:delay=1us",
        "cuDeviceGetCount:thread=subject-1,delay=1us",
        "cuGraphLaunch:nth=1,return=CUDA_ERROR_UNKNOWN",
    )
    MOST_SEEDS = 40

    def setUp(self) -> None:
        super().setUp()
        places = find_layout(os.environ)
        for place in (layout.SHIM, layout.MODEL_DRIVER, layout.PLAN_TOOL, layout.SCHEDULE_LIBRARY):
            self.link(place, places.need(place, "a program"))
        self.link(layout.SCENARIO_RUNNER, places.need("tests/harness/lost_addition", "the scenario"))

    def link(self, place: str, target: Path) -> None:
        path = self.folder / "root" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target.resolve())

    def find(self, *words: str) -> tuple[str, int]:
        """What the log says of the first seed with the finding, and which that is."""
        for seed in range(self.MOST_SEEDS):
            code, out, _ = self.holdfast("run", "--driver=model", f"--seed={seed}", *words, root=self.folder / "root")
            if code == 1:
                return out, seed
        raise AssertionError(f"none of {self.MOST_SEEDS} seeds finds it")

    def test_what_it_takes_is_left_and_the_command_shows_the_finding_again(self) -> None:
        words = ("--schedule=random", *(f"--fault={rule}" for rule in self.RULES))
        out, seed = self.find(*words)
        self.assertIn("  to make it smaller: add --minimise", out)
        report = self.folder / "report.json"
        words = (*words, "--minimise", f"--report=json:{report}")
        code, out, err = self.holdfast("run", "--driver=model", f"--seed={seed}", *words, root=self.folder / "root")
        self.assertEqual(1, code, err)
        (case,) = json.loads(report.read_text(encoding="utf-8"))["cases"]
        minimised = case["minimised"]
        self.assertIn("cuDeviceGetCount:nth=", case["rules"][0]["text"])
        self.assertNotIn("cuGraphLaunch", "".join(rule["text"] for rule in case["rules"]), "it never fires")
        self.assertLess(minimised["rules_after"], minimised["rules_before"])
        self.assertTrue(minimised["complete"], minimised)
        self.assertLessEqual(2 * minimised["switches_after"], minimised["switches_before"])
        command = next(line for line in out.splitlines() if line.startswith("  holdfast run "))
        again, out_again, _ = self.holdfast(*shlex.split(command)[1:], root=self.folder / "root")
        self.assertEqual(1, again, out_again)
        self.assertIn("contract in specimen.lost-addition/only: no addition is lost", out_again)
        self.assertIn(case["schedule"], out_again)


class ReplayTest(EndToEndTest):
    def take_again(self, out: str, found: str) -> str:
        """Runs the line that the finding ends with, and expects the same finding. Returns the line."""
        (line,) = [line.strip() for line in out.splitlines() if line.startswith("  holdfast replay ")]
        code, again, err = self.holdfast(*shlex.split(line)[1:])
        self.assertEqual(1, code, again + err)
        for part in (found, line):
            self.assertIn(part, out)
            self.assertIn(part, again)
        return line

    def test_a_finding_under_a_plan_is_taken_again_without_its_file(self) -> None:
        plan = self.folder / "plan.json"
        plan.write_text(
            '{"version": 1, "rules": [{"site": "destructor", "do": {"deliver": "thread", "delay": "1ms"}}]}'
        )
        words = (
            "--bug=rollback-forgotten",
            "--filter=A5*/inline",
            f"--plan={plan}",
            "--fault=cuGraphDestroy:delay=1ms",
        )
        code, out, err = self.holdfast("run", "--driver=model", *words)
        self.assertEqual(1, code, out + err)
        plan.unlink()
        self.take_again(out, "contract in A5.failed-addition-leaves-nothing/inline: ")

    def test_a_long_schedule_is_taken_again_from_a_short_line(self) -> None:
        words = ("--filter=A8.callback-only-enqueues/mixed", "--seed=3", "--schedule=random")
        code, report = self.run_report(*words, "--fault=cuGraphAddHostNode:nth=10,abort")
        self.assertEqual(1, code)
        (case,) = report["cases"]
        self.assertGreater(len(case["schedule"]), 200)
        code, out, _ = self.holdfast("replay", str(self.folder / "report.json"))
        self.assertEqual(1, code, out)
        line = self.take_again(out, "crash in A8.callback-only-enqueues/mixed")
        self.assertEqual(["holdfast", "replay", case["replay"]], shlex.split(line))
        self.assertLess(len(line), len(case["schedule"]))

    def test_an_execution_of_the_explorer_is_taken_again_from_a_report(self) -> None:
        path = self.folder / "report.json"
        code, out, _ = self.holdfast("explore", "specimen.lost-wakeup", f"--report=json:{path}")
        self.assertEqual(0, code, "it is a specimen, which has to be found")
        (case,) = json.loads(path.read_text())["cases"]
        code, again, _ = self.holdfast("replay", case["replay"])
        self.assertEqual(0, code)
        command = next(line for line in out.splitlines() if line.startswith("  holdfast explore specimen.lost-wakeup "))
        self.assertIn(case["schedule"], command)
        self.assertIn(command, again)
        self.assertIn("1 execution, a sample", again)


class SweepTest(EndToEndTest):
    def test_an_operation_is_swept_before_and_after_with_and_without_memory(self) -> None:
        path = self.folder / "report.json"
        words = ("sweep", "--driver=model", "sweep.add-host-node/inline", f"--report=json:{path}")
        code, out, err = self.holdfast(*words)
        self.assertEqual(0, code, out + err)
        (operation,) = json.loads(path.read_text(encoding="utf-8"))["operations"]
        # Making, retaining and adding cannot fail after they took effect; releasing, which a rollback does, can.
        self.assertLessEqual({"alloc", "cuUserObjectCreate", "cuGraphAddHostNode"}, set(operation["sites"]))
        self.assertLessEqual({"cuGraphReleaseUserObject", "cuUserObjectRelease"}, set(operation["sites"]))
        for count in ("before", "after", "transient", "persistent", "alloc", "double", "not_after"):
            self.assertGreater(operation[count], 0, count)
        self.assertEqual((operation["points"], 0), (operation["before"] + operation["after"], operation["failed"]))

    def test_a_sweep_finds_a_seeded_bug_and_its_command_finds_it_again(self) -> None:
        words = ("sweep", "--driver=model", "--bug=rollback-forgotten", "--filter=sweep.add-host-node/inline")
        code, out, _ = self.holdfast(*words)
        self.assertEqual(1, code, out)
        commands = [line.strip() for line in out.splitlines() if line.startswith("  holdfast sweep ")]
        again, out_again, _ = self.holdfast(*shlex.split(commands[0])[1:])
        self.assertEqual(1, again, out_again)
        self.assertEqual("0 passed, 1 failed, 0 skipped", out_again.splitlines()[-1])


class SelectionTest(EndToEndTest):
    def test_nothing_selected_is_exit_code_four(self) -> None:
        code, _, err = self.holdfast("run", "--driver=model", "--filter=no-such*")
        self.assertEqual(4, code)
        self.assertIn("no-such*", err)

    def test_every_acceptance_criterion_has_a_scenario_that_names_a_seeded_bug(self) -> None:
        code, out, _ = self.holdfast("list", "--json")
        self.assertEqual(0, code)
        scenarios = [entry for entry in json.loads(out) if entry["kind"] == "scenario"]
        proven = [scenario for scenario in scenarios if scenario["catches"]]
        covered = {criterion for scenario in proven for criterion in scenario["covers"]}
        self.assertEqual(set(), {f"A{number}" for number in range(1, 14)} - covered)
        self.assertGreaterEqual(len({bug for scenario in scenarios for bug in scenario["catches"]}), 16)


if __name__ == "__main__":
    unittest.main()
