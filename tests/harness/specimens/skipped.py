"""Says that it cannot run here, with the exit code of a case that has ended early.

Expected: skipped
"""

import os

from runner import emit

emit("skip", reason="there is one GPU, and two are needed")
emit("finish")
os._exit(1)
