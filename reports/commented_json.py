"""JSON that people write: with comments, as in plans. A name that stands twice in one object is refused, since readers
would keep one of the two and nobody would know which.
"""

from __future__ import annotations

import json
import re
from typing import Any

_COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text: str) -> str:
    """The text with each comment blanked; places stay, and so do strings that look like comments."""
    return _COMMENT_OR_STRING.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)


def load(data: bytes) -> Any:
    """The value. Raises ValueError with a sentence."""
    try:
        text = without_comments(data.decode("utf-8"))
        return json.loads(text, object_pairs_hook=unique_object, parse_constant=refuse_constant)
    except UnicodeDecodeError as problem:
        raise ValueError(f"it is no UTF-8: {problem.reason} at byte {problem.start}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For json.loads: an object with each name once."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return result


def refuse_constant(name: str) -> float:
    """For json.loads: NaN and the infinities, which Python would take."""
    raise ValueError(f"{name} is no JSON number")
