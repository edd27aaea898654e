"""The entry of the command: finds the subcommand, runs it, and turns a problem into a sentence and an exit code."""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Mapping, Sequence

from harness.cli import (
    completions,
    doctor,
    explore_command,
    fuzz_command,
    gate_command,
    help_command,
    list_command,
    options,
    replay_command,
    report_command,
    run_command,
    selftest,
    sweep_command,
)
from harness.cli.bazel_environment import BazelEnvironment, read_bazel_environment
from harness.cli.options import Invocation
from harness.cli.problems import Problem, UsageError
from harness.cli.session import Console, open_session
from harness.cli.verdict import ExitCode
from harness.cli.version import VERSION
from reports.nearest import nearest
from reports.visible import for_log


def main(arguments: Sequence[str], environment: Mapping[str, str], console: Console) -> int:
    """Runs the command line `arguments` (without the program's name). Returns the exit code."""
    bazel = BazelEnvironment()
    code: int
    try:
        bazel = read_bazel_environment(environment)
        bazel.begin()
        code = _dispatch(arguments, environment, bazel, console)
        console.out.flush()
    except BrokenPipeError:
        code = ExitCode.READER_GONE  # and need not be told
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except Exception as problem:
        code = _explain(problem, console)
    try:
        bazel.end()
    except Problem as problem:
        code = _explain(problem, console)
    return int(code)


def _explain(problem: Exception, console: Console) -> ExitCode:
    """Says in one sentence what ended the command. Returns the exit code, which is never that of a finding."""
    sentence, code = str(problem), ExitCode.HARNESS_FAILED
    if isinstance(problem, Problem):
        code = problem.exit_code
    else:
        place = traceback.extract_tb(problem.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"
        sentence = f"the harness itself failed: {type(problem).__name__}: {problem} ({where})"
    with contextlib.suppress(OSError, Problem):  # a standard error that is full must not hide the exit code
        console.err.write(f"holdfast: {for_log(sentence)}\n")
    return code


def _dispatch(
    arguments: Sequence[str], environment: Mapping[str, str], bazel: BazelEnvironment, console: Console
) -> int:
    if arguments and arguments[0] == "--version":
        console.out.write(f"holdfast {VERSION}\n")
        return ExitCode.ALL_MET
    if arguments and arguments[0] in ("--help", "-h"):
        console.out.write(options.general_help())
        return ExitCode.ALL_MET
    if not arguments:
        console.err.write(options.general_help())
        raise UsageError("name a command")
    command, rest = arguments[0], arguments[1:]
    names = [known.name for known in options.COMMANDS]
    if command not in names:
        what = "option" if command.startswith("-") else "command"
        hint = nearest(command, names, "; holdfast --help has them all")
        raise UsageError(f"unknown {what} {command}{hint}")
    before_end = rest[: rest.index("--")] if "--" in rest else rest
    if "--help" in before_end or "-h" in before_end:
        console.out.write(options.command_help(command))
        return ExitCode.ALL_MET
    if "--version" in before_end:
        console.out.write(f"holdfast {VERSION}\n")
        return ExitCode.ALL_MET
    return _run_command(options.parse(command, rest, environment), environment, bazel, console)


def _run_command(
    invocation: Invocation, environment: Mapping[str, str], bazel: BazelEnvironment, console: Console
) -> int:
    if invocation.command == "replay":
        again = replay_command.resolve(invocation, environment, console.err)
        return _run_command(again, environment, bazel.for_one_case(), console)
    if invocation.command == "list":
        return list_command.run(invocation, environment, console.out)
    if invocation.command == "help":
        return help_command.run(invocation, console.out)
    if invocation.command == "completions":
        return completions.run(invocation, console.out)
    if invocation.command == "doctor":
        return doctor.run(invocation, environment, console.out)
    if invocation.command == "gate":
        return gate_command.run(invocation, environment, console)
    if invocation.command == "report":
        return report_command.run(invocation, environment, console)
    if invocation.command == "explore":
        return explore_command.run(invocation, environment, bazel, console)
    session = open_session(invocation, environment, bazel, console)
    if invocation.command == "selftest":
        return selftest.run(session)
    if invocation.command == "sweep":
        return sweep_command.run(session)
    if invocation.command == "fuzz":
        return fuzz_command.run(session)
    return run_command.run(session)
