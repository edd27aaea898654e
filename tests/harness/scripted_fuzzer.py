"""A fuzz program with bugs that the environment names: SCRIPTED_FUZZER has the folder of what it shares, and there
`bug` says what fails.

    none        nothing
    contract    a sequence with the operations 3 and 5 in it, the second under a fault
    crash       a sequence with the operation 3 in it ends the process
    hang        a sequence with the operation 3 in it never ends
    once        the first drawn sequence, and no replay
    now-and-then    a sequence with the operation 3 in it, in every other replay
    contract-later  as contract, but for the first child, which says so of a sequence that has it not
    no-file     a drawn sequence, of which nothing is left
    idle        it draws nothing

A drawn sequence has 40 operations. The contract's message has a number in it that differs from run to run.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

_OPERATIONS = 40


def _emit(event: str, **fields: Any) -> None:
    with open(os.environ["HOLDFAST_EVENTS"], "a") as file:
        file.write(json.dumps({"event": event, **fields}) + "\n")


def _draw(generator: random.Random, seed: str) -> str:
    lines = [f"holdfast-fuzz 1 seed={seed}"]
    for number in range(_OPERATIONS):
        if generator.random() < 0.3:
            lines.append(f"fault cuGraphAddHostNode nth={number}")
        lines.append(f"0 {generator.randrange(6)} {number}")
    return "".join(f"{line}\n" for line in lines)


def _check(bug: str, text: str) -> bool:
    """Runs one sequence. Returns whether it had a finding."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")][1:]
    codes = [line[1] for line in lines if line[0] != "fault"]
    if bug == "crash" and "3" in codes:
        os.kill(os.getpid(), signal.SIGSEGV)
    if bug == "hang" and "3" in codes:
        while True:
            signal.pause()
    if bug == "now-and-then" and "3" in codes and _count() % 2 == 0:
        _emit("finding", kind="contract", message="it happened now", place="")
        return True
    faulted = {line[1] for fault, line in itertools.pairwise(lines) if fault[0] == "fault"}
    if bug.startswith("contract") and "3" in codes and "5" in faulted:
        _emit("finding", kind="contract", message=f"owner {os.getpid()} was released twice", place="")
        return True
    return False


def _count() -> int:
    """How often it was asked before, by any child."""
    file = Path(os.environ["SCRIPTED_FUZZER"]) / "count"
    count = int(file.read_text()) if file.exists() else 0
    file.write_text(str(count + 1))
    return count


def _fuzz(bug: str, options: dict[str, str]) -> int:
    if bug == "idle":
        return 0
    generator = random.Random(options["seed"])
    end = time.monotonic() + float(options["max-time"])
    sequences = 0
    kept = open(options["failure-out"], "wb", buffering=0)  # noqa: SIM115  the process keeps it open to its end
    while time.monotonic() < end:
        is_first = bug == "contract-later" and _count() == 0
        text = f"holdfast-fuzz 1 seed={options['seed']}\n0 1 0\n" if is_first else _draw(generator, options["seed"])
        if bug != "no-file":
            kept.seek(0)  # over the text before, and never empty in between
            kept.truncate(kept.write(text.encode()))
        sequences += 1
        if bug in ("once", "no-file") or is_first:
            _emit("finding", kind="contract", message="owner 1 was released twice", place="")
            return 1
        if _check(bug, text):
            return 1
    _emit("counter", name="operations", value=sequences * _OPERATIONS)
    _emit("counter", name="sequences", value=sequences)
    return 0


def main() -> int:
    options = dict(argument.removeprefix("--").split("=", 1) for argument in sys.argv[1:])
    bug = (Path(os.environ["SCRIPTED_FUZZER"]) / "bug").read_text().strip()
    _emit("start", scenario="fuzz", variant="only")
    if "replay" in options and "unknown" in Path(options["replay"]).read_text():
        print(f'scripted_fuzzer: {options["replay"]}: line 2: there is no operation "unknown"', file=sys.stderr)
        return 2
    if "replay" in options:
        code = 1 if _check(bug, Path(options["replay"]).read_text()) else 0
    else:
        code = _fuzz(bug, options)
    _emit("finish")
    return code


if __name__ == "__main__":
    sys.exit(main())
