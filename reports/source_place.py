"""Where in the repository something is, from what tools and programs say: a path may be of a sandbox or of a runfiles
tree, or of no file of the repository at all.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reports.record import Case, Finding

_MOST_LETTERS = 500  # the expression below takes the square of it in time
_MOST_FRAMES = 30
_MOST_LINE = 2**31 - 1

# Up to the root of the tree in a build, a sandbox, and the folder of a test's files.
_ROOTS = re.compile(r"^(?:/proc/self/cwd/|.*/execroot/[^/]+/|.*\.runfiles/[^/]+/)")
_PLACE = re.compile(r"([^\s():]+\.(?:cc|cpp|cxx|cu|c|hpp|h|py)):(\d{1,10})\b")


class Place(NamedTuple):
    path: str  # relative to the root of the repository
    line: int  # from 1


def place_of(case: Case, finding: Finding) -> Place | None:
    """The finding's own place, else that of the innermost frame in the repository, else the scenario's."""
    for text in (finding.place, *finding.stack[:_MOST_FRAMES]):
        found = _parse(text)
        if found:
            return found
    return _parse(f"{case.file}:{case.line}")


def _parse(text: str) -> Place | None:
    match = _PLACE.search(text[:_MOST_LETTERS])
    if not match:
        return None
    path = _ROOTS.sub("", match[1]).removeprefix("./")
    parts = path.split("/")
    inside = not path.startswith(("/", "external/", "bazel-out/", "<")) and ".." not in parts and "" not in parts
    line = int(match[2])
    return Place(path, line) if inside and 0 < line <= _MOST_LINE else None
