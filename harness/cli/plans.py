"""Fault plans: what the user gave, what a scenario brings, what a sweep adds, merged into one file for a case.

The plan language is not known here. `holdfast_plan` reads, checks and normalises plans; a plan that it refuses ends
the command before anything runs. In a merged plan the user's rules come first (each --fault, then the file's), since
the first rule that matches acts and the user has the last word; the scenario's own come after them. So the index in
a fault event tells whose rule fired.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import re
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.cli.problems import HarnessError, Problem, UsageError
from harness.cli.seed import format_seed, parse_seed

_TOOL_SECONDS = 60
_STANDARD_INPUT = "/dev/stdin"


@dataclasses.dataclass(frozen=True)
class Plan:
    """A normalised plan. `labels` has the text of each rule as its author wrote it. First come `of_user` rules, then
    `of_sweep`; the rest are a scenario's own. The digest stands for the rules; the seed is not part of it.
    """

    document: dict[str, Any]
    digest: str
    labels: tuple[str, ...]
    of_user: int
    of_sweep: int = 0

    def origin(self, index: int) -> str:
        """Whose rule it is: user, sweep or scenario."""
        if index < self.of_user:
            return "user"
        return "sweep" if index < self.of_user + self.of_sweep else "scenario"

    def has_to_fire(self, index: int) -> bool:
        """A scenario's own rules have to fire, unless a sweep's fault may keep it from getting there."""
        return self.origin(index) == "scenario" and not self.of_sweep

    def text(self, seed: int) -> str:
        """The plan as a file for one case, whose seed replaces the plan's own."""
        return _compact({**self.document, "seed": format_seed(seed)}) + "\n"

    def text_of_given(self, seed: int) -> str:
        """What the user or a sweep gave of it, as a file for --plan: the scenario brings its own rules again."""
        rules = self.document["rules"][: self.of_user + self.of_sweep]
        return _compact({**self.document, "rules": rules, "seed": format_seed(seed)}) + "\n"


@dataclasses.dataclass(frozen=True)
class _Text:
    """A plan that is in no file. `names` are those of its rules where the user knows no numbers of them; otherwise it
    is the plan of a replay string.
    """

    document: str
    names: tuple[str, ...] = ()

    def explained(self, message: str) -> str:
        """What the tool said about it, in words that the user knows."""
        if not self.names:
            return message.replace(_STANDARD_INPUT, "the plan of the replay string")

        def name(place: re.Match[str]) -> str:
            inside = f" ({place[2]})" if place[2] else ""
            return f"{self.names[int(place[1])]}{inside}" if int(place[1]) < len(self.names) else place[0]

        said = message.removeprefix(f"{_STANDARD_INPUT}: ")
        return re.sub(r"(?:the earlier rule at )?/rules/(\d+)(/[\w/]+)?", name, said)


def _names(whose: str, rules: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"the {whose} rule {rule}" for rule in rules)


class PlanBuilder:
    """Makes the plan of each case."""

    def __init__(
        self, tool: Path, plan_file: str | None, faults: Sequence[str], brought: Sequence[dict[str, Any]] = ()
    ) -> None:
        """`brought` are the rules of a replay string, which stand in the place of a plan file.

        REQUIRES: `tool` is holdfast_plan. Raises UsageError if the user's plan or a rule does not load.
        """
        self._tool = tool
        self._merged: dict[tuple[str, ...], Plan] = {}
        if plan_file:
            _refuse_unreadable(plan_file)
        arguments = [f"--fault={fault}" for fault in faults]
        if brought:
            text = _compact({"version": 1, "rules": brought})
            document, digest = self._normalise(arguments, UsageError, _Text(text))
        else:
            arguments += [f"--plan={plan_file}"] if plan_file else []
            document, digest = self._normalise(arguments, UsageError)
        from_file = document["rules"][len(faults) :]
        labels = (*faults, *(_compact(rule) for rule in from_file))
        self.user = Plan(document, digest, labels, len(labels))
        self.file_rules = tuple(_moved(rule, -len(faults)) for rule in from_file)

    def with_faults(self, faults: Sequence[str]) -> PlanBuilder:
        """One for these rules of the command line instead of all that the user gave. Raises UsageError."""
        return PlanBuilder(self._tool, None, faults)

    def seed(self) -> int | None:
        """The seed that the user's plan file asks for."""
        seed = self.user.document.get("seed")
        return parse_seed(seed) if isinstance(seed, str) else None

    def for_rules(self, rules: tuple[str, ...]) -> Plan:
        """The user's plan with a scenario's own rules behind it. Raises HarnessError if those do not load."""
        if not rules:
            return self.user
        if rules not in self._merged:
            own, _ = self._normalise([f"--fault={rule}" for rule in rules], HarnessError)
            document = copy.deepcopy(self.user.document)
            document["rules"] += [_moved(rule, self.user.of_user) for rule in own["rules"]]
            names = _names("given", self.user.labels) + _names("scenario's", rules)
            document, digest = self._normalise([], HarnessError, _Text(_compact(document), names))
            self._merged[rules] = Plan(document, digest, (*self.user.labels, *rules), self.user.of_user)
        return self._merged[rules]

    def for_point(self, rules: tuple[str, ...], own: tuple[str, ...]) -> Plan:
        """The rules of a point of a sweep, then a scenario's own. Raises HarnessError if they do not load.

        REQUIRES: the user gave no rule.
        """
        # The tool moves what refers to rules of the plan when it puts others before them.
        behind = _Text(_compact(self.for_rules(own).document), _names("scenario's", own))
        document, digest = self._normalise([f"--fault={rule}" for rule in rules], HarnessError, behind)
        return Plan(document, digest, (*rules, *own), 0, len(rules))

    def refuse_unless_loadable(self, rules: Sequence[str]) -> None:
        """Raises UsageError for a rule of the command line that does not load."""
        self._normalise([f"--fault={rule}" for rule in rules], UsageError)

    def _normalise(
        self, arguments: list[str], refusal: type[Problem], plan: _Text | None = None
    ) -> tuple[dict[str, Any], str]:
        """The normalised document and the digest of what `arguments` ask for, behind `plan`."""
        command = [str(self._tool), *([f"--plan={_STANDARD_INPUT}"] if plan else []), *arguments]
        try:
            answer = subprocess.run(
                command,
                input=plan.document.encode() if plan else b"",
                capture_output=True,
                timeout=_TOOL_SECONDS,
                start_new_session=True,  # an interruption from the terminal is for the command alone
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise HarnessError(f"{self._tool.name} did not work: {problem}") from None
        message = answer.stderr.decode(errors="replace").strip().removeprefix("holdfast: ")
        message = plan.explained(message) if plan else message
        if answer.returncode == 2:
            raise refusal(message or "the plan does not load")
        if answer.returncode != 0:
            raise HarnessError(f"{self._tool.name} ended with {answer.returncode}: {message or 'it said nothing'}")
        try:
            printed = json.loads(answer.stdout)
            return dict(printed["plan"], rules=list(printed["plan"]["rules"])), str(printed["digest"])
        except (ValueError, TypeError, KeyError) as problem:
            raise HarnessError(f"{self._tool.name} printed no plan: {problem!r}") from None


def _moved(rule: dict[str, Any], by: int) -> dict[str, Any]:
    """A rule whose reference to another rule of its plan still points there after `by` rules were put before."""
    hold = rule["do"].get("hold")
    if not hold or "rule" not in hold:
        return rule
    return {**rule, "do": {**rule["do"], "hold": {**hold, "rule": hold["rule"] + by}}}


def _compact(value: object) -> str:
    """JSON without spaces: a plan has a largest size, and must not grow past it on its way to a case."""
    return json.dumps(value, separators=(",", ":"))


def _refuse_unreadable(plan_file: str) -> None:
    try:
        # It is read more than once, and to open a pipe would wait for whoever writes.
        if not stat.S_ISREG(os.stat(plan_file).st_mode):
            raise UsageError(f"--plan={plan_file} is no regular file")
        with open(plan_file, "rb") as file:
            file.read(1)
    except OSError as problem:
        raise UsageError(f"--plan={plan_file}: {problem.strerror}") from None
