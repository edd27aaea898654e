"""The loop that keeps up to N children running, watches them, and hands each over when it has ended.

It knows nothing of scenarios: a task is something that can be started and judged. One thread does everything, so no
child outlives a decision about it.
"""

from __future__ import annotations

import os
import select
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar

from harness.cli import process_tree
from harness.cli.child import Child
from harness.cli.interrupt import Interrupt

_LOOK_SECONDS = 0.05  # how often limits are checked


class Task(Protocol):
    """One child to be."""

    def start(self) -> Child | None:
        """Starts it, or returns None if it needs no child and has its result already."""

    def finish(self, child: Child) -> None:
        """Judges it. The child has ended by itself or at a limit."""


TaskType = TypeVar("TaskType", bound="Task")


class Watcher(Protocol[TaskType]):
    """Whoever decides how far a run goes, and wants to know how far it is."""

    def may_start(self) -> bool:
        """Whether one more task may start."""

    def must_stop(self) -> bool:
        """Whether even those that run have to end now."""

    def after_each(self, task: TaskType) -> Sequence[TaskType]:
        """Gets each task that is done. Returns what it brings: tasks to run next, before those that wait."""

    def look(self, running: Sequence[TaskType]) -> None:
        """Is called a few times a second."""


class Searching(Generic[TaskType]):
    """Watches tasks of which one is looked for: no more start once there is one."""

    def __init__(
        self,
        is_wanted: Callable[[TaskType], bool] = lambda task: False,
        is_late: Callable[[], bool] = lambda: False,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._is_wanted = is_wanted
        self._is_late = is_late
        self._look = look
        self._found = False

    def may_start(self) -> bool:
        return not self._found

    def must_stop(self) -> bool:
        return self._is_late()

    def after_each(self, task: TaskType) -> Sequence[TaskType]:
        self._found = self._found or self._is_wanted(task)
        return ()

    def look(self, running: Sequence[TaskType]) -> None:
        self._look()


class Engine(Generic[TaskType]):
    """Runs tasks in order, up to `width` at a time."""

    def __init__(self, width: int, interrupt: Interrupt, watcher: Watcher[TaskType]) -> None:
        self._width = width
        self._interrupt = interrupt
        self._watcher = watcher
        self._waiting: deque[TaskType] = deque()
        self._running: dict[TaskType, Child] = {}
        self._processes: dict[int, process_tree.Process] = {}
        self._next_look = 0.0

    def run(self, tasks: Iterable[TaskType]) -> list[TaskType]:
        """Runs until all are done, or none may start any more, or a signal came. Returns those not done.

        ENSURES: no process that a task started is left, also when an exception leaves this function.
        """
        self._waiting = deque(tasks)
        process_tree.adopt_orphans()
        strangers = set(process_tree.snapshot())
        try:
            while self._goes_on():
                self._fill()
                if not self._running:
                    break
                self._wait()
                self._advance()
            return [*self._running, *self._waiting]
        finally:
            for child in self._running.values():
                child.interrupt()
            self._running.clear()
            process_tree.kill_orphans(strangers)

    def _goes_on(self) -> bool:
        return not self._interrupt.signal and not self._watcher.must_stop()

    def _fill(self) -> None:
        while self._waiting and len(self._running) < self._width and self._goes_on() and self._watcher.may_start():
            task = self._waiting.popleft()
            child = task.start()
            if child:
                self._running[task] = child
            else:
                self._tell(task)

    def _tell(self, task: TaskType) -> None:
        self._waiting.extendleft(reversed(self._watcher.after_each(task)))

    def _wait(self) -> None:
        """Sleeps until a child writes or exits, a signal comes, or it is time to look at the limits."""
        poll = select.poll()
        poll.register(self._interrupt.descriptor, select.POLLIN)
        for child in self._running.values():
            poll.register(child.exit_descriptor, select.POLLIN)
            if child.output_descriptor is not None:
                poll.register(child.output_descriptor, select.POLLIN)
        poll.poll(max(0.0, self._next_look - time.monotonic()) * 1000)

    def _advance(self) -> None:
        now = time.monotonic()
        if now >= self._next_look:
            self._processes = process_tree.snapshot()
            self._next_look = now + _LOOK_SECONDS
            self._watcher.look(list(self._running))
        for task, child in list(self._running.items()):
            if child.output_descriptor is not None:
                child.read_output()
            child.advance(self._processes)
            if child.ended:
                del self._running[task]
                task.finish(child)
                self._tell(task)


def default_width(real_driver: bool, under_test_runner: bool) -> int:
    """One at a time on a GPU, whose cases would disturb each other, and under Bazel, which counts one core a test."""
    if real_driver or under_test_runner:
        return 1
    return min(8, len(os.sched_getaffinity(0)))
