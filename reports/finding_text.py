"""A finding as lines of text, for every format that shows one to people. Bounded: the full report has the rest."""

from __future__ import annotations

from reports.counted import count_of
from reports.plain_text import shortened
from reports.record import Finding

MOST_MESSAGE = 4_000
MOST_FINDINGS = 20
_MOST_FRAMES = 100
_MOST_FRAME = 500

# A command that is cut off is of no use, so this is far above what any has.
_MOST_COMMAND = 20_000


def finding_lines(finding: Finding) -> list[str]:
    """What it is, where, its stack, and the commands that take it again."""
    lines = [f"{shortened(finding.kind, MOST_MESSAGE)}: {shortened(finding.message, MOST_MESSAGE)}"]
    if finding.place:
        lines.append(f"at {shortened(finding.place, MOST_MESSAGE)}")
    lines += [f"    {frame}" for frame in stack_lines(finding)]
    lines += [f"reproduce: {shortened(command, _MOST_COMMAND)}" for command in finding.reproduce]
    return lines


def stack_lines(finding: Finding, most: int = _MOST_FRAMES) -> list[str]:
    """The innermost frames, and how many are left out."""
    lines = [shortened(frame, _MOST_FRAME) for frame in finding.stack[:most]]
    left_out = len(finding.stack) - len(lines)
    return [*lines, count_of(left_out, "more frame")] if left_out else lines
