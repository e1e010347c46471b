#!/bin/sh
# Installs the peers of bench/peers by their ordinary clients, every version fixed, into .cache/ of this checkout: boto3
# with what the tests need (PyPI), the AWS SDK for JavaScript and lifion-kinesis (npm), the Go ones (go/go.mod), KCL 3 by
# test/guest/install.sh (Maven). One that can't be had is named with the reason, and the others go on. With names, such as
# `sh bench/peers/install.sh aio`, only those: aio (aiobotocore, async-kinesis), node, go, kcl3.
set -eu
names=" $* "
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
here=$root/bench/peers
cache=$root/.cache/peers
mkdir -p "$cache"

wanted() { [ "$names" = "  " ] || case $names in *" $1 "*) ;; *) return 1 ;; esac; }
missing() { echo "missing $1: $2" >&2; }
failed() {
  missing "$1" "the installation failed"
  tail -n 20 "$cache/$1.log" >&2
}

sh "$root/test/install.sh" test

# In an environment of their own: they want another botocore than boto3 of the tests.
if wanted aio && ! cmp -s "$here/aio/requirements.txt" "$cache/aio/requirements.txt"; then
  rm -rf "$cache/aio"
  if { python3 -m venv "$cache/aio" && "$cache/aio/bin/pip" install --disable-pip-version-check --only-binary :all: \
    --requirement "$here/aio/requirements.txt"; } >"$cache/aio.log" 2>&1 </dev/null; then
    cp "$here/aio/requirements.txt" "$cache/aio/"
  else
    failed aio
  fi
fi

if ! wanted node; then
  :
elif command -v npm >/dev/null; then
  mkdir -p "$cache/node"
  cmp -s "$here/node/package-lock.json" "$cache/node/package-lock.json" || {
    cp "$here/node/package.json" "$here/node/package-lock.json" "$cache/node/"
    (cd "$cache/node" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$cache/node.log" 2>&1 </dev/null || {
      failed node
      rm -rf "$cache/node"
    }
  }
  [ ! -e "$cache/node" ] || cp "$here/node/read.mjs" "$here/node/lifion.mjs" "$cache/node/"
else
  missing node 'no npm'
fi

if ! wanted go; then
  :
elif command -v go >/dev/null; then
  mkdir -p "$cache/go"
  for program in awssdk kinsumer vmware; do
    (cd "$here/go" && go build -mod=readonly -o "$cache/go/$program" "./$program") >"$cache/$program.log" 2>&1 </dev/null ||
      failed "$program"
  done
else
  missing awssdk,kinsumer,vmware 'no go'
fi

if wanted kcl3 && sh "$root/test/guest/install.sh" kcl3; then
  mkdir -p "$cache/kcl3"
  javac -nowarn -cp "$root/.cache/interop/kcl3/jars/*" -d "$cache/kcl3" "$here/kcl3/Read.java" >"$cache/kcl3.log" 2>&1 || failed kcl3
fi
