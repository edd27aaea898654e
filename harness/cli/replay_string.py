"""The replay string of a case: one line that says all that shapes it, so that it can be taken again on another machine.

    hf2~run~A1.replacement-releases-the-old-owners~inline~model~0123456789abcdef~0~eJyrVsrOL8tM...~5f3a9c01

Its fields: the format; the command; scenario and variant (program and search of `explore`); the kind of driver; the
seed of the run, as for --seed; the number of the run; all else, as JSON, compressed, in the letters of URLs, which is
left out if there is nothing else; a checksum of the text before it. It is safe in a shell and in a URL.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

from harness.cli.fuzz_sequence import parse_sequence
from harness.cli.problems import UsageError
from reports.commented_json import load_without_comments

SOURCE = "replay string"  # of an option, beside command line and default

_FORMAT = "hf2"
_SEPARATOR = "~"
_FIELDS = 9
_MOST_BYTES = 1 << 20  # of what is packed: a few letters can hold a great deal of the same
_MOST_RUN_DIGITS = 18
_MOST_DEPTH = 50  # of JSON; a rule of a plan has four levels
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")

_BEGINNING = re.compile(r"hf[0-9]+~")
_STRING = re.compile(rf"{_FORMAT}~(?:[A-Za-z0-9._-]*~){{{_FIELDS - 2}}}[0-9a-f]{{8}}")

# A longer one is nothing to paste, and reports cut off what is much longer.
MOST_CHARACTERS = 16_000

# The options that may be in the string of each command.
OPTIONS = {
    "run": ("--bug", "--fault", "--schedule", "--timeout", "--rss-limit-mb"),
    "sweep": ("--bug", "--fault", "--timeout", "--rss-limit-mb"),
    "fuzz": ("--bug", "--timeout", "--rss-limit-mb"),
    "explore": (
        "--memory-model",
        "--max-steps",
        "--spurious-failures",
        "--max-executions",
        "--max-preemptions",
        "--max-total-time",
        "--replay",
    ),
}
_DRIVERS = {"run": ("model", "real"), "sweep": ("model", "real"), "fuzz": ("model", "real"), "explore": ("none",)}


@dataclasses.dataclass(frozen=True)
class Replay:
    """What a replay string says. Each of `options` is --NAME=VALUE, as on a command line; `rules` are those of a plan
    file, and `sequence` is the text of a fuzzer's, in the place of files.
    """

    command: str
    scenario: str
    variant: str
    driver: str
    seed: int
    run: int = 0
    options: tuple[str, ...] = ()
    rules: tuple[dict[str, Any], ...] = ()
    sequence: str = ""


def looks_like_one(word: str) -> bool:
    """Whether somebody meant a replay string, of any format."""
    return re.match(r"hf[0-9]+~", word) is not None


def mentions_one(text: str) -> bool:
    """Whether a string, of any format, stands somewhere in a text."""
    return _BEGINNING.search(text) is not None


def strings_in(text: str) -> list[Replay]:
    """What the strings in a text say, each once. Raises UsageError, as decode does, if none of them is whole.

    REQUIRES: mentions_one(text).
    """
    found = dict.fromkeys(_STRING.findall(text))
    if not found:  # a log may have broken the lines
        found = dict.fromkeys(_STRING.findall("".join(text.split())))
    begun = _BEGINNING.search(text)
    assert begun
    return [decode(string) for string in found] or [decode(text[begun.start() :].split(maxsplit=1)[0])]


def encode(replay: Replay) -> str:
    """The string; empty if it would be too long, or if a name is not plain enough to stand in one."""
    if not (_NAME.fullmatch(replay.scenario) and _NAME.fullmatch(replay.variant)):
        return ""
    more: dict[str, Any] = {"options": replay.options, "rules": replay.rules, "sequence": replay.sequence}
    more = {key: value for key, value in more.items() if value}
    seed = f"{replay.seed:016x}"
    fields = (_FORMAT, replay.command, replay.scenario, replay.variant, replay.driver, seed, str(replay.run))
    text = _SEPARATOR.join((*fields, _packed(more) if more else ""))
    string = f"{text}{_SEPARATOR}{_checksum(text)}"
    return string if len(string) <= MOST_CHARACTERS else ""


def decode(string: str) -> Replay:
    """What a string says. Raises UsageError for one of another format, one that is not whole, and one that no version
    of this command has made. The values of its options are left to the parser of options.
    """
    text, _, checksum = string.rpartition(_SEPARATOR)
    fields = text.split(_SEPARATOR)
    if fields[0] == "hf1":
        raise UsageError(
            "the replay string has the old format hf1, which does not say all that shapes a case; take the commands "
            "that stand beside it in its log or report"
        )
    if fields[0] != _FORMAT and looks_like_one(string):
        raise UsageError(
            f"the replay string has the format {fields[0]}, and this version of holdfast reads {_FORMAT}; take the "
            "version that its report names"
        )
    if len(fields) != _FIELDS - 1 or checksum != _checksum(text):
        raise UsageError(
            "the replay string is not whole, since its checksum is not that of its text: it was cut off or mistyped. "
            "The usual cause is a log that breaks or shortens long lines; take it from the report, or hand the report "
            "itself to holdfast replay"
        )
    try:
        return _checked(fields)
    except ValueError as problem:
        raise UsageError(f"the replay string cannot be used: {problem}") from None


def _checked(fields: list[str]) -> Replay:
    """What the fields say. Raises ValueError with a sentence."""
    _, command, scenario, variant, driver, seed, run, packed = fields
    if command not in OPTIONS:
        raise ValueError(f"it is of the command {command!r}, and there are strings of {', '.join(OPTIONS)}")
    for name in (scenario, variant):
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is the name of no scenario and no variant")
    if driver not in _DRIVERS[command]:
        raise ValueError(f"{driver!r} is no kind of driver for {command}; there are {', '.join(_DRIVERS[command])}")
    if not re.fullmatch(r"[0-9a-f]{16}", seed):
        raise ValueError(f"{seed!r} is no seed of 16 hexadecimal digits")
    if not re.fullmatch(r"[0-9]+", run) or len(run) > _MOST_RUN_DIGITS or (int(run) and command != "run"):
        raise ValueError(f"{run!r} is no number of a run of {command}")
    more = _unpacked(packed) if packed else {}
    replay = Replay(command, scenario, variant, driver, int(seed, 16), int(run), **more)
    for option in replay.options:
        name, equals, _ = option.partition("=")
        if name not in OPTIONS[command] or not equals:
            raise ValueError(f"{option!r} is no option that the string of a {command} may have")
    if replay.rules and command != "run":
        raise ValueError(f"it has the rules of a plan, and holdfast {command} takes no plan")
    if bool(replay.sequence) != (command == "fuzz"):
        raise ValueError("a sequence of a fuzzer belongs to the command fuzz, and to no other")
    if replay.sequence:
        parse_sequence(replay.sequence)
    return replay


def _packed(more: Mapping[str, Any]) -> str:
    text = json.dumps(more, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(zlib.compress(text, 9)).decode().rstrip("=")


def _unpacked(packed: str) -> dict[str, Any]:
    """The fields of a Replay that were packed. Raises ValueError."""
    try:
        compressed = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(compressed, _MOST_BYTES)
    except (ValueError, zlib.error):
        raise ValueError("what is packed in it cannot be unpacked") from None
    if unpacker.unconsumed_tail:
        raise ValueError(f"what is packed in it is more than {_MOST_BYTES >> 20} MiB")
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("what is packed in it is not whole, or more than that")
    try:
        more = load_without_comments(text)
    except ValueError as problem:
        raise ValueError(f"what is packed in it cannot be read: {problem}") from None
    if not _is_flat(more, _MOST_DEPTH):  # whoever writes it down again must not fail at it
        raise ValueError("what is packed in it is nested too deeply")
    if not isinstance(more, dict):
        raise ValueError("what is packed in it is no object of JSON")
    for key, value in more.items():
        if key not in _READERS:
            raise ValueError(f"it has {key!r}, which this version does not know; take the version that made it")
        more[key] = _READERS[key](value)
    return more


def _is_flat(value: Any, depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > 0 and all(_is_flat(one, depth - 1) for one in inner if isinstance(one, dict | list))


def _read_options(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) and word.isprintable() for word in value):
        raise ValueError("its options are no list of words")
    return tuple(value)


def _read_rules(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(rule, dict) for rule in value):
        raise ValueError("its rules are no list of rules")
    return tuple(value)


def _read_sequence(value: Any) -> str:
    if not isinstance(value, str) or not all(line.expandtabs().isprintable() for line in value.splitlines()):
        raise ValueError("its sequence is no text")
    return value


_READERS = {"options": _read_options, "rules": _read_rules, "sequence": _read_sequence}


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode(errors='replace')):08x}"
