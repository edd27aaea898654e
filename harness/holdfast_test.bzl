"""Tests that are runs of the holdfast command."""

load("@rules_python//python:defs.bzl", "py_test")

def holdfast_test(name, arguments, data = [], **kwargs):
    """A test that runs `holdfast ARGUMENTS...` and passes if that exits with 0.

    Bazel's options keep their meaning: --test_filter selects cases, --runs_per_test gives other seeds, and sharding
    parts the cases by their names.

    Args:
      name: of the test.
      arguments: of the command, e.g. ["run", "default", "--driver=model"].
      data: what it needs beyond the shim, the model driver, the plan tool and the scenarios, e.g. seeded-bug builds.
      **kwargs: of py_test.
    """
    py_test(
        name = name,
        srcs = ["//harness:cli/__main__.py"],
        main = "//harness:cli/__main__.py",
        args = arguments,
        data = ["//harness:programs"] + data,
        deps = ["//harness:cli"],
        **kwargs
    )
