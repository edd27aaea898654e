"""A sanitizer that cannot start: trouble of the machine, with the exit code of a finding.

Expected: error
"""

import os
import sys

print("FATAL: ThreadSanitizer: unexpected memory mapping 0x55d0c0000000", file=sys.stderr, flush=True)
os._exit(66)
