"""Takes memory, in a process of its own, until somebody stops it.

Expected: failed memory-limit
"""

import os
import signal

if os.fork() == 0:
    hoard = []
    while True:
        hoard.append(os.urandom(1 << 20) * 8)
while True:
    signal.pause()
