#!/bin/sh
# The second command of the README: installs what is missing, builds, and runs every test.
# Arguments go to `meson test` (a suite: --suite unit; one test: NAME). With --quick first: suite quick, for which only
# compilers and libraries are installed and only its own programs are built.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
install=test programs=
if [ "${1:-}" = --quick ]; then
  shift
  install=build programs=quick
  set -- --no-rebuild --suite quick "$@"
fi
sh "$root/test/install.sh" $install
sh "$root/test/build.sh" "$root/build" $programs
status=0
export SLOOP_TEST_PYTHON="$root/.cache/venv/bin/python"
export SLOOP_TEST_CACHE="$root/.cache"
# Many tests mostly wait for a server or a deadline.
export MESON_TESTTHREADS="${MESON_TESTTHREADS:-$(($(nproc) * 4))}"
# Meson's time limits are for what hangs, not for a machine that is busy with something else.
meson test -C "$root/build" --print-errorlogs --timeout-multiplier 3 "$@" </dev/null || status=$?
python3 "$root/test/contract/tidy/count.py" "$root/build" || status=1
if [ $install = test ] && [ -z "${SLOOP_TEST_KINESIS_ENDPOINT:-}" ]; then
  echo "SLOOP_TEST_KINESIS_ENDPOINT is not set: no suite ran against an endpoint of yours."
fi
exit $status
