"""A stand-in for the machines of a forge: takes jobs out of the examples in docs/ci and runs their commands with bash.

Each job has a folder that looks like a checkout, and a home. What is real in it: the commands as the example has them,
tools/stress, docs, and the holdfast command of the working tree over programs that are built already. What is replaced,
so that nothing is installed or built:

  tools/setup                         says that it was asked
  bazel build //harness:holdfast      does nothing, whatever flags stand between
  bazel run //harness:holdfast --     becomes holdfast; any other use of bazel fails
  bazel-bin/harness/holdfast          becomes holdfast
  holdfast                            starts the command of the working tree

Actions cannot be run: checkout is the folder itself, artifacts and caches below the checkout are copied by this file,
caches below the home and the upload of SARIF do nothing. Of expressions ${{ }} a few are known, of conditions always().
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import string
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

COMMIT = "5ca1ab1e" * 5

_BAZEL = """#!/bin/bash
if [[ $1 == build && ${@: -1} == //harness:holdfast ]]; then exit 0; fi
if [[ $1 == run && $2 == //harness:holdfast && $3 == -- ]]; then exec holdfast "${@:4}"; fi
echo "the stand-in for bazel does not know: $*" >&2
exit 2
"""


@dataclasses.dataclass(frozen=True)
class Job:
    """A job that ended."""

    code: int  # of its first command that failed
    log: str
    summary: str  # what GitHub would show of it
    folder: Path


class Forge:
    """Machines below `root`, with what jobs leave to each other. A new one is a new project."""

    def __init__(self, root: Path, tree: Path, programs: Path) -> None:
        self._root = root
        self._tree = tree
        self._programs = programs
        self._jobs = 0
        self.kept = root / "kept"  # artifacts and caches

    def environment(self, folder: Path) -> dict[str, str]:
        """Of a command in a job's folder: nothing of this process but its PATH."""
        home = folder.parent / "home"
        home.mkdir(exist_ok=True)
        path = f"{folder.parent / 'bin'}:{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8"}

    def checkout(self, bug: str) -> Path:
        """A folder for a job. With `bug` every `holdfast run` in it takes the library that has this bug, as if the
        change under test had brought it.
        """
        self._jobs += 1
        folder = self._root / f"job{self._jobs}" / "checkout"
        command = [sys.executable, str(self._tree / "harness/cli/__main__.py")]
        start = f"exec env HOLDFAST_ROOT={shlex.quote(str(self._programs))} {shlex.join(command)}"
        change = f'if [ "$1" = run ]; then {start} "$@" --bug={bug}; fi\n' if bug else ""
        holdfast = f'#!/bin/sh\n{change}{start} "$@"\n'
        _program(folder.parent / "bin/bazel", _BAZEL)
        _program(folder.parent / "bin/holdfast", holdfast)
        _program(folder / "bazel-bin/harness/holdfast", holdfast)
        _program(folder / "tools/setup", "#!/bin/sh\necho tools/setup was asked >&2\n")
        _program(folder / "tools/stress", (self._tree / "tools/stress").read_text())
        (folder / "docs").symlink_to(self._tree / "docs")
        return folder

    def keep(self, name: str, folder: Path, path: str) -> None:
        """Keeps what lies at a path of a job for other jobs."""
        if (folder / path).exists():
            shutil.copytree(folder / path, self.kept / name / path, dirs_exist_ok=True)

    def bring(self, name: str, folder: Path) -> None:
        if (self.kept / name).exists():
            shutil.copytree(self.kept / name, folder, dirs_exist_ok=True)


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _bash(script: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


class GitHub:
    """Runs jobs of a workflow. `variables` take the place of those of the same name in the example."""

    def __init__(self, forge: Forge, workflow: Mapping[str, Any], variables: Mapping[str, str]) -> None:
        self._forge = forge
        self._workflow = workflow
        self.variables = dict(variables)

    def shards(self) -> list[int]:
        shards: list[int] = self._workflow["jobs"]["shard"]["strategy"]["matrix"]["shard"]
        return shards

    def run(self, name: str, shard: int = 0, bug: str = "") -> Job:
        job = self._workflow["jobs"][name]
        folder = self._forge.checkout(bug)
        values = {"github.sha": COMMIT, "github.run_id": "1", "matrix.shard": str(shard)}
        given = {**self._workflow["env"], **job.get("env", {})}
        environment = {
            **self._forge.environment(folder),
            **{name: _expressed(str(value), values) for name, value in given.items()},
            **self.variables,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_SHA": COMMIT,
            "GITHUB_WORKSPACE": str(folder),
        }
        code, log, summary = 0, "", ""
        for number, step in enumerate(job["steps"]):
            if code and step.get("if") != "always()":
                continue
            if "uses" in step:
                self._act(step["uses"], {k: _expressed(v, values) for k, v in step.get("with", {}).items()}, folder)
                continue
            files = {name: folder.parent / f"{name}.{number}" for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
            for file in files.values():
                file.touch()
            own = {name: str(file) for name, file in files.items()}
            status, said = _bash(step["run"], folder, {**environment, **own})
            code, log = code or status, log + said
            summary += files["GITHUB_STEP_SUMMARY"].read_text()
        return Job(code, log, summary, folder)

    def _act(self, action: str, settings: Mapping[str, Any], folder: Path) -> None:
        """An artifact has what is in the folder that was uploaded, without the folder."""
        actions: dict[str, Callable[[], None]] = {
            "actions/checkout": lambda: None,
            "actions/cache": lambda: None,
            "github/codeql-action/upload-sarif": lambda: None,
            "actions/upload-artifact": lambda: self._upload(settings["name"], folder / settings["path"]),
            "actions/download-artifact": lambda: self._download(settings, folder),
            "actions/cache/save": lambda: self._forge.keep("cache", folder, settings["path"]),
            "actions/cache/restore": lambda: self._forge.bring("cache", folder),
        }
        actions[action.partition("@")[0]]()

    def _upload(self, name: str, path: Path) -> None:
        if path.exists():
            shutil.rmtree(self._forge.kept / name, ignore_errors=True)  # what an earlier run of the workflow left
            shutil.copytree(path, self._forge.kept / name)

    def _download(self, settings: Mapping[str, Any], folder: Path) -> None:
        for artifact in sorted(self._forge.kept.glob(settings.get("pattern") or settings["name"])):
            shutil.copytree(artifact, folder / settings["path"], dirs_exist_ok=True)


def _expressed(text: Any, values: Mapping[str, str]) -> Any:
    """The text with its expressions replaced by their values; KeyError for one that this file does not know."""
    if not isinstance(text, str):
        return text
    head, *rest = text.split("${{")
    for part in rest:
        expression, _, tail = part.partition("}}")
        head += values[expression.strip()] + tail
    return head


class GitLab:
    """Runs jobs of a pipeline, likewise. Shards are counted from 0 here, and from 1 by GitLab."""

    def __init__(self, forge: Forge, pipeline: Mapping[str, Any], variables: Mapping[str, str]) -> None:
        self._forge = forge
        self._pipeline = pipeline
        self.variables = dict(variables)

    def shards(self) -> list[int]:
        return list(range(self._pipeline["shard"]["parallel"]))

    def run(self, name: str, shard: int = 0, bug: str = "") -> Job:
        job = self._pipeline[name]
        folder = self._forge.checkout(bug)
        forge = {
            **self._forge.environment(folder),
            "CI": "true",
            "CI_COMMIT_SHA": COMMIT,
            "CI_PROJECT_DIR": str(folder),
        }
        if "parallel" in job:
            forge |= {"CI_NODE_INDEX": str(shard + 1), "CI_NODE_TOTAL": str(job["parallel"])}
        given = {**self._pipeline["variables"], **job.get("variables", {}), **self.variables}
        environment = {**forge, **{name: string.Template(text).substitute(forge) for name, text in given.items()}}
        for needed in job.get("needs", []):
            self._forge.bring(needed, folder)
        caches = [cache for cache in _list(job.get("cache", [])) if cache["key"] != "holdfast"]
        for cache in caches:
            self._forge.bring(cache["key"], folder)
        script = "\n".join([*self._pipeline["default"]["before_script"], *job["script"]])
        code, log = _bash(script, folder, environment)
        kept = job.get("artifacts", {})
        if code == 0 or kept.get("when") == "always":
            self._keep(name, folder, kept.get("paths", []))
        for cache in caches if code == 0 else ():
            self._keep(cache["key"], folder, cache["paths"])
        return Job(code, log, "", folder)

    def _keep(self, name: str, folder: Path, paths: Sequence[str]) -> None:
        for path in paths:
            self._forge.keep(name, folder, path)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
