"""The gate: a policy, and whether a report meets it. Pure functions of records; the command is in harness/cli."""
