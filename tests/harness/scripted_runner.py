"""A scenario program that does what a JSON file says: an array of scenarios, as in `--list`, each with `does`.

    passes   runs its oracle and fires every rule of its plan
    finds    records a finding of kind `kind`, with `message` and `stack` if it has them
    skips    records a skip, for the reason `message` if it has one
    waits    says that it runs by making the file `HOLDFAST_EVENTS`.waiting, and waits to be killed

    needs    finds something if each of the sites in `needs` has a fault
    races    finds something if the third step of thread b comes between the third and the fourth of thread a, or if the
             threads are in no order and `always` is set

Of the runs of the program, counted from 1, those in `passes_in` pass, and those from `waits_from` on wait.

A rule with `nth` fires at the call with this number alone, which is what `ordinals` has for its site, else 1.

`seed-decides` finds something in about every second run, depending on the seed alone.

With `operation`, a list of calls [site, kind], it makes these in one step, and stops at the first that fails. Then it
makes the calls that `rollback` has for the site, and fires no rule of its own plan. `breaks` lists the failures that
are a finding, as "site before 2", "site after 1": the how manieth call of the site failed how.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import sys
import zlib
from pathlib import Path
from typing import Any

_STEPS = 6  # of a thread that races

_LISTED = (
    "scenario",
    "summary",
    "covers",
    "catches",
    "suites",
    "variants",
    "interpreter",
    "plan",
    "drivers",
    "timeout_s",
    "file",
    "line",
)


def _emit(event: str, **fields: Any) -> None:
    with open(os.environ["HOLDFAST_EVENTS"], "a") as file:
        file.write(json.dumps({"event": event, **fields}) + "\n")


def _fire(rules: list[dict[str, Any]], wanted: list[str], ordinals: dict[str, int]) -> set[str]:
    """The sites whose rules fired."""
    fired = set()
    for index, rule in enumerate(rules):
        ordinal = ordinals.get(rule["site"], 1)
        if rule["site"] in wanted and rule.get("when", {}).get("nth", str(ordinal)) == str(ordinal):
            fields = {"site": rule["site"], "ordinal": ordinal, "thread": "main", "action": "fail", "result": None}
            _emit("fault", rule=index, **fields)
            fired.add(rule["site"])
    return fired


def _steps_taken() -> str:
    """The letters of the threads in the order in which they go on, six steps each; and the record of it. Alternately
    by a strategy, and one after the other without any; as the order control takes a schedule.
    """
    word = os.environ.get("HOLDFAST_SCHEDULE", "")
    wanted = "ab" * _STEPS if word else "a"
    if word in ("replay", "follow"):
        with open(os.environ["HOLDFAST_SCHEDULE_TAKE"]) as file:
            text = file.read().partition(":")[2].partition("#")[0]
        wanted = "".join(letter * int(count or 1) for letter, count in re.findall(r"([a-z])(\d*)", text))
    steps = ""
    for letter in wanted:
        if steps.count(letter) < _STEPS:
            steps += letter
        elif word == "replay":
            raise AssertionError(f"{letter} cannot go on")
    last = steps[-1]
    for letter in (last, "b" if last == "a" else "a"):
        steps += letter * (_STEPS - steps.count(letter))
    if word:
        runs = "".join(f"{letter}{len(list(run))}" for letter, run in itertools.groupby(steps))
        with open(os.environ["HOLDFAST_SCHEDULE_RECORD"], "w") as file:
            file.write(f"x1:{runs}#{zlib.crc32(steps.encode()):x}\0")
    return steps


def _races() -> bool:
    steps = _steps_taken()
    third_of_b = [place for place, letter in enumerate(steps) if letter == "b"][2]
    return steps[:third_of_b].count("a") == 3


class _Operation:
    """The calls of one step, as a shim would count and fail them."""

    def __init__(self, rules: list[dict[str, Any]]) -> None:
        self._rules = rules
        self.visits: dict[str, int] = {}
        self.kinds: dict[str, str] = {}
        self.failures: list[str] = []

    def call(self, site: str, kind: str) -> bool:
        """Whether the call succeeded."""
        self.kinds[site] = kind
        self.visits[site] = self.visits.get(site, 0) + 1
        for index, rule in enumerate(self._rules):
            when = rule.get("when", {})
            fires = int(when.get("after", "0")) < self.visits[site] and when.get("nth") in (
                None,
                str(self.visits[site]),
            )
            if rule["site"] != site or when.get("step") != "operation" or not fires:
                continue
            how = "after" if "after" in rule["do"] else "before"
            self.failures.append(f"{site} {how} {self.visits[site]}")
            fields = {"site": site, "ordinal": self.visits[site], "thread": "main", "result": rule["do"].get("return")}
            _emit("fault", rule=index, action="return", **fields)
            return False
        return True

    def tell(self) -> None:
        for site, count in self.visits.items():
            kind = self.kinds[site]
            marks = {"before": kind != "own", "after": kind in ("release", "work", "wait")}
            fields = {"kind": kind, "reason": f"the reason of {kind}", **marks}
            _emit("visits", step="operation", thread="main", site=site, count=count, **fields)


def _operate(scenario: dict[str, Any], rules: list[dict[str, Any]]) -> list[str]:
    """Which calls of the operation failed how."""
    operation = _Operation(rules)
    for site, kind in scenario["operation"]:
        if not operation.call(site, kind):
            for next_site, next_kind in scenario.get("rollback", {}).get(site, []):
                operation.call(next_site, next_kind)
            break
    operation.tell()
    return operation.failures


def _count_runs() -> int:
    """The number of this run. No two runs count at once."""
    path = Path(sys.argv[1] + ".runs")
    number = int(path.read_text()) + 1 if path.exists() else 1
    path.write_text(str(number))
    return number


def _run(scenario: dict[str, Any]) -> int:
    _emit("start", scenario=scenario["scenario"], variant="only")
    does = scenario.get("does", "passes")
    if "passes_in" in scenario or "waits_from" in scenario:
        number = _count_runs()
        does = "passes" if number in scenario.get("passes_in", []) else does
        does = "waits" if number >= scenario.get("waits_from", number + 1) else does
    if does == "waits":
        Path(os.environ["HOLDFAST_EVENTS"] + ".waiting").touch()
        while True:
            signal.pause()
    with open(os.environ["HOLDFAST_PLAN"]) as file:
        rules = json.load(file)["rules"]
    failures = _operate(scenario, rules) if "operation" in scenario else []
    if any(failure in scenario.get("breaks", []) for failure in failures):
        does = "finds"
    fired = set() if failures else _fire(rules, scenario.get("sites", []), scenario.get("ordinals", {}))
    _emit("oracle", name="ran")
    if does == "seed-decides":
        does = "finds" if int(os.environ["HOLDFAST_SEED"], 16) % 2 else "passes"
    if does == "needs":
        does = "finds" if fired >= set(scenario["needs"]) else "passes"
    if does == "races":
        is_free = not os.environ.get("HOLDFAST_SCHEDULE")
        does = "finds" if _races() or (is_free and scenario.get("always")) else "passes"
    if does == "finds":
        message = scenario.get("message", "it broke")
        stack = scenario.get("stack", [])
        _emit("finding", kind=scenario.get("kind", "contract"), message=message, place="lib/a.cc:1", stack=stack)
    if does == "skips":
        _emit("skip", reason=scenario.get("message", "not here"))
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
