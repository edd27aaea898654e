"""Writes into the events file what are no events: bytes, wrong types, numbers that JSON has not, deep nesting.

Expected: failed bad-events
"""

from runner import emit, write_events

emit("oracle", name="ran")
write_events(b"\xff\xfe\x00 no event\n")
write_events(b'{"event":"counter","name":7,"value":"many"}\n')
write_events(b'{"event":"counter","name":"n","value":NaN}\n')
write_events(b"[" * 100000 + b"\n")
write_events(b'{"event":"of the future"}\n')
