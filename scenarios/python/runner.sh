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
LD_PRELOAD=libcuda.so.1 exec "@PYTHON@" -X faulthandler -m harness.python.runner --interpreter=@NAME@ "$@"
