"""`holdfast help`: commands and topics in the terminal, or all of it as a man page."""

from __future__ import annotations

import textwrap
from typing import TextIO

from harness.cli import options
from harness.cli.help_topics import TOPICS, Topic
from harness.cli.man_page import man_page
from harness.cli.options import Invocation
from harness.cli.problems import UsageError
from harness.cli.verdict import ExitCode
from reports.nearest import nearest

_WIDTH = 100


def run(invocation: Invocation, out: TextIO) -> ExitCode:
    """Prints the help that is asked for. Raises UsageError if there is no such topic."""
    words = invocation.positionals
    if invocation["--man"]:
        if words:
            raise UsageError(f"--man prints the whole manual, and {words[0]!r} is a part of it")
        out.write(man_page())
    elif len(words) > 1:
        raise UsageError(f"holdfast help takes one topic, and {len(words)} are given")
    else:
        out.write(_topic(words[0]) if words else _overview())
    return ExitCode.ALL_MET


def _overview() -> str:
    lines = [f"  {topic.name:<12} {topic.summary}" for topic in TOPICS]
    return "\n".join([options.general_help(), "Topics, for holdfast help TOPIC; a command is one too:", "", *lines, ""])


def _topic(name: str) -> str:
    commands = [command.name for command in options.COMMANDS]
    if name in commands:
        return options.command_help(name)
    for topic in TOPICS:
        if topic.name == name:
            return "\n".join(_lines(topic)) + "\n"
    hint = nearest(name, [*commands, *(topic.name for topic in TOPICS)], "; holdfast help has them all")
    raise UsageError(f"there is no topic {name!r}{hint}")


def _lines(topic: Topic) -> list[str]:
    lines = [f"{topic.name}: {topic.summary}"]
    after_term = False
    for part in topic.parts:
        if isinstance(part, str):
            lines += ["", *textwrap.wrap(part, _WIDTH)]
        else:
            lines += ([] if after_term else [""]) + [f"  {part[0]}"]
            lines += textwrap.wrap(part[1], _WIDTH, initial_indent="      ", subsequent_indent="      ")
        after_term = not isinstance(part, str)
    return lines
