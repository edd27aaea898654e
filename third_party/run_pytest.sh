#!/usr/bin/env bash
# Runs pytest on one interpreter, in its virtual environment; python_tests in python_extension.bzl calls it, in the root
# of the runfiles:
#
#   run_pytest.sh NAME ENVIRONMENT MODULE_FOLDER DRIVER [VARIABLE=VALUE ...] -- TEST_FILE ...
#
# DRIVER is a libcuda.so.1 that is to be found first, or - for none. Obeys Bazel's variables for tests.
set -euo pipefail

readonly no_tests_collected=5

name=$1
python=$2/bin/python
folder=$PWD/$3
driver=$4
shift 4
while [[ $1 != -- ]]; do
  export "${1?}"
  shift
done
shift

if [[ ! -x $python ]]; then
  printf '%s: there is no %s, where pytest is; tools/setup --test installs it\n' "$name" "$python" >&2
  exit 1
fi
version=$("$python" -c 'import sys; print(sys.version.replace("\n", " "))')
printf 'interpreter: %s, %s, %s\n' "$name" "$version" "$python"

export HOLDFAST_INTERPRETER=$name PYTHONPATH=$folder PYTHONDONTWRITEBYTECODE=1
if [[ $driver != - ]]; then
  driver_folder=$PWD/$(dirname "$driver")
  export LD_LIBRARY_PATH=$driver_folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
# What ThreadSanitizer reports of an interpreter that it watches fails the tests by the exit status. It goes to a file,
# since pytest keeps what a test that passes writes.
reports=$(mktemp --directory)
trap 'rm -rf "$reports"' EXIT
sanitizer_options=log_path=$reports/report:suppressions=$PWD/third_party/python_races.txt
export TSAN_OPTIONS="$sanitizer_options${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
options=(--color=no -ra -p no:cacheprovider --rootdir="$PWD" -o junit_suite_name="$name")
if [[ -n ${XML_OUTPUT_FILE:-} ]]; then
  options+=(--junitxml="$XML_OUTPUT_FILE")
fi
if [[ -n ${TEST_TMPDIR:-} ]]; then
  options+=(--basetemp="$TEST_TMPDIR/pytest")
fi
if [[ -n ${TESTBRIDGE_TEST_ONLY:-} ]]; then
  options+=(-k "$TESTBRIDGE_TEST_ONLY")
fi
if [[ ${TESTBRIDGE_TEST_RUNNER_FAIL_FAST:-} == 1 ]]; then
  options+=(--exitfirst)
fi

# The current folder comes on the path too, so `import tests.python.something` works.
status=0
"$python" -m pytest "${options[@]}" "$@" || status=$?
find "$reports" -type f -exec cat {} + >&2
# A filter that is meant for another target matches nothing here; that is no failure, as with GoogleTest.
if [[ $status -eq $no_tests_collected && -n ${TESTBRIDGE_TEST_ONLY:-} ]]; then
  status=0
fi
exit "$status"
