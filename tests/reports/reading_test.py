"""What reports and policies are read with: strict JSON, structures with a pointer to what is wrong, visible text."""

from __future__ import annotations

import dataclasses
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from reports.commented_json import load, load_without_comments, without_comments
from reports.counted import count_of
from reports.name_glob import matches_glob, matches_name
from reports.structure import StructureError, Structures
from reports.visible import by_reference, for_log, inert, lines_for_log, visible


@dataclasses.dataclass(frozen=True)
class Leaf:
    number: int | float
    text: str = "x"


@dataclasses.dataclass(frozen=True)
class Tree:
    leaves: tuple[Leaf, ...]
    by_name: dict[str, Leaf]
    maybe: Leaf | None
    part: float | None
    anything: Any


WHOLE: dict[str, Any] = {
    "leaves": [{"number": 1, "text": "a"}, {"number": 1.5, "text": "b"}],
    "by_name": {"a/b": {"number": 2, "text": "c"}},
    "maybe": None,
    "part": 3,
    "anything": [1, "x"],
}


def broken(**members: Any) -> dict[str, Any]:
    return {**WHOLE, **members}


class StructureTest(unittest.TestCase):
    def test_a_whole_value(self) -> None:
        read = Structures().reader(Tree)
        self.assertEqual(Tree((Leaf(1, "a"), Leaf(1.5, "b")), {"a/b": Leaf(2, "c")}, None, 3, (1, "x")), read(WHOLE))
        self.assertEqual(Leaf(1, "a"), read(broken(maybe={"number": 1, "text": "a"})).maybe)

    def test_what_is_wrong_is_told_with_a_pointer(self) -> None:
        for value, says in (
            ([], "/: it is no object"),
            ({}, "/: it lacks the member 'anything'"),
            (broken(more=1), "/: it has the unknown member 'more'"),
            (broken(leaves={}), "/leaves: it is no array"),
            (
                broken(leaves=[WHOLE["leaves"][0], {"number": "1", "text": ""}]),
                "/leaves/1/number: it has a value of a wrong",
            ),
            (broken(leaves=[{"number": True, "text": ""}]), "/leaves/0/number"),
            (broken(leaves=[{"number": 1, "text": None}]), "/leaves/0/text: it is no string"),
            (broken(leaves=[{"number": 1}]), "/leaves/0: it lacks the member 'text'"),
            (broken(by_name={"a/~": 1}), "/by_name/a~1~0: it is no object"),
            (broken(maybe=3), "/maybe: it is no object"),
            (broken(part="3"), "/part: it has a value of a wrong type: '3'"),
        ):
            with self.subTest(says=says), self.assertRaises(StructureError) as caught:
                Structures().reader(Tree)(value)
            self.assertIn(says, str(caught.exception))

    def test_with_defaults_members_may_be_left_out_and_have_dashes(self) -> None:
        read = Structures(defaults=True).reader(Leaf)
        self.assertEqual(Leaf(1), read({"number": 1}))
        with self.assertRaisesRegex(StructureError, "lacks the member 'number'"):
            read({})
        self.assertIn("by-name", str(self.refused(Structures(defaults=True).reader(Tree), {"by_name": {}})))

    def refused(self, read: Any, value: Any) -> StructureError:
        with self.assertRaises(StructureError) as caught:
            read(value)
        return caught.exception


class CountTest(unittest.TestCase):
    def test_one_and_many(self) -> None:
        self.assertEqual(["0 cases", "1 case", "2 cases"], [count_of(number, "case") for number in range(3)])
        self.assertEqual(("1 canary", "1,000 canaries"), tuple(count_of(n, "canary", "canaries") for n in (1, 1000)))


class StrictJsonTest(unittest.TestCase):
    def test_what_python_would_take(self) -> None:
        for text in ("NaN", "-Infinity", "1e999", "-1e999", "9" * 21, '{"a": 1, "a": 1}'):
            with self.subTest(text=text[:10]), self.assertRaises(ValueError):
                load_without_comments(text.encode())
        self.assertEqual([18446744073709551615, 1.5, -3], load_without_comments(b"[18446744073709551615, 1.5, -3]"))

    def test_what_is_no_plain_utf_8(self) -> None:
        for read in (load, load_without_comments):
            for encoding, says in (("utf-8-sig", "byte order mark"), ("utf-16", "no UTF-8"), ("utf-32", "no UTF-8")):
                with self.assertRaisesRegex(ValueError, says):
                    read('{"a": 1}'.encode(encoding))
            with self.assertRaisesRegex(ValueError, "Expecting|Extra|delimiter|JSON"):
                read('{"a": 1}'.encode("utf-16-le"))

    def test_comments(self) -> None:
        self.assertEqual(
            {"a": "// no /* comment */", "b": "\\"}, load(b'{"a": "// no /* comment */", /*\n*/ "b": "\\\\"} // x')
        )
        text = '{"a": 1, /* two\nlines */ "b": 2}'
        self.assertEqual(
            [len(line) for line in text.split("\n")], [len(line) for line in without_comments(text).split("\n")]
        )
        for broken_text in (b'{"a": 1 /* open', b'{"a": / 1}', b'"open // string'):
            with self.assertRaises(ValueError):
                load(broken_text)


class TextTest(unittest.TestCase):
    def test_nothing_invisible_is_left(self) -> None:
        self.assertEqual("plain ü", visible("plain ü"))
        self.assertEqual(r"\x1b[31m\ud800\u202e\t\n\x7f", visible("\x1b[31m\ud800\u202e\t\n\x7f"))
        for text, shown in (
            ("::error::x", r"\x3a:error::x"),
            ("  ::error::x", r"  \x3a:error::x"),
            ("a::b", "a::b"),
            ("a ##[error]", r"a \x23#[error]"),
            ("###[x ##vso[y", r"#\x23#[x \x23#vso[y"),
            ("##teamcity[a]", r"\x23#teamcity[a]"),
            ("## title", "## title"),
            ("section_start:1:x\r\x1b[0K", r"\x73ection_start:1:x\r\x1b[0K"),
            ("x\n::y", r"x\n::y"),
        ):
            self.assertEqual(shown, for_log(text))
            self.assertEqual(shown, for_log(shown))
        self.assertEqual("a\n &#58;:b", inert("a\n ::b", by_reference))
        self.assertEqual(["a" + " " * 7 + "b", r"\r"], lines_for_log("a\tb\n\r"))

    def test_globs_know_the_star_and_the_question_mark_only(self) -> None:
        self.assertTrue(matches_name("a?c*", "abcd\n"))
        self.assertFalse(matches_name("[ab]", "a"))
        self.assertTrue(matches_glob("A1.*", "A1.x", "v"))
        self.assertTrue(matches_glob("*/v", "A1.x", "v"))
        self.assertFalse(matches_glob("A1", "A1.x", "v"))


if __name__ == "__main__":
    unittest.main()
