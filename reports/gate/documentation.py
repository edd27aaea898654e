"""What the table of rules says of itself: the schema of policies, and the part of docs/gate.md that lists the rules.

Both are files in the tree; a test compares them with what is made here, and `--update` of that test rewrites them.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from typing import Any

from reports.gate.policy import RULES, VERSION, Policy
from reports.structure import is_required

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema() -> str:
    """policy.schema.json."""
    rules = {rule.name: {"description": rule.summary, **_of_type(rule.parameters, {})} for rule in RULES}
    members = _of_type(Policy, {})
    properties = {
        "$schema": {"type": "string"},
        **members["properties"],
        "version": {"const": VERSION, "description": members["properties"]["version"]["description"]},
    }
    properties["rules"] = {
        "description": members["properties"]["rules"]["description"],
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": rules,
    }
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://holdfast.invalid/policy.schema.json",
        "title": "Holdfast policy",
        "description": "What holdfast gate asks of a report; made from the table of rules in reports/gate",
        **members,
        "properties": properties,
    }
    return json.dumps(document, indent=2) + "\n"


def _of_type(kind: Any, bounds: Mapping[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        least = {"minItems": bounds["least"]} if "least" in bounds else {}
        words = {"words": bounds["words"]} if "words" in bounds else {}
        return {"type": "array", **least, "items": _of_type(arguments[0], words)}
    if origin is types.UnionType:
        return _of_type(next(one for one in arguments if one is not types.NoneType), bounds)
    if dataclasses.is_dataclass(kind):
        return _of_structure(kind)
    if kind not in _TYPES:
        return {"type": "object"}
    if "words" in bounds:
        return {"enum": list(bounds["words"])}
    result: dict[str, Any] = {"type": _TYPES[kind]}
    result |= {"pattern": f"^{bounds['pattern']}$"} if "pattern" in bounds else {}
    return result | ({"minimum": bounds["minimum"]} if "minimum" in bounds else {})


def _of_structure(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    required = [_member(field) for field in fields if is_required(field)]
    return {
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        "properties": {
            _member(field): {"description": field.metadata["help"], **_of_type(hints[field.name], field.metadata)}
            for field in fields
        },
    }


def _member(field: dataclasses.Field[Any]) -> str:
    return field.name.replace("_", "-")


def rules_in_markdown() -> str:
    """A section for each rule, with its parameters."""
    return "\n".join(_section(rule.name, rule.summary, rule.parameters) for rule in RULES)


def _section(name: str, summary: str, parameters: Any) -> str:
    rows = list(_rows(parameters, ""))
    lines = [f"### `{name}`", "", f"{summary[0].upper()}{summary[1:]}.", ""]
    if rows:
        lines += ["| parameter | default | meaning |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _rows(kind: Any, prefix: str) -> list[str]:
    hints = typing.get_type_hints(kind)
    rows = []
    for field in dataclasses.fields(kind):
        name = f"{prefix}{_member(field)}"
        rows.append(f"| `{name}` | {_default(field)} | {field.metadata['help']}{_words(field)} |")
        entries = typing.get_args(hints[field.name])[:1]
        if entries and dataclasses.is_dataclass(entries[0]):
            rows += _rows(entries[0], f"{name}[].")
    return rows


def _default(field: dataclasses.Field[Any]) -> str:
    if is_required(field):
        return "required"
    return {(): "none", None: "none", "": "any"}.get(field.default) or f"`{json.dumps(field.default)}`"


def _words(field: dataclasses.Field[Any]) -> str:
    words = field.metadata.get("words", ())
    return f"; of {', '.join(f'`{word}`' for word in words)}" if words else ""
