"""What a child writes, bounded: the beginning and the end are kept, the middle is counted and dropped."""

from __future__ import annotations

import contextlib
import os

HEAD_BYTES = 256 << 10
TAIL_BYTES = 768 << 10
LIMIT_BYTES = 16 << 20  # a child that writes more than this is stopped

_CHUNK_BYTES = 1 << 16


class Capture:
    """Reads a non-blocking pipe into a bounded buffer."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.reader, False)
        self.total_bytes = 0
        self._head = bytearray()
        self._tail = bytearray()

    def close_writer(self) -> None:
        """Drops this process's end for writing, once the child has its own."""
        os.close(self.writer)

    def read_available(self) -> bool:
        """Takes what is there now, within the limit. Returns False once nobody can write any more."""
        while not self.exceeded:
            try:
                chunk = os.read(self.reader, _CHUNK_BYTES)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            self._keep(chunk)
        return True

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.reader)

    @property
    def exceeded(self) -> bool:
        return self.total_bytes > LIMIT_BYTES

    def text(self) -> str:
        """What was kept, with a line in the middle where something is missing."""
        dropped = self.total_bytes - len(self._head) - len(self._tail)
        gap = f"\n[... {dropped} bytes left out ...]\n".encode() if dropped else b""
        return bytes(self._head + gap + self._tail).decode(errors="replace")

    def _keep(self, chunk: bytes) -> None:
        self.total_bytes += len(chunk)
        room = HEAD_BYTES - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > TAIL_BYTES:
            del self._tail[: len(self._tail) - TAIL_BYTES]
