"""Stands in for holdfast_plan: the same command line and output. Every site is one, except `nowhere`."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any, NoReturn

from reports.record import NO_PLAN

_CONDITIONS = ("nth", "after", "step", "count", "thread", "first", "every", "times", "probability", "while")


def _refuse(sentence: str) -> NoReturn:
    print(f"holdfast: {sentence}", file=sys.stderr)
    sys.exit(2)


def _checked(rule: dict[str, Any], place: str) -> dict[str, Any]:
    if rule["site"] == "nowhere":
        _refuse(f"{place}/site: there is no site 'nowhere'")
    return rule


def _rule(text: str, place: str) -> dict[str, Any]:
    site, _, rest = text.partition(":")
    fields = [field.partition("=") for field in rest.split(",") if field]
    when = {key: value for key, _, value in fields if value and key in _CONDITIONS}
    action = {key: value or True for key, _, value in fields if not value or key not in _CONDITIONS}
    return _checked({"site": site, **({"when": when} if when else {}), "do": action}, place)


def main() -> None:
    document: dict[str, Any] = {"version": 1, "rules": []}
    one_line: list[dict[str, Any]] = []
    for argument in sys.argv[1:]:
        option, _, value = argument.partition("=")
        if option == "--plan":
            with open(value) as file:
                document = json.load(file)
            for index, rule in enumerate(document["rules"]):
                _checked(rule, f"{value}: /rules/{index}")
        elif option == "--fault":
            one_line.append(_rule(value, f"--fault[{len(one_line)}]"))
        else:
            _refuse(f"unknown option {argument!r}")
    document["rules"] = one_line + document["rules"]
    digest = hashlib.sha256(json.dumps(document["rules"], sort_keys=True).encode()).hexdigest()[:16]
    digest = digest if document["rules"] else NO_PLAN
    print(json.dumps({"plan": document, "digest": digest}))


if __name__ == "__main__":
    main()
