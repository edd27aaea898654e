"""The program of an interpreter that a scenario starts to see it end: calls one function of the scenario's file.

    python -m harness.python.subject MODULE:FUNCTION [ARGUMENT ...]

The function gets a Subject and the arguments. It says what happened, line by line; whoever started the interpreter
reads that and judges, so nothing here is a verdict.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable

from harness.python.shim import Shim, find_shim


class Subject:
    """What such a function has at hand."""

    def __init__(self, shim: Shim) -> None:
        self.shim = shim

    @staticmethod
    def say(word: str, write: Callable[[int, bytes], int] = os.write) -> None:
        """One line, written at once. Works for as long as anything in Python does: it needs no module."""
        write(1, word.encode() + b"\n")


def main(arguments: list[str]) -> None:
    """Calls the function."""
    module, _, name = arguments[0].partition(":")
    shim = find_shim()
    shim.name_thread("main", 0)
    getattr(importlib.import_module(module), name)(Subject(shim), *arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
