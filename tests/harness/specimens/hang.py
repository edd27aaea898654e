"""Never ends, and takes no hint.

Expected: failed hang
"""

import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    signal.pause()
