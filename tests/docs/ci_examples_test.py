"""The examples in docs/ci: a tool that knows the schemas of both forges has no objection, and their commands do what
they are there for. forge.py says what of a machine is real here and what is replaced.

Method: the jobs of a pull request run one after another, as the library is and with a seeded bug in it, and what they
leave is read. So that this takes seconds, nights are of few scenarios and of no more runs than the policy for them
needs, which the examples take from variables.
HOLDFAST_ROOT may name the folder with the programs when this runs without Bazel.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

HERE = Path(os.path.realpath(__file__)).parent
TREE = HERE.parents[1]
sys.path[:0] = [str(HERE), str(TREE)]

from harness.cli.interpreters import cache_folder
from reports.gate.policy import Policy, read_policy

# A test runner takes HOME away.
CACHE = cache_folder({"HOME": pwd.getpwuid(os.getuid()).pw_dir, **os.environ})
sys.path.append(str(CACHE / "readers"))

from forge import COMMIT, Forge, GitHub, GitLab, Job

CHECKER = CACHE / "venv/bin/check-jsonschema"
PROGRAMS = Path(os.environ.get("HOLDFAST_ROOT") or Path(__file__).absolute().parents[2])
EXAMPLES = {"github-actions.yml": "vendor.github-workflows", "gitlab-ci.yml": "vendor.gitlab-ci"}
BUG = "removal-before-the-driver-agreed"
FOUND = "A5.refused-deletion-changes-nothing"
# The scenario with the counter that the policy for nights limits, as often as that takes to be judged.
NIGHT = {"HOLDFAST_SUITE": "A13.late*", "HOLDFAST_RUNS": "10"}


def _example(name: str) -> dict[str, Any]:
    import yaml  # noqa: PLC0415, since it may not be there

    document: dict[str, Any] = yaml.safe_load((TREE / "docs/ci" / name).read_text(encoding="utf-8"))
    return document


def _policy(name: str) -> Policy:
    return read_policy((TREE / "docs/policies" / name).read_bytes())


class ValidityTest(unittest.TestCase):
    @unittest.skipUnless(CHECKER.exists(), "tools/setup --test has not installed check-jsonschema")
    def test_the_schemas_of_the_forges_have_no_objection(self) -> None:
        for name, schema in EXAMPLES.items():
            command = [CHECKER, "--builtin-schema", schema, TREE / "docs/ci" / name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_nights_have_the_runs_that_their_policy_needs(self) -> None:
        rules = _policy("nightly.json").rules
        needed = max(rules[name].runs for name in ("counter-limits", "duration-limits"))
        self.assertEqual(needed, int(NIGHT["HOLDFAST_RUNS"]))
        for name in EXAMPLES:
            text = (TREE / "docs/ci" / name).read_text(encoding="utf-8")
            given = re.search(r'(?m)^  HOLDFAST_RUNS: "?(\d+)', text)
            assert given
            self.assertGreaterEqual(int(given[1]), needed)
        given = re.search(r"--runs=(\d+)", (TREE / "docs/policies/nightly.json").read_text(encoding="utf-8"))
        assert given
        self.assertGreaterEqual(int(given[1]), needed)

    def test_the_policy_for_selftests_demands_every_seeded_bug_of_the_tree(self) -> None:
        there_are = len(list((TREE / "scenarios/bugs").glob("*.patch")))
        self.assertEqual(there_are, _policy("nightly-selftest.json").rules["seeded-bugs-caught"].least_bugs)

    def test_actions_are_pinned(self) -> None:
        text = (TREE / "docs/ci/github-actions.yml").read_text(encoding="utf-8")
        used = re.findall(r"uses: (\S+)", text)
        self.assertTrue(used)
        for action in used:
            self.assertRegex(action, r"^[\w/-]+@v\d+$")


@unittest.skipUnless((CACHE / "readers/installed").exists(), "tools/setup --test has not installed a reader of YAML")
class ExampleTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="holdfast-ci-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def github(self, **variables: str) -> GitHub:
        return GitHub(self._forge(), _example("github-actions.yml"), variables)

    def gitlab(self, **variables: str) -> GitLab:
        return GitLab(self._forge(), _example("gitlab-ci.yml"), variables)

    def _forge(self) -> Forge:
        return Forge(Path(tempfile.mkdtemp(dir=self.root)), TREE, PROGRAMS)

    def run_all(self, forge: GitHub | GitLab, bugs: tuple[str, str] = ("", "")) -> tuple[list[Job], Job]:
        """The shards, each with the bug for it, and the job that judges."""
        self.assertEqual([0, 1], forge.shards())
        shards = [forge.run("shard", shard, bug) for shard, bug in zip(forge.shards(), bugs, strict=True)]
        canary = forge.run("canary")
        for job in (*shards, canary):
            self.assertEqual(0, job.code, job.log)
        self.assertIn("0 passed, 4 failed, 0 skipped", canary.log)
        return shards, forge.run("gate")


class PullRequestTest(ExampleTest):
    def assert_passed(self, shards: list[Job], gate: Job) -> None:
        self.assertEqual(0, gate.code, gate.log)
        self.assertIn("gate passed: 7 rules are met\n", gate.log)
        self.assertIn("pass canary-failed: 1 of 1 canary failed, as it must\n", gate.log)
        for shard in shards:
            self.assertIn(f"seed 0x{COMMIT[-16:]}\n", shard.log)
            self.assertNotIn("::error", shard.log)
            self.assertTrue((shard.folder / "out/report.xml").exists())
        sarif = json.loads((gate.folder / "out/report.sarif").read_text())
        self.assertEqual([], sarif["runs"][0]["results"])
        self.assertIn("<html", (gate.folder / "out/report.html").read_text())
        bazelrc = (gate.folder.parent / "home/.bazelrc").read_text()
        self.assertRegex(bazelrc, r"^build --disk_cache=/\S+/bazel-disk\n$")

    def test_github_passes_the_library_as_it_is(self) -> None:
        shards, gate = self.run_all(self.github())
        self.assert_passed(shards, gate)
        self.assertIn("## holdfast <code>run</code>: exit code 0", gate.summary)

    def test_gitlab_passes_the_library_as_it_is(self) -> None:
        self.assert_passed(*self.run_all(self.gitlab()))

    def assert_found(self, shards: list[Job], gate: Job, tests: Path) -> None:
        self.assertEqual(1, gate.code, gate.log)
        self.assertRegex(gate.log, r"(?m)^fail no-new-findings: .*" + re.escape(FOUND))
        (finding, *_) = json.loads((gate.folder / "out/report.sarif").read_text())["runs"][0]["results"]
        self.assertIn(FOUND, json.dumps(finding))
        failed = [case for case in ElementTree.parse(tests).iter("testcase") if case.find("failure") is not None]
        self.assertIn(FOUND, {str(case.get("classname")) for case in failed})
        for shard in shards:
            self.assert_replays(shard)

    def assert_replays(self, shard: Job) -> None:
        """The commands of a log, in a folder like the shard's, find the same again."""
        forge = Forge(Path(tempfile.mkdtemp(dir=self.root)), TREE, PROGRAMS)
        folder = forge.checkout(bug="")
        title = re.search(rf"(?m)^[a-z-]+ in {re.escape(FOUND)}/\w+: .*$", shard.log)
        assert title, shard.log
        commands = re.findall(r"(?m)^  ((?:holdfast|bazel) run .*)$", shard.log[title.start() :])[:2]
        self.assertEqual(["holdfast", "bazel"], [command.split()[0] for command in commands])
        for command in commands:
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env=forge.environment(folder),
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(1, done.returncode, done.stderr)
            self.assertIn(title[0], done.stdout)

    def test_github_names_a_seeded_bug_everywhere_and_fails(self) -> None:
        shards, gate = self.run_all(self.github(), (BUG, BUG))
        self.assert_found(shards, gate, gate.folder / "out/report.xml")
        self.assertIn("### Findings", gate.summary)
        self.assertIn(FOUND, gate.summary)
        for shard in shards:
            self.assertRegex(shard.log, rf"(?m)^::error file=scenarios/\w+\.cc,line=\d+,title=[a-z-]+ in {FOUND}/")

    def test_gitlab_names_a_seeded_bug_everywhere_and_fails(self) -> None:
        shards, gate = self.run_all(self.gitlab(), (BUG, BUG))
        self.assert_found(shards, gate, shards[0].folder / "out/report.xml")

    def test_shards_of_two_libraries_are_no_run_that_could_pass(self) -> None:
        _, gate = self.run_all(self.github(), ("", BUG))
        self.assertEqual(2, gate.code, gate.log)
        self.assertIn("subject", gate.log)
        self.assertNotIn("gate passed", gate.log)


class NightTest(ExampleTest):
    def nights(self, forge: GitHub | GitLab) -> None:
        """A bad first one, which no other is compared with, a good first one, one that is compared with it, a bad one
        that does not take its place, and a good one again.
        """
        forge.variables["HOLDFAST_SUITE"] = FOUND
        bad_first = forge.run("nightly", bug=BUG)
        self.assert_judged_bad(bad_first)
        forge.variables.update(NIGHT)
        first, second = forge.run("nightly"), forge.run("nightly")
        for night in (bad_first, first):
            self.assertIn("this one is the first", night.log)
        self.assertEqual(0, first.code, first.log)
        self.assertIn("gate passed", first.log)
        self.assertEqual(0, second.code, second.log)
        self.assertNotIn("this one is the first", second.log)
        self.assertIn("gate passed", second.log)
        self.assertRegex(second.log, r"(?m)^pass counter-limits: [1-9]")
        self.assertRegex(second.log, r"(?m)^pass duration-limits: [1-9]")
        self.assertNotIn("not judged", second.log)
        forge.variables["HOLDFAST_SUITE"] = FOUND
        self.assert_judged_bad(forge.run("nightly", bug=BUG))
        forge.variables.update(NIGHT)
        good = forge.run("nightly")
        self.assertIn("gate passed", good.log)

    def assert_judged_bad(self, night: Job) -> None:
        """The run has a finding, and the gate fails for it."""
        self.assertEqual(1, night.code, night.log)
        self.assertIn(f"contract in {FOUND}/", night.log)
        self.assertRegex(night.log, r"(?m)^fail no-new-findings: .*" + re.escape(FOUND))

    def test_github(self) -> None:
        self.nights(self.github(**NIGHT))

    def test_gitlab(self) -> None:
        self.nights(self.gitlab(**NIGHT))


if __name__ == "__main__":
    unittest.main()
