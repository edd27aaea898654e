"""Which driver library lies below the shim: the model driver, the real one, or a library that the user names."""

from __future__ import annotations

import dataclasses
import json
import mmap
import subprocess
import sys
from pathlib import Path

from harness.cli.layout import MODEL_DRIVER, Layout
from harness.cli.problems import HarnessError, UsageError

REAL_LIBRARY = "libcuda.so.1"
_PROBE_SECONDS = 60  # the first call on a machine with many GPUs takes several seconds
_MODEL_SYMBOL = b"holdfast_model_control"


@dataclasses.dataclass(frozen=True)
class Driver:
    """The chosen driver. `option` is the value of --driver that chooses it again."""

    kind: str  # "model" or "real"
    library: Path
    option: str
    version: int | None = None
    device: str | None = None
    fallback: str = ""  # why `auto` did not take the real one

    def describe(self) -> str:
        why = f" (no real one: {self.fallback})" if self.fallback else ""
        return f"{self.kind}, {self.library}, device {self.device or 'none'}{why}"


@dataclasses.dataclass(frozen=True)
class ProbeResult:
    """What the real driver is, or in `error` the sentence that says why there is none."""

    error: str = ""
    path: str = ""
    version: int = 0
    devices: tuple[str, ...] = ()


def probe_driver(library: str = REAL_LIBRARY) -> ProbeResult:
    """Tries a driver library in a process of its own. Never raises for what the library does."""
    command = [sys.executable, "-I", str(Path(__file__).absolute().with_name("driver_probe.py")), library]
    try:
        answer = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return ProbeResult(error=f"{library} did not answer within {_PROBE_SECONDS} s")
    try:
        fields = json.loads(answer.stdout)
    except ValueError:
        return ProbeResult(error=f"trying {library} ended with {answer.returncode}")
    if "error" in fields:
        return ProbeResult(error=fields["error"])
    if not fields["devices"]:
        return ProbeResult(error=f"{library} works and has no device")
    return ProbeResult(path=fields["path"], version=fields["version"], devices=tuple(fields["devices"]))


def choose_driver(option: str, layout: Layout) -> Driver:
    """The driver for `--driver=option`.

    Raises HarnessError when the driver asked for cannot be used, UsageError when a path leads nowhere.
    """
    if option == "model":
        return Driver("model", layout.need(MODEL_DRIVER, "the model driver"), "model")
    if option in ("auto", "real"):
        probe = probe_driver()
        if not probe.error:
            return Driver("real", Path(probe.path), "real", probe.version, probe.devices[0])
        if option == "real":
            raise HarnessError(f"no real driver can be used: {probe.error}")
        return dataclasses.replace(choose_driver("model", layout), fallback=probe.error)
    path = library_path(option)
    if file_contains(path, _MODEL_SYMBOL):
        return Driver("model", path, str(path))
    probe = probe_driver(str(path))
    if probe.error:
        raise HarnessError(f"the driver {option} cannot be used: {probe.error}")
    return Driver("real", path, str(path), probe.version, probe.devices[0])


def library_path(option: str) -> Path:
    """The library that `--driver=PATH` names. Raises UsageError if the path leads nowhere."""
    path = Path(option).absolute()
    if not path.is_file():
        raise UsageError(f"--driver={option} is none of auto, model, real, and no file")
    return path


def file_contains(path: Path, text: bytes) -> bool:
    """Whether a file has `text` somewhere. Reads the file instead of loading it, so nothing of it runs."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            return view.find(text) >= 0
