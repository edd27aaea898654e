"""The Python that py_binary and py_test run under: the system's, never the first one on PATH.

Set PYTHON_BIN_PATH to use another.
"""

_BUILD = """
load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")

py_runtime(
    name = "runtime",
    interpreter_path = "{interpreter}",
    python_version = "PY3",
    # The launcher that Bazel writes would ask for a plain "python", which Debian does not have.
    stub_shebang = "#!/usr/bin/env python3",
    visibility = ["//visibility:public"],
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)
"""

def _system_python_impl(ctx):
    interpreter = ctx.os.environ.get("PYTHON_BIN_PATH", "") or "/usr/bin/python3"
    if not ctx.path(interpreter).exists:
        fail("there is no %s; install Debian's python3 or set PYTHON_BIN_PATH" % interpreter)
    ctx.file("BUILD.bazel", _BUILD.format(interpreter = interpreter))

system_python = repository_rule(
    implementation = _system_python_impl,
    configure = True,
    environ = ["PYTHON_BIN_PATH"],
    local = True,
)
