"""The help, the man page and the completions: each has what the table of options has, and the programs that read them
take them as they are.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from harness.cli import completions, help_command, options
from harness.cli.help_topics import TOPICS
from harness.cli.man_page import man_page
from harness.cli.options import parse
from harness.cli.problems import UsageError
from harness.cli.values import REPORT_FORMATS
from harness.cli.verdict import ExitCode


def _help(*words: str) -> str:
    out = io.StringIO()
    help_command.run(parse("help", words, {}), out)
    return out.getvalue()


def _script(shell: str) -> str:
    out = io.StringIO()
    completions.run(parse("completions", [shell], {}), out)
    return out.getvalue()


class HelpTest(unittest.TestCase):
    def test_it_lists_every_command_and_topic_and_tells_of_each(self) -> None:
        names = [*(command.name for command in options.COMMANDS), *(topic.name for topic in TOPICS)]
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertRegex(_help(), rf"(?m)^  {name} +\w")
            self.assertIn(name, _help(name))

    def test_what_it_does_not_know_is_refused_with_the_nearest(self) -> None:
        with self.assertRaisesRegex(UsageError, "did you mean exit-codes"):
            _help("exit-code")
        with self.assertRaises(UsageError):
            _help("run", "plans")
        with self.assertRaises(UsageError):
            _help("run", "--man")

    def test_the_topics_know_what_the_tables_know(self) -> None:
        for code in ExitCode:
            self.assertRegex(_help("exit-codes"), rf"(?m)^  (\d+, )?{code.value}(,|$)")
        formats = re.findall(r"(?m)^  (\w+)$", _help("reports"))
        self.assertEqual(sorted(REPORT_FORMATS), sorted(formats))
        for option in options.OPTIONS:
            self.assertIn(option.variable, _help("environment"))

    def test_no_line_is_wider_than_a_terminal_of_a_hundred_columns(self) -> None:
        for topic in TOPICS:
            self.assertLessEqual(max(map(len, _help(topic.name).splitlines())), 100, topic.name)


class ManPageTest(unittest.TestCase):
    def test_every_option_of_every_command_is_there(self) -> None:
        page = _help("--man")
        self.assertEqual(man_page(), page)
        parts = re.split(r"(?m)^\.S[SH] ", page)
        for command in options.COMMANDS:
            part = next(part for part in parts if re.match(rf"holdfast {command.name}\b", part))
            for option in options.options_of(command.name):
                name = option.name.replace("-", "\\-")
                self.assertRegex(part, rf"(?m)^\\fB{re.escape(name)}(=|\\fR$)", command.name)
            for verb in command.verbs:
                self.assertRegex(part, rf"(?m)^\\fB{verb.name} .*\n{re.escape(verb.summary)}$", command.name)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_has_no_complaint(self) -> None:
        command = ["groff", "-man", "-ww", "-K", "utf8", "-T", "utf8"]
        done = subprocess.run(command, input=man_page(), capture_output=True, text=True, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertGreater(len(done.stdout.splitlines()), 100)

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_man_has_no_complaint(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "holdfast.1"
            page.write_text(man_page())
            command = ["man", "--warnings", "--local-file", str(page)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr))


class CompletionsTest(unittest.TestCase):
    def test_every_option_of_every_command_is_there(self) -> None:
        for shell, form in (
            ("bash", "{name}"),
            ("zsh", "{name}"),
            ("fish", "-l {bare} "),
        ):
            script = _script(shell)
            for command in options.COMMANDS:
                part = self._part(shell, script, command.name)
                for option in options.options_of(command.name):
                    with self.subTest(shell=shell, command=command.name, option=option.name):
                        wanted = form.format(name=option.name, bare=option.name.removeprefix("--"))
                        self.assertIn(wanted, part)

    def test_every_verb_is_there_and_where_reports_are_read_files(self) -> None:
        for shell, files in (("bash", "paths=1 ;;"), ("zsh", "*:report:_files"), ("fish", " -F")):
            script = _script(shell)
            for command in options.COMMANDS:
                part = self._part(shell, script, command.name)
                self.assertIn(" ".join(verb.name for verb in command.verbs), part, shell)
                if command.name in ("gate", "report", "replay"):
                    last = [line for line in part.splitlines() if line.strip(" ;")][-1]
                    self.assertIn(files, part if shell == "bash" else last, shell)

    def _part(self, shell: str, script: str, command: str) -> str:
        """What a script says about one command."""
        if shell == "fish":
            return "\n".join(line for line in script.splitlines() if f"seen_subcommand_from {command}'" in line)
        start = script.index(f"\n    {'    ' if shell == 'zsh' else ''}{command})")
        return script[start : script.index(";;\n", script.index("--help", start) if shell == "bash" else start)]

    def test_another_shell_is_refused(self) -> None:
        with self.assertRaisesRegex(UsageError, "bash, zsh, fish"):
            _script("tcsh")

    def _complete_in_bash(self, *words: str) -> list[str]:
        """What bash offers for the last word, after it split the line as it does."""
        split = [part for word in words for part in re.findall(r"[=:]|[^=:]+|^$", word)]
        line = " ".join(map(shlex.quote, ["holdfast", *split]))
        program = f"{_script('bash')}\nCOMP_WORDS=({line}); COMP_CWORD={len(split)}; _holdfast\n"
        program += 'printf "%s\\n" "${COMPREPLY[@]}"\n'
        done = subprocess.run(["bash", "-u"], input=program, capture_output=True, text=True, check=False)
        self.assertEqual("", done.stderr)
        return done.stdout.split()

    def test_bash_offers_commands_options_and_values(self) -> None:
        self.assertEqual(["run"], self._complete_in_bash("ru"))
        self.assertEqual(
            ["--search="],
            self._complete_in_bash(
                "explore",
                "--se",
            )[:1],
        )
        self.assertEqual([], self._complete_in_bash("list", "--repo"))
        self.assertEqual(["auto", "model", "real"], self._complete_in_bash("run", "--driver=")[:3])
        self.assertEqual(["markdown:", "markdown+:"], self._complete_in_bash("run", "--report=ma"))
        self.assertEqual(["merge"], self._complete_in_bash("report", "me"))
        self.assertIn(__file__, self._complete_in_bash("gate", __file__.removesuffix("test.py")))
        self.assertEqual(["github"], self._complete_in_bash("run", "--annotations="))
        self.assertEqual(["replay:"], self._complete_in_bash("run", "--schedule", "rep"))
        self.assertEqual(
            ["exit-codes"],
            self._complete_in_bash(
                "help",
                "ex",
            )[1:],
        )
        self.assertEqual(["zsh"], self._complete_in_bash("completions", "z"))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_loads_it(self) -> None:
        program = f"autoload -Uz compinit && compinit -D -u\n{_script('zsh')}\nprint -r -- $_comps[holdfast]\n"
        done = subprocess.run(["zsh", "-f", "-s"], input=program, capture_output=True, text=True, check=False)
        self.assertEqual((0, "_holdfast\n", ""), (done.returncode, done.stdout, done.stderr))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_offers_options_and_values(self) -> None:
        program = f"{_script('fish')}\ncomplete -C 'holdfast explore --se'\ncomplete -C 'holdfast run --report=ma'\n"
        done = subprocess.run(["fish", "--no-config"], input=program, capture_output=True, text=True, check=False)
        offered = [line.split("\t")[0] for line in done.stdout.splitlines()]
        self.assertEqual(["--search", "--seed", "--report=markdown:", "--report=markdown+:"], offered, done.stderr)


if __name__ == "__main__":
    unittest.main()
