"""One case in a child process: started with its own scratch folder, watched, stopped at a limit, cleaned up.

A child is in one of three states: it runs; it ran too long and its stacks are being taken; it has ended. The owner
calls `advance` now and then, with a fresh snapshot of the process table, until `ended` is true.
"""

from __future__ import annotations

import dataclasses
import enum
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.cli import process_tree
from harness.cli.capture import Capture
from harness.cli.stacks import GDB_SECONDS, StackRequest

EVENTS_FILE = "events.jsonl"
SANITIZER_LOG = "sanitizer"
WORK_FOLDER = "work"
MOST_EVENTS_BYTES = 64 << 20

_LEFTOVER_GRACE_SECONDS = 0.5  # how long a child of the child may take to follow it


class Stop(enum.Enum):
    """Why the harness ended a child that did not end by itself."""

    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    INTERRUPT = "interrupt"


@dataclasses.dataclass(frozen=True)
class Limits:
    seconds: float
    resident_bytes: int


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a child ended, with everything that it left behind. `code` is negative for a signal, as in subprocess."""

    code: int
    stop: Stop | None
    seconds: float
    peak_resident_bytes: int
    output: str
    events: bytes
    sanitizer_logs: str
    stacks: tuple[str, ...]
    leftovers: tuple[str, ...]
    processor_seconds: float = 0.0  # of the process itself, all its threads together


class Child:
    """A running case.

    REQUIRES: all children of a process are started on one thread (see process_tree.die_with_parent).
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path, limits: Limits) -> None:
        """Starts the program. Raises OSError if it cannot be started."""
        self.folder = folder
        self.ended = False
        self._limits = limits
        self._mark = str(folder / EVENTS_FILE)
        self._stop: Stop | None = None
        self._request: StackRequest | None = None
        self._stacks: list[str] = []
        self._leftovers: list[str] = []
        self._peak = 0
        self._clean = True
        self._capture = Capture()
        try:
            self._process = subprocess.Popen(
                command,
                env=dict(environment),
                cwd=folder / WORK_FOLDER,
                stdin=subprocess.DEVNULL,
                stdout=self._capture.writer,
                stderr=self._capture.writer,
                start_new_session=True,
                preexec_fn=process_tree.die_with_parent,
            )
        except BaseException:
            self._capture.close()
            raise
        finally:
            self._capture.close_writer()
        self._started = time.monotonic()
        self._alive = self._started
        self._processor_seconds = 0.0
        self._finished = self._started
        self._stacks_deadline = 0.0
        self.exit_descriptor = os.pidfd_open(self._process.pid)
        self.output_descriptor: int | None = self._capture.reader

    @property
    def pid(self) -> int:
        return self._process.pid

    def read_output(self) -> None:
        """Takes what the child wrote. `output_descriptor` is None once there is nothing to wait for any more."""
        if not self._capture.read_available() or self._capture.exceeded:
            self.output_descriptor = None

    def advance(self, processes: dict[int, process_tree.Process]) -> None:
        """Looks at the child once and does what is due."""
        if self.ended:
            return
        exited = self._exited()
        if self._request:
            if exited or self._request.finished() or time.monotonic() > self._stacks_deadline:
                self._stacks = self._request.take()
                self._end()
        elif exited:
            self._end()
        else:
            self._watch(processes)

    def sign_of_life(self) -> None:
        """Starts the time limit again: it counts from the last sign of life of a child that gives any."""
        self._alive = time.monotonic()

    def interrupt(self) -> None:
        """Ends the child because the whole run ends."""
        if not self.ended:
            self._stop = Stop.INTERRUPT
            if self._request:
                self._request.take()
            self._end()

    def _exited(self) -> bool:
        """Whether the process has exited by itself. It is not reaped here, so its number stays its own."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _watch(self, processes: dict[int, process_tree.Process]) -> None:
        now = time.monotonic()
        self._peak = max(self._peak, sum(member.resident_bytes for member in process_tree.members(self.pid, processes)))
        if self._peak > self._limits.resident_bytes:
            self._stop = Stop.MEMORY
        elif self._capture.exceeded or self._events_bytes() > MOST_EVENTS_BYTES:
            self._stop = Stop.OUTPUT
        elif now - self._alive > self._limits.seconds:
            self._stop = Stop.TIME
            self._request = StackRequest(self.pid, self.folder)
            self._stacks_deadline = now + GDB_SECONDS
        if self._stop and not self._request:
            self._end()

    def _end(self) -> None:
        """Reaps the process after all others of the case are gone. ENSURES: ended."""
        self._finished = time.monotonic()
        if not self._stop:
            self._leftovers = self._await_leftovers()
        self._clean = process_tree.kill_all(self.pid, self._mark)
        self._processor_seconds = _processor_seconds(self.pid)
        self._process.wait()
        self._capture.read_available()
        self._capture.close()
        os.close(self.exit_descriptor)
        self.ended = True

    def _await_leftovers(self) -> list[str]:
        """The case's other processes that do not follow it within the grace time."""
        deadline = self._finished + _LEFTOVER_GRACE_SECONDS
        while True:
            others = [one for one in process_tree.everyone(self.pid, self._mark) if one.pid != self.pid]
            if not others or time.monotonic() > deadline:
                return [f"process {one.pid} {_command_of(one.pid)}" for one in others]
            time.sleep(0.005)  # nothing tells when a process of somebody else's ends

    def _events_bytes(self) -> int:
        try:
            return (self.folder / EVENTS_FILE).stat().st_size
        except OSError:
            return 0

    def ending(self) -> Ending:
        """REQUIRES: ended."""
        leftovers = list(self._leftovers)
        if not self._clean:
            leftovers.append("at least one process that could not be killed")
        return Ending(
            code=self._process.returncode,
            stop=self._stop,
            seconds=self._finished - self._started,
            peak_resident_bytes=self._peak,
            output=self._capture.text(),
            events=_read_regular(self.folder / EVENTS_FILE),
            sanitizer_logs=self._sanitizer_logs(),
            stacks=tuple(self._stacks),
            leftovers=tuple(leftovers),
            processor_seconds=self._processor_seconds,
        )

    def _sanitizer_logs(self) -> str:
        logs = sorted(self.folder.glob(f"{SANITIZER_LOG}.*"))
        return "".join(_read_regular(log).decode(errors="replace") for log in logs)


def _read_regular(path: Path) -> bytes:
    """The first bytes of a file that a child had in its hands; it may be gone, or not be a file any more."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(MOST_EVENTS_BYTES)
    except OSError:
        return b""


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "(gone)"


def _processor_seconds(pid: int) -> float:
    """What a process that has not been reaped yet has used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def signal_name(number: int) -> str:
    """SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
