"""The one table: complete against the toolkit, wrapped where the ledger looks, and refused when it cannot be built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNFILES = Path(os.environ.get("TEST_SRCDIR", ".")) / os.environ.get("TEST_WORKSPACE", "")
TREE = Path(os.environ.get("HOLDFAST_TREE", RUNFILES))
SHIM = TREE / "fault/shim"
STUBS = (
    Path(os.environ.get("CUDA_PATH", "/usr/local/cuda")) / "lib64/stubs/libcuda.so",
    Path("/usr/local/cuda/lib/stubs/libcuda.so"),
    *Path("/usr/local").glob("cuda-*/lib*/stubs/libcuda.so"),
    *Path("/usr/local").glob("cuda*/targets/*/lib/stubs/libcuda.so"),
)
HEADER = """
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_UNKNOWN = 999 } CUresult;
CUresult cuInit(unsigned int Flags);
CUresult cuThing_v2(const char *name, int values[3], void **out);
"""
REASON = "= query\ta sentence\n"


def rows() -> list[list[str]]:
    """The lines of the table that are entry points."""
    text = (SHIM / "entry_points.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and line[0] not in "#="]


class TableTest(unittest.TestCase):
    """What the table says."""

    def test_has_every_name_of_the_link_stub(self) -> None:
        stub = next((path for path in STUBS if path.exists()), None)
        if stub is None or shutil.which("nm") is None:
            self.skipTest("no link stub of libcuda in the toolkit, or no nm to read it with")
        listing = subprocess.run(["nm", "-D", "--defined-only", str(stub)], capture_output=True, text=True, check=True)
        names = {line.split()[-1] for line in listing.stdout.splitlines()}
        exported = {name for name in names if name.startswith("cu")}
        self.assertGreater(len(exported), 600)
        self.assertEqual({row[0] for row in rows()}, exported)

    def test_wraps_all_of_graphs_and_user_objects(self) -> None:
        graphs = [row for row in rows() if row[0].startswith(("cuGraph", "cuUserObject"))]
        graphs = [row for row in graphs if not row[0].startswith("cuGraphics")]
        self.assertGreater(len(graphs), 90)
        self.assertEqual([row[0] for row in graphs if row[3] in ("forward", "none")], [])

    def test_fails_no_creation_after_it_took_effect(self) -> None:
        for row in rows():
            if row[5] in ("creation", "change"):
                self.assertEqual(row[3], "before", row[0])


class GeneratorTest(unittest.TestCase):
    """What generate.py makes of a table."""

    def generate(self, table: str) -> tuple[int, str, str]:
        """Exit code, stderr and the wrappers for a table over a small header."""
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            scratch = Path(folder)
            (scratch / "table.tsv").write_text(table, encoding="utf-8")
            (scratch / "cuda.h").write_text(HEADER, encoding="utf-8")
            command = [sys.executable, str(SHIM / "generate.py"), f"--table={scratch / 'table.tsv'}"]
            command += [f"--header={scratch / 'cuda.h'}", f"--wrappers={scratch / 'wrappers.cc'}"]
            result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            wrappers = scratch / "wrappers.cc"
            text = wrappers.read_text(encoding="utf-8") if wrappers.exists() else ""
            return result.returncode, result.stderr, text

    def check_refusal(self, table: str, sentence: str) -> None:
        """Exit code 1 and a sentence; no output."""
        code, errors, wrappers = self.generate(table)
        self.assertEqual(code, 1)
        self.assertIn(sentence, errors)
        self.assertEqual(wrappers, "")

    def test_writes_one_wrapper_a_call(self) -> None:
        table = REASON + "cuInit\tcuInit\t2000\tbefore\tyes\tquery\ncuThing_v2\tcuThing\t3000\tboth\tno\tquery\n"
        code, errors, wrappers = self.generate(table)
        self.assertEqual(code, 0, errors)
        self.assertIn("cuThing_v2(const char * a0, int * a1, void ** a2)", wrappers)
        self.assertIn("return Intercept<Entry::cuInit>(a0);", wrappers)

    def test_needs_no_prototype_of_what_it_only_forwards(self) -> None:
        code, errors, _ = self.generate(REASON + "cuOther\tcuOther\t0\tforward\tno\tquery\n")
        self.assertEqual(code, 0, errors)

    def test_refuses_a_wrapper_without_a_prototype(self) -> None:
        self.check_refusal(REASON + "cuOther\tcuOther\t0\tbefore\tno\tquery\n", "the header has no prototype of it")

    def test_refuses_an_unknown_mark(self) -> None:
        self.check_refusal(REASON + "cuInit\tcuInit\t2000\tsometimes\tno\tquery\n", "has the mark 'sometimes'")

    def test_refuses_an_undefined_reason(self) -> None:
        self.check_refusal(REASON + "cuInit\tcuInit\t2000\tbefore\tno\twhim\n", "gives the reason 'whim'")

    def test_refuses_a_name_out_of_order(self) -> None:
        table = REASON + "cuThing_v2\tcuThing\t1\tbefore\tno\tquery\ncuInit\tcuInit\t1\tbefore\tno\tquery\n"
        self.check_refusal(table, "out of order")

    def test_refuses_a_name_twice(self) -> None:
        self.check_refusal(REASON + "cuInit\tcuInit\t1\tbefore\tno\tquery\n" * 2, "there twice")

    def test_refuses_versions_marked_differently(self) -> None:
        table = REASON + "cuThing\tcuThing\t1\tforward\tno\tquery\ncuThing_v2\tcuThing\t2\tbefore\tno\tquery\n"
        self.check_refusal(table, "must be marked alike")

    def test_refuses_a_wrong_site(self) -> None:
        self.check_refusal(REASON + "cuThing_v2\tcuThing_v2\t1\tbefore\tno\tquery\n", "belongs to the site cuThing")


if __name__ == "__main__":
    unittest.main()
