"""Text from anywhere, made fit to be shown: a subject's output may hold anything, and as much of it as it likes."""

from __future__ import annotations

from reports.counted import count_of
from reports.visible import visible


def plain(text: str) -> str:
    r"""The text with everything that cannot be seen written out, as in \x1b and \u202e. Tabs and line ends stay."""
    if text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in lines)


def one_line(text: str, most: int) -> str:
    """The text, visible and in one line of at most so many characters and the count of those that are left out."""
    return visible(shortened(text, most))


def shortened(text: str, most: int) -> str:
    """The beginning of a text, and how much of it is left out."""
    return text if len(text) <= most else f"{text[:most]} ... {count_of(len(text) - most, 'more character')}"


def tail(text: str, most: int) -> str:
    """The end of a text, and how much of it is left out."""
    return (
        text if len(text) <= most else f"{count_of(len(text) - most, 'more character')} ... {text[len(text) - most :]}"
    )
