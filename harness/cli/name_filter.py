"""Selection by name, in GoogleTest's grammar: POSITIVE[-NEGATIVE], each a list of globs joined by ':'.

A glob knows '*' and '?'. It is matched against `scenario/variant` and against `scenario` alone. Scenario names
contain '-', which the grammar uses as its separator, so a filter can have two readings. One that starts its
negative part at the very start, or after ':', has no other reading. Otherwise the reading in which '-' belongs to a
name wins if each of its globs matches something; else the first '-' that leaves a positive part of which each glob
matches something is the separator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from reports.name_glob import matches_glob

NameFilter = Callable[[str, str], bool]  # (scenario, variant) -> selected


def _globs(text: str) -> list[str]:
    return [glob for glob in text.split(":") if glob]


def _split(text: str, names: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The positive and the negative part of a filter, by the rule at the top."""
    sure = re.search(r"(^|:)-", text)
    if sure:
        return text[: sure.start()], text[sure.end() :]

    def all_match(positive: str) -> bool:
        return all(any(matches_glob(glob, *name) for name in names) for glob in _globs(positive))

    if all_match(text):
        return text, ""
    for place, letter in enumerate(text):
        if letter == "-" and all_match(text[:place]):
            return text[:place], text[place + 1 :]
    return text, ""


def parse_filter(text: str, names: Iterable[tuple[str, str]]) -> NameFilter:
    """Reads a filter against the (scenario, variant) pairs that there are.

    ENSURES: an empty positive part selects everything that the negative part leaves.
    """
    positive, negative = _split(text, list(names))
    wanted = _globs(positive) or ["*"]
    unwanted = _globs(negative)

    def selects(scenario: str, variant: str) -> bool:
        return any(matches_glob(glob, scenario, variant) for glob in wanted) and not any(
            matches_glob(glob, scenario, variant) for glob in unwanted
        )

    return selects


def has_positive_part(text: str) -> bool:
    """Whether the filter names what it wants, rather than only what it does not want."""
    return bool(text) and not text.startswith("-")
