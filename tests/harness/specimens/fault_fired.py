"""Brings a rule that fires, on two threads that take turns.

Expected: passed
Rules: alloc:nth=1,fail
"""

from runner import emit, emit_fault

emit_fault(rule=0, thread="subject-1", ordinal=4)
emit_fault(rule=0, thread="main", ordinal=1)
emit_fault(rule=0, thread="subject-1", ordinal=5)
emit_fault(rule=0, thread="main", ordinal=2)
emit("oracle", name="ran")
