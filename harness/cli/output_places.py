"""Places that a command line names for what is written. What cannot be written there is refused before anything runs,
rather than told after hours of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from harness.cli.problems import UsageError


def refuse_unwritable_file(what: str, path: str, appends: bool = False) -> None:
    """Raises UsageError if no file can be written at `path`. Makes the folders that it will be in."""
    try:
        place = followed(path)
        _make_folder(place.parent)
        with contextlib.suppress(FileNotFoundError):
            place.stat()  # which says if the name is too long
        if place.is_dir():
            raise _error(errno.EISDIR)
        if is_special(place):
            if not os.access(place, os.W_OK):
                raise _error(errno.EACCES)
        elif appends:
            place.open("ab").close()
        else:
            _try_a_file(place.parent)
    except OSError as problem:
        raise UsageError(f"{what} cannot be written: {problem.strerror}") from None


def refuse_unwritable_folder(what: str, folder: Path) -> None:
    """Raises UsageError if no file can be written into `folder`, which is made if it is not there."""
    try:
        _make_folder(folder)
        _try_a_file(folder)
    except OSError as problem:
        raise UsageError(f"{what} cannot be written to: {problem.strerror}") from None


def followed(path: str) -> Path:
    """Where a path leads to: a link stays a link, and what it points to is written."""
    return Path(os.path.realpath(path))


def is_special(path: Path) -> bool:
    """Whether something is there that must not be replaced by a file: a device, a pipe, a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


def temporary_in(folder: Path) -> Path:
    """A file of this process, whose name is short enough beside any other."""
    return folder / f".holdfast.{os.getpid()}.tmp"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise _error(errno.ENOTDIR) from None


def _try_a_file(folder: Path) -> None:
    temporary = temporary_in(folder)
    temporary.touch()
    temporary.unlink()


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
