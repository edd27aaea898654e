"""Seeds: how one is read, printed and mixed.

A seed is an unsigned 64-bit number. The seed of a case is a pure function of the base seed and the case's name, so
selecting other cases, or running them in another order, changes nothing.
"""

from __future__ import annotations

import hashlib
import re
import secrets

_LIMIT = 1 << 64


def parse_seed(text: str) -> int:
    """Reads a seed: hexadecimal with 0x, decimal, or a commit hash of 40 digits (its low 64 bits count).

    Raises ValueError with a sentence about what is wrong.
    """
    if re.fullmatch(r"[0-9a-fA-F]{40}", text):
        return int(text, 16) % _LIMIT
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
        value = int(text, 16)
    elif re.fullmatch(r"[0-9]+", text):
        value = int(text)
    else:
        raise ValueError(f"{text!r} is no seed: give 0x and hexadecimal digits, a decimal number, or a 40-digit hash")
    if value >= _LIMIT:
        raise ValueError(f"{text!r} does not fit into 64 bits")
    return value


def format_seed(seed: int) -> str:
    """The one printed form: 0x and 16 hexadecimal digits."""
    return f"0x{seed:016x}"


def fresh_seed() -> int:
    """A seed from the operating system."""
    return secrets.randbits(64)


def mix(seed: int, *parts: str | int) -> int:
    """A new seed that depends on `seed` and on each part, and on nothing else."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(seed.to_bytes(8, "big"))
    for part in parts:
        text = str(part).encode()
        digest.update(len(text).to_bytes(8, "big"))  # the length keeps ("ab", "c") apart from ("a", "bc")
        digest.update(text)
    return int.from_bytes(digest.digest(), "big")
