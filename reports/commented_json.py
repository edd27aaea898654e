"""JSON that people write: with comments, as in plans. A name that stands twice in one object is refused, since readers
would keep one of the two and nobody would know which.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from typing import Any

_MOST_DIGITS = 20  # as many as the largest number of 64 bits has

_COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text: str) -> str:
    """The text with each comment blanked; places stay, and so do strings that look like comments."""
    return _COMMENT_OR_STRING.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)


def load(data: bytes) -> Any:
    """The value. Raises ValueError with a sentence."""
    return _parsed(without_comments(_decoded(data)))


def load_without_comments(data: bytes) -> Any:
    """The value of JSON that programs write, which is UTF-8 and has no comment. Raises ValueError with a sentence."""
    return _parsed(_decoded(data))


def _decoded(data: bytes) -> str:
    if data.startswith(codecs.BOM_UTF8):
        raise ValueError("it begins with a byte order mark, and has to be plain UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise ValueError(f"it is no UTF-8: {problem.reason} at byte {problem.start}") from None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, **_STRICT)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return result


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text:.40} is too large a number")
    return number


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} digits is too large")
    return int(text)


# For json.loads: refuses what Python would take, and other readers would not, or not as it was meant.
_STRICT: dict[str, Any] = {
    "object_pairs_hook": _unique_object,
    "parse_constant": _refuse_constant,
    "parse_float": _finite,
    "parse_int": _whole,
}
