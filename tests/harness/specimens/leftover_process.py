"""Leaves a process behind, in a session of its own, that holds nothing of its parent.

Expected: failed leftover-process
"""

import os
import signal

from runner import emit

reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    for descriptor in (0, 1, 2, reader):
        os.close(descriptor)
    os.write(writer, b"!")
    while True:
        signal.pause()
os.read(reader, 1)
emit("oracle", name="ran")
