"""Counts with their nouns: 1 case, 2 cases."""

from __future__ import annotations


def count_of(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
