"""Readers for the values of options and test variables. Each raises ValueError with a sentence for the user."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from reports.nearest import nearest

_MOST_DIGITS = 18  # of a whole number; Python itself refuses to read thousands of them
_MOST_SECONDS = 1e9

_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}

# Formats that `--report` can write.
REPORT_FORMATS = ("html", "json", "jsonl", "junit", "markdown", "sarif", "tap", "trace")

# Those of them that may be added to the end of a file, when this stands behind the format.
APPENDABLE = ("markdown",)
APPENDS = "+"

# Of --annotations: what reads them.
ANNOTATED = ("github",)

# Of --schedule: a strategy, or this and the text of a schedule.
STRATEGIES = ("random", "pct", "bursts", "starvation")
REPLAYED_SCHEDULE = "replay:"
SCHEDULE_TEXT = r"x1:(?:[a-zA-Z][0-9]*)+#[0-9a-f]{1,8}"

# Of the explorer.
SEARCHES = ("exhaustive", *STRATEGIES)
MEMORY_MODELS = ("rc11", "sc")


class ReportTarget(NamedTuple):
    format: str
    path: str
    appends: bool = False

    def __str__(self) -> str:
        return f"{self.format}{APPENDS if self.appends else ''}:{self.path}"

    @property
    def place(self) -> str:
        """What two targets that would overwrite each other have in common."""
        return self.path if self.path == "-" else os.path.realpath(self.path)


def parse_duration(text: str) -> float:
    """A duration with a unit, in seconds. A bare number is refused: nobody knows what it meant."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ns|us|ms|s|m|h)?", text)
    if not match:
        raise ValueError(f"{text!r} is no duration: write a number and a unit, like 5ms, 90s or 2m")
    if float(match[1]) == 0:
        raise ValueError(f"{text!r} is no time at all: write a number above zero and a unit, like 5ms, 90s or 2m")
    if match[2] is None:
        raise ValueError(f"{text!r} has no unit: write {text}s, {text}ms or {text}m")
    seconds = float(match[1]) * _UNIT_SECONDS[match[2]]
    if seconds > _MOST_SECONDS:
        raise ValueError("that is more than thirty years")
    return seconds


def format_duration(seconds: float) -> str:
    """A duration in the form that parse_duration reads, in the largest unit that keeps it whole."""
    if seconds == int(seconds):
        return f"{int(seconds)}s"
    return f"{seconds * 1000:g}ms"


def parse_positive(text: str) -> int:
    number = parse_count(text) if re.fullmatch(r"[0-9]+", text) else 0
    if number == 0:
        raise ValueError(f"{text!r} is no number above zero")
    return number


def parse_count(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(f"{text!r} is no number")
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"that is a number of {len(text)} digits, and {_MOST_DIGITS} are the most")
    return int(text)


def parse_exit_code(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", text) or int(text) > 255:
        raise ValueError(f"{text!r} is no exit code between 0 and 255")
    return int(text)


def parse_color(text: str) -> str:
    return _parse_one_of(text, ("auto", "yes", "no"))


def parse_search(text: str) -> str:
    return _parse_one_of(text, SEARCHES)


def parse_memory_model(text: str) -> str:
    return _parse_one_of(text, MEMORY_MODELS)


def parse_schedule(text: str) -> str:
    """A strategy, or replay: and the text of a schedule."""
    name, _, schedule = text.partition(":")
    if name != REPLAYED_SCHEDULE.removesuffix(":"):
        return _parse_one_of(text, (*STRATEGIES, f"{REPLAYED_SCHEDULE}STRING"))
    if not re.fullmatch(SCHEDULE_TEXT, schedule):
        cut = "" if "#" in schedule else "; its end is missing, # and the hash: was it cut off?"
        raise ValueError(f"{schedule!r} is no schedule, which looks like x1:a3b2a#5f3a9c01{cut}")
    return text


def _parse_one_of(text: str, known: tuple[str, ...]) -> str:
    if text not in known:
        raise ValueError(f"{text!r} is none of {', '.join(known)}{nearest(text, known)}")
    return text


def parse_text(text: str) -> str:
    if not text:
        raise ValueError("the value is empty")
    return text


def parse_annotations(text: str) -> str:
    return _parse_one_of(text, ANNOTATED)


def parse_report(text: str) -> ReportTarget:
    """FORMAT:PATH or FORMAT+:PATH, where the path - stands for the standard output."""
    word, colon, path = text.partition(":")
    name = word.removesuffix(APPENDS)
    if name not in REPORT_FORMATS:
        there_are = ", ".join(REPORT_FORMATS)
        raise ValueError(f"there is no report format {name!r}; there are {there_are}{nearest(name, REPORT_FORMATS)}")
    if name != word and name not in APPENDABLE:
        raise ValueError(f"nothing can be appended in the format {name}; in {', '.join(APPENDABLE)} it can")
    if not colon or not path:
        raise ValueError(f"{text!r} names no file: write {word}:PATH")
    if path.rpartition("/")[2] in ("", ".", ".."):
        raise ValueError(f"{path!r} is a folder: write {word}:PATH with the path of a file")
    return ReportTarget(name, path, appends=name != word)
