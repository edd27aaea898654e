"""Which interpreters are found, how they are named, and which are left out.

Method: programs that answer like an interpreter stand where interpreters are looked for, in a folder of the test's own.
"""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

from command import FakeTree

from harness.cli import interpreters
from harness.cli.interpreters import Interpreter, find_interpreters, missing


class InterpretersTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.tree = FakeTree(self.root)
        self.headers = str(self.tree.file("include/Python.h", b"").parent)
        self.distribution = mock.patch.multiple(
            interpreters,
            _DISTRIBUTION_PYTHON=str(self.root / "usr/python3"),
            _DISTRIBUTION_FOLDER=str(self.root / "usr"),
        )
        self.distribution.start()
        self.addCleanup(self.distribution.stop)

    def put(self, relative: str, *version: int, **said: Any) -> Path:
        return self.tree.interpreter(relative, version=version, **{"include": self.headers, **said})

    def find(self, **variables: str) -> list[Interpreter]:
        return find_interpreters({"HOME": str(self.root), "PATH": f"{self.root}/bin", **variables})

    def names(self, **variables: str) -> dict[str, str]:
        """Name and path below the test's folder of those that are taken."""
        taken = (each for each in self.find(**variables) if not each.reason)
        return {each.name: str(Path(each.path).relative_to(self.root)) for each in taken}

    def test_each_place_is_looked_at(self) -> None:
        self.put("bin/python3.12", 3, 12, 1)
        self.put(".pyenv/versions/3.10.13/bin/python3", 3, 10, 13)
        self.put(".cache/holdfast/python/3.13t/bin/python3.13t", 3, 13, 5, free_threaded=True)
        self.put("usr/python3", 3, 11, 2, shared_libpython=False)
        expected = {
            "cp310": ".pyenv/versions/3.10.13/bin/python3",
            "cp311_debian": "usr/python3",
            "cp312": "bin/python3.12",
            "cp313t": ".cache/holdfast/python/3.13t/bin/python3.13t",
        }
        self.assertEqual(expected, self.names())
        self.assertEqual(list(expected), list(self.names()), "oldest first")

    def test_one_of_each_kind_is_taken(self) -> None:
        self.put("bin/python3.11", 3, 11, 7)
        self.put(".pyenv/versions/3.11.9/bin/python3", 3, 11, 9)
        self.put("usr/python3", 3, 11, 2, shared_libpython=False)
        self.assertEqual({"cp311": "bin/python3.11", "cp311_debian": "usr/python3"}, self.names())

    def test_a_second_kind_of_a_version_says_how_it_differs(self) -> None:
        self.put("bin/python3.12", 3, 12, 1)
        self.put(".pyenv/versions/3.12.4/bin/python3", 3, 12, 4, shared_libpython=False)
        self.assertEqual(
            {"cp312": "bin/python3.12", "cp312_static": ".pyenv/versions/3.12.4/bin/python3"}, self.names()
        )

    def test_one_that_a_sanitizer_watches_is_a_kind_of_its_own(self) -> None:
        self.put(".cache/holdfast/python/3.13t/bin/python3.13t", 3, 13, 5, free_threaded=True)
        self.put(
            ".cache/holdfast/python/3.13t-tsan/bin/python3.13t", 3, 13, 5, free_threaded=True, thread_sanitizer=True
        )
        self.assertEqual(["cp313t", "cp313t_tsan"], list(self.names()))

    def test_of_several_in_pyenv_the_newest_is_taken(self) -> None:
        self.put(".pyenv/versions/3.12.9/bin/python3", 3, 12, 9)
        self.put(".pyenv/versions/3.12.10/bin/python3", 3, 12, 10)
        self.assertEqual({"cp312": ".pyenv/versions/3.12.10/bin/python3"}, self.names())

    def test_a_wrapper_leads_to_the_interpreter_that_it_starts(self) -> None:
        real = self.put("elsewhere/python3.12", 3, 12, 1)
        self.put("bin/python3.12", 3, 12, 1, path=str(real))
        self.assertEqual({"cp312": "elsewhere/python3.12"}, self.names())

    def test_what_does_not_answer_or_is_too_old_is_passed_over(self) -> None:
        self.tree.program("bin/python3.10", ["/bin/false"])
        self.tree.program("bin/python3.11", ["/bin/echo", "not JSON"])
        self.put(".pyenv/versions/3.9.18/bin/python3", 3, 9, 18)
        self.put(".pyenv/versions/3.15.0/bin/python3", 3, 15, 0)
        self.assertEqual([], self.find())

    def test_what_cannot_be_built_for_is_left_out_with_the_reason(self) -> None:
        self.put("bin/python3.12", 3, 12, 1, include="/nowhere")
        self.put("bin/python3.10", 3, 10, 14, implementation="pypy")
        reasons = {each.version: each.reason for each in self.find()}
        self.assertIn("there is no /nowhere/Python.h", reasons["3.12.1"])
        self.assertIn("it is pypy, not CPython", reasons["3.10.14"])

    def test_a_list_of_ones_own_replaces_the_search(self) -> None:
        self.put("bin/python3.12", 3, 12, 1)
        own = self.put("own/python", 3, 13, 1)
        self.assertEqual({"cp313": "own/python"}, self.names(HOLDFAST_PYTHONS=f"{own}:"))
        (found,) = self.find(HOLDFAST_PYTHONS="/nowhere/python")
        self.assertEqual("/nowhere/python", found.path)
        self.assertIn("not an interpreter from 3.10 to 3.14 that starts", found.reason)

    def test_each_has_an_environment_named_after_it(self) -> None:
        self.put("bin/python3.12", 3, 12, 1)
        (found,) = self.find(XDG_CACHE_HOME="/cache")
        self.assertEqual("/cache/holdfast/interpreters/cp312", found.environment)

    def test_the_missing_are_told_how_to_get(self) -> None:
        self.put("bin/python3.12", 3, 12, 1)
        self.put(
            ".cache/holdfast/python/3.13t-tsan/bin/python3.13t", 3, 13, 5, free_threaded=True, thread_sanitizer=True
        )
        told = dict(missing(self.find()))
        self.assertEqual(["cp310", "cp311", "cp313", "cp313t"], list(told))
        self.assertIn("tools/python-freethreaded", told["cp313t"])
        self.assertIn("pyenv install 3.10", told["cp310"])


if __name__ == "__main__":
    unittest.main()
