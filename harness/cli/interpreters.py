"""Finds the CPython interpreters of this machine that the Python module is built for and tested on.

`holdfast doctor` lists them, Bazel builds for them (third_party/interpreters.bzl) and tools/setup gives each a virtual
environment. The last two run this file as a program, with `--json` or `--environments`, so it uses nothing but the
standard library.

Interpreters differ in what matters here: the version (how pending calls and finalization work), free threading, and
whether libpython is a library of its own or part of the executable (how Py_AddPendingCall can be caught). Of each such
kind the first found is taken. HOLDFAST_PYTHONS, paths separated by colons, replaces the search.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

OLDEST = (3, 10)
NEWEST = (3, 14)

# What the tests should have; more is taken where it is found. cp314 is welcome, not wanted.
WANTED = ("cp310", "cp311", "cp312", "cp313", "cp313t")

_QUESTION_SECONDS = 30
_NAMES = ("3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.14t")
_DISTRIBUTION_PYTHON = "/usr/bin/python3"
_DISTRIBUTION_FOLDER = "/usr/bin"

# What an interpreter is asked. The path is the executable's own, not that of a wrapper or a virtual environment.
# Whether libpython is shared is seen in what is loaded: Debian configures with a shared one and starts without it.
_QUESTION = """
import json, os, sys, sysconfig
ask = sysconfig.get_config_var
print(json.dumps({
    "implementation": sys.implementation.name,
    "version": list(sys.version_info[:3]),
    "path": os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable),
    "include": sysconfig.get_path("include"),
    "suffix": ask("EXT_SUFFIX"),
    "free_threaded": bool(ask("Py_GIL_DISABLED")),
    "shared_libpython": "/libpython" in open("/proc/self/maps").read(),
    "library_folder": ask("LIBDIR"),
    "library": ask("LDVERSION"),
    "thread_sanitizer": "--with-thread-sanitizer" in (ask("CONFIG_ARGS") or ""),
}))
"""


@dataclasses.dataclass(frozen=True)
class Interpreter:
    """One interpreter. `reason` says why it is left out; empty if it is taken."""

    path: str
    name: str = ""
    version: str = ""
    include: str = ""
    suffix: str = ""
    free_threaded: bool = False
    shared_libpython: bool = False
    thread_sanitizer: bool = False
    library_folder: str = ""
    library: str = ""
    environment: str = ""
    reason: str = ""

    @property
    def environment_python(self) -> str:
        """The interpreter in its virtual environment, which has pytest; there only after tools/setup --test."""
        return os.path.join(self.environment, "bin", "python")

    @property
    def description(self) -> str:
        """What it is, in one line."""
        threading = "free-threaded" if self.free_threaded else "with GIL"
        library = "libpython shared" if self.shared_libpython else "libpython in the executable"
        watched = ", ThreadSanitizer" if self.thread_sanitizer else ""
        return f"{self.version}, {self.path}, {threading}, {library}{watched}, headers in {self.include}"


def find_interpreters(variables: Mapping[str, str]) -> list[Interpreter]:
    """One interpreter of each kind, oldest version first, then those that are left out, with the reason."""
    taken: dict[str, Interpreter] = {}
    left_out: list[Interpreter] = []
    seen: set[str] = set()
    chosen = [path for path in variables.get("HOLDFAST_PYTHONS", "").split(":") if path]
    for candidate in chosen or _candidates(variables):
        interpreter = _ask(candidate, variables)
        if interpreter is None and chosen:
            reason = f"it is not an interpreter from {_dotted(OLDEST)} to {_dotted(NEWEST)} that starts"
            left_out.append(Interpreter(path=candidate, reason=reason))
        if interpreter is None or interpreter.path in seen:
            continue
        seen.add(interpreter.path)
        if interpreter.reason:
            left_out.append(interpreter)
        elif not _kind_is_taken(interpreter, taken):
            taken[_free_name(interpreter, taken)] = interpreter
    named = [
        dataclasses.replace(interpreter, name=name, environment=str(environments_folder(variables) / name))
        for name, interpreter in taken.items()
    ]
    return [*sorted(named, key=lambda each: (_numbers(each.version)[:2], each.name)), *left_out]


def missing(found: list[Interpreter]) -> list[tuple[str, str]]:
    """The wanted kinds that are not there: (name, how to get it)."""
    have = {_short_name(each) for each in found if not each.reason and not each.thread_sanitizer}
    return [(name, how_to_get(name)) for name in WANTED if name not in have]


def how_to_get(name: str) -> str:
    """What to do for an interpreter of this name."""
    if name == "cp313t":
        return "tools/python-freethreaded builds it (tools/setup --test does so)"
    version = f"3.{name.removeprefix('cp3').rstrip('t')}"
    return (
        f"put python{version} with its headers on PATH, or into pyenv (PYTHON_CONFIGURE_OPTS=--enable-shared "
        f"pyenv install {version}), or name it in HOLDFAST_PYTHONS; then tools/setup --test"
    )


def cache_folder(variables: Mapping[str, str]) -> Path:
    """Where tools/setup keeps what it downloads and builds."""
    return Path(variables.get("XDG_CACHE_HOME") or _home(variables) / ".cache") / "holdfast"


def environments_folder(variables: Mapping[str, str]) -> Path:
    """Where each interpreter has its virtual environment, by name."""
    return cache_folder(variables) / "interpreters"


def _candidates(variables: Mapping[str, str]) -> Iterator[str]:
    """Paths that may be interpreters, the preferred first."""
    for name in _NAMES:
        for folder in variables.get("PATH", "").split(":"):
            path = os.path.join(folder, f"python{name}")
            if folder and os.access(path, os.X_OK):
                yield path
    pyenv = Path(variables.get("PYENV_ROOT") or _home(variables) / ".pyenv") / "versions"
    if pyenv.is_dir():
        for version in sorted(pyenv.iterdir(), key=lambda path: _numbers(path.name), reverse=True):
            yield str(version / "bin" / "python3")
    yield _DISTRIBUTION_PYTHON
    for built in sorted((cache_folder(variables) / "python").glob("*/bin/python3.*t")):
        yield str(built)


def _home(variables: Mapping[str, str]) -> Path:
    # A test runner may have taken the variable away: then nothing is found there, rather than below the current folder.
    return Path(variables.get("HOME") or "/")


def _ask(path: str, variables: Mapping[str, str]) -> Interpreter | None:
    """What an interpreter says of itself; None if it does not answer or is no version that concerns us."""
    if not os.access(path, os.X_OK):
        return None
    try:
        # A pyenv shim that stands for no version complains on stderr and fails: no interpreter then.
        answer = subprocess.run(
            [path, "-I", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_QUESTION_SECONDS,
            check=False,
            env=dict(variables),
        )
        said = json.loads(answer.stdout) if answer.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if not said or not OLDEST <= tuple(said["version"][:2]) <= NEWEST:
        return None
    interpreter = Interpreter(
        path=said["path"],
        version=_dotted(said["version"]),
        include=said["include"],
        suffix=said["suffix"] or "",
        free_threaded=said["free_threaded"],
        shared_libpython=said["shared_libpython"],
        thread_sanitizer=said["thread_sanitizer"],
        library_folder=said["library_folder"] or "",
        library=f"python{said['library']}",
    )
    return dataclasses.replace(interpreter, reason=_why_not(interpreter, said["implementation"]))


def _why_not(interpreter: Interpreter, implementation: str) -> str:
    if implementation != "cpython":
        return f"it is {implementation}, not CPython"
    if not (Path(interpreter.include) / "Python.h").is_file():
        return f"there is no {interpreter.include}/Python.h; install its headers"
    return ""


def _short_name(interpreter: Interpreter) -> str:
    """The version as in a wheel's name, with the t of free threading."""
    major, minor = interpreter.version.split(".")[:2]
    return f"cp{major}{minor}{'t' if interpreter.free_threaded else ''}"


def _kind(interpreter: Interpreter) -> tuple[str, bool, bool]:
    return _short_name(interpreter), interpreter.shared_libpython, interpreter.thread_sanitizer


def _kind_is_taken(interpreter: Interpreter, taken: Mapping[str, Interpreter]) -> bool:
    return any(_kind(other) == _kind(interpreter) for other in taken.values())


def _free_name(interpreter: Interpreter, taken: Mapping[str, Interpreter]) -> str:
    """cp312; the distribution's own is cp311_debian; a second kind of a version says how it differs."""
    name = _short_name(interpreter)
    if interpreter.thread_sanitizer:
        name += "_tsan"
    if os.path.dirname(interpreter.path) == _DISTRIBUTION_FOLDER:
        name += "_debian"
    if name in taken:
        name += "_shared" if interpreter.shared_libpython else "_static"
    return name


def _dotted(numbers: Iterable[int]) -> str:
    return ".".join(str(number) for number in numbers)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else -1 for part in version.split("."))


def main() -> int:
    """Prints what was found: all of it for Bazel, names and paths, one interpreter a line, for tools/setup."""
    found = find_interpreters(os.environ)
    if sys.argv[1:] == ["--json"]:
        print(json.dumps([dataclasses.asdict(interpreter) for interpreter in found], indent=2))
    elif sys.argv[1:] == ["--environments"]:
        for interpreter in found:
            if not interpreter.reason:
                print(f"{interpreter.name}\t{interpreter.path}\t{interpreter.environment}")
    else:
        print("usage: interpreters.py --json | --environments", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
