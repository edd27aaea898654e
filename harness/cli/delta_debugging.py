"""Delta debugging: of some items as few as it takes, found by leaving out parts and asking whether the rest is enough.

Which selections are tried depends on the items and the answers alone: the same answers give the same result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


class TimeIsUp(Exception):
    """There is no time for another question; its text may say why."""


def reduce_items(items: Sequence[Item], find: Callable[[Iterator[list[Item]]], int | None]) -> None:
    """Leaves out parts of `items`, halves first and single ones last, as long as what is left is enough. `find` gives
    the number, from 0, of the first of some selections that is, or None, and keeps it. What it kept last is 1-minimal:
    without any one of its items it is not enough.
    """
    kept = list(items)
    parts = 1
    while kept:
        # In one part: without anything at all.
        chunks = _parts(kept, parts)
        alone = len(chunks) if parts > 2 else 0
        found = find(itertools.chain(chunks[:alone], (_without(chunks, index) for index in range(len(chunks)))))
        if found is not None:
            kept = chunks[found] if found < alone else _without(chunks, found - alone)
            parts = 2 if found < alone else max(parts - 1, 2)
        elif parts >= len(kept):
            return
        else:
            parts = min(2 * parts, len(kept))


def _without(chunks: Sequence[list[Item]], index: int) -> list[Item]:
    return [item for chunk in (*chunks[:index], *chunks[index + 1 :]) for item in chunk]


def _parts(items: list[Item], count: int) -> list[list[Item]]:
    """The items in `count` parts of nearly equal length, in order; none is empty."""
    count = min(count, len(items))
    edges = [len(items) * index // count for index in range(count + 1)]
    return [items[start:end] for start, end in itertools.pairwise(edges)]
