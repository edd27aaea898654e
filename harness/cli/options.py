"""The one table of commands and options. Parsing, help, defaults from the environment and the report's list of
resolved options are all made from it.

An option's value comes from, in rising order: its default, a test variable, the command line (the last one wins).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.cli import values
from harness.cli.problems import UsageError
from harness.cli.replay_string import Replay
from harness.cli.seed import parse_seed
from reports.nearest import nearest

Reader = Callable[[str], Any]

RUNNING = ("run", "sweep", "fuzz", "selftest")
REPORTING = (*RUNNING, "replay")
CASES = ("run", "sweep", "selftest")
SELECTING = ("run", "sweep", "list", "selftest")


@dataclasses.dataclass(frozen=True)
class Verb:
    """What a command with several things to do is told to do, by the first word that is no option."""

    name: str
    positional: str
    summary: str


@dataclasses.dataclass(frozen=True)
class Command:
    name: str
    positional: str
    summary: str
    verbs: tuple[Verb, ...] = ()


@dataclasses.dataclass(frozen=True)
class Option:
    """One option. Without a metavar it is a flag; with `variable` that environment variable is its default. With
    `verbs` it is for those of its command only.
    """

    name: str
    commands: tuple[str, ...]
    metavar: str
    read: Reader
    help: str
    default: Any = None
    repeats: bool = False
    variable: str = ""
    verbs: tuple[str, ...] = ()

    @property
    def is_flag(self) -> bool:
        return not self.metavar

    @property
    def notes(self) -> str:
        """All that its help says."""
        notes = [self.help]
        if self.verbs:
            notes.append(f"of {', '.join(self.verbs)}")
        if self.repeats:
            notes.append("repeatable")
        if self.default not in (None, False):
            notes.append(f"default {self.default}")
        if self.variable:
            notes.append(f"else ${self.variable}")
        return "; ".join(notes)


def _flag(name: str, commands: tuple[str, ...], text: str, variable: str = "") -> Option:
    return Option(name, commands, "", _read_flag, text, default=False, variable=variable)


def _read_flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(f"{text!r} is neither 0 nor 1")
    return text == "1"


COMMANDS = (
    Command("run", "[SUITE | SCENARIO-GLOB ...]", "run scenarios (default: the default suite)"),
    Command("list", "[SUITE | SCENARIO-GLOB ...]", "scenarios, what each covers, which seeded bugs it catches"),
    Command(
        "sweep",
        "[SUITE | SCENARIO-GLOB ...]",
        "fail the 1st, 2nd, 3rd ... call of every site within an operation (default: the suite sweep)",
    ),
    Command("explore", "[PROGRAM-GLOB ...]", "interleavings of the lock-free code under the C++11 memory model"),
    Command("fuzz", "", "random sequences of operations with faults against the reference model, shrunk on failure"),
    Command(
        "replay",
        "STRING | FILE",
        "take one case again on any machine: its replay string, a report, or a fuzzer's sequence (help seeds)",
    ),
    Command("selftest", "[BUG-GLOB ...]", "every seeded bug against the scenarios that claim it"),
    Command("gate", "REPORT ...", "whether reports meet a policy; several are the shards of one run"),
    Command(
        "report",
        "VERB ...",
        "convert, merge, compare and show reports",
        (
            Verb("convert", "REPORT", "write a report in other formats"),
            Verb("merge", "REPORT ...", "make one report of the shards of a run"),
            Verb("diff", "OLD NEW", "what is new, gone and changed; exit code 1 if anything is"),
            Verb("show", "REPORT [CASE-GLOB]", "cases in the terminal, with all that the report has of them"),
        ),
    ),
    Command("doctor", "", "what this machine has, and what each missing thing switches off"),
    Command("help", "[COMMAND | TOPIC]", "about a command or a topic; alone: which there are"),
    Command("completions", "bash|zsh|fish", "a script that lets a shell complete commands, options and values"),
)

_SPECIAL_TARGETS = "markdown+ appends, and the path - is the standard output"

OPTIONS = (
    Option(
        "--driver",
        (*RUNNING, "doctor"),
        "auto|model|real|PATH",
        values.parse_text,
        "the driver below the shim; auto takes the real one if it has a device",
        default="auto",
    ),
    Option(
        "--driver",
        ("replay",),
        "auto|model|real|PATH",
        values.parse_text,
        "the driver below the shim, instead of one of the kind that it was found with",
    ),
    Option("--plan", ("run",), "FILE", values.parse_text, "a fault plan, in force for every case"),
    Option("--fault", ("run",), "RULE", values.parse_text, "one rule of a plan in its one-line form", repeats=True),
    Option(
        "--fault",
        ("sweep",),
        "RULE",
        values.parse_text,
        "instead of sweeping, run the one point at which these faults fire",
        repeats=True,
    ),
    Option(
        "--bug",
        ("run", "sweep", "fuzz", "replay"),
        "NAME",
        values.parse_text,
        "take the library with this seeded bug in it, and of the scenarios those that claim it, to see the finding",
    ),
    Option(
        "--schedule",
        ("run",),
        "|".join((*values.STRATEGIES, f"{values.REPLAYED_SCHEDULE}STRING")),
        values.parse_schedule,
        "run each case's threads one at a time, in an order drawn from its seed, or take the order of STRING again "
        "(scenarios in C++, on the model driver, without a sanitizer)",
    ),
    _flag(
        "--minimise",
        ("run", "replay"),
        "make findings smaller: fewer and simpler rules of --fault and --plan, a schedule with fewer switches of "
        "threads; takes a minute, or what --max-total-time of a run leaves",
    ),
    Option(
        "--replay",
        ("fuzz",),
        "FILE",
        values.parse_text,
        "instead of drawing sequences, take the one in this file again",
        repeats=True,
    ),
    Option(
        "--replay",
        ("explore",),
        "SCHEDULE",
        values.parse_text,
        "instead of searching, take the one execution of this schedule again",
    ),
    Option(
        "--search",
        ("explore",),
        "|".join(values.SEARCHES),
        values.parse_search,
        "visit every execution, or draw them at random, for as long as the time lasts",
        default="exhaustive",
    ),
    Option(
        "--memory-model",
        ("explore",),
        "|".join(values.MEMORY_MODELS),
        values.parse_memory_model,
        "C++11's as repaired, or sequential consistency",
        default="rc11",
    ),
    Option("--max-executions", ("explore",), "N", values.parse_positive, "stop after so many executions of a program"),
    Option(
        "--max-preemptions",
        ("explore",),
        "N",
        values.parse_count,
        "how often in an execution a thread that could go on may be made to wait for another (default: no bound)",
    ),
    Option(
        "--max-steps",
        ("explore",),
        "N",
        values.parse_positive,
        "a thread with more operations than this is taken for a loop without a bound",
        default=2000,
    ),
    Option(
        "--spurious-failures",
        ("explore",),
        "N",
        values.parse_count,
        "how many weak compare-exchanges of an execution may fail without a reason (default: as the program says)",
    ),
    _flag("--corpus", ("fuzz",), "instead of drawing sequences, take those again that once found something"),
    _flag("--keep-going", ("fuzz",), "go on after a finding until the time is over"),
    Option(
        "--seed",
        RUNNING,
        "SEED",
        parse_seed,
        "0x hexadecimal, decimal, or a 40-digit hash (default: a fresh one)",
        variable="HOLDFAST_SEED",
    ),
    Option("--seed", ("explore",), "SEED", parse_seed, "of a random search (default: 1)"),
    Option("--runs", ("run", "selftest"), "N", values.parse_positive, "how often each case runs", default=1),
    Option(
        "--runs", ("fuzz",), "N", values.parse_positive, "parts of the time, or replays of each sequence", default=1
    ),
    Option(
        "--first-run",
        ("run", "selftest"),
        "N",
        values.parse_count,
        "number of the first run, to take one run of many again",
        default=0,
    ),
    Option("--max-total-time", CASES, "TIME", values.parse_duration, "stop starting cases after this long"),
    Option("--max-total-time", ("fuzz",), "TIME", values.parse_duration, "how long to draw sequences (default: 60s)"),
    Option(
        "--max-total-time", ("explore",), "TIME", values.parse_duration, "how long to explore a program (default: 10m)"
    ),
    Option("--timeout", CASES, "TIME", values.parse_duration, "time limit of a case (default: the scenario's own)"),
    Option("--timeout", ("fuzz",), "TIME", values.parse_duration, "time limit of one sequence (default: 20s)"),
    Option("--timeout", ("replay",), "TIME", values.parse_duration, "time limit (default: as it was found with)"),
    Option(
        "--rss-limit-mb",
        RUNNING,
        "N",
        values.parse_positive,
        "memory limit of a case's processes together",
        default=2048,
    ),
    Option("--jobs", (*RUNNING, "explore"), "N", values.parse_positive, "cases at a time"),
    Option(
        "--filter",
        SELECTING,
        "FILTER",
        values.parse_text,
        "POSITIVE[-NEGATIVE] globs of SCENARIO or SCENARIO/VARIANT, joined by ':'; ':-' is never part of a name",
        variable="TESTBRIDGE_TEST_ONLY",
    ),
    Option(
        "--filter",
        ("replay",),
        "FILTER",
        values.parse_text,
        "which case of a report to take again, as SCENARIO/VARIANT, where several have a finding",
    ),
    _flag(
        "--fail-fast",
        ("run", "sweep"),
        "stop at the first case that fails",
        variable="TESTBRIDGE_TEST_RUNNER_FAIL_FAST",
    ),
    Option("--max-failures", ("run", "sweep"), "N", values.parse_positive, "stop once this many cases failed"),
    _flag("--shuffle", ("run",), "run the cases in an order drawn from the seed"),
    _flag("--require-run", ("run",), "exit 4 when every case was skipped"),
    Option("--skip-exit-code", ("run",), "CODE", values.parse_exit_code, "the exit code when every case was skipped"),
    Option(
        "--artifact-dir",
        REPORTING,
        "DIR",
        values.parse_text,
        "keep the report here, and of each case that did not pass a folder: output.txt, events.jsonl, replay.txt for "
        "holdfast replay, plan.json for --plan, and merged_plan.json, which has its scenario's own rules, too",
        variable="TEST_UNDECLARED_OUTPUTS_DIR",
    ),
    Option(
        "--report",
        (*REPORTING, "explore"),
        "FORMAT:PATH",
        values.parse_report,
        "write a report: " + ", ".join(values.REPORT_FORMATS) + f"; {_SPECIAL_TARGETS}",
        repeats=True,
    ),
    Option(
        "--report",
        ("report",),
        "FORMAT:PATH",
        values.parse_report,
        "where to write it: " + ", ".join(values.REPORT_FORMATS) + f"; {_SPECIAL_TARGETS}",
        repeats=True,
        verbs=("convert", "merge"),
    ),
    Option("--policy", ("gate",), "FILE", values.parse_text, "the rules that the report has to meet (docs/gate.md)"),
    Option(
        "--baseline",
        ("gate",),
        "REPORT",
        values.parse_text,
        "the report of an earlier run, for the rules that compare with one",
    ),
    Option(
        "--baseline",
        ("report",),
        "REPORT",
        values.parse_text,
        "the report of an earlier run, for the formats that compare with one",
        verbs=("convert",),
    ),
    Option(
        "--canary",
        ("gate",),
        "REPORT",
        values.parse_text,
        "the report of a run that had to fail, for the rule canary-failed",
        repeats=True,
    ),
    Option(
        "--annotations",
        (*REPORTING, "explore"),
        "|".join(values.ANNOTATED),
        values.parse_annotations,
        "print the first ten findings as workflow commands, which mark them at lines of a pull request",
    ),
    _flag("--timelines", REPORTING, "keep the timeline of every case, not only of those that did not pass"),
    _flag("--list", ("run",), "print the names of the selected cases and run none"),
    _flag("--list", ("explore",), "print the names of the selected programs and explore none"),
    _flag("--coverage", ("list",), "each behaviour, and the scenarios and tests that cover it"),
    _flag("--json", ("list", "doctor"), "print JSON"),
    _flag("--man", ("help",), "print the whole manual as a man page"),
    Option(
        "--color",
        (*SELECTING, "explore", "fuzz", "replay", "gate", "report", "doctor"),
        "auto|yes|no",
        values.parse_color,
        "colour of the tables",
        default="auto",
    ),
    _flag("--quiet", REPORTING, "no progress, and no table of the cases that passed"),
    _flag("--verbose", REPORTING, "one line for each case that ends"),
)

# Options that cannot both be on one command line, and why.
CONTRADICTIONS = (
    ("--quiet", "--verbose", "one asks for less and the other for more"),
    ("--fail-fast", "--max-failures", "both say after how many failures to stop"),
    ("--list", "--minimise", "one runs no case, and the other runs cases that found something again"),
    ("--require-run", "--skip-exit-code", "both give the exit code of a run in which every case was skipped"),
    ("--replay", "--corpus", "both say which sequences to take again"),
    ("--replay", "--keep-going", "a replay ends by itself"),
    ("--corpus", "--keep-going", "a replay ends by itself"),
)


@dataclasses.dataclass(frozen=True)
class Invocation:
    """A parsed command line: each option of the command has a value, and a source that says who gave it. `words` are
    the options as they were given, each as NAME=VALUE; `replay` is the replay string that stands behind all of it.
    """

    command: str
    positionals: tuple[str, ...]
    values: Mapping[str, Any]
    sources: Mapping[str, str]
    verb: str = ""
    words: tuple[str, ...] = ()
    replay: Replay | None = None

    def __getitem__(self, option: str) -> Any:
        return self.values[option]

    def was_given(self, option: str) -> bool:
        """Whether the value is the user's rather than the default."""
        return self.sources[option] != "default"


def options_of(command: str) -> list[Option]:
    return [option for option in OPTIONS if command in option.commands]


def parse(command: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Invocation:
    """Reads what follows the command's name. Raises UsageError."""
    table = {option.name: option for option in options_of(command)}
    given: dict[str, list[Any]] = {}
    positionals: list[str] = []
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            positionals += rest
            break
        if not word.startswith("-") or word == "-":
            positionals.append(word)
            continue
        option, text = _take(command, table, word, rest)
        given.setdefault(option.name, []).append(_read(option, text, option.name))
        words.append(option.name if option.is_flag else f"{option.name}={text}")
    _refuse_contradictions(given)
    _refuse_reports_in_one_place(given.get("--report", []))
    if positionals and not _command(command).positional:
        raise UsageError(f"holdfast {command} takes no argument, and {positionals[0]!r} is one")
    verb = _take_verb(_command(command), positionals)
    for name in given:
        if table[name].verbs and verb not in table[name].verbs:
            owners = ", ".join(f"{command} {owner}" for owner in table[name].verbs)
            raise UsageError(f"holdfast {command} {verb} has no option {name}; it belongs to {owners}")
    resolved = _resolve(command, table, given, tuple(positionals), environment)
    return dataclasses.replace(resolved, verb=verb, words=tuple(words))


def _take_verb(command: Command, positionals: list[str]) -> str:
    """The first word of those, if the command has verbs."""
    if not command.verbs:
        return ""
    names = [verb.name for verb in command.verbs]
    if not positionals:
        raise UsageError(f"holdfast {command.name} needs a verb: {', '.join(names)}")
    if positionals[0] not in names:
        raise UsageError(f"holdfast {command.name} has no verb {positionals[0]!r}{nearest(positionals[0], names)}")
    return positionals.pop(0)


def _take(command: str, table: Mapping[str, Option], word: str, rest: list[str]) -> tuple[Option, str]:
    """The option that `word` names, and its text, which may be the next word of `rest`."""
    name, equals, text = word.partition("=")
    option = table.get(name)
    if option is None:
        raise UsageError(_unknown_option(command, name))
    if option.is_flag:
        if equals:
            raise UsageError(f"{name} is a flag and takes no value")
        return option, "1"
    if not equals:
        if not rest:
            raise UsageError(f"{name} needs a value: {name}={option.metavar}")
        text = rest.pop(0)
    return option, text


def _unknown_option(command: str, name: str) -> str:
    owners = [owner for option in OPTIONS if option.name == name for owner in option.commands]
    if owners:
        return f"holdfast {command} has no option {name}; it belongs to {', '.join(owners)}"
    known = [option.name for option in options_of(command)] + ["--help", "--version"]
    return f"unknown option {name}{nearest(name, known)}"


def _read(option: Option, text: str, giver: str) -> Any:
    try:
        return option.read(text)
    except ValueError as problem:
        raise UsageError(f"{giver}: {problem}") from None


def _refuse_contradictions(given: Mapping[str, list[Any]]) -> None:
    for first, second, reason in CONTRADICTIONS:
        if first in given and second in given:
            raise UsageError(f"{first} and {second} contradict each other: {reason}")


def _refuse_reports_in_one_place(targets: Sequence[values.ReportTarget]) -> None:
    places = [target.place for target in targets]
    for target in targets:
        if places.count(target.place) > 1:
            raise UsageError(f"--report names {target.path} more than once; each report needs a place of its own")


def _resolve(
    command: str,
    table: Mapping[str, Option],
    given: Mapping[str, list[Any]],
    positionals: tuple[str, ...],
    environment: Mapping[str, str],
) -> Invocation:
    resolved: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, option in table.items():
        variable = environment.get(option.variable, "") if option.variable else ""
        if name in given:
            resolved[name] = given[name] if option.repeats else given[name][-1]
            sources[name] = "command line"
        elif variable:
            resolved[name] = _read(option, variable, f"{option.variable} in the environment")
            sources[name] = f"environment {option.variable}"
        else:
            resolved[name] = [] if option.repeats else option.default
            sources[name] = "default"
    return Invocation(command, positionals, resolved, sources)


def _command(name: str) -> Command:
    for command in COMMANDS:
        if command.name == name:
            return command
    raise UsageError(f"unknown command {name!r}{nearest(name, [command.name for command in COMMANDS])}")


def command_help(name: str) -> str:
    """The help of one command."""
    command = _command(name)
    lines = [f"usage: holdfast {name} [OPTIONS] {command.positional}".rstrip(), "", f"  {command.summary}", ""]
    for verb in command.verbs:
        lines.append(f"  {f'{verb.name} {verb.positional}':<32} {verb.summary}")
    lines += [""] if command.verbs else []
    for option in options_of(name):
        head = option.name if option.is_flag else f"{option.name}={option.metavar}"
        lines.append(f"  {head:<32} {option.notes}")
    return "\n".join(lines) + "\n"


def general_help() -> str:
    """What `holdfast --help` prints."""
    lines = ["usage: holdfast COMMAND [OPTIONS] [ARGUMENTS]", ""]
    lines += [f"  {command.name:<12} {command.summary}" for command in COMMANDS]
    lines += [
        "",
        "holdfast COMMAND --help tells a command's options; --version prints the version.",
        "",
        "Exit codes: 0 all met, 1 finding or gate failed, 2 usage or a plan that does not load, 3 the harness itself",
        "failed, 4 nothing ran, 5 inconclusive, 130 and 143 interrupted after writing what there is, 141 nobody reads",
        "the output any more.",
    ]
    return "\n".join(lines) + "\n"
