"""Rules of a plan, as the plan tool normalises them: some of them, simpler ones, and each as one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reports.record import Fault

Rule = dict[str, Any]

_REFERENCES = ("hold", "until")  # may say what ends them by the index of a rule

# Conditions that make a rule fire at some of the calls, in place of which the number of one call may stand.
_COUNTED = ("first", "after", "every", "times", "probability")
_CONDITIONS = ("while", "thread", "step", *_COUNTED)
_MOST_FAULTS = 8  # of a rule, each of which is tried as the only one


def select(rules: Sequence[Rule], kept: Sequence[int]) -> tuple[Rule, ...] | None:
    """The rules with these indices; None if one of them refers to a rule that is left out."""
    places = {old: new for new, old in enumerate(kept)}
    selected = []
    for index in kept:
        rule = {**rules[index], "do": dict(rules[index]["do"])}
        for key in _REFERENCES:
            wanted = rule["do"].get(key, {}).get("rule")
            if wanted is not None and wanted not in places:
                return None
            if wanted is not None:
                rule["do"][key] = {"rule": places[wanted]}
        selected.append(rule)
    return tuple(selected)


def simpler(rule: Rule, faults: Sequence[Fault]) -> Iterator[Rule]:
    """Rules with less in them, the simplest first. `faults` are those of the rule that fired."""
    when = rule.get("when", {})
    if any(key in when for key in _COUNTED):
        for fault in faults[:_MOST_FAULTS]:
            yield {**rule, "site": fault.site, "when": {"nth": fault.ordinal}}
            if "thread" in when:
                yield {**rule, "site": fault.site, "when": {"nth": fault.ordinal, "thread": fault.thread}}
    for key in _CONDITIONS:
        if key in when:
            # What is counted within a step counts nothing without it.
            gone = (key, "count") if key == "step" else (key,)
            yield _with_conditions(rule, {name: value for name, value in when.items() if name not in gone})


def _with_conditions(rule: Rule, when: dict[str, Any]) -> Rule:
    others = {key: value for key, value in rule.items() if key != "when"}
    return {**others, "when": when} if when else others


def one_line(rule: Rule) -> str:
    """The form that --fault takes. What has no such form becomes another rule, or none."""
    words = [_word(key, value) for part in ("when", "do") for key, value in rule.get(part, {}).items()]
    return f"{rule['site']}:{','.join(words)}"


def _word(key: str, value: Any) -> str:
    if value is True:
        return key
    if isinstance(value, dict):
        ((what, which),) = value.items()
        return f"{key}={what}:{which}"
    return f"{key}={value}"
