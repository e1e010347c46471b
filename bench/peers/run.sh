#!/bin/sh
# sloop beside its peers, one server, one table: sh bench/peers/run.sh [--small] [--rounds N] [--slow-rounds N] [CLIENT...]
#
# Installs the peers (install.sh), measures (measure.py), prints the table (report.py), all of it into build/peers.json.
# Half an hour on an idle machine; with --small some minutes and figures that mean nothing.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
build=${SLOOP_BUILD:-$root/build}
sh "$root/bench/peers/install.sh"
[ -e "$build/build.ninja" ] || sh "$root/test/build.sh" "$build" stream-tail
ninja -C "$build" bench/peers_server bench/peers_sloop >/dev/null
export SLOOP_BUILD="$build" PYTHONDONTWRITEBYTECODE=1
python3 "$root/bench/peers/measure.py" --json "$build/peers.json" "$@"
python3 "$root/bench/peers/report.py" "$build/peers.json"
python3 "$root/bench/peers/picture.py" "$build/peers.json" >"$build/peers.svg"
