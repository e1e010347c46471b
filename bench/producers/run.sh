#!/bin/sh
# stream-tail -P beside other producers, one server, one table: sh bench/producers/run.sh [--small] [--rounds N] [PRODUCER...]
#
# Installs the others by their ordinary clients, every version fixed, into .cache/producers of this checkout: boto3 with what the
# tests need (PyPI), the AWS SDK for Go (bench/peers/go/go.mod), the Kinesis Producer Library (Maven). One that can't be had is
# named with the reason, and the others go on. Then measures (measure.py).
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
here=$root/bench/producers
build=${SLOOP_BUILD:-$root/build}
cache=$root/.cache/producers
mkdir -p "$cache"

failed() {
  echo "missing $1: the installation failed" >&2
  tail -n 20 "$cache/$1.log" >&2
}

sh "$root/test/install.sh" test
if command -v go >/dev/null; then
  (cd "$root/bench/peers/go" && go build -mod=readonly -o "$cache/awsput" ./awsput) >"$cache/go.log" 2>&1 </dev/null || failed go
else
  echo 'missing go: no go' >&2
fi
if command -v mvn >/dev/null && command -v javac >/dev/null; then
  from=$(cat "$here/kpl/pom.xml" "$here/kpl/Put.java" | cksum)
  [ "$(cat "$cache/kpl/.made-from" 2>/dev/null)" = "$from" ] || {
    rm -rf "$cache/kpl"
    { (cd "$here/kpl" && mvn -B -q -Dsloop.out="$cache/kpl" compile) &&
      javac -nowarn -cp "$cache/kpl/jars/*" -d "$cache/kpl" "$here/kpl/Put.java"; } >"$cache/kpl.log" 2>&1 </dev/null &&
      echo "$from" >"$cache/kpl/.made-from" || failed kpl
  }
else
  echo 'missing kpl: no mvn or no JDK' >&2
fi
[ -e "$build/build.ninja" ] || sh "$root/test/build.sh" "$build" stream-tail
ninja -C "$build" stream-tail bench/peers_server >/dev/null
export SLOOP_BUILD="$build" PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/measure.py" --json "$build/producers.json" "$@"
