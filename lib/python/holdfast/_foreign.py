"""Objects of other libraries, known by where their class comes from: none of those libraries is imported here.

An attribute called `handle` or `ptr` says little about what it is the handle of, so such objects are told by package
and name of their class, or of a class that theirs is derived from.
"""

from __future__ import annotations

from typing import Any


def is_a(value: Any, package: str, name: str) -> bool:
    """Whether the value's class is, or is derived from, the class of that name somewhere in that package."""
    return any(
        base.__name__ == name and f"{base.__module__}.".startswith(f"{package}.") for base in type(value).__mro__
    )


def handle_of(value: Any, classes: tuple[tuple[str, str, str], ...]) -> int | None:
    """The raw handle of an object of one of the classes, each given as (package, class, attribute); None if it is of
    none of them. 0 for an object that has none, as those do that are closed."""
    for package, name, attribute in classes:
        if is_a(value, package, name):
            handle = getattr(value, attribute)
            return 0 if handle is None else int(handle)
    return None
