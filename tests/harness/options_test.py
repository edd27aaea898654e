"""The option table and its parser: values, sources, refusals."""

from __future__ import annotations

import sys
import unittest
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from harness.cli import options
from harness.cli.options import Invocation, parse
from harness.cli.problems import UsageError


class OptionsTest(unittest.TestCase):
    def refused(self, *words: str, command: str = "run", environment: dict[str, str] | None = None) -> str:
        with self.assertRaises(UsageError) as caught:
            parse(command, words, environment or {})
        return str(caught.exception)

    def accepted(self, *words: str, command: str = "run", environment: dict[str, str] | None = None) -> Invocation:
        return parse(command, words, environment or {})


class ParseTest(OptionsTest):
    def test_a_value_follows_an_equals_sign_or_is_the_next_word(self) -> None:
        for words in (("--runs=3",), ("--runs", "3")):
            self.assertEqual(3, self.accepted(*words)["--runs"])

    def test_the_last_of_two_values_wins_and_a_repeatable_option_keeps_both(self) -> None:
        invocation = self.accepted("--runs=3", "--runs=4", "--fault=a", "--fault=b")
        self.assertEqual((4, ["a", "b"]), (invocation["--runs"], invocation["--fault"]))

    def test_positionals_stand_anywhere_and_two_dashes_end_the_options(self) -> None:
        self.assertEqual(("a", "b", "--c"), self.accepted("a", "--quiet", "b", "--", "--c").positionals)

    def test_the_options_are_kept_as_they_were_given(self) -> None:
        invocation = self.accepted("a", "--runs", "3", "--quiet", "--runs=4", "--", "--b")
        self.assertEqual(("--runs=3", "--quiet", "--runs=4"), invocation.words)

    def test_values_can_start_with_a_dash(self) -> None:
        self.assertEqual("-A2*", self.accepted("--filter", "-A2*")["--filter"])

    def test_the_command_line_outweighs_the_environment_and_that_the_default(self) -> None:
        environment = {"HOLDFAST_SEED": "1", "TESTBRIDGE_TEST_ONLY": "A*"}
        invocation = self.accepted("--seed=2", environment=environment)
        self.assertEqual((2, "A*", 1), tuple(invocation[name] for name in ("--seed", "--filter", "--runs")))
        sources = tuple(invocation.sources[name] for name in ("--seed", "--filter", "--runs"))
        self.assertEqual(("command line", "environment TESTBRIDGE_TEST_ONLY", "default"), sources)
        self.assertFalse(invocation.was_given("--runs"))

    def test_an_empty_variable_is_no_value(self) -> None:
        self.assertIsNone(self.accepted(environment={"TESTBRIDGE_TEST_ONLY": ""})["--filter"])

    def test_a_report_names_format_and_file(self) -> None:
        (target,) = self.accepted("--report=junit:a:b.xml")["--report"]
        self.assertEqual(("junit", "a:b.xml", False), tuple(target))

    def test_only_markdown_can_be_appended(self) -> None:
        (target,) = self.accepted("--report=markdown+:a+:b.md")["--report"]
        self.assertEqual(("markdown", "a+:b.md", True), tuple(target))
        self.assertEqual("markdown+:a+:b.md", str(target))
        self.assertIn("in markdown it can", self.refused("--report=junit+:a.xml"))
        self.assertIn("no report format", self.refused("--report=markdown++:a.md"))
        self.assertIn("more than once", self.refused("--report=markdown:a.md", "--report=markdown+:./a.md"))


class RefusalTest(OptionsTest):
    def test_an_unknown_option_gets_the_nearest_name(self) -> None:
        self.assertIn("did you mean --filter?", self.refused("--fliter=x"))
        self.assertNotIn("did you mean", self.refused("--zzzzzzzz"))

    def test_an_option_of_another_command_is_told_apart(self) -> None:
        self.assertEqual(
            "holdfast list has no option --plan; it belongs to run", self.refused("--plan=x", command="list")
        )

    def test_a_bare_number_is_no_duration(self) -> None:
        self.assertIn("has no unit: write 90s", self.refused("--timeout=90"))
        for word in ("--timeout=0s", "--timeout=0"):
            self.assertIn("no time at all", self.refused(word))
        self.assertIn("no duration", self.refused("--timeout=soon"))

    def test_contradictions_name_both_options(self) -> None:
        for first, second in (
            ("--quiet", "--verbose"),
            ("--fail-fast", "--max-failures=2"),
            ("--require-run", "--skip-exit-code=77"),
        ):
            message = self.refused(second, first)
            self.assertIn(first, message)
            self.assertIn(second.partition("=")[0], message)

    def test_the_environment_contradicts_nobody(self) -> None:
        invocation = self.accepted("--max-failures=2", environment={"TESTBRIDGE_TEST_RUNNER_FAIL_FAST": "1"})
        self.assertEqual((True, 2), (invocation["--fail-fast"], invocation["--max-failures"]))

    def test_a_report_has_a_known_format_and_a_path(self) -> None:
        self.assertIn("no report format 'pdf'", self.refused("--report=pdf:x"))
        self.assertIn("did you mean json?", self.refused("--report=jsn:x"))
        self.assertIn("did you mean bursts?", self.refused("--schedule=burst"))
        self.assertIn("names no file", self.refused("--report=json"))

    def test_a_report_needs_a_file_of_its_own(self) -> None:
        for path in (".", "/", "a/..", "a/"):
            self.assertIn("is a folder", self.refused(f"--report=json:{path}"))
        for first, second in (("a", "./a"), ("-", "-")):
            self.assertIn("more than once", self.refused(f"--report=json:{first}", f"--report=junit:{second}"))

    def test_a_number_with_thousands_of_digits(self) -> None:
        for option in ("--runs", "--first-run", "--timeout", "--skip-exit-code"):
            self.assertIn(option, self.refused(f"{option}={'9' * 5000}{'s' * (option == '--timeout')}"))

    def test_values_that_make_no_sense(self) -> None:
        for word in (
            "--runs=0",
            "--runs=-1",
            "--jobs=many",
            "--color=blue",
            "--seed=green",
            "--skip-exit-code=256",
            "--rss-limit-mb=0",
            "--driver=",
            "--max-failures=0",
            "--runs=³",
        ):
            with self.subTest(word=word):
                self.assertIn(word.partition("=")[0], self.refused(word))

    def test_flags_take_no_value_and_the_others_need_one(self) -> None:
        self.assertIn("takes no value", self.refused("--quiet=1"))
        self.assertIn("needs a value: --runs=N", self.refused("--runs"))

    def test_doctor_takes_no_argument(self) -> None:
        self.assertIn("'gpu'", self.refused("gpu", command="doctor"))


class TableTest(OptionsTest):
    def test_help_names_every_option_of_the_command(self) -> None:
        for command in options.COMMANDS:
            text = options.command_help(command.name)
            for option in options.options_of(command.name):
                self.assertIn(option.name, text)

    def test_general_help_names_every_command_and_exit_code(self) -> None:
        text = options.general_help()
        words: Sequence[str] = [command.name for command in options.COMMANDS]
        for word in (*words, "Exit codes", "130"):
            self.assertIn(word, text)

    def test_every_option_belongs_to_a_command(self) -> None:
        names = {command.name for command in options.COMMANDS}
        for option in options.OPTIONS:
            self.assertLessEqual(set(option.commands), names, option.name)
            self.assertTrue(option.commands, option.name)

    def test_contradictions_are_between_options_that_there_are(self) -> None:
        names = {option.name for option in options.OPTIONS}
        for first, second, _ in options.CONTRADICTIONS:
            self.assertLessEqual({first, second}, names)


if __name__ == "__main__":
    unittest.main()
