"""One rule for every library that the system provides: link its files, give it our BUILD file."""

def _system_library_impl(ctx):
    root = ctx.os.environ.get(ctx.attr.env, "") or ctx.attr.root
    for relative, name in ctx.attr.links.items():
        source = ctx.path(root + "/" + relative)
        if not source.exists:
            fail("@%s: there is no %s; install %s, or set %s to the folder that has %s" %
                 (ctx.name, source, ctx.attr.package, ctx.attr.env, relative))
        ctx.symlink(source, name)
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")

system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "build_file": attr.label(allow_single_file = True, mandatory = True),
        "env": attr.string(mandatory = True, doc = "variable that overrides `root`"),
        "links": attr.string_dict(mandatory = True, doc = "path below the root -> name in the repository"),
        "package": attr.string(mandatory = True, doc = "what to install when a file is missing"),
        "root": attr.string(mandatory = True),
    },
    configure = True,
    environ = ["BENCHMARK_ROOT", "BOOST_ROOT", "CHART_JS_ROOT", "CUDA_PATH", "GTEST_ROOT", "JSON_ROOT", "PYBIND11_ROOT"],
    local = True,
)
