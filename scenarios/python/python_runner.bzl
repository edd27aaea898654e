"""The programs that run the scenarios written in Python: for each interpreter a script that starts it."""

load("@interpreters//:interpreters.bzl", "INTERPRETERS")
load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//harness:holdfast_test.bzl", "holdfast_test")
load("//third_party:copts.bzl", "HOLDFAST_COPTS")

def _python_runner_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.expand_template(
        template = ctx.file._template,
        output = output,
        is_executable = True,
        substitutions = {
            "@MODULE@": ctx.attr.module_folder,
            "@NAME@": ctx.attr.interpreter,
            "@PYTHON@": ctx.attr.path,
        },
    )
    files = depset([output] + ctx.files.data)
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

python_runner = rule(
    implementation = _python_runner_impl,
    attrs = {
        "data": attr.label_list(allow_files = True, doc = "module, scenarios, and what they start"),
        "interpreter": attr.string(mandatory = True, doc = "its name, cp312"),
        "module_folder": attr.string(mandatory = True, doc = "from the root of the tree"),
        "path": attr.string(mandatory = True, doc = "of the interpreter"),
        "_template": attr.label(allow_single_file = True, default = "//scenarios/python:runner.sh"),
    },
    doc = "A script that runs the scenarios on one interpreter, and all that it needs. Packages are two deep.",
)

# What each runner needs but the module.
RUNNER_DATA = [
    "//harness:python",
    "//scenarios/python:scenarios",
    "//third_party:python_races.txt",
]

def python_runners(name, module, visibility = None):
    """Makes :runner_cp312 and so on, and :embedding_cp312 where the interpreter can be embedded.

    Args:
      name: stands for all runners but those of an interpreter that ThreadSanitizer watches, whose module is built in a
        configuration of its own.
      module: the holdfast_python_module, without an interpreter's name.
      visibility: of all of them.
    """
    label = Label(module)
    runners = []
    for interpreter in INTERPRETERS:
        tags = ["tsan-only"] if interpreter.thread_sanitizer else ["no-sanitizer"]
        programs = []
        if interpreter.shared_libpython:
            programs.append(":embedding_" + interpreter.name)
            cc_binary(
                name = "embedding_" + interpreter.name,
                srcs = ["embedding.cc"],
                copts = HOLDFAST_COPTS,
                tags = tags + ["one-compiler"],
                deps = [
                    "//fault/shim:control",
                    "@interpreters//:%s_embed" % interpreter.name,
                ],
            )
        python_runner(
            name = "runner_" + interpreter.name,
            data = RUNNER_DATA + programs + ["%s_%s" % (module, interpreter.name)],
            interpreter = interpreter.name,
            module_folder = "%s/%s" % (label.package, interpreter.name),
            path = interpreter.path,
            tags = tags,
            visibility = visibility,
        )
        if not interpreter.thread_sanitizer:
            runners.append(":runner_" + interpreter.name)
    native.filegroup(
        name = name,
        srcs = runners,
        tags = ["manual", "no-sanitizer"],
        visibility = visibility,
    )

def thread_sanitizer_tests(name):
    """Makes :NAME_cp313t_tsan, the suite on an interpreter that ThreadSanitizer watches, where there is one.

    Args:
      name: without the interpreter's.
    """
    for interpreter in INTERPRETERS:
        if interpreter.thread_sanitizer:
            holdfast_test(
                name = "%s_%s" % (name, interpreter.name),
                size = "enormous",
                arguments = [
                    "run",
                    "python",
                    "--driver=model",
                ],
                data = [":runner_" + interpreter.name],
                tags = ["tsan-only"],
            )
