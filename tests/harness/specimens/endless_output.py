"""Writes without end.

Expected: failed output-limit
"""

import os

while True:
    os.write(1, b"all work and no play\n" * 1000)
