"""`holdfast report`: converts, merges, compares and shows reports that are there already."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from harness.cli.case_view import case_lines, head_lines
from harness.cli.difference_view import difference_lines
from harness.cli.options import Invocation
from harness.cli.problems import NothingSelected, UsageError
from harness.cli.report_files import COMPARING, ReportFiles
from harness.cli.report_input import STANDARD_INPUT, read_merged, read_record, refuse_one_input_twice
from harness.cli.session import Console
from harness.cli.table import Paint, closing_lines
from harness.cli.verdict import ExitCode
from reports.compare import compare
from reports.name_glob import matches_glob
from reports.nearest import nearest
from reports.record import Record, summarize


def run(invocation: Invocation, environment: Mapping[str, str], console: Console) -> ExitCode:
    """Does what the verb says. Raises a Problem if that cannot be done."""
    paint = Paint(invocation["--color"], console.out, environment)
    return _VERBS[invocation.verb](invocation, console, paint)


def _convert(invocation: Invocation, console: Console, paint: Paint) -> ExitCode:
    (path,) = _arguments(invocation, 1, 1, "REPORT")
    baseline = invocation["--baseline"]
    targets = invocation["--report"]
    if baseline and not any(target.format in COMPARING for target in targets):
        raise UsageError(f"--baseline: none of these formats compares; {', '.join(COMPARING)} does")
    refuse_one_input_twice([path, baseline])
    _refuse_to_replace([path, *([baseline] if baseline else [])], invocation)
    record = read_record(path)
    earlier = read_record(baseline, "the baseline") if baseline else None
    _write(invocation, record, console, earlier)
    return ExitCode.ALL_MET


def _merge(invocation: Invocation, console: Console, paint: Paint) -> ExitCode:
    paths = _arguments(invocation, 1, None, "REPORT ...")
    _refuse_to_replace(paths, invocation)
    _write(invocation, read_merged(paths), console)
    return ExitCode.ALL_MET


def _refuse_to_replace(paths: Sequence[str], invocation: Invocation) -> None:
    """A report may be the only record of its run, and no other format is as full."""
    read = {os.path.realpath(path) for path in paths if path != STANDARD_INPUT}
    for target in invocation["--report"]:
        if target.path != STANDARD_INPUT and os.path.realpath(target.path) in read:
            raise UsageError(f"--report={target.format}:{target.path} would replace a report that is read")


def _write(invocation: Invocation, record: Record, console: Console, baseline: Record | None = None) -> None:
    if not invocation["--report"]:
        raise UsageError(f"holdfast report {invocation.verb} needs to know what to write: --report=FORMAT:PATH")
    console.out.flush()
    ReportFiles(invocation["--report"], baseline).write(record, final=True)


def _diff(invocation: Invocation, console: Console, paint: Paint) -> ExitCode:
    old, new = _arguments(invocation, 2, 2, "OLD NEW")
    refuse_one_input_twice([old, new])
    before, now = read_record(old), read_record(new)
    if before.command != now.command:
        commands = f"holdfast {before.command} and of holdfast {now.command}"
        raise UsageError(f"the reports are of {commands}, whose cases are not the same sort: compare those of one")
    difference = compare(before, now)
    console.out.writelines(f"{line}\n" for line in difference_lines(difference, paint))
    return ExitCode.FINDING if difference else ExitCode.ALL_MET


def _show(invocation: Invocation, console: Console, paint: Paint) -> ExitCode:
    """Of a report without a glob, what it says as a whole, and the cases that did not pass."""
    path, *globs = _arguments(invocation, 1, 2, "REPORT [CASE-GLOB]")
    record = read_record(path)
    for line in head_lines(record):
        console.out.write(f"{line}\n")
    cases = [case for case in record.cases if case.verdict != "passed"]
    if globs:
        cases = [case for case in record.cases if matches_glob(globs[0], case.scenario, case.variant)]
        if not cases:
            near = nearest(globs[0].partition("/")[0], {case.scenario for case in record.cases})
            raise NothingSelected(f"{globs[0]!r} matches no case of the report{near}")
    for case in cases:
        console.out.writelines(f"{line}\n" for line in ("", *case_lines(case, paint)))
    console.out.writelines(f"{line}\n" for line in ("", *closing_lines(summarize(record), record.not_run)))
    return ExitCode.ALL_MET


def _arguments(invocation: Invocation, least: int, most: int | None, form: str) -> tuple[str, ...]:
    given = invocation.positionals
    if len(given) < least or (most is not None and len(given) > most):
        raise UsageError(f"holdfast report {invocation.verb} takes {form}, and {len(given)} are given")
    return given


_VERBS: dict[str, Callable[[Invocation, Console, Paint], ExitCode]] = {
    "convert": _convert,
    "merge": _merge,
    "diff": _diff,
    "show": _show,
}
