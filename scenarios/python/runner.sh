#!/bin/sh
# Runs the scenarios that are written in Python on the interpreter @NAME@; harness/python/runner.py says what it takes.
#
# The module's folder and the root of the tree are on Python's path. From bazel-bin the sources are one folder up. The
# shim comes first of all libraries, so that it sees every pending call from the start.
root=$(cd "$(dirname "$0")/../.." && pwd)  # as it was named, links and all
sources=$root
[ -d "$root/harness/python" ] || sources=${root%/*}
export PYTHONPATH="$root/@MODULE@:$sources" PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1
export HOLDFAST_PYTHON_PROGRAMS="$root/scenarios/python"
# For an interpreter that ThreadSanitizer watches. A forked child may start threads, as one of the scenarios does, and
# threads may go on to the end of the process.
suppressions=$sources/third_party/python_races.txt
options=exitcode=86:die_after_fork=0:report_thread_leaks=0:suppressions=$suppressions
export TSAN_OPTIONS="$options${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
LD_PRELOAD=libcuda.so.1 exec "@PYTHON@" -X faulthandler -m harness.python.runner --interpreter=@NAME@ "$@"
