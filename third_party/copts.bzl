"""Compiler options of our own code. Code of other projects is compiled without them."""

HOLDFAST_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unknown-warning-option",
]
