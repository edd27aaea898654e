"""Text of a record made fit for a page: nothing in it can start markup, nothing stays unseen, nothing is endless."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any

from reports.plain_text import plain
from reports.visible import by_reference, inert, inert_json

_MARKUP = "<>&"

# What is left of a text when the room for texts of its sort is used up.
_STUB = 60


def cut(text: str, most: int) -> str:
    """At most so many characters of the text, and how many there would have been."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … {len(text) - most:,} more characters"


def escape(text: str, most: int = 1000) -> str:
    """The text for an element or an attribute of a page."""
    return inert(html.escape(plain(cut(text, most))), by_reference)


def json_block(document: Any) -> str:
    """The document as JSON that is pure ASCII and can stand in a script element: no bracket ends or starts one."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    for letter in _MARKUP:
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return inert_json(text)


def anchor_of(fingerprint: str) -> str:
    """What links to a finding name."""
    return f"finding-{fingerprint}"


class Budget:
    """The room that all texts of one sort share. When it is used up, only the beginnings of further ones come in."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    @property
    def used_up(self) -> bool:
        return self._left <= 0

    def spend(self, written: str) -> str:
        """Takes what was written from the room."""
        self._left -= len(written)
        return written

    def html(self, text: str, most: int) -> str:
        return self.spend(escape(text, _STUB if self.used_up else most))

    def data(self, text: str, most: int) -> str:
        """For a string in JSON, whose escapes count as well."""
        short = plain(cut(text, _STUB if self.used_up else most))
        self.spend(json_block(short))
        return short


def joined(lines: Iterable[str], most: int) -> tuple[str, int]:
    """The beginning of the lines, and how many characters are left out. Copies no more than it gives."""
    kept: list[str] = []
    room, left_out = most, 0
    for line in lines:
        part = line[: max(room, 0)]
        left_out += len(line) - len(part)
        if part or room > 0:
            kept.append(part)
        room -= len(part) + 1
    return "\n".join(kept), left_out


def more(count: int, what: str) -> str:
    """The sentence under a list that was cut, or nothing."""
    return f'<p class="more">{count:,} more {what}</p>' if count > 0 else ""


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table in a box of its own, which scrolls where the page is narrow. Headings and cells are markup already;
    `numbers` are the columns to set flush right.
    """
    flush = set(numbers)

    def line(tag: str, cells: Sequence[str]) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        marks = ((' class="number"' if index in flush else "") for index in range(len(cells)))
        markup = (f"<{tag}{scope}{mark}>{cell}</{tag}>" for mark, cell in zip(marks, cells, strict=True))
        return f"<tr>{''.join(markup)}</tr>"

    body = "\n".join(line("td", row) for row in rows)
    return (
        f'<div class="box" tabindex="0" role="region" aria-label="{caption}"><table><caption class="unseen">{caption}'
        f"</caption><thead>{line('th', headings)}</thead>\n<tbody>{body}</tbody></table></div>"
    )
