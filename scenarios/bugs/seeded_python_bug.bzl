"""A seeded bug for scenarios in Python: a copy of the library and the module with a patch applied, and the programs
that run the scenarios with it on some interpreters.
"""

load("@interpreters//:interpreters.bzl", "INTERPRETERS")
load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("//lib:sources.bzl", "LIB_HEADERS", "LIB_SOURCES")
load("//lib/python:sources.bzl", "PYTHON_CORE_HEADERS", "PYTHON_CORE_SOURCES")
load("//scenarios/python:python_runner.bzl", "RUNNER_DATA", "python_runner")

_EXPORTS = "//third_party:python_module.lds"

# Only true of joined units: types with members of an anonymous namespace. Clang does not know the warning.
_JOINED_COPTS = [
    "-Wno-unknown-warning-option",
    "-Wno-subobject-linkage",
]

_PACKAGE = "lib/python/"

def _label(path):
    if path.startswith(_PACKAGE):
        return "//lib/python:" + path[len(_PACKAGE):]
    folder, _, name = path.rpartition("/")
    return "//" + folder + ":" + name

def _module_folder_impl(ctx):
    outputs = [ctx.file.extension]
    for source in ctx.files.package_files:
        output = ctx.actions.declare_file(ctx.attr.folder + "/" + source.short_path[len(_PACKAGE):])
        ctx.actions.symlink(output = output, target_file = source)
        outputs.append(output)
    return [DefaultInfo(files = depset(outputs))]

_module_folder = rule(
    implementation = _module_folder_impl,
    attrs = {
        "extension": attr.label(allow_single_file = True, mandatory = True),
        "folder": attr.string(mandatory = True),
        "package_files": attr.label_list(allow_files = True),
    },
    doc = "The package's own files beside an extension module with a bug.",
)

def _chosen(interpreters):
    """The groups of names, each by the first of it that is there."""
    chosen = []
    for group in interpreters:
        there = [name for name in group for one in INTERPRETERS if one.name == name]
        if there and there[0] not in chosen:
            chosen.append(there[0])
    return [one for one in INTERPRETERS if one.name in chosen]

def python_bug_runners(name, interpreters):
    """The labels of what seeded_python_bug makes."""
    return [":%s_%s_runner" % (name, interpreter.name) for interpreter in _chosen(interpreters)]

def seeded_python_bug(name, interpreters):
    """Declares NAME_cp312_runner and so on for scenarios/bugs/NAME.patch.

    Args:
      name: the bug, as the scenarios' `catches` say it.
      interpreters: lists of names; of each list the first interpreter that is there.
    """
    chosen = _chosen(interpreters)
    if not chosen:
        return
    patch = name + ".patch"
    folder = name + "_python"
    sources = LIB_SOURCES + PYTHON_CORE_SOURCES
    headers = LIB_HEADERS + PYTHON_CORE_HEADERS
    unity = folder + "/everything.cc"
    native.genrule(
        name = folder + "_copies",
        srcs = [_label(file) for file in sources + headers] + [patch],
        outs = [folder + "/" + file for file in sources + headers] + [unity],
        cmd = " && ".join([
            "root=$(RULEDIR)/" + folder,
        ] + [
            "install -D --mode=644 $(location {1}) $$root/{0}".format(file, _label(file))
            for file in sources + headers
        ] + [
            "patch --silent --strip=1 --fuzz=0 --directory=$$root < $(location %s)" % patch,
            "printf '#include \"%s\"\\n' {} > $$root/everything.cc".format(" ".join(sources)),
        ]),
        message = "Seeding the bug %s into the Python module" % name,
    )
    cc_library(
        name = folder + "_sources",
        includes = [folder],
        textual_hdrs = [folder + "/" + file for file in sources + headers],
    )
    for interpreter in chosen:
        module_folder = "%s/%s" % (folder, interpreter.name)
        library = "%s/holdfast/_core%s" % (module_folder, interpreter.suffix)
        cc_binary(
            name = library,
            srcs = [unity],
            copts = _JOINED_COPTS + ["-fvisibility=hidden"],
            linkopts = [
                "-Wl,--version-script,$(location %s)" % _EXPORTS,
                "-ldl",
            ],
            linkshared = True,
            tags = ["no-sanitizer", "one-compiler"],
            deps = [
                ":%s_sources" % folder,
                _EXPORTS,
                "@cuda//:headers",
                "@interpreters//:" + interpreter.name,
                "@pybind11",
            ],
        )
        _module_folder(
            name = module_folder,
            extension = library,
            folder = module_folder,
            package_files = ["//lib/python:package_files"],
            tags = ["no-sanitizer", "one-compiler"],
        )
        python_runner(
            name = "%s_%s_runner" % (name, interpreter.name),
            data = RUNNER_DATA + [":" + module_folder],
            interpreter = interpreter.name,
            module_folder = "scenarios/bugs/" + module_folder,
            path = interpreter.path,
            tags = ["no-sanitizer", "one-compiler"],
        )
