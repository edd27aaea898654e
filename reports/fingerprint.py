"""Which findings are the same fault: a fingerprint that stays from run to run and from machine to machine.

It is made from the finding's kind, the scenario, and the functions on top of the stack; without a stack from the file
of its place; without either from its message. Seeds, addresses, numbers, line numbers and folders have no part in it.
"""

from __future__ import annotations

import functools
import hashlib
import re

from reports.record import Finding

_MOST_FRAMES = 5

# A text from a subject may be of any length, and the expressions below take its square in time.
_MOST_LETTERS = 1_000
_FRAME_NUMBER = re.compile(r"^\s*#\d+\s*")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
_PLACE = re.compile(r"\(?(?:[^\s()]*/)?([^\s()/:]+\.\w+):\d+(?::\d+)?\)?")
_NUMBER = re.compile(r"\d+")


def fingerprint(scenario: str, finding: Finding) -> str:
    """Sixteen hexadecimal digits."""
    parts = [finding.kind, scenario, *_where(finding)]
    return hashlib.sha256("\0".join(parts).encode(errors="backslashreplace")).hexdigest()[:16]


def _where(finding: Finding) -> list[str]:
    if finding.stack:
        return [_frame(frame[:_MOST_LETTERS]) for frame in finding.stack[:_MOST_FRAMES]]
    if finding.place:
        return [_PLACE.sub(r"\1", finding.place[:_MOST_LETTERS])]
    return [_NUMBER.sub("#", _ADDRESS.sub("*", finding.message[: 10 * _MOST_LETTERS]))]


@functools.lru_cache(maxsize=4096)  # the same frames come again and again
def _frame(frame: str) -> str:
    shown = _FRAME_NUMBER.sub("", frame[:_MOST_LETTERS])
    return " ".join(_PLACE.sub(r"\1", _ADDRESS.sub("", shown)).split())
