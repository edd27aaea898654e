"""What a scenario written in Python is made of: its registration, its context, and the program that runs it.

The same protocol as harness/scenario speaks for C++: `--list`, `--run`, and events, one JSON object a line.
"""
