"""The sources of the Python module's C++ part, for the builds that compile a changed copy of it (scenarios/bugs).

tests/tree_test.py checks the list against the tree.
"""

PYTHON_CORE_SOURCES = [
    "lib/python/core/builders.cc",
    "lib/python/core/cleanup.cc",
    "lib/python/core/driver.cc",
    "lib/python/core/errors.cc",
    "lib/python/core/executables.cc",
    "lib/python/core/gil.cc",
    "lib/python/core/graphs.cc",
    "lib/python/core/life.cc",
    "lib/python/core/module.cc",
    "lib/python/core/nodes.cc",
    "lib/python/core/operands.cc",
    "lib/python/core/pending_call_wakeup.cc",
    "lib/python/core/python_owner.cc",
    "lib/python/core/resources.cc",
]

PYTHON_CORE_HEADERS = [
    "lib/python/core/bindings.h",
    "lib/python/core/gil.h",
    "lib/python/core/life.h",
    "lib/python/core/pending_call_wakeup.h",
    "lib/python/core/pybind.h",
    "lib/python/core/python_owner.h",
    "lib/python/core/resource_objects.h",
]
