"""`holdfast replay`: finds out which case is to be taken again, and makes of it the command line that takes it.

What it is told may be a replay string, also in the middle of other words; a file: a report, the sequence of a fuzzer, a
text with a replay string in it, such as a log; or a folder of artifacts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from harness.cli import options
from harness.cli.artifacts import REPLAY_FILE, REPORT_FILE
from harness.cli.fuzz_sequence import FORMAT, parse_sequence
from harness.cli.name_filter import parse_filter
from harness.cli.options import Invocation
from harness.cli.problems import NothingSelected, UsageError
from harness.cli.replay_string import SOURCE, Replay, decode, looks_like_one, mentions_one, strings_in
from harness.cli.report_input import STANDARD_INPUT, read_file, record_in
from harness.cli.seed import format_seed
from reports.nearest import nearest
from reports.record import Case, Record
from reports.visible import for_log

_MOST_NAMES = 40  # of cases to choose from
_MOST_HEAD = 1 << 16  # of a file, in which its first word stands

# Options of this command that say which case, and are none of the command that takes it.
_CHOOSING = ("--filter",)

# A variable that selects cases. Here the case is named already.
_SELECTING_VARIABLES = ("TESTBRIDGE_TEST_ONLY",)


def resolve(invocation: Invocation, environment: Mapping[str, str], errors: TextIO) -> Invocation:
    """The command line that takes the case again. Raises a Problem if there is no such case."""
    if len(invocation.positionals) != 1:
        given = f", and {len(invocation.positionals)} words are given" if invocation.positionals else ""
        raise UsageError(f"holdfast replay takes one replay string or one file{given}")
    (word,) = invocation.positionals
    kept = [text for text in invocation.words if text.partition("=")[0] not in _CHOOSING]
    environment = {name: value for name, value in environment.items() if name not in _SELECTING_VARIABLES}
    wanted = invocation["--filter"]
    if looks_like_one(word):
        replay = decode("".join(word.split()))  # a log may have broken the line
        return _again(_only([replay], wanted, "what was given"), kept, environment)
    if mentions_one(word) and not Path(word).exists():
        return _again(_only(strings_in(word), wanted, "what was given"), kept, environment)
    path = _file_of(word)
    data = read_file(path, "the file")
    first = _first_word(data)
    if first == FORMAT:
        return _sequence_again(path, data, kept, environment)
    if first.startswith("{"):
        report = _report(data, path)
        return _again(_of_case(_chosen(report.cases, wanted, path, errors), report), kept, environment)
    return _again(_only(_strings_of(data, path), wanted, path), kept, environment)


def _file_of(word: str) -> str:
    """The file of a folder with artifacts that says what to take again; any other path as it is."""
    folder = Path(word)
    if not folder.is_dir():
        return word
    for name in (REPLAY_FILE, REPORT_FILE):
        if (folder / name).is_file():
            return str(folder / name)
    raise UsageError(f"the folder {word} has neither {REPLAY_FILE}, as the artifacts of a case, nor {REPORT_FILE}")


def _report(data: bytes, path: str) -> Record:
    """Raises UsageError."""
    try:
        return record_in(data, path)
    except UsageError as problem:
        if b'"rules"' not in data[:_MOST_HEAD] or b'"schema"' in data[:_MOST_HEAD]:
            raise
        hint = f"it looks like a plan, which holdfast run --plan={path} --filter=SCENARIO/VARIANT takes"
        raise UsageError(f"{problem}; {hint}") from None


def _strings_of(data: bytes, path: str) -> list[Replay]:
    """What the replay strings in a text say. Raises UsageError if there are none."""
    text = data.decode(errors="replace")
    if not mentions_one(text):
        raise UsageError(
            f"{path} is nothing that can be taken again: it is no report (.json or .jsonl), no sequence of a fuzzer "
            "(.fuzz), and no text with a replay string in it"
        )
    return strings_in(text)


def _only(found: Sequence[Replay], wanted: str | None, source: str) -> Replay:
    """The one that is meant: the only one, or the one that `wanted` selects."""
    if wanted:
        selects = parse_filter(wanted, [(one.scenario, one.variant) for one in found])
        found = [one for one in found if selects(one.scenario, one.variant)]
    if not found:
        raise NothingSelected(f"--filter={wanted} selects no replay string of {source}")
    if len(found) > 1:
        names = ", ".join(dict.fromkeys(f"{one.scenario}/{one.variant}" for one in found[:_MOST_NAMES]))
        raise UsageError(
            f"{source} has {len(found)} replay strings; choose one with --filter=SCENARIO/VARIANT, or give it alone: "
            f"{names}"
        )
    return found[0]


def _again(replay: Replay, kept: Sequence[str], environment: Mapping[str, str]) -> Invocation:
    """The command line of a replay string, with the options that stand beside it; these have the last word."""
    _refuse_to_minimise(replay.command, kept)
    words = _words(replay)
    try:
        own = options.parse(replay.command, words, {})
    except UsageError as problem:
        raise UsageError(f"the replay string does not fit this version of holdfast: {problem}") from None
    both = options.parse(replay.command, [*words, *kept], environment)
    beside = {word.partition("=")[0] for word in kept}
    sources = {
        name: SOURCE if own.sources[name] == "command line" and name not in beside else source
        for name, source in both.sources.items()
    }
    return dataclasses.replace(both, sources=sources, replay=replay)


def _refuse_to_minimise(command: str, kept: Sequence[str]) -> None:
    """Raises UsageError for a case that --minimise is not for."""
    if command != "run" and "--minimise" in kept:
        own = "; it was made small when it was found" if command == "fuzz" else ""
        raise UsageError(f"--minimise is for cases of holdfast run, and this is one of holdfast {command}{own}")


def _words(replay: Replay) -> list[str]:
    """What would stand on the command line, but for what would be in files."""
    seed = f"--seed={format_seed(replay.seed)}"
    if replay.command == "explore":
        return [seed, f"--search={replay.variant}", *replay.options, replay.scenario]
    words = [seed, f"--driver={replay.driver}", *replay.options]
    if replay.command == "fuzz":
        return words
    run = [f"--first-run={replay.run}"] if replay.run else []
    # As a word and not as a filter, which would take a '-' for its own if there is no such case any more.
    return [*words, *run, f"{replay.scenario}/{replay.variant}"]


def _first_word(data: bytes) -> str:
    """The first that is in no comment."""
    lines = (line.split() for line in data[:_MOST_HEAD].decode(errors="replace").splitlines())
    return next((words[0] for words in lines if words and not words[0].startswith("#")), "")


def _sequence_again(path: str, data: bytes, kept: Sequence[str], environment: Mapping[str, str]) -> Invocation:
    """The command line for the sequence of a fuzzer. What came through the standard input is in no file."""
    _refuse_to_minimise("fuzz", kept)
    if path != STANDARD_INPUT:
        return options.parse("fuzz", [*kept, f"--replay={path}"], environment)
    try:
        sequence = parse_sequence(data.decode(errors="replace")).text()
    except ValueError as problem:
        raise UsageError(f"{path}: {problem}") from None
    replay = Replay("fuzz", "fuzz", "sequence", driver="", seed=0, sequence=sequence)
    return dataclasses.replace(options.parse("fuzz", kept, environment), replay=replay)


def _chosen(cases: Sequence[Case], wanted: str | None, path: str, errors: TextIO) -> Case:
    """The case of a report that is meant: the only one with a finding, or the one that `wanted` selects."""
    if wanted:
        selects = parse_filter(wanted, [(case.scenario, case.variant) for case in cases])
        found = [case for case in cases if selects(case.scenario, case.variant)]
        if not found:
            near = nearest(wanted, {_name(case) for case in cases})
            raise NothingSelected(f"--filter={wanted} selects no case of {path}{near}")
    else:
        found = list(cases)
    found = [case for case in found if case.findings] or (found if wanted else [])
    names = list(dict.fromkeys(_name(case) for case in found))
    if not names:
        raise NothingSelected(f"{path} has no finding; --filter=SCENARIO/VARIANT takes a case without one again")
    if len(names) > 1:
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        listed = ", ".join(names[:_MOST_NAMES])
        raise UsageError(f"{path} has several such cases; choose one with --filter=SCENARIO/VARIANT: {listed}{more}")
    if len(found) > 1:
        errors.write(for_log(f"{path} has {len(found)} such cases of {names[0]}; this is the first") + "\n")
    return found[0]


def _name(case: Case) -> str:
    return f"{case.scenario}/{case.variant}"


def _of_case(case: Case, report: Record) -> Replay:
    """What the report says of a case. Raises UsageError if that is not all that shapes it, or is another case."""
    if looks_like_one(case.replay) and not case.replay.startswith("hf1~"):
        replay = decode(case.replay)
        if not _is_of(replay, case, report):
            raise UsageError(f"the report contradicts itself: the replay string of {_name(case)} is of another case")
        return replay
    commands = [command for finding in case.findings[:1] for command in finding.reproduce[:1]]
    hint = f"; its own command is: {commands[0]}" if commands else ""
    raise UsageError(f"the report has no replay string of {_name(case)} that says all that shapes it{hint}")


def _is_of(replay: Replay, case: Case, report: Record) -> bool:
    """Whether a string can be that of a case. A sequence of a fuzzer may be a shorter one, with a name of its own."""
    command = "run" if report.command == "selftest" else report.command
    if replay.command != command or replay.scenario != case.scenario:
        return False
    if command in ("fuzz", "explore"):
        return True
    run = replay.run if command == "run" else case.run
    return (replay.variant, run, format_seed(replay.seed)) == (case.variant, case.run, report.seed)
