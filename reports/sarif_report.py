"""SARIF 2.1.0, as GitHub's code scanning takes it: findings as results, one for each distinct fault.

A result needs a line of source; findings without one are counted in a notification. GitHub matches results from run to
run by rule and by the fingerprint, so neither has a seed or an address in it. What does not fit is counted in a
notification as well: GitHub refuses a file with more than 25,000 results or more than 10 MB after gzip.
"""

from __future__ import annotations

import datetime
import json
import re
import urllib.parse
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from reports.case_name import case_name
from reports.counted import count_of
from reports.distinct_findings import DistinctFinding, distinct_findings
from reports.finding_kinds import KINDS, kind_of
from reports.finding_text import MOST_MESSAGE, stack_lines
from reports.plain_text import one_line, plain, shortened
from reports.record import Case, Moment, Record
from reports.source_place import Place, place_of
from reports.visible import inert_json

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"

MOST_RESULTS = 25_000
MOST_ZIPPED_BYTES = 9_000_000
_MOST_BYTES = 100_000_000  # before gzip: whoever reads it has to hold it
_MOST_BYTES_IN_FULL = 50_000_000  # from here on results have no stack and no flow
_MOST_FRAMES = 50
_MOST_MOMENTS = 200
_MOST_NAME = 500
_MOST_COMMAND = 3_000  # a part of one is of no use, and other reports have it
_MOST_NOTIFICATIONS = 100
_WORKED = (0, 1, 5)  # exit codes of a run that did what it was asked


def render(record: Record) -> bytes:
    """The record as SARIF, pure ASCII, one result a line."""
    found = distinct_findings(record)
    placed = [(one, place) for one in found if (place := place_of(one.case, one.finding))]
    rules = _rule_ids(one.finding.kind for one in found)
    results = _results(placed, rules)
    notes = []
    if len(found) > len(placed):
        notes.append(
            f"{count_of(len(found) - len(placed), 'finding')} without a line of source, in the full report only"
        )
    if len(placed) > len(results):
        notes.append(f"{count_of(len(placed) - len(results), 'more finding')}, in the full report only")
    document = _document(record, notes, rules)
    head, empty, end = inert_json(json.dumps(document, indent=2, allow_nan=False)).rpartition('"results": []')
    assert empty  # it stands last, so no text of the record can be taken for it
    if results:
        empty = "\n".join(['"results": [', ",\n".join(results), "      ]"])
    return f"{head}{empty}{end}\n".encode("ascii")


def _results(placed: Sequence[tuple[DistinctFinding, Place]], rules: dict[str, int]) -> list[str]:
    """As many as fit, each as JSON."""
    zipper = zlib.compressobj(level=1)  # no other level and no gzip makes it larger
    lines: list[str] = []
    size = zipped = 0
    for one, place in placed[:MOST_RESULTS]:
        result = _result(one, place, rules)
        if size < _MOST_BYTES_IN_FULL:
            result.update(_stack(one), **_flow(one.case, place))
        line = inert_json(json.dumps(result, allow_nan=False))
        size += len(line)
        zipped += len(zipper.compress(line.encode("ascii")))
        if size > _MOST_BYTES or zipped > MOST_ZIPPED_BYTES:
            break
        lines.append(line)
    return lines


def _document(record: Record, notes: Iterable[str], rules: Iterable[str]) -> dict[str, Any]:
    run = {
        "tool": {"driver": _driver(record, rules)},
        "automationDetails": {"id": _category(record)},
        "invocations": [_invocation(record, notes)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "the root of the repository"}}},
        "columnKind": "unicodeCodePoints",
        "results": [],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _category(record: Record) -> str:
    """GitHub replaces an earlier file of the same category: what comes before the last slash."""
    parts = (record.command, record.driver, *record.subject.sanitizers)
    return "/".join(["holdfast", *(_word(part) for part in parts), _word(record.started)])


def _driver(record: Record, rules: Iterable[str]) -> dict[str, Any]:
    return {
        "name": "Holdfast",
        "version": one_line(record.version, _MOST_NAME) or "unknown",
        "rules": [_rule(word) for word in rules],
    }


def _rule_ids(kinds: Iterable[str]) -> dict[str, int]:
    """The ids of all rules, each with its index: ours in the order of their table, then the subject's own."""
    own = dict.fromkeys(_word(kind) for kind in kinds if kind not in KINDS)
    return {word: index for index, word in enumerate(dict.fromkeys([*KINDS, *sorted(own)]))}


def _word(text: str) -> str:
    """A text as an id may be: what is no letter, digit, dash, dot or colon becomes a dash."""
    return re.sub(r"[^A-Za-z0-9.:-]+", "-", text)[:100].strip("-") or "other"


def _rule(word: str) -> dict[str, Any]:
    kind = kind_of(word)
    return {
        "id": word,
        "name": "".join(part.capitalize() for part in word.split("-")),
        "shortDescription": {"text": kind.title},
        "fullDescription": {"text": kind.description},
        "help": {"text": kind.help},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["correctness"], "precision": "very-high"},
    }


def _invocation(record: Record, notes: Iterable[str]) -> dict[str, Any]:
    invocation: dict[str, Any] = {"executionSuccessful": record.exit_code in _WORKED}
    if record.exit_code is not None:
        invocation["exitCode"] = record.exit_code
    try:
        started = datetime.datetime.fromisoformat(record.started)
        ended = started + datetime.timedelta(milliseconds=record.duration_ms)
        invocation["startTimeUtc"] = _time(started)
        invocation["endTimeUtc"] = _time(ended)
    except (ValueError, OverflowError, TypeError):
        pass  # a time that is none says nothing
    told = [_notification("note", note) for note in (*notes, *record.notes)]
    errors = [case for case in record.cases if case.verdict == "error"]
    told += [_notification("error", f"{case_name(case)}: {case.reason}") for case in errors]
    if len(told) > _MOST_NOTIFICATIONS:
        more = len(told) - _MOST_NOTIFICATIONS
        told = [*told[:_MOST_NOTIFICATIONS], _notification("note", count_of(more, "more notification"))]
    return {**invocation, "toolExecutionNotifications": told}


def _time(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _notification(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _message(text, MOST_MESSAGE)}}


def _result(one: DistinctFinding, place: Place, rules: dict[str, int]) -> dict[str, Any]:
    finding, case = one.finding, one.case
    word = _word(finding.kind)
    text = finding.message if finding.message.strip() else kind_of(finding.kind).title
    lines = [shortened(text, MOST_MESSAGE), f"in {case_name(case)}"[:_MOST_NAME]]
    lines += [f"reproduce: {command}" for command in finding.reproduce if len(command) <= _MOST_COMMAND]
    return {
        "ruleId": word,
        "ruleIndex": rules[word],
        "level": "error",
        "message": {"text": _message("\n".join(lines), 3 * MOST_MESSAGE)},
        "locations": [_location(place, case)],
        "partialFingerprints": {"primaryLocationLineHash": f"{one.fingerprint}:1"},
        "occurrenceCount": one.cases,
    }


def _location(place: Place, case: Case) -> dict[str, Any]:
    name = one_line(case_name(case), _MOST_NAME)
    return {**_physical(place), "logicalLocations": [{"fullyQualifiedName": name, "kind": "function"}]}


def _physical(place: Place) -> dict[str, Any]:
    uri = urllib.parse.quote(place.path.encode(errors="replace"), safe="/._-~+@")
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri, "uriBaseId": _ROOT},
            "region": {"startLine": place.line},
        }
    }


def _stack(one: DistinctFinding) -> dict[str, Any]:
    frames = [_message(line, MOST_MESSAGE) for line in stack_lines(one.finding, _MOST_FRAMES)]
    if not frames:
        return {}
    return {"stacks": [{"frames": [{"location": {"message": {"text": frame}}} for frame in frames]}]}


def _flow(case: Case, place: Place) -> dict[str, Any]:
    """The case's timeline, a flow for each thread; executionOrder says how they interleave.

    No source line is known of a moment, and GitHub wants one of each step, so all have the finding's.
    """
    if case.timeline is None or not case.timeline.moments:
        return {}
    moments = case.timeline.moments[-_MOST_MOMENTS:]
    left_out = case.timeline.left_out + len(case.timeline.moments) - len(moments)
    threads: dict[str, list[dict[str, Any]]] = {}
    for order, moment in enumerate(moments, start=1):
        step = {
            "location": {**_physical(place), "message": {"text": _message(_step_text(moment), _MOST_NAME)}},
            "executionOrder": order,
            "kinds": [_word(moment.kind)],
            "importance": "essential" if moment.kind in ("fault", "finding") else "important",
        }
        threads.setdefault(moment.thread, []).append(step)
    flows = [{"id": one_line(name, _MOST_NAME) or "unnamed", "locations": steps} for name, steps in threads.items()]
    flow: dict[str, Any] = {"threadFlows": flows}
    if left_out:
        flow["message"] = {
            "text": f"{count_of(left_out, 'moment before these is', 'moments before these are')} left out"
        }
    return {"codeFlows": [flow]}


def _step_text(moment: Moment) -> str:
    about = [moment.thread, moment.kind, moment.name, moment.object if moment.object != moment.name else ""]
    about.append(f"-> {moment.result}" if moment.result else "")
    about.append(count_of(moment.references, "reference") if moment.references is not None else "")
    return " ".join(word for word in about if word)


def _message(text: str, most: int) -> str:
    """Text for a message, where brackets would make a link. Never empty: to GitHub an empty text is none."""
    return re.sub(r"([\\\[\]])", r"\\\1", plain(shortened(text, most))) or "(empty)"
