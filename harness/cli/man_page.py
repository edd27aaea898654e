"""The manual as a man page, made from the table of options and the topics of the help."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.cli import options
from harness.cli.help_topics import TOPICS, Topic
from harness.cli.version import VERSION


def man_page() -> str:
    """holdfast(1), for man's macros."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH HOLDFAST 1 "" "Holdfast {VERSION}" "User Commands"'
    yield ".SH NAME"
    yield "holdfast \\- finds lifetime bugs of CUDA graphs by breaking drivers and orders of threads on purpose"
    yield ".SH SYNOPSIS"
    for command in options.COMMANDS:
        yield f"\\fBholdfast {_text(command.name)}\\fR [OPTIONS] {_text(command.positional)}".rstrip()
        yield ".br"
    yield ".SH DESCRIPTION"
    yield _text(
        "Each case runs in a process of its own, under a driver shim that fails, delays and reorders driver calls and "
        "destructors as a plan says. What breaks a promise is a finding, with the commands that take it again."
    )
    yield ".SH COMMANDS"
    for command in options.COMMANDS:
        yield f".SS holdfast {_text(' '.join((command.name, command.positional)).strip())}"
        yield _text(f"{command.summary[0].upper()}{command.summary[1:]}.")
        for verb in command.verbs:
            yield from _definition(f"{_text(verb.name)} \\fI{_text(verb.positional)}\\fB", verb.summary)
        for option in options.options_of(command.name):
            head = _text(option.name)
            yield from _definition(head if option.is_flag else f"{head}=\\fI{_text(option.metavar)}\\fB", option.notes)
    for topic in TOPICS:
        yield from _topic(topic)


def _topic(topic: Topic) -> Iterator[str]:
    # The names under which readers of man pages look for the two.
    title = {"exit-codes": "EXIT STATUS", "environment": "ENVIRONMENT"}.get(topic.name, topic.name.upper())
    yield f".SH {_text(title)}"
    for number, part in enumerate(topic.parts):
        if isinstance(part, tuple):
            yield from _definition(_text(part[0]), part[1])
        else:
            yield from ([".PP"] if number else [])
            yield _text(part)


def _definition(term: str, meaning: str) -> Iterator[str]:
    """`term` is marked up already."""
    yield ".TP"
    yield f"\\fB{term}\\fR"
    yield _text(meaning)


def _text(text: str) -> str:
    """Text in which nothing means anything to roff."""
    escaped = re.sub(r"[\\'`^~\"-]", lambda match: _ESCAPES[match[0]], text)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


_ESCAPES = {
    "\\": "\\e",
    "'": "\\(aq",
    "`": "\\(ga",
    "^": "\\(ha",
    "~": "\\(ti",
    '"': "\\(dq",
    "-": "\\-",
}
