"""A repository made of files of this tree, in place of one that Bazel would download."""

def _stand_in_impl(ctx):
    for source, targets in ctx.attr.files.items():
        for target in targets.split(" "):
            ctx.symlink(source, target)
            folder = target.rpartition("/")[0]
            if folder and not ctx.path(folder + "/BUILD.bazel").exists:
                ctx.file(folder + "/BUILD.bazel", "")

stand_in = repository_rule(
    implementation = _stand_in_impl,
    attrs = {
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "file of this tree -> the paths it gets in the repository, separated by spaces",
        ),
    },
    local = True,
)
