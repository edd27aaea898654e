"""Every format with 100,000 cases: within twenty seconds of a processor and one GiB, the record itself included.

Method: each format in a process of its own, which may not hold more memory than that, and which says what it took. The
seconds are those of the processor, so that whatever else the machine does has no part in it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import unittest
from pathlib import Path

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

from harness.cli.report_files import RENDERERS
from reports.read_json_lines import read_json_lines
from reports.read_report import read_report
from tests.reports.hostile_records import large_record

CASES = 100_000
MOST_SECONDS = 20.0
MOST_BYTES = 1 << 30

# Reading back is measured where there is a reader.
_READERS = {"json": read_report, "jsonl": read_json_lines}


class ScaleTest(unittest.TestCase):
    def test_each_format_holds_100_000_cases(self) -> None:
        for name in sorted(RENDERERS):
            with self.subTest(format=name):
                took = self._measure("render", name)
                self.assertLessEqual(took["seconds"], MOST_SECONDS)

    def test_each_full_report_of_100_000_cases_reads_back(self) -> None:
        for name in _READERS:
            with self.subTest(format=name):
                took = self._measure("read", name)
                self.assertLessEqual(took["seconds"], MOST_SECONDS)

    def _measure(self, what: str, name: str) -> dict[str, float]:
        command = [sys.executable, __file__, "--child", what, name]
        child = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(0, child.returncode, child.stderr[-2000:])
        took: dict[str, float] = json.loads(child.stdout)
        print(f"{what} {name}: {took['seconds']:.1f} s, {took['peak_mib']:.0f} MiB, {took['bytes'] / 1e6:.1f} MB")
        return took


def _child(what: str, name: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    record = large_record(CASES)
    began = time.process_time()
    content = RENDERERS[name](record)
    if what == "read":
        del record
        began = time.process_time()
        _READERS[name](content)
    seconds = time.process_time() - began
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mib": peak_mib, "bytes": len(content)}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2], sys.argv[3])
    else:
        unittest.main()
