"""Options: a dataclass each, or a dictionary of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

Options = TypeVar("Options")


def options_of(options_class: type[Options], options: Any) -> Options:
    """The defaults for None. TypeError for anything else, and for a key that is no option."""
    if options is None:
        return options_class()
    if isinstance(options, options_class):
        return options
    if isinstance(options, Mapping):
        return options_class(**options)
    raise TypeError(f"options must be {options_class.__name__}, a dictionary or None, not {type(options).__name__}")
