"""The table of kinds against the sources that make findings, both ways.

Method: read the sources, in the working tree that this file lies in. Every way in which a finding comes to be is looked
for by its form in the text, so that a new kind, and a new way, is noticed: a `Finding(` of the command whose kind is
not written there has to be known here.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

TREE = Path(os.path.realpath(__file__)).parents[2]
sys.path.insert(0, str(TREE))

from reports.finding_kinds import KINDS

_SOURCES = (".cc", ".h", ".py")

# Of the command: where a kind is taken from elsewhere, and from where.
_TAKEN_OVER = {
    ("events.py", "_text(entry['kind'])"),  # the events of the ledger, the order control and scenarios
    ("explore_command.py", "failure['verdict']"),  # the explorer's verdicts
    ("explore_command.py", "kind"),  # the head of a reason
    ("sanitizer.py", "kind"),
}


def _texts(*folders: str) -> Iterator[tuple[str, str]]:
    for folder in folders:
        for path in sorted((TREE / folder).rglob("*")):
            if path.suffix in _SOURCES and "__pycache__" not in path.parts:
                yield str(path.relative_to(TREE)), path.read_text()


def _of_the_ledger() -> set[str]:
    text = (TREE / "fault/ledger/finding.h").read_text()
    return set(re.findall(r'constexpr std::string_view k\w+ = "([a-z-]+)"', text))


def _of_the_explorer() -> set[str]:
    enumerators = (TREE / "harness/explore/verdict.h").read_text().partition("// The program cannot be explored.")[0]
    names = (TREE / "harness/explore/verdict.cc").read_text()
    return {re.findall(rf'case Verdict::{one}:\s+return "([a-z-]+)"', names)[0] for one in _verdicts(enumerators)}


def _verdicts(text: str) -> list[str]:
    return re.findall(r"^  (k\w+),$", text, re.MULTILINE)


def _of_scenarios_and_hosts() -> set[str]:
    """Findings that a program writes as an event, and those that scenarios name."""
    forms = (
        r'(?m)(?:^ +|\bcontext\.|\bself\.)[Ff]ind\("([a-z-]+)", ',
        r'"event":"finding","kind":"([a-z-]+)"',
        r'\{"kind", "([a-z-]+)"\}',
    )
    texts = [text for _, text in _texts("fault", "harness/scenario", "harness/python", "scenarios")]
    return {kind for form in forms for text in texts for kind in re.findall(form, text)}


def _of_the_command() -> tuple[set[str], set[tuple[str, str]]]:
    """The kinds that stand in calls of Finding, and the calls whose kind does not."""
    written: set[str] = set()
    taken_over: set[tuple[str, str]] = set()
    for name, text in _texts("harness/cli"):
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] != "Finding":
                continue
            kind = node.args[0]
            if isinstance(kind, ast.Constant):
                written.add(kind.value)
            else:
                taken_over.add((Path(name).name, ast.unparse(kind)))
    return written, taken_over


def _of_sanitizers() -> set[str]:
    text = (TREE / "harness/cli/sanitizer.py").read_text()
    kinds = [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "kind"
    ]
    return {constant.value for kind in kinds for constant in _chosen(kind)}


def _chosen(expression: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(expression, ast.IfExp):
        yield from _chosen(expression.body)
        yield from _chosen(expression.orelse)
    elif isinstance(expression, ast.Constant):
        yield expression


def _of_reasons() -> set[str]:
    text = (TREE / "harness/cli/explore_command.py").read_text()
    return set(re.findall(r'Verdict\.FAILED, f?"([a-z-]+): ', text))


class KindsTest(unittest.TestCase):
    def test_the_table_is_what_the_sources_can_make(self) -> None:
        written, _ = _of_the_command()
        made = {
            "the ledger": _of_the_ledger(),
            "the explorer": _of_the_explorer(),
            "scenarios and hosts": _of_scenarios_and_hosts(),
            "the command": written,
            "sanitizers": _of_sanitizers(),
            "reasons": _of_reasons(),
        }
        for source, kinds in made.items():
            self.assertTrue(kinds, f"nothing was found in the sources of {source}")
        self.assertEqual(set(KINDS), set().union(*made.values()))

    def test_there_is_no_other_way_to_make_a_finding(self) -> None:
        _, taken_over = _of_the_command()
        self.assertEqual(_TAKEN_OVER, taken_over)

    def test_each_kind_is_a_stable_word_with_three_texts(self) -> None:
        for word, kind in KINDS.items():
            with self.subTest(kind=word):
                self.assertRegex(word, r"^[a-z][a-z0-9-]*$")
                self.assertTrue(kind.title and len(kind.title) <= 60, kind.title)
                self.assertFalse(kind.title.endswith("."))
                for text in (kind.description, kind.help):
                    self.assertTrue(text.endswith("."), text)
                    self.assertLess(len(text), 1000)


if __name__ == "__main__":
    unittest.main()
