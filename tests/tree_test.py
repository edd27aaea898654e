"""The tree, checked against its own rules.

Method: read the files as text, in the working tree that the test's data links to, and compare lists that are kept in
two places, look for what must not be there, and look for what must. Each message says file and line.
"""

import ast
import os
import re
import unittest
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(os.path.realpath(__file__)).parent.parent

CODE = (".cc", ".h", ".py", ".bzl")
ROOMS = ("lib", "fault", "harness", "scenarios", "reports", "tests", "tools")


def files(*folders: str, suffixes: tuple[str, ...] = CODE) -> Iterator[Path]:
    """The files of the tree, without what tools leave behind."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file() and "__pycache__" not in path.parts:
                yield path


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def starlark_value(path: str, name: str) -> object:
    """The value of a top-level list or dictionary of literals in a Starlark file, which reads like Python."""
    for statement in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == name:
            return ast.literal_eval(statement.value)
    raise AssertionError(f"{path} has no {name}")


class ListsAgree(unittest.TestCase):
    def test_lib_sources_are_the_tree(self) -> None:
        for name, suffixes in (("LIB_SOURCES", (".cc",)), ("LIB_HEADERS", (".h", ".def"))):
            listed = starlark_value("lib/sources.bzl", name)
            # The Python module is not part of what the seeded bugs compile.
            there = (name_of(path) for path in files("lib", suffixes=suffixes))
            self.assertEqual(listed, sorted(path for path in there if not path.startswith("lib/python/")), name)

    def test_python_core_sources_are_the_tree(self) -> None:
        for name, suffix in (("PYTHON_CORE_SOURCES", ".cc"), ("PYTHON_CORE_HEADERS", ".h")):
            listed = starlark_value("lib/python/sources.bzl", name)
            self.assertEqual(listed, sorted(name_of(path) for path in files("lib/python/core", suffixes=(suffix,))))

    def test_scenario_support_is_the_tree(self) -> None:
        for name, suffix in (("_SUPPORT_SOURCES", ".cc"), ("_SUPPORT_HEADERS", ".h")):
            listed = starlark_value("scenarios/bugs/seeded_bug.bzl", name)
            self.assertEqual(listed, sorted(name_of(path) for path in files("scenarios/support", suffixes=(suffix,))))

    def test_fuzz_sources_are_the_tree(self) -> None:
        for name, suffixes in (("FUZZ_SOURCES", (".cc",)), ("FUZZ_HEADERS", (".h", ".def"))):
            listed = starlark_value("scenarios/fuzz/sources.bzl", name)
            self.assertEqual(listed, sorted(path.name for path in files("scenarios/fuzz", suffixes=suffixes)), name)

    def test_each_seeded_bug_has_a_patch_and_is_claimed(self) -> None:
        bugs = starlark_value("scenarios/bugs/BUILD.bazel", "SEEDED_BUGS")
        assert isinstance(bugs, dict)
        fuzzed = starlark_value("scenarios/bugs/BUILD.bazel", "FUZZ_BUGS")
        assert isinstance(fuzzed, list)
        patches = sorted(path.stem for path in (ROOT / "scenarios/bugs").glob("*.patch"))
        in_python = starlark_value("scenarios/bugs/BUILD.bazel", "SEEDED_PYTHON_BUGS")
        assert isinstance(in_python, dict)
        self.assertEqual(sorted({*bugs, *fuzzed, *in_python}), patches)
        text = "".join(path.read_text(encoding="utf-8") for path in files("scenarios/python", suffixes=(".py",)))
        for bug in in_python:
            self.assertIn(f'"{bug}"', text, f"no scenario in Python claims {bug}")
        for bug, scenarios in bugs.items():
            for scenario in scenarios:
                text = (ROOT / "scenarios" / f"{scenario}.cc").read_text(encoding="utf-8")
                self.assertIn(f'"{bug}"', text, f"{scenario}.cc does not claim {bug}")

    def test_each_claim_is_built(self) -> None:
        bugs = starlark_value("scenarios/bugs/BUILD.bazel", "SEEDED_BUGS")
        assert isinstance(bugs, dict)
        for path in (ROOT / "scenarios").glob("*.cc"):
            claims = re.search(r"\.catches = \{(.*?)\}", path.read_text(encoding="utf-8"), re.DOTALL)
            self.assertIsNotNone(claims, f"{path.name} names no seeded bug")
            assert claims is not None
            for bug in re.findall(r'"([^"]+)"', claims.group(1)):
                self.assertIn(path.stem, bugs.get(bug, ()), f"{path.name} claims {bug}")

    def test_every_package_of_tests_is_asked_what_it_covers(self) -> None:
        asked = starlark_value("tests/BUILD.bazel", "COVERING_SOURCES")
        assert isinstance(asked, list)
        for path in files("tests", suffixes=(".cc",)):
            if "// Covers: " in path.read_text(encoding="utf-8"):
                self.assertIn(f"//{name_of(path.parent)}:sources", asked, name_of(path))


class RulesHold(unittest.TestCase):
    def complain(self, complaints: list[str]) -> None:
        self.assertEqual(complaints, [], "\n" + "\n".join(complaints))

    def find(self, pattern: str, paths: Iterator[Path]) -> list[str]:
        expression = re.compile(pattern)
        return [
            f"{name_of(path)}:{number}: {line.strip()}"
            for path in paths
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
            if expression.search(line)
        ]

    def test_lines_fit(self) -> None:
        self.complain(self.find(r"^.{121,}$", files(*ROOMS)))

    def test_lib_and_fault_do_not_know_each_other(self) -> None:
        self.complain(self.find(r'#include "(fault|harness|scenarios)/', files("lib")))
        self.complain(self.find(r'#include "(lib|harness|scenarios)/', files("fault")))
        self.complain(self.find(r'#include "(lib|scenarios)/', files("harness")))

    def test_nothing_is_left_for_later(self) -> None:
        self.complain(self.find(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b", files(*ROOMS)))

    def test_no_sleeping_to_wait(self) -> None:
        sleeping = r"\b(sleep_for|sleep_until|usleep|nanosleep)\("
        self.complain(self.find(sleeping, files("lib", "scenarios", "tests", suffixes=(".cc", ".h"))))

    def test_no_path_of_a_machine_and_no_registry_host(self) -> None:
        forbidden = "|".join(("/ro" + "ot/", "/wo" + "rk/", "/ho" + "me/", "pypi" + r"\.org", "debian" + r"\.org"))
        everything = (*CODE, ".md", ".json", ".yml", ".bazel", ".sh", "")
        self.complain(self.find(forbidden, files(*ROOMS, "docs", "third_party", suffixes=everything)))

    def test_each_file_opens_with_its_job(self) -> None:
        complaints = []
        for path in files(*ROOMS, suffixes=(".h", ".cc", ".py")):
            text = path.read_text(encoding="utf-8")
            # A source file with a header of its own has its job said there.
            if path.suffix == ".cc" and path.with_suffix(".h").exists():
                continue
            if text.strip() and not text.startswith(("//", '"""', "#!")):
                complaints.append(f"{name_of(path)}:1: does not open with a comment")
        self.complain(complaints)

    def test_weak_memory_orders_are_argued(self) -> None:
        complaints = []
        for path in files("lib", suffixes=(".h", ".cc")):
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines):
                if "memory_order_" in line.split("//")[0]:
                    before = "\n".join(lines[max(0, number - 20) : number + 1])
                    if "Memory ordering" not in before and "Memory ordering" not in header_of(path):
                        complaints.append(f"{name_of(path)}:{number + 1}: no 'Memory ordering:' argues for it")
        self.complain(complaints)


def header_of(path: Path) -> str:
    header = path.with_suffix(".h")
    return header.read_text(encoding="utf-8") if path.suffix == ".cc" and header.exists() else ""


if __name__ == "__main__":
    unittest.main()
