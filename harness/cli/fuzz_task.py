"""One child of the fuzz program: it draws sequences until its time is over, or takes one sequence again."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from harness.cli.case_task import CaseTask, Setting
from harness.cli.cases import Case
from harness.cli.catalogue import Scenario, Variant
from harness.cli.child import Child, Ending
from harness.cli.classify import Judgement, judge, tail_of
from harness.cli.fuzz_sequence import parse_sequence
from harness.cli.verdict import Verdict
from reports.record import Finding

NAME = "fuzz"
SEQUENCE_SECONDS = 20.0  # the longest that one sequence may take
_REFUSED = 2  # what the program ends with where it cannot read a sequence
_SEQUENCE_FILE = "sequence.fuzz"
_LIFE_BYTES = 1 << 14  # of the file, in which another sequence shows


def fuzz_case(program: Path, variant: str, run: int, seed: int, file: str = "") -> Case:
    """A case of the fuzz program, for what cases have in common."""
    scenario = Scenario(
        name=NAME,
        summary="random sequences of operations with faults against the reference model",
        covers=(),
        catches=(),
        suites=(),
        variants=(),
        plan=(),
        drivers=("model", "real"),
        timeout_seconds=SEQUENCE_SECONDS,
        file=file,
        line=0,
    )
    return Case(scenario, Variant(variant, program=program), run, seed)


@dataclasses.dataclass(frozen=True)
class Repeats:
    """How often a finding happened again when its sequence was taken again as it was found."""

    count: int
    replays: int

    @property
    def always(self) -> bool:
        return self.count == self.replays > 0


class FuzzTask(CaseTask):
    """The time limit counts from the last sign of life, since a child runs for as long as it is told to: each sequence
    that it begins is one. `sequence` is the text of that which it takes again, or was in when it ended.
    """

    def __init__(
        self,
        case: Case,
        setting: Setting,
        number: int,
        arguments: Sequence[str],
        reproduction: tuple[str, ...] = (),
        sequence: str = "",
    ) -> None:
        super().__init__(case, setting, number)
        self.sequence = sequence
        self.core_seconds = 0.0
        self.repeats: Repeats | None = None  # once somebody has counted
        self.refusal = ""  # why the program did not take the sequence
        self._arguments = arguments
        self._commands = reproduction
        self._child: Child | None = None
        self._seen = b""

    @property
    def finding(self) -> Finding | None:
        """The one by which two runs are told to have failed alike."""
        return self.result.findings[0] if self.result and self.result.findings else None

    def start(self) -> Child | None:
        self._child = super().start()
        return self._child

    def look_for_life(self) -> None:
        """Call it a few times a second while the child runs."""
        present = self._read_sequence(_LIFE_BYTES)
        if present != self._seen and self._child:
            self._seen = present
            self._child.sign_of_life()

    def finish(self, child: Child) -> None:
        self.sequence = self._read_sequence().decode(errors="replace") or self.sequence
        ending = child.ending()
        self.core_seconds = max(ending.processor_seconds, ending.seconds)
        super().finish(child)

    def _command(self) -> list[str]:
        return [str(self.case.program), *self._arguments]

    def _reproduction(self) -> tuple[str, ...]:
        return self._commands

    def _replay(self, verdict: Verdict) -> str:
        """That of the sequence in which it ended, if it did not end as it was meant to."""
        if verdict is Verdict.PASSED:
            return ""
        try:
            sequence = parse_sequence(self.sequence)
        except ValueError:
            return ""
        return self._setting.reproducer.sequence_string(self.case.variant.name, sequence)

    def _judge(self, ending: Ending) -> Judgement:
        if ending.code == _REFUSED and ending.stop is None:
            self.refusal = " ".join(tail_of(ending.output, 1)).removeprefix(f"{self.case.program.name}: ")
        return judge(ending, self._setting.limits(self.case), self._plan, needs_oracle=False)

    def _read_sequence(self, most_bytes: int = -1) -> bytes:
        try:
            with (self._folder / _SEQUENCE_FILE).open("rb") as file:
                return file.read(most_bytes)
        except OSError:
            return b""


class DrawingTask(FuzzTask):
    """Draws sequences from a seed for some seconds, a whole number of them."""

    def __init__(
        self, case: Case, setting: Setting, number: int, seconds: float, reproduction: tuple[str, ...]
    ) -> None:
        super().__init__(case, setting, number, (), reproduction)
        self._arguments = (
            f"--seed=0x{case.seed:016x}",
            f"--max-time={max(1, round(seconds))}",
            f"--failure-out={self._folder / _SEQUENCE_FILE}",
        )

    def _judge(self, ending: Ending) -> Judgement:
        judgement = super()._judge(ending)
        if judgement.verdict is Verdict.PASSED and not judgement.events.counters.get("operations"):
            return dataclasses.replace(judgement, verdict=Verdict.INCONCLUSIVE, reason="it counted no operation")
        return judgement


def fingerprint(finding: Finding) -> str:
    """Twelve digits that two findings share if they are of one kind and say the same but for numbers."""
    said = re.sub(r"0x[0-9a-fA-F]+|[0-9]+", "#", finding.message)
    return hashlib.sha256(f"{finding.kind}\n{said}".encode(errors="backslashreplace")).hexdigest()[:12]
