"""Integers out of arguments: of the right type, and within what the driver's parameter holds."""

from __future__ import annotations

import operator
from typing import Any


def integer(value: Any, name: str) -> int:
    """The value of anything that is an integer. TypeError names the argument."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None


def unsigned(value: Any, name: str, bits: int) -> int:
    """An integer from 0 to 2**bits - 1. TypeError, OverflowError."""
    number = integer(value, name)
    if not 0 <= number < 1 << bits:
        raise OverflowError(f"{name} must be between 0 and 2**{bits} - 1, not {number}")
    return number


def size(value: Any, name: str) -> int:
    """What a size_t holds."""
    return unsigned(value, name, 64)


def count(value: Any, name: str) -> int:
    """What an unsigned int holds."""
    return unsigned(value, name, 32)
