"""Ends with a code that nothing explains; 66 is also what ThreadSanitizer uses.

Expected: failed exit-code
"""

import os

from runner import emit

emit("oracle", name="ran")
emit("finish")
os._exit(66)
