"""`holdfast completions SHELL`: a script that completes commands, options and their values, made from the table.

bash    source <(holdfast completions bash)
zsh     holdfast completions zsh > a folder of $fpath, as _holdfast
fish    holdfast completions fish | source
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TextIO

from harness.cli import options, values
from harness.cli.help_topics import TOPICS
from harness.cli.options import Command, Invocation, Option
from harness.cli.problems import UsageError
from harness.cli.verdict import ExitCode
from reports.nearest import nearest

_GENERAL = ("--help", "--version")
_PATHS = ("FILE", "DIR", "PATH", "REPORT")


def run(invocation: Invocation, out: TextIO) -> ExitCode:
    """Prints the script. Raises UsageError if there is none for that shell."""
    words = invocation.positionals
    if len(words) != 1 or words[0] not in SHELLS:
        hint = nearest(words[0], SHELLS) if words else ""
        raise UsageError(f"holdfast completions takes the name of a shell: {', '.join(SHELLS)}{hint}")
    out.write("\n".join(SHELLS[words[0]]()) + "\n")
    return ExitCode.ALL_MET


def words_for(command: Command) -> list[str]:
    """What may stand behind a command besides options, where that is known beforehand."""
    if command.name == "help":
        return [*(other.name for other in options.COMMANDS), *(topic.name for topic in TOPICS)]
    if command.name == "completions":
        return list(SHELLS)
    return [verb.name for verb in command.verbs]


def takes_files(command: Command) -> bool:
    """Whether reports or other files may stand behind a command, or behind its verb."""
    forms = [command.positional, *(verb.positional for verb in command.verbs)]
    return any(re.search(r"\b(REPORT|OLD|FILE)\b", form) for form in forms)


def choices(option: Option) -> list[str]:
    """The values of an option that are known beforehand; those that end with a colon go on."""
    if option.metavar == "FORMAT:PATH":
        appending = {name: f"{name}{values.APPENDS}:" for name in values.APPENDABLE}
        return [word for name in values.REPORT_FORMATS for word in (f"{name}:", appending.get(name)) if word]
    parts = option.metavar.split("|")
    return [part.removesuffix("STRING") for part in parts if re.fullmatch("[a-z0-9]+(:STRING)?", part)]


def takes_path(option: Option) -> bool:
    return option.metavar.split("|")[-1] in _PATHS


def _bash() -> Iterator[str]:
    yield from ("# Completes holdfast in bash.", "_holdfast() {")
    # Bash takes = and : for the ends of words, so an option with a value is several.
    yield "  local word=${COMP_WORDS[COMP_CWORD]} option='' command=${COMP_WORDS[1]} known='' paths=''"
    yield "  if [[ $word == = ]]; then option=${COMP_WORDS[COMP_CWORD-1]} word=''"
    yield "  elif [[ ${COMP_WORDS[COMP_CWORD-1]} == = ]]; then option=${COMP_WORDS[COMP_CWORD-2]}"
    yield "  elif [[ ${COMP_WORDS[COMP_CWORD-1]} == --* ]]; then option=${COMP_WORDS[COMP_CWORD-1]}; fi"
    yield '  if [[ $COMP_CWORD -eq 1 ]]; then known="' + " ".join((*_names(), *_GENERAL)) + '"; fi'
    yield "  case $command in"
    for command in options.COMMANDS:
        own = options.options_of(command.name)
        yield f"    {command.name})"
        yield "      case $option in"
        for option in own:
            if not option.is_flag:
                yield f"        {option.name}) known='{' '.join(choices(option))}' paths={int(takes_path(option))} ;;"
        words = [*words_for(command), *map(_as_typed, own), *_GENERAL]
        yield f"        *) [[ $COMP_CWORD -gt 1 ]] && known='{' '.join(words)}' paths={int(takes_files(command))} ;;"
        yield from ("      esac", "      ;;")
    yield "  esac"
    yield "  if [[ $paths == 1 ]]; then compopt -o filenames 2> /dev/null; fi"
    yield '  mapfile -t COMPREPLY < <(compgen -W "$known" -- "$word"; [[ $paths != 1 ]] || compgen -f -- "$word")'
    yield "  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ]]; then compopt -o nospace 2> /dev/null; fi"
    yield from ("}", "complete -F _holdfast holdfast")


def _zsh() -> Iterator[str]:
    yield from ("#compdef holdfast", "# Completes holdfast in zsh.", "_holdfast() {", "  local state line")
    yield "  _arguments -C '(- *)--help[tell what there is]' '(- *)--version[print the version]' \\"
    yield "    '1:command:->command' '*::argument:->argument'"
    yield from ("  case $state in", "    command)", "      local -a commands=(")
    for command in options.COMMANDS:
        yield f"        {_quoted(f'{command.name}:{command.summary}')}"
    yield from ("      )", "      _describe command commands", "      ;;", "    argument)", "      case $line[1] in")
    for command in options.COMMANDS:
        yield f"        {command.name}) _arguments \\"
        for option in options.options_of(command.name):
            yield f"          {_quoted(_zsh_option(option))} \\"
        yield f"          {' '.join(map(_quoted, _zsh_words(command)))} ;;"
    yield from ("      esac", "      ;;", "  esac", "}")
    yield 'if [[ $funcstack[1] == _holdfast ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi'


def _zsh_words(command: Command) -> list[str]:
    """What may stand behind a command: a verb stands first, and before files."""
    words = f"({' '.join(words_for(command))})"
    if command.verbs:
        return [f"1:verb:{words}", "*:report:_files"]
    if takes_files(command):
        return ["*:report:_files"]
    return [f"*:word:{words}" if words_for(command) else "*:name: "]


def _zsh_option(option: Option) -> str:
    many = "*" if option.repeats else ""
    help_text = re.sub(r"([\[\]\\])", r"\\\1", option.help).replace(":", "\\:")
    if option.is_flag:
        return f"{many}{option.name}[{help_text}]"
    known = " ".join(choice.replace(":", "\\:") for choice in choices(option))
    action = "_files" if takes_path(option) else f"({known})" if known else " "
    return f"{many}{option.name}=[{help_text}]:{option.metavar.replace(':', chr(92) + ':')}:{action}"


def _fish() -> Iterator[str]:
    yield "# Completes holdfast in fish."
    yield "complete -c holdfast -f"
    for general in _GENERAL:
        yield f"complete -c holdfast -l {general.removeprefix('--')}"
    for command in options.COMMANDS:
        first = "__fish_use_subcommand"
        yield f"complete -c holdfast -n {first} -a {command.name} -d {_quoted_for_fish(command.summary)}"
        there = f"'__fish_seen_subcommand_from {command.name}'"
        for option in options.options_of(command.name):
            line = f"complete -c holdfast -n {there} -l {option.name.removeprefix('--')}"
            if not option.is_flag:
                line += " -r" if takes_path(option) else " -x"
            if not option.is_flag and choices(option):
                line += f" -a {_quoted_for_fish(' '.join(choices(option)))}"
            if takes_path(option):
                line += " -F"
            yield f"{line} -d {_quoted_for_fish(option.help)}"
        if words_for(command):
            yield f"complete -c holdfast -n {there} -a {_quoted_for_fish(' '.join(words_for(command)))}"
        if takes_files(command):
            yield f"complete -c holdfast -n {there} -F"


def _names() -> list[str]:
    return [command.name for command in options.COMMANDS]


def _as_typed(option: Option) -> str:
    return option.name if option.is_flag else f"{option.name}="


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _quoted_for_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[], Iterator[str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
