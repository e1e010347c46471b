#!/bin/sh
# The first command of the README: installs what is missing, builds, and runs stream-tail --demo.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
sh "$root/test/install.sh" build
sh "$root/test/build.sh" "$root/build" stream-tail
exec "$root/build/stream-tail" --demo "$@"
