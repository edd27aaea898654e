"""A scenario program whose scenarios are the specimens in this folder: one small misbehaving program a file.

The first line of a specimen's docstring says what it does, a line `Expected:` what the harness has to make of it (the
verdict, then the kinds of its findings), and a line `Rules:`, if there is one, which fault rules it brings.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import struct
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).absolute().parent


def emit(event: str, **fields: Any) -> None:
    """Appends one event, in one write, as the agreement between harness and scenarios wants it."""
    write_events((json.dumps({"event": event, **fields}) + "\n").encode())


def write_events(content: bytes) -> None:
    """Appends bytes to the events file, be they events or not."""
    with open(os.environ["HOLDFAST_EVENTS"], "ab", buffering=0) as file:
        file.write(content)


def emit_fault(rule: int, thread: str = "main", ordinal: int = 1) -> None:
    """The event that the shim writes when a rule of the plan fires."""
    emit("fault", site="alloc", ordinal=ordinal, thread=thread, rule=rule, action="fail", result=None)


def timeline_file(*names: str, process: int = 0) -> bytes:
    """The file that the shim leaves (fault/shim/timeline.h), with one call after the other; the last is not over."""
    process = process or os.getpid()
    slots = b"".join(
        struct.pack(
            "=QQQQIIIIBB6x56s80s",
            2 * ticket + 2,
            1_000_000 + 1000 * ticket,
            500 if ticket + 1 < len(names) else (1 << 64) - 2,
            0,
            0xFFFFFFFF,
            0xFFFFFFFF,
            process,
            0,
            1,
            0,
            b"",
            name.encode(),
        )
        for ticket, name in enumerate(names)
    )
    return struct.pack("=8sIII44xQ56x", b"HFTIME01", 192, 2048, process, len(names)) + slots.ljust(192 * 2048, b"\0")


def specimens() -> dict[str, str]:
    """The docstring of each specimen, by its name."""
    found = {}
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        text = path.read_text()
        if path.name != Path(__file__).name:
            found[path.stem] = text[: text.index('"""', 3)]
    return found


def expected(docstring: str) -> tuple[str, list[str]]:
    """The verdict and the kinds of finding that a specimen's head promises."""
    words = re.search(r"^Expected: (.*)$", docstring, re.MULTILINE)
    assert words, "a specimen says what is expected of it"
    verdict, *kinds = words[1].split()
    return verdict, kinds


def _rules(docstring: str) -> list[str]:
    words = re.search(r"^Rules: (.*)$", docstring, re.MULTILINE)
    return words[1].split() if words else []


def _list() -> None:
    for name, docstring in specimens().items():
        entry = {
            "scenario": f"specimen.{name.replace('_', '-')}",
            "summary": docstring.removeprefix('"""').splitlines()[0],
            "covers": [],
            "catches": [],
            "suites": ["default", "specimens"],
            "variants": [{"name": "only", "plan": []}],
            "plan": _rules(docstring),
            "drivers": ["model"],
            "timeout_s": 60,
            "file": f"tests/harness/specimens/{name}.py",
            "line": 1,
        }
        print(json.dumps(entry))


def main() -> None:
    argument = sys.argv[1]
    if argument == "--list":
        _list()
        return
    name = argument.removeprefix("--run=specimen.").replace("-", "_")
    sys.modules["runner"] = sys.modules["__main__"]
    emit("start", scenario=f"specimen.{name}", variant="only")
    runpy.run_path(str(FOLDER / f"{name}.py"))
    emit("finish")


if __name__ == "__main__":
    main()
