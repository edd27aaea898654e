"""Waiting for what CUDA lets go of late, without sleeping."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable

import holdfast
from model_driver import MODEL

_LIMIT_S = 20


class Owner:
    """Something to keep, whose end can be seen."""


def settle() -> None:
    """Garbage is collected, launches have ended, and what CUDA is done with is released."""
    gc.collect()
    if MODEL is not None:
        MODEL.quiesce()
    holdfast.drain()


def becomes_true(condition: Callable[[], bool]) -> bool:
    """Whether it is so once all has settled. A real driver delivers late, and is waited for."""
    settle()
    deadline = time.monotonic() + (0 if MODEL is not None else _LIMIT_S)
    while not condition() and time.monotonic() < deadline:
        settle()
    return condition()


def is_released(owner: weakref.ref) -> bool:
    return becomes_true(lambda: owner() is None)


def is_kept(owner: weakref.ref) -> bool:
    """Still there after all has settled."""
    settle()
    return owner() is not None
