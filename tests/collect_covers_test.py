"""What a test says it covers: how the comment is read, and which comments are refused."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parent))

from collect_covers import CoverError, covers_of

SOURCE = "tests/lib/graph/graph_test.cc"


class CollectCoversTest(unittest.TestCase):
    def collect(self, text: str) -> list[tuple[str, list[str]]]:
        return list(covers_of(SOURCE, text))

    def test_a_comment_right_above_a_test_names_what_it_covers(self) -> None:
        for macro in ("TEST", "TEST_F", "TEST_P"):
            self.assertEqual(
                [("//tests/lib/graph:graph_test#GraphTest.Adds", ["IH-01", "NU-K"])],
                self.collect(
                    f"// Covers: IH-01, NU-K.\n{macro}(GraphTest, Adds) {{\n}}\n\nTEST(GraphTest, Other) {{}}\n"
                ),
            )

    def test_a_list_goes_on_in_the_next_line_and_ends_with_a_full_stop(self) -> None:
        self.assertEqual(
            [("//tests/lib/graph:graph_test#A.B", ["A1", "DL-04", "U13"])],
            self.collect("// Covers: A1,\n// DL-04, U13. What else there is to say.\n// Much.\nTEST(A,\n     B) {}\n"),
        )

    def test_functions_of_pytest_say_it_too_above_their_decorators(self) -> None:
        source = "tests/python/some_test.py"
        text = '# Covers: GB-01,\n# NU-K.\n@mark(\n    "a", [1]\n)\n@other\ndef test_it(a: int) -> None:\n'
        self.assertEqual([("//tests/python:some_test#test_it", ["GB-01", "NU-K"])], list(covers_of(source, text)))
        with self.assertRaisesRegex(CoverError, "some_test.py:1: "):
            list(covers_of(source, "# Covers: GB-01.\ndef helper() -> None:\n    pass\n"))

    def test_a_comment_that_says_nothing_useful_is_refused_with_its_line(self) -> None:
        for text in (
            "\n// Covers: IH-01.\n\nTEST(A, B) {}\n",
            "\n// Covers: .\nTEST(A, B) {}\n",
            "\n// Covers: IH-01 and more\nTEST(A, B) {}\n",
            "\n// Covers: IH-01.\nclass A {};\n",
        ):
            with self.assertRaisesRegex(CoverError, "graph_test.cc:2: "):
                self.collect(text)


if __name__ == "__main__":
    unittest.main()
