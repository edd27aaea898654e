"""Shrinking: the shortest sequence that a reduction by delta debugging reaches, with the same finding.

Fewest operations first, then fewest faults, over and over until nothing changes. The result is 1-minimal: without any
one of its operations or faults the finding is gone. Which candidates are tried depends on the sequence and the answers
alone, so the same answers give the same result.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

from harness.cli.fuzz_sequence import FuzzSequence, Step

Item = TypeVar("Item")

# The index of the first of some sequences that still has the finding, or None. Raises TimeIsUp.
Ask = Callable[[Sequence[FuzzSequence]], "int | None"]


class TimeIsUp(Exception):
    """There is no time for another question."""


@dataclasses.dataclass(frozen=True)
class Result:
    sequence: FuzzSequence
    complete: bool  # 1-minimal; otherwise the time was up before that


def shrink(sequence: FuzzSequence, ask: Ask) -> Result:
    """REQUIRES: `sequence` has the finding."""
    best = [sequence]  # what is left when the time is up in the middle

    def remembering(candidates: Sequence[FuzzSequence]) -> int | None:
        found = ask(candidates)
        if found is not None:
            best[0] = candidates[found]
        return found

    try:
        while True:
            before = best[0]
            _shrink_operations(best[0], remembering)
            _shrink_faults(best[0], remembering)
            if best[0] == before:
                return Result(best[0], complete=True)
    except TimeIsUp:
        return Result(best[0], complete=False)


def _shrink_operations(sequence: FuzzSequence, ask: Ask) -> None:
    _reduce(sequence.steps, sequence.with_steps, ask)


def _shrink_faults(sequence: FuzzSequence, ask: Ask) -> None:
    places = tuple((index, fault) for index, step in enumerate(sequence.steps) for fault in range(len(step.faults)))
    if places:
        _reduce(places, lambda kept: _with_faults(sequence, kept), ask)


def _with_faults(sequence: FuzzSequence, kept: Sequence[tuple[int, int]]) -> FuzzSequence:
    chosen = set(kept)
    return sequence.with_steps(
        [
            Step(step.operation, tuple(text for fault, text in enumerate(step.faults) if (index, fault) in chosen))
            for index, step in enumerate(sequence.steps)
        ]
    )


def _reduce(items: Sequence[Item], build: Callable[[Sequence[Item]], FuzzSequence], ask: Ask) -> None:
    """Leaves out parts of `items`, halves first and single ones last, as long as the finding stays."""
    kept = list(items)
    parts = 1
    while kept:
        # In one part: without anything at all.
        chunks = _parts(kept, parts)
        candidates = [[item for other in chunks if other is not chunk for item in other] for chunk in chunks]
        if parts > 2:
            candidates = [*chunks, *candidates]
        found = ask([build(candidate) for candidate in candidates])
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
