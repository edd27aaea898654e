"""The program `holdfast`."""

import os
import sys

if __name__ == "__main__":
    # As a script, Python puts this folder first on the path; the root of the tree has to be there instead, so that
    # `harness.cli` and `reports` are found in a runfiles tree and in a bundle alike.
    sys.path[0] = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

    # `bazel run` starts programs in their runfiles; the paths on the command line are relative to where the user is.
    if "BUILD_WORKING_DIRECTORY" in os.environ:
        os.chdir(os.environ["BUILD_WORKING_DIRECTORY"])

    from harness.cli.cli import main
    from harness.cli.session import Console

    sys.exit(main(sys.argv[1:], os.environ, Console(sys.stdout, sys.stderr)))
