"""The schema of a plan and the loader agree on every plan of data/, and the loader says where a plan is wrong.

data/valid        both accept
data/invalid      both refuse
data/unloadable   the schema accepts and the loader refuses, since only the loader can know

The first line of a refused plan, `// expect: TEXT`, is in the loader's sentence. Plans of another format are elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import unittest
from pathlib import Path
from typing import Any

import jsonschema

RUNFILES = Path(os.environ.get("TEST_SRCDIR", ".")) / os.environ.get("TEST_WORKSPACE", "")
LOADER = Path(os.environ.get("HOLDFAST_PLAN_TOOL", RUNFILES / "fault/plan/holdfast_plan"))
SCHEMA = Path(os.environ.get("HOLDFAST_PLAN_SCHEMA", RUNFILES / "fault/plan/plan.schema.json"))
DATA = Path(__file__).parent / "data"
COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text: str) -> str:
    """The document with its comments blanked; strings that look like comments stay."""
    return COMMENT_OR_STRING.sub(lambda match: match.group() if match.group().startswith('"') else " ", text)


def schema_accepts(path: Path) -> bool:
    """Whether the file is JSON (with comments) that the schema accepts."""
    try:
        document: Any = json.loads(without_comments(path.read_text(encoding="utf-8")))
    except ValueError:
        return False
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(schema).is_valid(document)


def load(path: Path) -> subprocess.CompletedProcess[str]:
    """What holdfast_plan says of the file."""
    command = [str(LOADER), f"--plan={path}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def plans(folder: str) -> list[Path]:
    """The plans of one folder; never none."""
    found = sorted((DATA / folder).glob("*.json"))
    assert found, f"no plans in {DATA / folder}"
    return found


def expected_text(path: Path) -> str:
    """What the loader's sentence has to contain."""
    first = path.read_bytes().split(b"\n", 1)[0].decode()
    return first.removeprefix("// expect: ") if first.startswith("// expect: ") else ""


class PlanSchemaTest(unittest.TestCase):
    """Each plan of data/ against the schema and the loader."""

    def test_schema_is_a_schema(self) -> None:
        jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA.read_text(encoding="utf-8")))

    def test_both_accept_valid_plans(self) -> None:
        for path in plans("valid"):
            with self.subTest(path.stem):
                result = load(path)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue(schema_accepts(path))

    def test_normalised_plans_are_valid_and_stable(self) -> None:
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        scratch = Path(os.environ.get("TEST_TMPDIR", "/tmp")) / "normalised_plan.json"
        for path in plans("valid"):
            with self.subTest(path.stem):
                first = load(path).stdout
                plan = json.loads(first)["plan"]
                jsonschema.Draft202012Validator(schema).validate(plan)
                scratch.write_text(json.dumps(plan), encoding="utf-8")
                self.assertEqual(load(scratch).stdout, first)

    def test_both_refuse_invalid_plans(self) -> None:
        for path in plans("invalid"):
            with self.subTest(path.stem):
                self.check_refusal(path)
                self.assertFalse(schema_accepts(path))

    def test_only_the_loader_refuses_unloadable_plans(self) -> None:
        for path in plans("unloadable"):
            with self.subTest(path.stem):
                self.check_refusal(path)
                self.assertTrue(schema_accepts(path))

    def check_refusal(self, path: Path) -> None:
        """Exit code 2, and one line on stderr that names the file and the place."""
        result = load(path)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith(f"holdfast: {path}: "), result.stderr)
        self.assertIn(f": {expected_text(path)}", result.stderr)


if __name__ == "__main__":
    unittest.main()
