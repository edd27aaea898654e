"""A finding as lines of text, for every format that shows one to people. Bounded: the full report has the rest."""

from __future__ import annotations

from reports.counted import count_of
from reports.plain_text import shortened
from reports.record import Finding, Minimised

MOST_MESSAGE = 4_000
MOST_FINDINGS = 20
_MOST_FRAMES = 100
_MOST_FRAME = 500

# A command that is cut off is of no use, nor is a replay string, so this is above what any has.
MOST_COMMAND = 20_000


def finding_lines(finding: Finding) -> list[str]:
    """What it is, where, its stack, and the commands that take it again."""
    lines = [f"{shortened(finding.kind, MOST_MESSAGE)}: {shortened(finding.message, MOST_MESSAGE)}"]
    if finding.place:
        lines.append(f"at {shortened(finding.place, MOST_MESSAGE)}")
    lines += [f"    {frame}" for frame in stack_lines(finding)]
    lines += [f"reproduce: {shortened(command, MOST_COMMAND)}" for command in finding.reproduce]
    return lines


def minimised_line(minimised: Minimised) -> str:
    """How much of a case is left."""
    words = []
    if minimised.rules_before:
        words.append(f"{minimised.rules_after} of {count_of(minimised.rules_before, 'rule')}")
    if minimised.switches_before == 0 and minimised.switches_after is None:
        words.append("no schedule")
    elif minimised.switches_before is not None and minimised.switches_after is None:
        words.append(f"no schedule instead of one with {_switches(minimised.switches_before)}")
    elif minimised.switches_before is not None:
        words.append(f"{minimised.switches_after} of {_switches(minimised.switches_before)}")
    words.append(f"in {count_of(minimised.runs, 'run')}")
    return f"minimised: {', '.join(words)}{'; ' if minimised.note else ''}{minimised.note}"


def _switches(number: int) -> str:
    return f"{count_of(number, 'switch', 'switches')} of threads"


def stack_lines(finding: Finding, most: int = _MOST_FRAMES) -> list[str]:
    """The innermost frames, and how many are left out."""
    lines = [shortened(frame, _MOST_FRAME) for frame in finding.stack[:most]]
    left_out = len(finding.stack) - len(lines)
    return [*lines, count_of(left_out, "more frame")] if left_out else lines
