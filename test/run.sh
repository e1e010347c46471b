#!/bin/sh
# The second command of the README: installs what is missing, builds, and runs every test.
# Arguments go to `meson test` (a suite: --suite unit; one test: NAME).
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
sh "$root/test/install.sh" test
sh "$root/test/build.sh" "$root/build"
status=0
export SLOOP_TEST_PYTHON="$root/.cache/venv/bin/python"
export SLOOP_TEST_CACHE="$root/.cache"
# Many tests mostly wait for a server or a deadline.
export MESON_TESTTHREADS="${MESON_TESTTHREADS:-$(($(nproc) * 3))}"
meson test -C "$root/build" --print-errorlogs "$@" </dev/null || status=$?
python3 "$root/test/tidy/count.py" "$root/build" || status=1
if [ -z "${SLOOP_TEST_KINESIS_ENDPOINT:-}" ]; then
  echo "SLOOP_TEST_KINESIS_ENDPOINT is not set: no suite ran against an endpoint of yours."
fi
exit $status
