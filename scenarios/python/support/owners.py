"""Owners whose release a scenario can see."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Releases:
    """The releases of many owners: on which threads, in order. Thread safety: appending to a list is atomic."""

    def __init__(self) -> None:
        self.threads: list[int] = []

    @property
    def count(self) -> int:
        return len(self.threads)

    def all_on(self, thread: int) -> bool:
        """Whether every release so far was on that thread."""
        return all(each == thread for each in self.threads)


class Owner:
    """Counts itself when it goes, then does what it was given to do."""

    def __init__(self, releases: Releases, action: Callable[[], object] | None = None) -> None:
        self._append = releases.threads.append
        self._identify = threading.get_ident
        self._action = action

    def __del__(self) -> None:
        self._append(self._identify())
        if self._action is not None:
            self._action()
