"""Shrinking: the shortest sequence that a reduction by delta debugging reaches, with the same finding.

First what makes a finding hard to repeat: late deliveries, threads, blocks. Then the operations, then the faults, until
none can go. Of the few operations that are left two at a time, or one that something else can stand in for. All of it
over and over until nothing changes. The result is 1-minimal: without any one of its operations or faults the finding is
gone. Which candidates are tried depends on the sequence and the answers alone: the same answers give the same result.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from harness.cli.delta_debugging import TimeIsUp, reduce_items
from harness.cli.fuzz_sequence import Block, FuzzSequence, Step

Item = TypeVar("Item")

# The index of the first of some sequences that still has the finding, or None. Raises TimeIsUp.
Ask = Callable[[Sequence[FuzzSequence]], "int | None"]

# With these a difference shows at the operation that makes it, whatever else runs.
SIMPLEST_SETTINGS = {"delivery": "inline", "settle": "1"}
FEW_OPERATIONS = 16  # of which all pairs can be tried
# The operation that copies a graph and does no more, and those that do more, with the place of the graph among their
# operands.
COPY = "clone"
COPIES = {"embed": 2, "update_child": 1}
_SLOT = re.compile(r"[a-z]\d+")  # the kind, then which of them


@dataclasses.dataclass(frozen=True)
class Result:
    sequence: FuzzSequence
    complete: bool  # 1-minimal; otherwise the time was up before that


def shrink(sequence: FuzzSequence, ask: Ask) -> Result:
    """REQUIRES: `sequence` has the finding."""
    shrinker = _Shrinker(sequence, ask)
    try:
        shrinker.run()
        return Result(shrinker.best, complete=True)
    except TimeIsUp:
        return Result(shrinker.best, complete=False)


class _Shrinker:
    def __init__(self, sequence: FuzzSequence, ask: Ask) -> None:
        self.best = sequence  # what is left when the time is up in the middle
        self._ask = ask

    def run(self) -> None:
        while True:
            before = self.best
            self._simplify_settings()
            self._shrink_threads()
            self._take_blocks_apart()
            self._shrink_operations()
            self._shrink_faults()
            if self.best.operations <= FEW_OPERATIONS:
                self._leave_out_pairs()
                self._copy_plainly()
                self._merge_slots()
            if self.best == before:
                return

    def _try(self, candidates: Iterable[FuzzSequence]) -> int | None:
        """The first candidate with the finding is the best from now on. The index of it."""
        tried = list(candidates)
        found = self._ask(tried) if tried else None
        if found is not None:
            self.best = tried[found]
        return found

    def _simplify_settings(self) -> None:
        choices = [SIMPLEST_SETTINGS, *({key: value} for key, value in SIMPLEST_SETTINGS.items())]
        candidates = [self.best.with_settings(choice) for choice in choices]
        self._try(candidate for candidate in candidates if candidate != self.best)

    def _shrink_threads(self) -> None:
        """Leaves out all operations of a thread; then has the first thread do what is left."""
        threads = list(dict.fromkeys(step.thread for step in self.best.steps))
        if len(threads) < 2:
            return
        sequence = self.best
        self._reduce(
            threads, lambda kept: sequence.with_steps([step for step in sequence.steps if step.thread in kept])
        )
        steps = self.best.steps
        if len({step.thread for step in steps}) > 1:
            first = steps[0].thread
            self._try([self.best.with_steps([Step(_on_thread(step, first), step.faults) for step in steps])])

    def _take_blocks_apart(self) -> None:
        """One operation after the other: of all blocks, else of one after another."""
        blocks = list(dict.fromkeys(step.block for step in self.best.steps if step.block))
        if blocks and self._try([_without_blocks(self.best, blocks)]) is None and len(blocks) > 1:
            for block in blocks:
                self._try([_without_blocks(self.best, [block])])

    def _shrink_operations(self) -> None:
        self._reduce(self.best.steps, self.best.with_steps)

    def _shrink_faults(self) -> None:
        sequence = self.best
        places = tuple((index, fault) for index, step in enumerate(sequence.steps) for fault in range(len(step.faults)))
        if places:
            self._reduce(places, lambda kept: _with_faults(sequence, kept))

    def _leave_out_pairs(self) -> None:
        """Two operations that only make sense together, such as one that makes and one that takes away."""
        while self._try(_without_pairs(self.best)) is not None:
            pass

    def _copy_plainly(self) -> None:
        """Has a graph copied for itself where it is copied into another one, which may not be needed then."""
        while self._try(_with_plainer_copies(self.best)) is not None:
            pass

    def _merge_slots(self) -> None:
        """Leaves out an operation, and has those behind it, or before it, use another slot in place of one that it
        names: often what is in the other slot does as well.
        """
        while self._try(_with_slots_merged(self.best)) is not None:
            pass

    def _reduce(self, items: Sequence[Item], build: Callable[[Sequence[Item]], FuzzSequence]) -> None:
        """Leaves out parts of `items` as long as the finding stays."""
        reduce_items(items, lambda selections: self._try(build(selection) for selection in selections))


def _without_pairs(sequence: FuzzSequence) -> Iterator[FuzzSequence]:
    if len(sequence.steps) > 2:
        yield from map(sequence.with_steps, itertools.combinations(sequence.steps, len(sequence.steps) - 2))


def _without_blocks(sequence: FuzzSequence, blocks: Sequence[Block]) -> FuzzSequence:
    return sequence.with_steps(
        [Step(step.operation, step.faults) if step.block in blocks else step for step in sequence.steps]
    )


def _with_faults(sequence: FuzzSequence, kept: Sequence[tuple[int, int]]) -> FuzzSequence:
    chosen = set(kept)
    return sequence.with_steps(
        [
            dataclasses.replace(
                step, faults=tuple(text for fault, text in enumerate(step.faults) if (index, fault) in chosen)
            )
            for index, step in enumerate(sequence.steps)
        ]
    )


def _on_thread(step: Step, thread: str) -> str:
    return " ".join((thread, *step.operation.split()[1:]))


def _with_plainer_copies(sequence: FuzzSequence) -> Iterator[FuzzSequence]:
    steps = sequence.steps
    for index, step in enumerate(steps):
        thread, name, *operands = step.operation.split()
        if name in COPIES and len(operands) > COPIES[name]:
            source = operands[COPIES[name]]
            used = {slot for other in steps for slot in _slots_of(other)}
            target = next(slot for slot in (f"{source[0]}{number}" for number in itertools.count()) if slot not in used)
            plain = dataclasses.replace(step, operation=f"{thread} {COPY} {source} {target}")
            yield sequence.with_steps((*steps[:index], plain, *steps[index + 1 :]))


def _with_slots_merged(sequence: FuzzSequence) -> Iterator[FuzzSequence]:
    slots = sorted({slot for step in sequence.steps for slot in _slots_of(step)})
    for index, step in enumerate(sequence.steps):
        before, behind = sequence.steps[:index], sequence.steps[index + 1 :]
        for slot in dict.fromkeys(_slots_of(step)):
            for other in slots:
                if other != slot and other[0] == slot[0]:
                    if _name(behind, slot):
                        yield sequence.with_steps((*before, *_with_slot(behind, slot, other)))
                    if _name(before, slot):
                        yield sequence.with_steps((*_with_slot(before, slot, other), *behind))


def _slots_of(step: Step) -> list[str]:
    return [word for word in step.operation.split()[2:] if _SLOT.fullmatch(word)]


def _name(steps: Sequence[Step], slot: str) -> bool:
    return any(slot in _slots_of(step) for step in steps)


def _with_slot(steps: Sequence[Step], slot: str, other: str) -> list[Step]:
    changed = []
    for step in steps:
        words = [other if word == slot else word for word in step.operation.split()]
        changed.append(dataclasses.replace(step, operation=" ".join(words)))
    return changed
