"""The program `holdfast`."""

import os
import signal
import sys
from types import FrameType

# As in verdict.py, which cannot be imported yet where these are needed.
_HARNESS_FAILED = 3
_READER_GONE = 141


def _leave(number: int, frame: FrameType | None) -> None:
    # Nothing is raised: during imports an exception out of a handler can get lost or end in a traceback.
    os._exit(128 + number)


def _prepare() -> None:
    # As a script, Python puts this folder first on the path; the root of the tree has to be there instead, so that
    # `harness.cli` and `reports` are found in a runfiles tree and in a bundle alike.
    sys.path[0] = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

    # The next file that is opened would take the place of a stream that is closed.
    if sys.stdout is None or sys.stderr is None:
        raise OSError("the standard output or the standard error is closed")

    # `bazel run` starts programs in their runfiles; the paths on the command line are relative to where the user is.
    if "BUILD_WORKING_DIRECTORY" in os.environ:
        os.chdir(os.environ["BUILD_WORKING_DIRECTORY"])


def _explain(problem: Exception) -> None:
    try:
        if sys.stderr is not None:
            sys.stderr.write(f"holdfast: {problem or type(problem).__name__}\n")
    except OSError:
        pass  # there is nobody left to tell; the exit code says it


def _flush(code: int) -> int:
    """Writes what is still held back. Returns `code`, or that of a failure if it cannot be written."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except Exception as problem:
            # The interpreter flushes again at its end and must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            code = _READER_GONE if isinstance(problem, BrokenPipeError) else _HARNESS_FAILED
    return code


if __name__ == "__main__":
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, _leave)
    try:
        _prepare()
        from harness.cli.cli import main
        from harness.cli.session import Console
        from harness.cli.standard_stream import StandardStream

        sys.stdout = StandardStream(sys.stdout, "the standard output")
        sys.stderr = StandardStream(sys.stderr, "the standard error")
        exit_code = main(sys.argv[1:], os.environ, Console(sys.stdout, sys.stderr))
    except Exception as escaped:
        # Python's own exit code for this is 1, which here would say that the subject broke its contract.
        _explain(escaped)
        exit_code = _HARNESS_FAILED
    sys.exit(_flush(exit_code))
