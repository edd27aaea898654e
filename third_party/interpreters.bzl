"""The CPython interpreters of this machine, found anew whenever Bazel starts: see harness/cli/interpreters.py.

@interpreters//:interpreters.bzl has INTERPRETERS, a list of structs: name, version, path, suffix (of an extension
module), free_threaded, shared_libpython, thread_sanitizer, environment (its virtual environment, which tools/setup
--test makes). @interpreters//:NAME is a cc_library of its headers; @interpreters//:NAME_embed also links its libpython,
where that is shared.

HOLDFAST_PYTHONS, paths separated by colons, replaces the search. HOLDFAST_INTERPRETERS_FOUND is set by tools/setup to
what it found, so that a running Bazel server notices a new interpreter.
"""

_LIBRARY = """
cc_library(
    name = "{name}",
    hdrs = glob(["{name}/include/**"]),
    includes = ["{name}/include"],
)
"""

_EMBED = """
cc_library(
    name = "{name}_embed",
    linkopts = [
        "-L{library_folder}",
        "-Wl,-rpath,{library_folder}",
        "-l{library}",
    ],
    deps = [":{name}"],
)
"""

_BUILD_HEAD = """load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])
"""

_STRUCT = """    struct(
        name = {name},
        version = {version},
        path = {path},
        suffix = {suffix},
        free_threaded = {free_threaded},
        shared_libpython = {shared_libpython},
        thread_sanitizer = {thread_sanitizer},
        environment = {environment},
    ),
"""

_STRUCT_FIELDS = [
    "name",
    "version",
    "path",
    "suffix",
    "free_threaded",
    "shared_libpython",
    "thread_sanitizer",
    "environment",
]

def _find(ctx):
    python = ctx.os.environ.get("PYTHON_BIN_PATH", "") or "/usr/bin/python3"
    answer = ctx.execute([python, ctx.path(ctx.attr.finder), "--json"], quiet = True)
    if answer.return_code != 0:
        fail("%s could not look for interpreters: %s" % (python, answer.stderr))
    return json.decode(answer.stdout)

def _interpreters_impl(ctx):
    build = _BUILD_HEAD
    structs = ""
    for found in _find(ctx):
        if found["reason"]:
            # One that was only come across is left out; `holdfast doctor` says why.
            if ctx.os.environ.get("HOLDFAST_PYTHONS", ""):
                fail("HOLDFAST_PYTHONS names %s: %s" % (found["path"], found["reason"]))
            continue
        ctx.symlink(found["include"], found["name"] + "/include")
        build += _LIBRARY.format(**found)
        if found["shared_libpython"]:
            build += _EMBED.format(**found)
        structs += _STRUCT.format(**{field: repr(found[field]) for field in _STRUCT_FIELDS})
    ctx.file("BUILD.bazel", build)
    ctx.file("interpreters.bzl", "INTERPRETERS = [\n%s]\n" % structs)

interpreters = repository_rule(
    implementation = _interpreters_impl,
    attrs = {
        "finder": attr.label(allow_single_file = True, default = "//harness:cli/interpreters.py"),
    },
    configure = True,
    environ = ["HOLDFAST_INTERPRETERS_FOUND", "HOLDFAST_PYTHONS", "PYTHON_BIN_PATH"],
    local = True,
)
