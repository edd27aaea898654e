"""A sequence of a fuzzer as lines: what can be left out of it, and what not.

    # a comment
    holdfast-fuzz 1 seed=0x1c0ffee delivery=inline
    fault cuGraphAddHostNode nth=1 ...
    0 add-host 3 7
    parallel 2

The first line that is no comment is the header and stays. Each line after it is an operation, a fault that acts on the
operation below it, or says how operations run. Any subset of them is a sequence again. What the words mean only the
fuzz program knows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

FORMAT = "holdfast-fuzz"
VERSION = "1"
_FAULT = "fault"
_PARALLEL = "parallel"


@dataclasses.dataclass(frozen=True)
class Step:
    """An operation with the faults that act on it, or a line that says how operations run."""

    operation: str
    faults: tuple[str, ...] = ()

    @property
    def is_operation(self) -> bool:
        return self.operation.split()[0] != _PARALLEL


@dataclasses.dataclass(frozen=True)
class FuzzSequence:
    """The header and the steps behind it."""

    header: str
    steps: tuple[Step, ...]

    @property
    def operations(self) -> int:
        return sum(step.is_operation for step in self.steps)

    @property
    def faults(self) -> int:
        return sum(len(step.faults) for step in self.steps)

    def with_steps(self, steps: Sequence[Step]) -> FuzzSequence:
        return FuzzSequence(self.header, tuple(steps))

    def lines(self) -> list[str]:
        lines = [self.header]
        for step in self.steps:
            lines += [*step.faults, step.operation]
        return lines

    def text(self, comments: Sequence[str] = ()) -> str:
        return "".join(f"{line}\n" for line in (*(f"# {comment}" for comment in comments), *self.lines()))


def parse_sequence(text: str) -> FuzzSequence:
    """Reads a sequence. Raises ValueError with a sentence for one that has no header of this version.

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
    for line in lines[1:]:
        if line.split()[0] == _FAULT:
            faults.append(line)
        else:
            steps.append(Step(line, tuple(faults)))
            faults = []
    return FuzzSequence(lines[0], tuple(steps))
