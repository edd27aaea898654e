"""Leaves with exit code 0 in the middle of the scenario.

Expected: failed early-exit
"""

import os

from runner import emit

emit("oracle", name="ran")
os._exit(0)
