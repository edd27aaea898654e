"""Every source file of the library, for the builds that compile a changed copy of it (scenarios/bugs).

tests/tree_test.py checks the list against the tree.
"""

LIB_SOURCES = [
    "lib/attachments/attachment.cc",
    "lib/attachments/graph_box.cc",
    "lib/attachments/transaction.cc",
    "lib/cleanup/deferred_cleanup.cc",
    "lib/cleanup/retry_thread.cc",
    "lib/cleanup/wakeups.cc",
    "lib/driver/driver.cc",
    "lib/driver/status.cc",
    "lib/graph/graph_definition.cc",
    "lib/graph/graph_exec.cc",
    "lib/graph/graph_node.cc",
    "lib/graph/node_parameters.cc",
    "lib/graph/operands.cc",
    "lib/handles/resources.cc",
]

LIB_HEADERS = [
    "lib/attachments/attachment.h",
    "lib/attachments/graph_box.h",
    "lib/attachments/transaction.h",
    "lib/cleanup/cleanup_queue.h",
    "lib/cleanup/deferred_cleanup.h",
    "lib/cleanup/gate.h",
    "lib/cleanup/item_list.h",
    "lib/cleanup/retry_thread.h",
    "lib/cleanup/standard_atomics.h",
    "lib/cleanup/wakeup.h",
    "lib/cleanup/wakeups.h",
    "lib/driver/driver.h",
    "lib/driver/entry_points.def",
    "lib/driver/status.h",
    "lib/graph/graph_definition.h",
    "lib/graph/graph_exec.h",
    "lib/graph/graph_node.h",
    "lib/graph/node_parameters.h",
    "lib/graph/operands.h",
    "lib/handles/opaque_handle.h",
    "lib/handles/resources.h",
]
