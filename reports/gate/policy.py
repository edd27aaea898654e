"""The policy: which rules a report has to meet. JSON with comments; policy.schema.json beside this has its form."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from reports import commented_json
from reports.gate import canary, conditions, coverage, detection, findings, limits, scenarios
from reports.gate.rule import GateError, Rule, parameter
from reports.nearest import nearest
from reports.record import COMMANDS
from reports.structure import StructureError, Structures

VERSION = 1

# The one table of rules, in the order in which they are told. Reading, schema, documentation and help come from it.
RULES: tuple[Rule, ...] = (
    conditions.COMPLETE_RULE,
    conditions.DRIVER_RULE,
    conditions.SANITIZERS_RULE,
    conditions.ERRORS_RULE,
    conditions.INCONCLUSIVE_RULE,
    scenarios.RULE,
    findings.RULE,
    canary.RULE,
    coverage.RULE,
    detection.RULE,
    limits.COUNTER_RULE,
    limits.DURATION_RULE,
)


@dataclasses.dataclass(frozen=True)
class Policy:
    """What is asked of a report. `rules` has the parameters of each rule that is in force, by its name."""

    version: int = parameter("of this form: 1", minimum=1)
    rules: Mapping[str, Any] = parameter("the rules in force, by name; what is not here is not judged")
    command: str = parameter("the command whose reports this is for; others are refused", "", words=("", *COMMANDS))
    plan: str = parameter(
        "the digest of the plan that was in force; reports with another one are refused",
        "",
        pattern="([0-9a-f]{16})?",
        form="sixteen hexadecimal digits",
    )

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise StructureError(f"is {self.version}, and this command reads version {VERSION}").inside("version")
        if not self.rules:
            raise StructureError("has no rule, so every report would pass").inside("rules")

    def in_force(self) -> list[tuple[Rule, Any]]:
        """Each rule that is in force with its parameters, in the order of the table."""
        return [(rule, self.rules[rule.name]) for rule in RULES if rule.name in self.rules]


STRUCTURES = Structures(defaults=True)
_READERS = {rule.name: STRUCTURES.reader(rule.parameters) for rule in RULES}


def _read_rules(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise StructureError("is no object")
    rules = {}
    for name, parameters in value.items():
        if name not in _READERS:
            there_are = f"; there are {', '.join(_READERS)}"
            raise StructureError(f"has the unknown rule {name!r}{nearest(name, _READERS, there_are)}")
        try:
            rules[name] = _READERS[name](parameters)
        except StructureError as problem:
            raise problem.inside(name) from None
    return rules


_READ_POLICY = Structures(defaults=True, overrides={Mapping[str, Any]: _read_rules}).reader(Policy)


def read_policy(data: bytes) -> Policy:
    """The policy. Raises GateError with a sentence that says what is wrong and where."""
    if not data.strip():
        raise GateError("it is empty")
    try:
        document = commented_json.load(data)
        if isinstance(document, dict):
            document.pop("$schema", None)  # for editors
        policy: Policy = _READ_POLICY(document)
    except (ValueError, StructureError) as problem:
        raise GateError(str(problem)) from None
    return policy
