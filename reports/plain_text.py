"""Text from anywhere, made fit to be shown: a subject's output may hold anything, and as much of it as it likes."""

from __future__ import annotations

import re

# Controls, what turns the direction of writing, separators that only some readers take for line ends, and what no
# encoding of Unicode can hold.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """The text with everything that cannot be seen written out, as in \\x1b and \\u202e. Tabs and line ends stay."""
    return _HIDDEN.sub(_written_out, text.replace("\r\n", "\n"))


def _written_out(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def one_line(text: str, most: int) -> str:
    """The text, visible and in one line of at most so many characters and the count of those that are left out."""
    return visible(shortened(text, most)).replace("\n", "\\n").replace("\t", "\\t")


def shortened(text: str, most: int) -> str:
    """The beginning of a text, and how much of it is left out."""
    return text if len(text) <= most else f"{text[:most]} ... {len(text) - most} more characters"


def tail(text: str, most: int) -> str:
    """The end of a text, and how much of it is left out."""
    return text if len(text) <= most else f"{len(text) - most} more characters ... {text[len(text) - most :]}"
