"""Delta debugging: of some items as few as it takes, found by leaving out parts and asking whether the rest is enough.

Which selections are tried depends on the items and the answers alone: the same answers give the same result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


class TimeIsUp(Exception):
    """There is no time for another question; its text may say why."""


def reduce_items(items: Sequence[Item], find: Callable[[list[list[Item]]], int | None]) -> None:
    """Leaves out parts of `items`, halves first and single ones last, as long as what is left is enough. `find` gives
    the index of the first of some selections that is, or None, and keeps it. What it kept last is 1-minimal: without
    any one of its items it is not enough.
    """
    kept = list(items)
    parts = 1
    while kept:
        # In one part: without anything at all.
        chunks = _parts(kept, parts)
        candidates = [[item for other in chunks if other is not chunk for item in other] for chunk in chunks]
        if parts > 2:
            candidates = [*chunks, *candidates]
        found = find(candidates)
        if found is not None:
            is_chunk = parts > 2 and found < len(chunks)
            kept = candidates[found]
            parts = 2 if is_chunk else max(parts - 1, 2)
        elif parts >= len(kept):
            return
        else:
            parts = min(2 * parts, len(kept))


def _parts(items: list[Item], count: int) -> list[list[Item]]:
    """The items in `count` parts of nearly equal length, in order; none is empty."""
    count = min(count, len(items))
    edges = [len(items) * index // count for index in range(count + 1)]
    return [items[start:end] for start, end in itertools.pairwise(edges)]
