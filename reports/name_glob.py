"""Globs over the names of cases: '*' and '?', nothing else, as in GoogleTest's filters."""

from __future__ import annotations

import functools
import re

_PIECES = {"*": ".*", "?": "."}


@functools.cache
def _compile(glob: str) -> re.Pattern[str]:
    return re.compile("".join(_PIECES.get(letter, re.escape(letter)) for letter in glob), re.DOTALL)


def matches_name(glob: str, name: str) -> bool:
    """Whether the glob names all of `name`."""
    return bool(_compile(glob).fullmatch(name))


def matches_glob(glob: str, scenario: str, variant: str) -> bool:
    """Whether one glob names this case, either with its variant or without it."""
    return matches_name(glob, f"{scenario}/{variant}") or matches_name(glob, scenario)
