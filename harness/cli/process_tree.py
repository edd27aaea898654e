"""The processes that belong to a case: finding them all, adding up their memory, and leaving none behind.

A case's process leads a session of its own, and its environment carries a mark that children inherit. A process
belongs to the case if it is in that session, descends from it, or carries the mark: a child that made a session of
its own, and whose parent is gone, is still found.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import time
from typing import NamedTuple

_PAGE_BYTES = resource.getpagesize()
_SET_CHILD_SUBREAPER = 36
_SET_PARENT_DEATH_SIGNAL = 1
_KILL_SECONDS = 5.0
_libc = ctypes.CDLL(None)


class Process(NamedTuple):
    pid: int
    parent: int
    session: int
    resident_bytes: int
    state: str


def adopt_orphans() -> None:
    """Makes grandchildren whose parents end children of this process, so that their end can be awaited."""
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Runs in a new child before exec: if the harness is killed outright, its child goes too, and no core is kept.

    The kernel ties this to the thread that forked, which is why the harness starts children from one thread only.
    """
    _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def snapshot() -> dict[int, Process]:
    """Every live process that can be seen. Zombies are left out: they hold nothing."""
    processes = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            process = _read(int(name))
            if process and process.state not in "ZX":
                processes[process.pid] = process
    return processes


def _read(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The command's name stands in parentheses and can contain anything, so count from the last one.
    fields = text[text.rfind(b")") + 2 :].split()
    return Process(pid, int(fields[1]), int(fields[3]), int(fields[21]) * _PAGE_BYTES, fields[0].decode())


def members(leader: int, processes: dict[int, Process]) -> list[Process]:
    """The processes in the leader's session and all its descendants, the leader included."""
    found: dict[int, Process] = {}
    for process in processes.values():
        walk: Process | None = process
        steps = 0
        while walk and steps < len(processes):
            if leader in (walk.pid, walk.session) or walk.pid in found:
                found[process.pid] = process
                break
            walk = processes.get(walk.parent)
            steps += 1
    return list(found.values())


def marked(mark: str, processes: dict[int, Process]) -> list[Process]:
    """The processes whose environment contains `mark`."""
    text = mark.encode()
    found = []
    for process in processes.values():
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/environ", "rb") as file:
            if text in file.read():
                found.append(process)
    return found


def everyone(leader: int, mark: str) -> list[Process]:
    """All processes of a case, by session, descent or mark."""
    processes = snapshot()
    own = {process.pid: process for process in members(leader, processes) + marked(mark, processes)}
    own.pop(os.getpid(), None)
    return list(own.values())


def kill_all(leader: int, mark: str) -> bool:
    """Kills every process of a case, again and again until none is left.

    Returns whether that worked within a few seconds. The leader itself stays for its owner to reap.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    while True:
        alive = everyone(leader, mark)
        for process in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
        for process in alive:
            if process.pid != leader:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)
        if not alive:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)  # the kernel needs a moment to take a killed process down


def kill_orphans(strangers: set[int]) -> None:
    """Kills the children of this process that are none of `strangers`: what escaped every other way to be found."""
    for process in snapshot().values():
        if process.parent == os.getpid() and process.pid not in strangers:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(process.pid, signal.SIGKILL)
                os.waitpid(process.pid, 0)
