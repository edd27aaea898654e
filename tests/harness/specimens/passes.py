"""Does nothing wrong.

Expected: passed
"""

from runner import emit

emit("subject", driver_version=13000, driver="model", device="a model")
emit("oracle", name="nothing is broken")
emit("counter", name="callbacks", value=3)
