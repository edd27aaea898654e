"""Extension modules and pytest tests, once for each interpreter of this machine.

    holdfast_python_module(name = "holdfast", srcs = ..., package_files = ..., deps = [...])

makes //PACKAGE:holdfast_cp312 and so on: the folder PACKAGE/cp312 with the Python package and its extension module.

    python_tests(name = "finalization_test", srcs = ["finalization_test.py"], module = "//lib/python:holdfast")

makes :finalization_test_cp312 and so on: pytest in that interpreter's virtual environment, with that folder on its
path. The name of each without the interpreter's stands for all of them.
"""

load("@interpreters//:interpreters.bzl", "INTERPRETERS")
load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("@rules_shell//shell:sh_test.bzl", "sh_test")
load("//third_party:copts.bzl", "HOLDFAST_COPTS")

_EXPORTS = "//third_party:python_module.lds"

# A module takes minutes to compile, and there is one for each interpreter. The second compiler sees it with the GIL and
# without; see .bazelrc.
_SECOND_COMPILER_SEES = ["cp312", "cp313t"]

def _tags(interpreter):
    tags = [] if interpreter.name in _SECOND_COMPILER_SEES else ["one-compiler"]

    # What a sanitizer watches loads only into an interpreter that it watches as well.
    return tags + (["tsan-only"] if interpreter.thread_sanitizer else ["no-sanitizer"])

# Sources that are compiled as one. pybind11's headers take most of the compiler's time: for thirteen sources that makes
# 26 s an interpreter in place of 113 s.
_UNIT = """
for source in $(SRCS); do
  case $$source in
    *.cc) printf '#include "%s"\\n' "$$source" ;;
  esac
done > $@
"""

def _python_package_impl(ctx):
    outputs = [ctx.file.extension]
    for source in ctx.files.package_files:
        path = source.short_path[len(ctx.label.package) + 1:]
        output = ctx.actions.declare_file(ctx.attr.folder + "/" + path)
        ctx.actions.symlink(output = output, target_file = source)
        outputs.append(output)
    files = depset(outputs)
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

_python_package = rule(
    implementation = _python_package_impl,
    attrs = {
        "extension": attr.label(allow_single_file = True, mandatory = True),
        "folder": attr.string(mandatory = True),
        "package_files": attr.label_list(allow_files = True),
    },
    doc = "A folder with the files of a Python package, beside its extension module, which is there already.",
)

def holdfast_python_module(
        name,
        srcs,
        package_files,
        deps,
        package = None,
        extension = "_core",
        copts = [],
        testonly = False,
        visibility = None):
    """Builds a Python package with an extension module for every interpreter.

    Args:
      name: prefix of the targets, NAME_cp312 and so on.
      srcs: sources and headers of the extension module; they may include pybind11 and Python.h. They are compiled as
        one, so a name in an unnamed namespace stands for one thing in all of them.
      package_files: the package's own files, below the folder `package`.
      deps: libraries of C++; compiled once, for all interpreters.
      package: the Python package that the extension module belongs to; default: name.
      extension: name of the extension module.
      copts: more options for srcs.
      testonly: as everywhere.
      visibility: as everywhere.
    """
    package = package or name
    native.genrule(
        name = name + "_unit",
        testonly = testonly,
        srcs = srcs,
        outs = [name + "_unit.cc"],
        cmd = _UNIT,
    )
    cc_library(
        name = name + "_sources",
        testonly = testonly,
        textual_hdrs = srcs,
    )
    for interpreter in INTERPRETERS:
        library = "%s/%s/%s%s" % (interpreter.name, package, extension, interpreter.suffix)
        cc_binary(
            name = library,
            testonly = testonly,
            srcs = [name + "_unit.cc"],
            copts = HOLDFAST_COPTS + ["-fvisibility=hidden"] + copts,
            # Without libpython: the interpreter that loads it has the symbols, wherever it keeps them.
            linkopts = ["-Wl,--version-script,$(location %s)" % _EXPORTS],
            linkshared = True,
            tags = _tags(interpreter),
            deps = deps + [
                name + "_sources",
                _EXPORTS,
                "@interpreters//:" + interpreter.name,
                "@pybind11",
            ],
        )
        _python_package(
            name = "%s_%s" % (name, interpreter.name),
            testonly = testonly,
            extension = library,
            folder = interpreter.name,
            package_files = package_files,
            tags = _tags(interpreter),
            visibility = visibility,
        )
    native.filegroup(
        name = name,
        testonly = testonly,
        # Those that a sanitizer watches only come by their own names: they want their module built so.
        srcs = ["%s_%s" % (name, each.name) for each in INTERPRETERS if not each.thread_sanitizer],
        tags = ["manual"],
        visibility = visibility,
    )

def python_tests(
        name,
        srcs,
        module,
        data = [],
        driver = "//fault/model:libcuda.so.1",
        env = {},
        interpreters = None,
        size = "small",
        tags = [],
        **kwargs):
    """Runs pytest on files, once on every interpreter: NAME_cp312 and so on.

    The tests see HOLDFAST_INTERPRETER, its name here, e.g. cp312. The module's folder and the root of the tree are on
    Python's path. `--test_filter` becomes pytest's -k.

    Args:
      name: prefix of the targets.
      srcs: files with tests.
      module: the `holdfast_python_module` that is tested, without an interpreter's name.
      data: files that the tests read or import.
      driver: a libcuda.so.1 that is found first; None for the system's.
      env: more variables; $(rootpath ...) of what is in data is relative to the tests' current folder.
      interpreters: names, where not all are meant; those that are not there are passed over.
      size: as for other tests.
      tags: more tags.
      **kwargs: as for other tests.
    """
    names = []
    label = Label(module)
    for interpreter in INTERPRETERS:
        if interpreters != None and interpreter.name not in interpreters:
            continue
        folder = "%s/%s" % (label.package, interpreter.name) if label.package else interpreter.name
        sh_test(
            name = "%s_%s" % (name, interpreter.name),
            size = size,
            srcs = ["//third_party:run_pytest.sh"],
            args = [
                interpreter.name,
                interpreter.environment,
                folder,
                "$(rootpath %s)" % driver if driver else "-",
            ] + ["%s=%s" % (variable, value) for variable, value in env.items()] +
                   ["--"] + ["$(rootpath %s)" % source for source in srcs],
            data = srcs + data + [
                "%s_%s" % (module, interpreter.name),
                "//third_party:python_races.txt",
            ] + ([driver] if driver else []),
            tags = _tags(interpreter) + ["python"] + tags,
            **kwargs
        )
        names.append("%s_%s" % (name, interpreter.name))
    native.test_suite(name = name, tests = names, tags = ["manual"])
