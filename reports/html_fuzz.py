"""What a fuzzer did, for the page: its work in a sentence, and the sequence that it made short beside its finding."""

from __future__ import annotations

from collections.abc import Sequence

from reports.counted import count_of
from reports.html_terms import term
from reports.html_text import Budget, more
from reports.record import TAKEN_AGAIN, Fuzz, Shrunk

_MOST_LINES = 200
_MOST_CHARACTERS = 8_000
_LANGUAGE = (
    "A line is the thread, what it does, and to which slots: g a graph, n a node, o an owner, e an executable, b a "
    "builder, c a condition, - none. A fault acts on the operation below it; parallel begins a block of as many "
    "operations, which run at the same time."
)


def work_html(fuzz: Fuzz) -> str:
    """How much it did."""
    return (
        f"<p>The fuzzer ran {fuzz.operations:,} operations in {count_of(fuzz.sequences, 'sequence')} within "
        f"{fuzz.core_seconds:,.3g} {term('core-seconds', 'core seconds')}: {fuzz.operations_per_core_second:,.0f} "
        f"operations per core and second.</p>"
    )


def sequence_html(shrunk: Shrunk, room: Budget) -> str:
    """The sequence, which is also a file on the machine that ran."""
    lines = room.html("\n".join(shrunk.sequence[:_MOST_LINES]), _MOST_CHARACTERS)
    sequence = f'<pre tabindex="0">{lines}</pre>{more(len(shrunk.sequence) - _MOST_LINES, "lines")}' if lines else ""
    if shrunk.note == TAKEN_AGAIN:
        return f'<h4>The {term("sequence", "sequence")}</h4>{sequence}<p class="help">{_LANGUAGE}</p>'
    state = f"it is {term('minimal', 'minimal')}" if shrunk.complete else room.html(shrunk.note or "not minimal", 200)
    return (
        f"<h4>The {term('sequence', 'sequence')} with the finding, made short</h4>"
        f"<p>{term('operations')}: {shrunk.operations_before:,} → {shrunk.operations:,}; "
        f"{term('faults', 'faults')}: {shrunk.faults_before:,} → {shrunk.faults:,}; "
        f"in {shrunk.replays:,} {term('replays', 'replays')}; {state}.</p>"
        f'{sequence}<p class="help">{_LANGUAGE} Its file is <code>{room.html(shrunk.file, 200)}</code>.</p>'
    )


def others_html(sequences: Sequence[Shrunk]) -> str:
    """Those whose finding is not on the page."""
    room = Budget(500_000)
    parts = (
        f'<p><span class="kind">{room.html(each.kind, 40)}</span> {room.html(each.message, 300)}</p>'
        f"{sequence_html(each, room)}"
        for each in sequences[:200]
    )
    return "".join(parts) + more(len(sequences) - 200, "sequences")
