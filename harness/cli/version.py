"""The version of the command, as it stands in `--version`, in the first line of a run and in every report."""

VERSION = "0.1.0"
