"""The `holdfast` command: picks scenarios, runs each in a child process, judges it and reports.

Thread safety: everything here runs on one thread; children are watched by one loop (engine.py).
"""
