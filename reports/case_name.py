"""What a case is called wherever people read of it."""

from __future__ import annotations

from reports.record import Case


def case_name(case: Case) -> str:
    """SCENARIO/VARIANT, with the run where that is not the first, and with the faults that a sweep put into it."""
    return f"{case.scenario}/{name_in_scenario(case)}"


def name_in_scenario(case: Case) -> str:
    """What tells the case from the others of its scenario."""
    run = f" (run {case.run})" if case.run else ""
    return f"{case.variant}{run}" + (f" at {', '.join(case.point)}" if case.point else "")
