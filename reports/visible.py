"""Text out of a report or a subject, made fit for a terminal and for the log of a forge: nothing in it can move the
cursor, colour what follows or vanish, and no line of it is a command.

Forges take some lines of a log for commands: GitHub those that begin with :: behind any spaces, and ##[ wherever it
stands; Azure ##vso[; TeamCity ##teamcity[; GitLab section_start: and section_end:.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ANYWHERE = re.compile(r"#(?=#[A-Za-z]*\[)")
_COMMAND = re.compile(r"(^[^\S\n]*)(:(?=:)|s(?=ection_(?:start|end):))|#(?=#[A-Za-z]*\[)", re.MULTILINE)


def visible(text: str) -> str:
    r"""The text with what cannot be printed written as \x1b or \u202e, line ends and tabs as \n and \t."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escape(letter) for letter in text)


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", errors="backslashreplace").decode("ascii")


def _in_digits(letter: str) -> str:
    return f"\\x{ord(letter):02x}"


def inert(text: str, written: Callable[[str], str] = _in_digits) -> str:
    r"""The text with the first letter of whatever a forge would take for a command written otherwise, as in \x3a:error.

    For a format in which a letter can be written in another way and is read as itself, `written` knows that way.
    """
    return _COMMAND.sub(lambda match: (match[1] or "") + written(match[2] or match[0]), text)


def inert_json(text: str) -> str:
    """JSON with the same value, in which nothing is a command wherever it stands; no line of JSON begins as one."""
    return _ANYWHERE.sub(r"\\u0023", text) if "##" in text else text


def by_reference(letter: str) -> str:
    """The letter as XML and HTML can have it as well."""
    return f"&#{ord(letter)};"


def for_log(text: str) -> str:
    """The text in one line of what a command prints."""
    return inert(visible(text))


def lines_for_log(text: str) -> list[str]:
    """The same line by line, with tabs as spaces."""
    return [for_log(line) for line in text.expandtabs().split("\n")]
