#!/bin/sh
# Installs the peers by their ordinary clients, every version fixed, into .cache/interop/ of this checkout:
#   sh test/guest/install.sh [PEER...]     kcl2 kcl3 kinsumer vmware gosdk jssdk motorway bloop multilang credsgo
#   credsjs credsboto deagggo deaggjs deaggkcl (which needs kcl3); without names all
# Maven for KCL and its MultiLangDaemon, Go modules for kinsumer and vmware-go-kcl-v2, PyPI for motorway, bloop and
# amazon_kclpy, npm for aws-kcl and the SDK for JavaScript. Nothing is asked of the network when nothing has changed. A peer whose tool is not here is
# named on a line "missing PEER: why" and makes the exit code 77 when nothing else failed.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
peers=$root/test/guest/peers
cache=$root/.cache/interop
mkdir -p "$cache"
status=0

missing() {
  echo "missing $1: $2"
  [ $status -ne 0 ] || status=77
}

failed() {
  echo "failed $1:" >&2
  tail -n 30 "$cache/$1.log" >&2
  status=1
}

# What a peer is made from; a change of any of it makes the peer again.
made_from() { cat "$@" | cksum; }
fresh() { [ -e "$cache/$1/.made-from" ] && [ "$(cat "$cache/$1/.made-from")" = "$2" ]; }

kcl() {
  from=$(made_from "$peers/kcl/src/Peer.java" "$peers/kcl/src/Sdk.java" "$peers/$1/pom.xml" "$peers/$1/src/Extra.java")
  fresh "$1" "$from" && return 0
  command -v mvn >/dev/null && command -v javac >/dev/null || { missing "$1" "no mvn or no JDK"; return 0; }
  echo "install: $1 (Maven)" >&2
  rm -rf "${cache:?}/$1"
  (cd "$peers/$1" && mvn -B -q -Dsloop.out="$cache/$1" compile) >"$cache/$1.log" 2>&1 </dev/null || { failed "$1"; return 0; }
  echo "$from" >"$cache/$1/.made-from"
}

go_module() {
  from=$(made_from "$peers/$1/main.go" "$peers/$1/go.mod" "$peers/$1/go.sum")
  fresh "$1" "$from" && return 0
  command -v go >/dev/null || { missing "$1" "no go"; return 0; }
  echo "install: $1 (Go modules)" >&2
  rm -rf "${cache:?}/$1"
  mkdir -p "$cache/$1"
  (cd "$peers/$1" && go build -mod=readonly -o "$cache/$1/peer" .) >"$cache/$1.log" 2>&1 </dev/null || { failed "$1"; return 0; }
  echo "$from" >"$cache/$1/.made-from"
}

python() { # python NAME REQUIREMENTS
  from=$(made_from "$2")
  fresh "$1" "$from" && return 0
  command -v python3 >/dev/null || { missing "$1" "no python3"; return 0; }
  echo "install: $1 (PyPI)" >&2
  rm -rf "${cache:?}/$1"
  mkdir -p "$cache/$1"
  { python3 -m venv "$cache/$1/venv" &&
    "$cache/$1/venv/bin/python" -m pip install -q --disable-pip-version-check --no-input -r "$2"; } \
    >"$cache/$1.log" 2>&1 </dev/null || { failed "$1"; return 0; }
  echo "$from" >"$cache/$1/.made-from"
}

javascript() { # javascript NAME
  from=$(made_from "$peers/$1"/*)
  fresh "$1" "$from" && return 0
  command -v npm >/dev/null || { missing "$1" "no npm"; return 0; }
  echo "install: $1 (npm)" >&2
  rm -rf "${cache:?}/$1"
  mkdir -p "$cache/$1"
  cp "$peers/$1"/* "$cache/$1/"
  (cd "$cache/$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$cache/$1.log" 2>&1 </dev/null ||
    { failed "$1"; return 0; }
  echo "$from" >"$cache/$1/.made-from"
}

# By the jars of kcl3.
deaggkcl() {
  from=$(made_from "$peers/deaggkcl/Deagg.java" "$peers/kcl3/pom.xml")
  fresh deaggkcl "$from" && return 0
  [ -e "$cache/kcl3/jars" ] && command -v javac >/dev/null || { missing deaggkcl "no kcl3 or no JDK"; return 0; }
  rm -rf "${cache:?}/deaggkcl"
  mkdir -p "$cache/deaggkcl"
  javac -nowarn -cp "$cache/kcl3/jars/*" -d "$cache/deaggkcl" "$peers/deaggkcl/Deagg.java" >"$cache/deaggkcl.log" 2>&1 ||
    { failed deaggkcl; return 0; }
  echo "$from" >"$cache/deaggkcl/.made-from"
}

# The daemon, and what its users' processors are made with.
multilang() {
  here=$peers/multilang
  from=$(made_from "$here/pom.xml" "$here/requirements.txt" "$here/package-lock.json")
  fresh multilang "$from" && return 0
  for tool in mvn python3 npm; do
    command -v $tool >/dev/null || { missing multilang "no $tool"; return 0; }
  done
  echo "install: multilang (Maven, PyPI, npm)" >&2
  rm -rf "${cache:?}/multilang"
  mkdir -p "$cache/multilang"
  cp "$here/package.json" "$here/package-lock.json" "$cache/multilang/"
  # The sample is in the source archive alone; building that would fetch the daemon's jars once more.
  { (cd "$here" && mvn -B -q -Dsloop.out="$cache/multilang" compile) &&
    (cd "$cache/multilang" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) &&
    python3 -m pip download -q --disable-pip-version-check --no-input --no-deps --no-binary :all: \
      -d "$cache/multilang" -r "$here/requirements.txt" &&
    tar -x -z -C "$cache/multilang" -f "$cache"/multilang/amazon_kclpy-*.tar.gz; } \
    >"$cache/multilang.log" 2>&1 </dev/null || { failed multilang; return 0; }
  echo "$from" >"$cache/multilang/.made-from"
}

[ $# -gt 0 ] || set -- kcl3 kcl2 kinsumer vmware gosdk jssdk motorway bloop multilang credsgo credsjs credsboto deagggo deaggjs deaggkcl
for peer; do
  case $peer in
    kcl2 | kcl3) kcl "$peer" ;;
    kinsumer | vmware | gosdk | credsgo | deagggo) go_module "$peer" ;;
    jssdk | credsjs | deaggjs) javascript "$peer" ;;
    credsboto) python credsboto "$peers/credsboto/requirements.txt" ;;
    deaggkcl) deaggkcl ;;
    multilang) multilang ;;
    motorway) python motorway "$peers/motorway/requirements.txt" ;;
    bloop) python bloop "$root/test/process/servers/requirements-bloop.txt" ;;
    *)
      echo "unknown peer '$peer'" >&2
      exit 2
      ;;
  esac
done
exit $status
