"""A scenario program that does what a JSON file says: an array of scenarios, as in `--list`, each with `does`.

    passes   runs its oracle and fires every rule of its plan
    finds    records a finding of kind `kind`
    skips    records a skip
    waits    says that it runs by making the file `HOLDFAST_EVENTS`.waiting, and waits to be killed

`seed-decides` finds something in about every second run, depending on the seed alone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

_LISTED = (
    "scenario",
    "summary",
    "covers",
    "catches",
    "suites",
    "variants",
    "plan",
    "drivers",
    "timeout_s",
    "file",
    "line",
)


def _emit(event: str, **fields: Any) -> None:
    with open(os.environ["HOLDFAST_EVENTS"], "a") as file:
        file.write(json.dumps({"event": event, **fields}) + "\n")


def _fire(rules: list[dict[str, Any]], wanted: list[str]) -> None:
    for index, rule in enumerate(rules):
        if rule["site"] in wanted:
            fields = {"site": rule["site"], "ordinal": 1, "thread": "main", "action": "fail", "result": None}
            _emit("fault", rule=index, **fields)


def _run(scenario: dict[str, Any]) -> int:
    _emit("start", scenario=scenario["scenario"], variant="only")
    does = scenario.get("does", "passes")
    if does == "waits":
        Path(os.environ["HOLDFAST_EVENTS"] + ".waiting").touch()
        while True:
            signal.pause()
    with open(os.environ["HOLDFAST_PLAN"]) as file:
        _fire(json.load(file)["rules"], scenario.get("sites", []))
    _emit("oracle", name="ran")
    if does == "seed-decides":
        does = "finds" if int(os.environ["HOLDFAST_SEED"], 16) % 2 else "passes"
    if does == "finds":
        _emit("finding", kind=scenario.get("kind", "contract"), message="it broke", place="lib/a.cc:1")
    if does == "skips":
        _emit("skip", reason="not here")
    _emit("finish")
    return 0 if does == "passes" else 1


def main() -> int:
    with open(sys.argv[1]) as file:
        scenarios = json.load(file)
    if sys.argv[2] == "--list":
        for scenario in scenarios:
            print(json.dumps({key: scenario[key] for key in _LISTED if key in scenario}))
        return 0
    name = sys.argv[2].removeprefix("--run=")
    return _run(next(scenario for scenario in scenarios if scenario["scenario"] == name))


if __name__ == "__main__":
    sys.exit(main())
