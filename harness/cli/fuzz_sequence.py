"""A sequence of a fuzzer as lines: what can be left out of it, and what not.

    # a comment
    holdfast-fuzz 1 seed=0x1c0ffee delivery=inline
    fault cuGraphAddHostNode nth=1 ...
    0 add-host 3 7
    parallel 2 inside
    0 destroy 3
    1 add-host 4 8

The first line that is no comment is the header and stays. Each line after it is an operation, a fault that acts on the
operation below it, or says of how many operations a block consists. Any of the operations are a sequence again: a block
then has those that are left of it. What the other words mean only the fuzz program knows.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

FORMAT = "holdfast-fuzz"
VERSION = "1"
_FAULT = "fault"
_PARALLEL = "parallel"
_INSIDE = "inside"


@dataclasses.dataclass(frozen=True)
class Block:
    """Operations that run at the same time, or all others inside the first."""

    number: int  # in its sequence
    inside: bool


@dataclasses.dataclass(frozen=True)
class Step:
    """An operation with the faults that act on it."""

    operation: str
    faults: tuple[str, ...] = ()
    block: Block | None = None
    opens: bool = False  # the first of its block

    @property
    def thread(self) -> str:
        return self.operation.split()[0]


@dataclasses.dataclass(frozen=True)
class FuzzSequence:
    """The header and the steps behind it. The steps of a block are neighbours."""

    header: str
    steps: tuple[Step, ...]

    @property
    def operations(self) -> int:
        return len(self.steps)

    @property
    def faults(self) -> int:
        return sum(len(step.faults) for step in self.steps)

    def with_steps(self, steps: Sequence[Step]) -> FuzzSequence:
        return FuzzSequence(self.header, tuple(steps))

    def with_settings(self, settings: dict[str, str]) -> FuzzSequence:
        """With other values of settings; those that the header does not have are not added."""
        words = [word.partition("=") for word in self.header.split()]
        changed = (
            f"{key}={settings[key]}" if key in settings else key + equals + value for key, equals, value in words
        )
        return FuzzSequence(" ".join(changed), self.steps)

    def lines(self) -> list[str]:
        lines = [self.header]
        for block, group in itertools.groupby(self.steps, key=lambda step: step.block):
            steps = list(group)
            # One operation alone is no block, and what is inside of nothing are operations as all others.
            if block and len(steps) > 1 and (steps[0].opens or not block.inside):
                lines.append(f"{_PARALLEL} {len(steps)}{f' {_INSIDE}' * block.inside}")
            for step in steps:
                lines += [*step.faults, step.operation]
        return lines

    def text(self, comments: Sequence[str] = ()) -> str:
        return "".join(f"{line}\n" for line in (*(f"# {comment}" for comment in comments), *self.lines()))


def parse_sequence(text: str) -> FuzzSequence:
    """Reads a sequence. Raises ValueError with a sentence for one that has no header of this version, or a block that
    does not say of how many operations.

    A program that died may have left bytes behind the end of its text, and no operation below its last faults.
    """
    lines = [line.strip() for line in text.partition("\0")[0].splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    if not lines or lines[0].split()[0] != FORMAT:
        raise ValueError(f"its first line is no header; it starts with '{FORMAT} {VERSION}'")
    if lines[0].split()[1:2] != [VERSION]:
        raise ValueError(f"its header {lines[0]!r} is of another version than {VERSION}")
    steps: list[Step] = []
    faults: list[str] = []
    block: Block | None = None
    blocks = left = size = 0
    for line in lines[1:]:
        word = line.split()[0]
        if word == _FAULT:
            faults.append(line)
        elif word == _PARALLEL:
            blocks += 1
            size = left = _size_of_block(line)
            block = Block(blocks, line.split()[2:] == [_INSIDE])
        else:
            steps.append(Step(line, tuple(faults), block if left else None, opens=0 < left == size))
            left = max(left - 1, 0)
            faults = []
    return FuzzSequence(lines[0], tuple(steps))


def _size_of_block(line: str) -> int:
    words = line.split()[1:]
    if not words or not words[0].isdecimal() or words[1:] not in ([], [_INSIDE]):
        raise ValueError(f"its line {line!r} does not say of how many operations a block consists")
    return int(words[0])
