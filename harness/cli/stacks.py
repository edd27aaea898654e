"""The stacks of a process that hangs: from gdb where it is installed, else what the kernel tells of each thread."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

GDB_SECONDS = 15.0
_MOST_FRAMES = 24
_MOST_LINES = 200


class StackRequest:
    """One look at a process. It runs beside the harness, so other children stay watched meanwhile."""

    def __init__(self, pid: int, folder: Path) -> None:
        """Starts to look. REQUIRES: the process exists, and nothing else traces it."""
        self._threads = _kernel_view(pid)
        self._output = folder / "stacks.txt"
        self._gdb = _start_gdb(pid, self._output)

    def finished(self) -> bool:
        return self._gdb is None or self._gdb.poll() is not None

    def take(self) -> list[str]:
        """The stacks, best source first. Stops gdb if it still runs."""
        if self._gdb:
            self._gdb.kill()
            self._gdb.wait()
            frames = _frames(self._output.read_text(errors="replace"))
            if frames:
                return frames[:_MOST_LINES]
        return self._threads[:_MOST_LINES]


def _start_gdb(pid: int, output: Path) -> subprocess.Popen[bytes] | None:
    program = shutil.which("gdb")
    if not program:
        return None
    environment = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    command = [
        program,
        "--batch",
        "--nx",
        "-p",
        str(pid),
        "-ex",
        f"thread apply all -ascending backtrace {_MOST_FRAMES}",
    ]
    try:
        with output.open("wb") as file:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL, env=environment
            )
    except OSError:
        return None  # a full disk or no process to be had: the kernel's view has to do


def _frames(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if re.match(r"Thread \d|#\d+ ", line)]


def _kernel_view(pid: int) -> list[str]:
    """One line a thread: its name, state and the system call that it waits in."""
    lines = []
    try:
        threads = sorted(int(name) for name in os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return []
    for thread in threads:
        folder = f"/proc/{pid}/task/{thread}"
        state = _first(re.findall(r"State:\s*(.*)", _read(f"{folder}/status")))
        lines.append(f"thread {thread} {_read(f'{folder}/comm').strip()}: {state}, {_read(f'{folder}/wchan') or '?'}")
    return lines


def _first(found: list[str]) -> str:
    return found[0] if found else "gone"


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
