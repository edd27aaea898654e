"""Brings two rules, of which one never fires.

Expected: inconclusive
Rules: alloc:nth=1,fail alloc:nth=2,fail
"""

from runner import emit, emit_fault

emit_fault(rule=0)
emit("oracle", name="ran")
