#!/bin/sh
# Installs what a machine lacks: sh test/install.sh {build|test|ci}. Each word includes the one before it.
#
# System packages come from apt (Debian 12 or newer), the servers and clients of the integration tests from npm
# and PyPI, pinned in test/process/servers/, into .cache/ of this checkout. Nothing is asked of the network when nothing
# is missing. Quiet when all goes well; the whole log when something fails.
set -eu
want=${1:-build}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cache=$root/.cache
mkdir -p "$cache"
log=$cache/install.log
: >"$log"

fail() {
  echo "install: $1" >&2
  tail -n 40 "$log" >&2
  exit 1
}

# A tool counts as present when the command is there, a library when pkg-config finds it, whoever put them there.
missing=
need() { # need PACKAGE TEST-COMMAND...
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
have() { command -v "$1"; }
lib() { pkg-config --exists "$1"; }
debian() { dpkg -s "$1" 2>/dev/null | grep -q '^Status: install ok installed'; }
# The compiler's own parts: a file it can find, whatever version it is.
compiler_file() { [ -e "$("$1" -print-file-name="$2" 2>/dev/null)" ]; }
# Debian's python3 comes without venv; other pythons have it.
venv_works() { python3 -c 'import venv, ensurepip'; }

need gcc have gcc
need libc6-dev compiler_file gcc crt1.o
need pkg-config have pkg-config
need ninja-build have ninja
need meson have meson
need libuv1-dev lib libuv
need libcurl4-openssl-dev lib libcurl
need libssl-dev lib libcrypto
need zlib1g-dev lib zlib
need libsqlite3-dev lib sqlite3
need libzstd-dev lib libzstd # these four for -s of stream-tail
need liblz4-dev lib liblz4
need libsnappy-dev lib snappy
need libbrotli-dev lib libbrotlidec
need libpcre2-dev lib libpcre2-8
need libnghttp2-dev lib libnghttp2 # HTTP/2 of the sandbox
need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
case $want in
  build) ;;
  test | ci)
    need g++ have g++
    need libjansson-dev lib jansson
    need libcbor-dev debian libcbor-dev
    need python3 have python3
    need python3-venv venv_works
    need nodejs have node
    need npm have npm
    need openssl have openssl
    need ripgrep have rg
    need zsh have zsh # these two judge our completions
    need fish have fish
    need curl have curl
    need nghttp2-proxy have nghttpx
    need tinyproxy have tinyproxy
    need util-linux have taskset
    need prometheus have promtool
    need cmake have cmake # with the two below: other people's builds and loops
    need libasio-dev test -e /usr/include/asio.hpp
    need libevent-dev test -e /usr/include/event2/event.h
    need binutils have nm
    need valgrind have valgrind
    need spin have spin
    need faketime have faketime
    need groff-base have groff
    need mandoc have mandoc
    need libc6-dbg debian libc6-dbg # valgrind cannot start without it
    ;;
  *) fail "unknown word '$want': build, test or ci" ;;
esac
if [ "$want" = ci ]; then
  need clang have clang
  need llvm have llvm-symbolizer # names in sanitizer reports
  need libclang-rt-14-dev compiler_file clang libclang_rt.fuzzer-x86_64.a
  need clang-tidy have clang-tidy
  need clang-format have clang-format
fi

if [ -n "$missing" ]; then
  command -v apt-get >/dev/null || fail "no apt-get here; install what Debian calls:$missing"
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "not root and no sudo; run: apt-get install$missing"
    as_root=sudo
  fi
  echo "install:$missing" >&2
  $as_root apt-get -q update >>"$log" 2>&1 || fail "apt-get update failed"
  # shellcheck disable=SC2086 # a list of words
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing \
    >>"$log" 2>&1 </dev/null || fail "apt-get install$missing failed"
fi
[ "$want" = build ] && exit 0

# Into a folder beside the final one, then renamed: a broken run leaves nothing that looks finished.
fresh() { [ -e "$1/.made-from" ] && cmp -s "$1/.made-from" "$2"; }

python=
[ "$want" = ci ] && python=-python # only its own lane uses it
for name in '' -bloop -ministack $python; do
  from=$root/test/process/servers/requirements$name.txt
  fresh "$cache/venv$name" "$from" && continue
  echo "install: Python packages of test/process/servers/requirements$name.txt" >&2
  rm -rf "$cache/venv$name"
  python3 -m venv "$cache/venv$name" >>"$log" 2>&1 || fail "python3 -m venv failed"
  "$cache/venv$name/bin/python" -m pip install -q --disable-pip-version-check --no-input -r "$from" \
    >>"$log" 2>&1 </dev/null || fail "pip install of $from failed"
  cp "$from" "$cache/venv$name/.made-from"
done

bind=
[ "$want" = ci ] && bind=bind # what npm has for the lane bind: majors of node, TypeScript, eslint
for server in kinesalite kinesis-local dynalite $bind; do
  into=$cache/node/$server
  from=$root/test/process/servers/$server
  [ "$server" = bind ] && from=$root/test/bind/node
  fresh "$into" "$from/package-lock.json" && continue
  echo "install: $server (npm)" >&2
  rm -rf "$into"
  mkdir -p "$into"
  cp "$from/package.json" "$from/package-lock.json" "$into/"
  # No install scripts: they build disk storage that the in-memory mode never loads.
  (cd "$into" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >>"$log" 2>&1 </dev/null ||
    fail "npm ci of $server failed"
  cp "$from/package-lock.json" "$into/.made-from"
done

# Reads .github/workflows. Its package on PyPI wants GitHub while it is installed; where there is no go that can build it,
# test/contract/tidy/habits.py says so.
actionlint=v1.7.12
if [ "$want" = ci ] && have go >/dev/null && [ "$("$cache/bin/actionlint" -version 2>/dev/null | head -n 1)" != $actionlint ]; then
  echo "install: actionlint $actionlint (Go)" >&2
  GOBIN=$cache/bin go install "github.com/rhysd/actionlint/cmd/actionlint@$actionlint" >>"$log" 2>&1 </dev/null ||
    echo "install: go can't build actionlint; left out" >&2
fi
