"""The record that a scenario's process leaves for the harness: one JSON object a line, in the file that HOLDFAST_EVENTS
names, which the shim writes to as well. Each line is one write, so a process that dies leaves whole lines.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

_HARNESS_FAILED = 3


def events_file() -> Path | None:
    """The file that HOLDFAST_EVENTS names; None if the events go to stderr."""
    path = os.environ.get("HOLDFAST_EVENTS")
    return Path(path) if path else None


def write_event(event: str, /, **fields: str | int | float) -> None:
    """Appends {"event": event, field...}. From any thread."""
    line = (json.dumps({"event": event, **fields}) + "\n").encode("utf-8", errors="backslashreplace")
    path = events_file()
    if path is None:
        sys.stderr.write(line.decode())
        return
    # Opened each time: a child of a fork, or a thread that closes files, may have taken an open one away.
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if os.write(file, line) != len(line):
            # A record with holes would be judged as if it were whole.
            os._exit(_HARNESS_FAILED)
    finally:
        os.close(file)


def read_events(start: int = 0) -> tuple[list[dict[str, object]], int]:
    """The events from a place in the file on, and the place behind the last; nothing if there is no file yet."""
    path = events_file()
    if path is None or not path.exists():
        return [], start
    with path.open("rb") as file:
        file.seek(start)
        data = file.read()
    whole = data[: data.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.splitlines()], start + len(whole)
