"""Text out of a report, made fit for a terminal: nothing in it can move the cursor, colour what follows or vanish."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""The text with what cannot be printed written as \x1b or \u202e, line ends and tabs as \n and \t."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escape(letter) for letter in text)


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", errors="backslashreplace").decode("ascii")


def visible_lines(text: str) -> list[str]:
    """The same line by line, with tabs as spaces."""
    return [visible(line) for line in text.expandtabs().split("\n")]
