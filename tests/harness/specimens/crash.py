"""Dies of a signal after it has said something.

Expected: failed crash
"""

import os
import signal
import sys
from pathlib import Path

from runner import emit, timeline_file, write_events

emit("oracle", name="never looked at")
print("about to touch what is not mine", file=sys.stderr, flush=True)
write_events(b'{"event":"counter","na')  # the crash cuts an event off: no finding of its own
Path(os.environ["HOLDFAST_TIMELINE"]).write_bytes(timeline_file("cuGraphCreate", "cuGraphLaunch"))
os.kill(os.getpid(), signal.SIGSEGV)
