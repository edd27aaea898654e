"""Each interpreter runs the module that was built for it.

Method: a module that knows what it was compiled against is loaded, and what it says is compared with the interpreter
that runs this test and with the name that the build gave to that interpreter.
"""

import os
import re
import subprocess
import sys
import sysconfig

import interpreter_probe

NAME = os.environ["HOLDFAST_INTERPRETER"]
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def test_the_name_tells_the_interpreter() -> None:
    parts = re.match(r"cp3(\d+)(t?)(_|$)", NAME)
    assert parts is not None
    assert (3, int(parts[1])) == sys.version_info[:2]
    assert bool(parts[2]) == FREE_THREADED


def test_the_module_was_compiled_for_this_version() -> None:
    assert sys.hexversion == interpreter_probe.VERSION_HEX
    assert interpreter_probe.FREE_THREADED == FREE_THREADED
    assert interpreter_probe.PYBIND11_HEX >= 0x020D0000


def test_a_free_threaded_interpreter_stays_without_its_lock() -> None:
    if FREE_THREADED:
        assert not sys._is_gil_enabled()


def test_the_module_brings_no_libpython_of_its_own() -> None:
    with open("/proc/self/maps") as maps:
        libraries = {line.split(maxsplit=5)[-1].strip() for line in maps if "/libpython3." in line}
    # An interpreter whose executable has it all shows none.
    assert len(libraries) <= 1
    expected = libraries or {os.path.realpath(sys.executable)}
    assert {os.path.realpath(interpreter_probe.pending_call_file())} == {os.path.realpath(each) for each in expected}


def test_the_module_shows_its_entry_point_alone() -> None:
    command = ["nm", "--dynamic", "--extern-only", "--defined-only", interpreter_probe._core.__file__]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in listing.stdout.splitlines()] == ["PyInit__core"]


def test_the_model_driver_comes_first() -> None:
    folders = os.environ["LD_LIBRARY_PATH"].split(":")
    assert os.path.isfile(os.path.join(folders[0], "libcuda.so.1"))
    assert os.path.isabs(folders[0])


def test_variables_of_the_target_are_set() -> None:
    assert os.environ["HOLDFAST_PROBE"].endswith("interpreter_probe.cc")
    assert os.path.isfile(os.environ["HOLDFAST_PROBE"])
