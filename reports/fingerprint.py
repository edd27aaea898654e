"""Which findings are the same fault: a fingerprint that stays from run to run and from machine to machine.

It is made from the finding's kind, the scenario, and where the fault is: the functions on top of each stack, those of
the runtime left out; without a stack the message, and the file of the place if there is one. Seeds, addresses, numbers,
line numbers, threads, builds and folders have no part in it, and neither has which of two racing threads came first.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Sequence

from reports.record import Finding

_MOST_FRAMES = 4  # of one stack
_MOST_STACKS = 16

# A text from a subject may be of any length, and the expressions below take its square in time.
_MOST_LETTERS = 1_000
_MOST_LINES = 2_000

# Lines that are no frames, such as the names of threads or the program's last output, differ from run to run.
_FRAME = re.compile(r"\s*#(\d+)\s+")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
_BUILD = re.compile(r"\(BuildId: [^()]*\)")
_MODULE = re.compile(r"\((?:[^\s()]*/)?([^\s()/]+)\+(?:0x)?[0-9a-fA-F]*\)")
_PLACE = re.compile(r"\(?(?:[^\s()]*/)?([^\s()/:]+\.\w+):\d+(?::\d+)?\)?")
_FOLDER = re.compile(r"(?:/[\w.+~-]+)+/")
_NUMBER = re.compile(r"\d+")
_RUNTIME = re.compile(
    r"(?:in )?(?:_|std::|operator (?:new|delete)|(?:malloc|calloc|realloc|free|abort|raise|memcpy|memset)\b|pthread_)"
)


def fingerprint(scenario: str, finding: Finding) -> str:
    """Sixteen hexadecimal digits."""
    parts = [finding.kind, scenario, *(_stacks(finding.stack) or _words(finding))]
    return hashlib.sha256("\0".join(parts).encode(errors="backslashreplace")).hexdigest()[:16]


def _words(finding: Finding) -> list[str]:
    message = _FOLDER.sub("", _ADDRESS.sub("*", finding.message[: 10 * _MOST_LETTERS]))
    return [_PLACE.sub(r"\1", finding.place[:_MOST_LETTERS]), _NUMBER.sub("#", message)]


def _stacks(lines: Sequence[str]) -> list[str]:
    """Each stack as one text, in an order that does not depend on which thread came first."""
    return sorted("\n".join(_top(stack)) for stack in _split(lines))


def _split(lines: Sequence[str]) -> list[list[str]]:
    """The frames of each stack: one begins where the numbers begin again."""
    stacks: list[list[str]] = []
    last = -1
    for line in lines[:_MOST_LINES]:
        shown = line[:_MOST_LETTERS]
        found = _FRAME.match(shown)
        if not found:
            continue
        number = int(found[1][:9])
        if not stacks or number <= last:
            stacks.append([])
        last = number
        if len(stacks) > _MOST_STACKS:
            return stacks[:_MOST_STACKS]
        stacks[-1].append(_frame(shown[found.end() :]))
    return stacks


def _top(frames: Sequence[str]) -> Iterable[str]:
    own = [frame for frame in frames if not _RUNTIME.match(frame)]
    return (own or frames)[:_MOST_FRAMES]


@functools.lru_cache(maxsize=4096)  # the same frames come again and again
def _frame(frame: str) -> str:
    shown = _MODULE.sub(r"\1", _BUILD.sub("", frame))
    return " ".join(_PLACE.sub(r"\1", _ADDRESS.sub("", shown)).split())
