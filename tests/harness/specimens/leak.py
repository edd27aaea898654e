"""The ledger finds something that is still alive at the end.

Expected: failed leak
"""

from runner import emit

emit("oracle", name="ran")
emit("finding", kind="leak", message="1 user object is still alive", place="lib/handles/event.cc:12")
