"""Every source file of the fuzz runner, for the builds with a changed copy of the library (scenarios/bugs)."""

FUZZ_SOURCES = [
    "builder_model.cc",
    "drawing.cc",
    "environment.cc",
    "fuzz_runner.cc",
    "interruption.cc",
    "journal.cc",
    "operation.cc",
    "reference_model.cc",
    "runner.cc",
    "sequence.cc",
    "world.cc",
    "world_builders.cc",
    "world_compare.cc",
    "world_executables.cc",
    "world_graphs.cc",
]

FUZZ_HEADERS = [
    "builder_model.h",
    "drawing.h",
    "environment.h",
    "gate.h",
    "interruption.h",
    "journal.h",
    "operation.h",
    "operations.def",
    "owner_counts.h",
    "random.h",
    "reference_model.h",
    "runner.h",
    "sequence.h",
    "worker.h",
    "world.h",
]
