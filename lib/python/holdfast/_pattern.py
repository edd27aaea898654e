"""What a fill writes over and over."""

from __future__ import annotations

import sys
from typing import Any

from holdfast._numbers import unsigned

_PATTERN_BYTES = (1, 2, 4)


def pattern_of(value: Any) -> tuple[int, int]:
    """The pattern as a number, and how many bytes it has: one for an int, as many as it has for an object with bytes.

    OverflowError for an int that is no byte, ValueError for a length other than 1, 2 or 4, TypeError for anything else.
    """
    if isinstance(value, int):
        return unsigned(value, "value", 8), 1
    try:
        data = memoryview(value).tobytes()
    except TypeError:
        raise TypeError(f"value must be an integer or have bytes, not {type(value).__name__}") from None
    if len(data) not in _PATTERN_BYTES:
        raise ValueError(f"value must have 1, 2 or 4 bytes, not {len(data)}")
    return int.from_bytes(data, sys.byteorder), len(data)
