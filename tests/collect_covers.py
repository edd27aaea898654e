"""Collects which tests cover which behaviours, from their sources: GoogleTests, and pytest functions.

    collect_covers.py --out=FILE SOURCE...

A test says it in a comment right above it: `// Covers: IH-01, AP-03.`, or `# Covers:` in Python. The list may go on in
the next lines, and ends with a full stop, behind which anything may be said, or with the comment. A comment of that
form that stands above no test is an error. Each line of the output is `//PACKAGE:TARGET#SUITE.CASE`, in Python
`//PACKAGE:FILE#FUNCTION`, a tab, and the ids separated by spaces.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# The macro's arguments may stand in the next line; decorators in any number of lines.
_CC_TEST = re.compile(r"TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")
_PY_TEST = re.compile(r"(?:@(?:.|\n)*?\n)*?def (test_\w+)\(")
_NAME = re.compile(r"[A-Z]+[0-9]*(?:-\w+)?")


class CoverError(Exception):
    """A comment that says nothing, or stands above no test."""


def covers_of(source: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """The tests of one source that name behaviours, and the names."""
    lines = text.splitlines()
    package, _, file = source.rpartition("/")
    mark, pattern = ("#", _PY_TEST) if file.endswith(".py") else ("//", _CC_TEST)
    for number, line in enumerate(lines):
        if not line.startswith(f"{mark} Covers: "):
            continue
        words = line.removeprefix(f"{mark} Covers: ")
        below = number + 1
        while below < len(lines) and lines[below].startswith(mark):
            words += " " + lines[below].removeprefix(mark)
            below += 1
        test = pattern.match("\n".join(lines[below:]))
        names = [word for word in re.split(r"[,\s]+", words.partition(".")[0]) if word]
        if not test or not names or not all(_NAME.fullmatch(name) for name in names):
            raise CoverError(f"{source}:{number + 1}: 'Covers:' stands right above a test and lists ids: {line}")
        yield f"//{package}:{file.rpartition('.')[0]}#{'.'.join(test.groups())}", names


def main(arguments: list[str]) -> int:
    out, *sources = arguments
    lines = []
    try:
        for source in sources:
            text = Path(source).read_text(encoding="utf-8")
            lines += [f"{name}\t{' '.join(names)}\n" for name, names in covers_of(source, text)]
    except CoverError as error:
        print(f"collect_covers: {error}", file=sys.stderr)
        return 1
    Path(out.removeprefix("--out=")).write_text("".join(sorted(lines)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
