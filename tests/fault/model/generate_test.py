"""The generator of the model driver's tables: what it makes of the real table, and that a bad line is an error."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GENERATOR = Path("fault/model/generate.py")
TABLE = Path("fault/shim/entry_points.tsv")


def generate(folder: Path, table: Path) -> subprocess.CompletedProcess[str]:
    """Runs the generator on a table, with its outputs in the folder."""
    arguments = [
        sys.executable,
        str(GENERATOR),
        f"--table={table}",
        f"--forms={folder / 'forms.inc'}",
        f"--unmodelled={folder / 'unmodelled.cc'}",
    ]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


class GenerateTest(unittest.TestCase):
    """One folder a test."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_every_name_has_a_form_and_a_refusal(self) -> None:
        self.assertEqual(generate(self.folder, TABLE).returncode, 0)
        names = [line.split("\t")[0] for line in TABLE.read_text().splitlines() if line.startswith("cu")]
        forms = (self.folder / "forms.inc").read_text()
        refusals = (self.folder / "unmodelled.cc").read_text()
        self.assertEqual(re.findall(r"HOLDFAST_ENTRY\((\w+)\)", forms), names)
        self.assertEqual(re.findall(r"weak]] int (\w+)\(\)", refusals), names)

    def test_version_and_stream_are_no_part_of_the_base(self) -> None:
        generate(self.folder, TABLE)
        forms = (self.folder / "forms.inc").read_text().splitlines()
        self.assertIn('HOLDFAST_FORM("cuMemAlloc", cuMemAlloc_v2, 3020, false)', forms)
        self.assertIn('HOLDFAST_FORM("cuGraphLaunch", cuGraphLaunch_ptsz, 10000, true)', forms)

    def test_short_line_is_named(self) -> None:
        table = self.folder / "table.tsv"
        table.write_text("# a comment\ncuInit\n")
        result = generate(self.folder, table)
        self.assertEqual(result.returncode, 1)
        self.assertIn("table.tsv:2: 3 columns wanted, found 1", result.stderr)


if __name__ == "__main__":
    unittest.main()
