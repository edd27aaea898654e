"""A seeded bug: a copy of the library with a patch applied, linked with the scenarios that claim to catch it."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("//lib:sources.bzl", "LIB_HEADERS", "LIB_SOURCES")
load("//scenarios/fuzz:sources.bzl", "FUZZ_SOURCES")

_SUPPORT_SOURCES = [
    "scenarios/support/add_one_kernel.cc",
    "scenarios/support/captured_output.cc",
    "scenarios/support/captured_work.cc",
    "scenarios/support/cleanup_context.cc",
    "scenarios/support/condition_kernels.cc",
    "scenarios/support/device_bytes.cc",
    "scenarios/support/device_session.cc",
    "scenarios/support/host_session.cc",
    "scenarios/support/launch_kernels.cc",
    "scenarios/support/live_objects.cc",
    "scenarios/support/nested_graphs.cc",
    "scenarios/support/operation_state.cc",
    "scenarios/support/swept_operation.cc",
]

_SUPPORT_HEADERS = [
    "scenarios/support/add_one_kernel.h",
    "scenarios/support/blocking_callback.h",
    "scenarios/support/captured_output.h",
    "scenarios/support/captured_work.h",
    "scenarios/support/cleanup_context.h",
    "scenarios/support/condition_kernels.h",
    "scenarios/support/counting_callback.h",
    "scenarios/support/device_bytes.h",
    "scenarios/support/device_session.h",
    "scenarios/support/expected_errors.h",
    "scenarios/support/failing_allocations.h",
    "scenarios/support/host_session.h",
    "scenarios/support/launch_kernels.h",
    "scenarios/support/live_objects.h",
    "scenarios/support/nested_graphs.h",
    "scenarios/support/operation_state.h",
    "scenarios/support/owner_probe.h",
    "scenarios/support/refusals.h",
    "scenarios/support/stepped_atomics.h",
    "scenarios/support/swept_operation.h",
]

def _label(path):
    folder, _, name = path.rpartition("/")
    return "//" + folder + ":" + name

# Only true of joined units: types with members of an anonymous namespace. Clang does not know the warning.
_JOINED_COPTS = [
    "-Wno-unknown-warning-option",
    "-Wno-subobject-linkage",
]

def seeded_bug(name, scenarios = [], fuzz = False):
    """Declares NAME_runner, NAME_fuzz_runner or both for scenarios/bugs/NAME.patch.

    The copied headers lie in a folder of their own. The compile action of a runner has no other copy of them among its
    inputs, so the sandbox makes sure that it is the changed ones that are seen.

    Args:
      name: the bug, as the scenarios' `catches` say it.
      scenarios: the scenario files that catch it, without suffix.
      fuzz: whether fuzzing catches it.
    """
    patch = name + ".patch"
    files = LIB_SOURCES + LIB_HEADERS + _SUPPORT_SOURCES + _SUPPORT_HEADERS
    copies = [name + "/" + file for file in files]
    unity = name + "/everything.cc"
    native.genrule(
        name = name + "_sources",
        srcs = [_label(file) for file in files] + [patch],
        outs = copies + [unity],
        cmd = " && ".join([
            "root=$(RULEDIR)/" + name,
        ] + [
            "install -D --mode=644 $(location {1}) $$root/{0}".format(file, _label(file))
            for file in files
        ] + [
            "patch --silent --strip=1 --fuzz=0 --directory=$$root < $(location %s)" % patch,
            "printf '#include \"%s\"\\n' {} > $$root/everything.cc".format(" ".join(LIB_SOURCES + _SUPPORT_SOURCES)),
        ]),
        message = "Seeding the bug " + name,
    )
    cc_library(
        name = name + "_library",
        # One translation unit: much less to compile for each bug.
        srcs = [unity],
        copts = _JOINED_COPTS,
        hdrs = [name + "/" + file for file in LIB_HEADERS + _SUPPORT_HEADERS],
        textual_hdrs = [name + "/" + file for file in LIB_SOURCES + _SUPPORT_SOURCES],
        includes = [name],
        linkopts = ["-ldl"],
        deps = [
            "//fault/host:host_model",
            "//harness/scenario",
            "@cuda//:headers",
        ],
    )
    if scenarios:
        cc_binary(
            name = name + "_runner",
            srcs = ["//scenarios:%s.cc" % scenario for scenario in scenarios],
            deps = [
                ":" + name + "_library",
                "//fault/host:host_model",
                "//harness/scenario",
                "//harness/scenario:runner_main",
            ],
        )
    if fuzz:
        unity = name + "/fuzz.cc"
        native.genrule(
            name = name + "_fuzz_source",
            outs = [unity],
            cmd = "printf '#include \"scenarios/fuzz/%s\"\\n' {} > $@".format(" ".join(FUZZ_SOURCES)),
        )
        cc_binary(
            name = name + "_fuzz_runner",
            srcs = [
                unity,
                "//harness/scenario:sanitizer_options.cc",
            ],
            copts = _JOINED_COPTS,
            deps = [
                ":" + name + "_library",
                "//harness/scenario",
                "//scenarios/fuzz:sources",
            ],
        )
