#!/bin/sh
# Installs the peers of bench/peers by their ordinary clients, every version fixed, into .cache/ of this checkout: boto3
# with what the tests need (PyPI), the AWS SDK for JavaScript (npm), the Go ones (go/go.mod), KCL 3 by
# test/guest/install.sh (Maven). One that can't be had is named with the reason, and the others go on.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
here=$root/bench/peers
cache=$root/.cache/peers
mkdir -p "$cache"

missing() { echo "missing $1: $2" >&2; }
failed() {
  missing "$1" "the installation failed"
  tail -n 20 "$cache/$1.log" >&2
}

sh "$root/test/install.sh" test

if command -v npm >/dev/null; then
  mkdir -p "$cache/node"
  cmp -s "$here/node/package-lock.json" "$cache/node/package-lock.json" || {
    cp "$here/node/package.json" "$here/node/package-lock.json" "$cache/node/"
    (cd "$cache/node" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$cache/node.log" 2>&1 </dev/null || {
      failed node
      rm -rf "$cache/node"
    }
  }
  [ ! -e "$cache/node" ] || cp "$here/node/read.mjs" "$cache/node/"
else
  missing node 'no npm'
fi

if command -v go >/dev/null; then
  mkdir -p "$cache/go"
  for program in awssdk kinsumer vmware; do
    (cd "$here/go" && go build -mod=readonly -o "$cache/go/$program" "./$program") >"$cache/$program.log" 2>&1 </dev/null ||
      failed "$program"
  done
else
  missing awssdk,kinsumer,vmware 'no go'
fi

if sh "$root/test/guest/install.sh" kcl3; then
  mkdir -p "$cache/kcl3"
  javac -nowarn -cp "$root/.cache/interop/kcl3/jars/*" -d "$cache/kcl3" "$here/kcl3/Read.java" >"$cache/kcl3.log" 2>&1 || failed kcl3
fi
