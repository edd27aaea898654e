"""Prints the report of a data race and goes on to its end, as ThreadSanitizer lets it.

Expected: failed sanitizer
"""

import os
import sys

from runner import emit

emit("oracle", name="ran")
print(
    "==================\n"
    "WARNING: ThreadSanitizer: data race (pid=7)\n"
    "  Write of size 8 at 0x7b0400000800 by thread T1:\n"
    "    #0 Queue::Push() lib/cleanup/queue.cc:40 (scenario_runner+0x1234)\n"
    "SUMMARY: ThreadSanitizer: data race lib/cleanup/queue.cc:40 in Queue::Push()\n"
    "==================",
    file=sys.stderr,
    flush=True,
)
emit("finish")
os._exit(86)
