"""How the command finds a driver: which one auto takes, and what it says of one that does not work.

The library next to this test, fake_driver.so, is built by Bazel; its behaviour comes from the environment.
"""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

TESTS = Path(__file__).absolute().parent
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

from command import FakeTree, scenario

from harness.cli.drivers import probe_driver

LIBRARY = TESTS / "fake_driver.so"


class ProbeTest(unittest.TestCase):
    def error(self, behaviour: str) -> str:
        with mock.patch.dict(os.environ, FAKE_DRIVER=behaviour):
            return probe_driver(str(LIBRARY)).error

    def test_a_driver_that_works_tells_version_and_devices(self) -> None:
        probe = probe_driver(str(LIBRARY))
        self.assertEqual(("", str(LIBRARY), 13010, ("Fake A", "Fake B")), tuple(vars(probe).values()))

    def test_each_way_not_to_work_has_its_sentence(self) -> None:
        self.assertIn("has no device", self.error("no-device"))
        self.assertEqual("cuInit answered CUDA_ERROR_NO_DEVICE (100)", self.error("refuses"))
        self.assertIn("ended with -6", self.error("crashes"))

    def test_a_library_that_is_not_there_has_one_too(self) -> None:
        self.assertIn("no-such-library", probe_driver("/no-such-library.so").error)


class ChoiceTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = FakeTree(Path(folder.name), [scenario("A1.good"), scenario("A2.model", drivers=["model"])])
        system = Path(folder.name) / "system"
        system.mkdir()
        (system / "libcuda.so.1").symlink_to(LIBRARY)
        self.system = str(system)

    def test_auto_takes_the_real_driver_where_the_loader_finds_one(self) -> None:
        answer, report = self.tree.report("run", LD_LIBRARY_PATH=self.system)
        self.assertEqual(("real", "Fake A", 13010), (report["driver"], report["device"], report["driver_version"]))
        self.assertEqual(["passed", "skipped"], [case["verdict"] for case in report["cases"]])
        self.assertIn("driver: real", answer.err)

    def test_auto_takes_the_model_driver_otherwise_and_says_why(self) -> None:
        answer, report = self.tree.report("run", LD_LIBRARY_PATH=self.system, FAKE_DRIVER="refuses")
        self.assertEqual(("model", None), (report["driver"], report["device"]))
        self.assertIn("no real one: cuInit answered CUDA_ERROR_NO_DEVICE (100)", answer.err)

    def test_a_real_driver_that_cannot_be_used_is_exit_3_with_the_reason(self) -> None:
        answer = self.tree.holdfast("run", "--driver=real", LD_LIBRARY_PATH=self.system, FAKE_DRIVER="no-device")
        self.assertEqual(3, answer.code)
        self.assertEqual("holdfast: no real driver can be used: libcuda.so.1 works and has no device\n", answer.err)

    def test_a_path_is_the_driver(self) -> None:
        _, report = self.tree.report("run", f"--driver={LIBRARY}")
        self.assertEqual(("real", str(LIBRARY)), (report["driver"], report["driver_library"]))
        model = self.tree.root / "fault/model/libcuda.so.1"
        _, report = self.tree.report("run", f"--driver={model}")
        self.assertEqual(("model", str(model)), (report["driver"], report["driver_library"]))

    def test_a_path_that_leads_nowhere_is_a_usage_error(self) -> None:
        answer = self.tree.holdfast("run", "--driver=modle")
        self.assertEqual((2, True), (answer.code, "none of auto, model, real" in answer.err))

    def test_a_selftest_stays_on_the_model_driver(self) -> None:
        answer = self.tree.holdfast("selftest", LD_LIBRARY_PATH=self.system)
        self.assertEqual((4, False), (answer.code, "real" in answer.err), answer)


if __name__ == "__main__":
    unittest.main()
